"""Damage done to inputs: to bytes, to JSON documents wherever they stand, to lines of CSV, to columns of Parquet.

Every choice is drawn from the generator that is given, so that a seed and a number make the same input again.
"""

from __future__ import annotations

import contextlib
import copy
import csv
import gzip
import io
import json
import random
import zlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

LONG_MAX = 2**63 - 1
NUMBERS = (0, 1, -1, 2, 7, 127, 255, 2**31 - 1, -(2**31), 2**31, 2**32, 2**53 - 1, 2**53, 2**53 + 1, LONG_MAX, -(2**63))
NUMBERS += (2**63, 2**64, 10**30, 10**400)
FLOATS = (0.5, -0.0, 1e13, 1e18, 1e300, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"))
TEXTS = (
    "",
    " ",
    "0",
    "-1",
    "1e13",
    "1e400",
    "nan",
    "Infinity",
    "9223372036854775807",
    "９",
    "²",
    "0x10",
    "1_000",
    "true",
)
TEXTS += (
    "\r",
    "\n",
    "\r\n",
    "\x00",
    "\ufeff",
    "\ud800",
    "\U0001f600",
    "é",
    "a" * 300,
    "=cmd|' /C calc'!A0",
    '"',
    "'",
    ",",
)
TEXTS += (
    ";",
    "\t",
    "../x",
    "/",
    "%s",
    "{0}",
    "[]",
    "{}",
    "null",
    "any",
    "orders",
    "orders-0",
    "orders--1",
    "orders-²",
    "-",
)
TEXTS += ("0001-01-01", "9999-12-31", "10000-01-01", "2026-11-20T03:00:00Z", "0001-01-01T00:00:00+23:59", "2026-W01-1")
TEXTS += ("9999-12-31T23:59:59Z", "2026-02-30", "50MB/s", "1e999MB/s", "-5%", "7d", "9" * 400 + "d", "1.5TiB", "*", "[")
BYTES = (
    b"\x00",
    b"\xff",
    b"\xfe",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\r\n",
    b'"',
    b"'",
    b",",
    b"{",
    b"}",
    b"[",
)
BYTES += (
    b"]",
    b":",
    b"-",
    b"e",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\x1f\x8b",
    b"PAR1",
    b"\\u0000",
    b"\\ud800",
)
BYTES += (b"1e400", b"9" * 25, b"NaN", b"Infinity", b"null", b"[" * 2000, b'{"a":' * 1200, b"\x80\x80\x80\x80\x08")

KINDS = (
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32()),
    *(pa.float64(), pa.string(), pa.large_string(), pa.binary(), pa.bool_(), pa.date32(), pa.date64(), pa.null()),
    *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Asia/Tokyo")),
    *(pa.time32("s"), pa.duration("s"), pa.decimal128(38, 2), pa.dictionary(pa.int8(), pa.string())),
    *(pa.list_(pa.string()), pa.large_list(pa.int64()), pa.struct([pa.field("topic", pa.string())])),
)


def any_value(rng: random.Random) -> Any:
    """Return a value that JSON can hold and few expect."""
    pick = rng.random()
    if pick < 0.35:
        return rng.choice(NUMBERS)
    if pick < 0.45:
        return rng.choice(FLOATS)
    if pick < 0.8:
        return rng.choice(TEXTS)
    return rng.choice([None, True, False, [], {}, [None], [[]], {"": None}, {"a": {"b": []}}, [1, "1", None, {}]])


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Flip, cut, repeat, insert or move some bytes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(changed) + 1)
        end = min(len(changed), place + rng.choice((1, 1, 2, 4, 8, 32, 200)))
        way = rng.randrange(6)
        if way == 0 and place < len(changed):
            changed[place] ^= 1 << rng.randrange(8)
        elif way == 1 and place < len(changed):
            changed[place] = rng.randrange(256)
        elif way == 2:
            del changed[place:end]
        elif way == 3:
            changed[place:place] = changed[place:end] * rng.randint(1, 3)
        elif way == 4:
            changed[place:place] = rng.choice(BYTES)
        else:
            del changed[place:]
    return bytes(changed)


def mutate_json(data: bytes, rng: random.Random) -> bytes:
    """Change one of the JSON documents in a text; bytes where there is none."""
    text = data.decode("utf-8", errors="replace")
    decoder = json.JSONDecoder()
    found = []
    place = 0
    while place < len(text) and len(found) < 8:
        starts = [at for at in (text.find("{", place), text.find("[", place)) if at >= 0]
        if not starts:
            break
        place = min(starts)
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
            continue
        found.append((place, end, value))
        place = end
    if not found:
        return mutate_bytes(data, rng)
    start, end, value = rng.choice(found)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        value = changed_document(value, rng)
    written = json.dumps(value, ensure_ascii=rng.random() < 0.8)
    if rng.random() < 0.1 and written.startswith('{"'):
        written = f"{{{written[1:-1]}, {written[1:]}"  # every key twice
    return (text[:start] + written + text[end:]).encode("utf-8", errors="surrogatepass")


def changed_document(value: Any, rng: random.Random) -> Any:
    """Change one of the values or keys of a document, or take another in its place."""
    places = _places(value)
    if not places or rng.random() < 0.02:
        return any_value(rng)
    # Documents have many leaves of few kinds: a depth is chosen first, so that the outer ones have their turn.
    depth = rng.choice(sorted({depth for _, _, depth in places}))
    holder, key, _ = rng.choice([one for one in places if one[2] == depth])
    way = rng.random()
    if way < 0.5:
        holder[key] = any_value(rng)
    elif way < 0.6:
        del holder[key]
    elif way < 0.7 and isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    elif way < 0.8 and isinstance(holder, dict):
        holder[rng.choice((str(any_value(rng)), str(key) + " ", str(key).upper()))] = holder.pop(key)
    elif way < 0.85 and isinstance(holder, dict):
        holder[rng.choice(TEXTS)] = any_value(rng)
    elif way < 0.92 and isinstance(holder[key], int | float):
        holder[key] = rng.choice((str(holder[key]), holder[key] / 2 if abs(holder[key]) < 1e300 else 0, -holder[key]))
    else:
        holder[key] = rng.choice(([], {}, None, [holder[key]], {"a": holder[key]}))
    return value


def _places(value: Any, depth: int = 0) -> list[tuple[Any, Any, int]]:
    if depth > 12:
        return []
    found: list[tuple[Any, Any, int]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key, depth))
        found += _places(inner, depth + 1)
    return found


def mutate_csv(data: bytes, rng: random.Random) -> bytes:
    """Change cells, columns or lines of a table of comma-separated values."""
    rows = [line.split(",") for line in data.decode("utf-8", errors="replace").splitlines()] or [[""]]
    for _ in range(rng.randint(1, 3)):
        row = rng.choice(rows) if rng.random() < 0.7 else rows[0]
        column = rng.randrange(len(row)) if row else 0
        way = rng.randrange(7)
        if way <= 2 and row:
            row[column] = str(any_value(rng))
        elif way == 3:
            row.insert(column, rng.choice(row) if row else "")
        elif way == 4 and row:
            for one in rows:
                del one[column : column + 1]
        elif way == 5 and row:
            for one in rows:
                one.insert(column, one[column] if column < len(one) else "")
        else:
            rows.insert(rng.randrange(len(rows) + 1), list(row))
    end = rng.choice(("\n", "\n", "\n", "\r\n", "\r"))
    if rng.random() < 0.5:
        text = end.join(",".join(row) for row in rows) + end
    else:
        sink = io.StringIO(newline="")
        with contextlib.suppress(csv.Error):
            csv.writer(sink, lineterminator=end, quoting=rng.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL))).writerows(rows)
        text = sink.getvalue()
    return text.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16", "latin-1")), errors="replace")


def mutate_gzip(data: bytes, rng: random.Random) -> bytes:
    """Change what is compressed."""
    try:
        inner = gzip.decompress(data)
    except (OSError, EOFError, ValueError, zlib.error):
        return mutate_bytes(data, rng)
    return gzip.compress(mutate_csv(inner, rng), compresslevel=1, mtime=0) * rng.choice((1, 1, 1, 2))


def mutate_parquet(data: bytes, rng: random.Random) -> bytes:
    """Change names, types and values of the columns of a Parquet file."""
    try:
        table = pq.read_table(io.BytesIO(data))
        names, columns = list(table.column_names), list(table.columns)
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        return mutate_bytes(data, rng)
    for _ in range(rng.randint(1, 3)):
        if not names:
            break
        place = rng.randrange(len(names))
        way = rng.random()
        if way < 0.1:
            del names[place], columns[place]
        elif way < 0.2:
            names.insert(place, names[rng.randrange(len(names))])
            columns.insert(place, columns[rng.randrange(len(columns))])
        elif way < 0.3:
            names[place] = rng.choice([text for text in TEXTS if text != "\ud800"])
        elif way < 0.6:
            columns[place] = _column(len(table), rng.choice(KINDS), rng)
        else:
            columns[place] = _column(len(table), columns[place].type, rng)
    sink = io.BytesIO()
    try:
        changed = pa.Table.from_arrays(columns, names=names)
        compression = rng.choice(("none", "snappy", "zstd", "gzip"))
        pq.write_table(changed, sink, compression=compression, store_schema=rng.random() < 0.5)
    except (pa.ArrowException, ValueError, KeyError, TypeError, OSError):
        return mutate_bytes(data, rng)
    return sink.getvalue()


def _column(rows: int, kind: pa.DataType, rng: random.Random) -> Any:
    """Return a column of a type, with values at its bounds and nulls among them."""
    whole = [number for number in NUMBERS if -(2**63) <= number <= LONG_MAX]
    drawn = pa.array([rng.choice([*whole, rng.randrange(10**9), None]) for _ in range(rows)], pa.int64())
    makers: tuple[Callable[[], Any], ...] = (
        lambda: drawn.view(kind),
        lambda: drawn.cast(kind, safe=False),
        lambda: pa.array(
            [rng.choice([*(text for text in TEXTS if text != "\ud800"), None]) for _ in range(rows)], kind
        ),
        lambda: pa.array([rng.choice([*FLOATS, None]) for _ in range(rows)], kind),
        lambda: pa.array([[{"topic": "orders", "partition": rng.choice((0, -1, None))}], None] * rows, kind)[:rows],
        lambda: pa.array([[rng.choice(("orders", "x", None))], []] * rows, kind)[:rows],
    )
    for make in rng.sample(makers, len(makers)):
        try:
            return make()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            continue
    return pa.nulls(rows, kind)


MUTATORS: dict[str, tuple[Callable[[bytes, random.Random], bytes], ...]] = {
    "json": (mutate_json, mutate_json, mutate_json, mutate_bytes),
    "txt": (mutate_json, mutate_json, mutate_bytes),
    "csv": (mutate_csv, mutate_csv, mutate_bytes),
    "gz": (mutate_gzip, mutate_gzip, mutate_bytes),
    "parquet": (mutate_parquet, mutate_parquet, mutate_bytes),
}
"""By the ending of a seed's name; those named more often are drawn more often."""


def mutated(name: str, data: bytes, rng: random.Random) -> bytes:
    """Return a seed damaged in one or more ways."""
    ways = MUTATORS[name.rpartition(".")[2]]
    for _ in range(rng.choice((1, 1, 1, 2))):
        data = rng.choice(ways)(data, rng)
    return data
