"""Amounts as people type them: ``50MB/s``, ``1.5TiB``, ``90s``, ``1h30m``, ``40%``, ``500k``; or just the number.

The unit of a parameter is the end of its name, in which a plain number is taken. Bytes are decimal with kB, MB, GB and
binary with KiB, MiB, GiB; bits are refused.

    >>> [parse_quantity("throttle_bytes_per_second", text) for text in ("50MB/s", "48 MiB/s", "5e7")]
    [50000000.0, 50331648.0, 50000000.0]
    >>> [parse_quantity("replacement_hours", text) for text in ("2", "90m", "1d")]
    [2.0, 1.5, 24.0]
    >>> [parse_quantity("horizon_months", text) for text in ("6", "6m", "1y", "1y6mo")]
    [6.0, 6.0, 12.0, 18.0]
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}
_SECONDS["y"] = 365 * _SECONDS["d"]
_MONTH = _SECONDS["y"] / 12
_MONTHS = {"m": _MONTH, "mo": _MONTH, "y": _SECONDS["y"]}  # what is told in months is in no minutes
_PREFIXES = "kmgtpe"
_BYTES = {"b": 1.0} | {
    f"{prefix}{binary}b": float((1024 if binary else 1000) ** power)
    for power, prefix in enumerate(_PREFIXES, start=1)
    for binary in ("", "i")
}
_BITS = re.compile(r"[kKMGTPE]i?b|[a-zA-Z]*bits?|[a-zA-Z]*bps")
_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_ONE = re.compile(rf"{_NUMBER}\s*([a-zA-Z%]+)(/s)?")
_THOUSANDS = re.compile(r"(\d+\.?\d*)\s*([kKmM])")
_TIME = r"\s*(\d+\.?\d*(?:e[+-]?\d+)?)\s*"
_TIMES = re.compile(_TIME + "([a-z]+)")


def _times(units: Iterable[str]) -> str:
    return rf"{_NUMBER}|({_TIME}({'|'.join(units)}))+"


_RATIO = rf"{_NUMBER}\s*%|[+-]?([0-4]?\.\d+|[0-4]\.?)([eE]-\d+)?"
_SIZE = rf"{_NUMBER}(\s*([bB]|[{_PREFIXES}]i?b|[{_PREFIXES}{_PREFIXES.upper()}][iI]?B)"


@dataclass(frozen=True, slots=True)
class Unit:
    """What the values of parameters with a suffix are measured in; ``in_seconds`` is 0 where it is no time.

    ``pattern`` is a regular expression of what may be typed, for whoever can check that only.
    """

    suffix: str
    metavar: str
    example: str
    pattern: str
    in_seconds: float = 0.0


UNITS = (
    Unit("_bytes_per_second", "RATE", "write bytes per second, such as 50MB/s or 48MiB/s", rf"{_SIZE}(/s)?)?"),
    Unit("_bytes", "SIZE", "write bytes, such as 6GiB", rf"{_SIZE})?"),
    Unit("_ratio", "RATIO", "write a ratio, such as 0.4 or 40%", _RATIO),
    Unit("_seconds", "TIME", "write seconds, or a time such as 90s, 5m or 1h30m", _times(_SECONDS), 1.0),
    Unit("_hours", "TIME", "write hours, or a time such as 90m or 2h", _times(_SECONDS), 3600.0),
    Unit("_days", "TIME", "write days, or a time such as 36h or 4w", _times(_SECONDS), 86_400.0),
    Unit("_months", "MONTHS", "write months, or 6m or 1y", _times(_MONTHS), _MONTH),
)

_LOOKS_LIKE_PERCENT = 5.0  # a ratio typed as a bare number from here on: 40 is more often 40 % than 4,000 %


def unit_of(parameter: str) -> Unit | None:
    """Return the unit of a parameter by its name, ``None`` for one without."""
    return next((unit for unit in UNITS if parameter.endswith(unit.suffix)), None)


def parse_quantity(parameter: str, text: str) -> float:
    """Return what was typed for a parameter that has a unit, in that unit.

    Raises:
        ValueError: it cannot be understood; the message has an example.
    """
    unit = unit_of(parameter)
    assert unit is not None  # noqa: S101 - for the type checker: whoever calls has asked
    value: float | None
    try:
        value = bare = float(text)
    except ValueError:
        value = _time(unit, text) if unit.in_seconds else _amount(unit, text)
    else:
        if unit.suffix == "_ratio" and _LOOKS_LIKE_PERCENT <= abs(bare) < math.inf:
            raise ValueError(f"write {bare:g}%; a bare {bare:g} would be {100 * bare:g}%")
    if value is None:
        raise ValueError(unit.example)
    return value


def parse_count(text: str) -> int | str:
    """Return what was typed for a number of things; what is none comes back as it is.

    >>> [parse_count(text) for text in ("500k", "1.5M", "12", "many")]
    [500000, 1500000, '12', 'many']
    """
    found = _THOUSANDS.fullmatch(text.strip())
    if found is None:
        return text
    count = float(found[1]) * {"k": 1e3, "m": 1e6}[found[2].lower()]
    return int(count) if count.is_integer() else text


def shown_quantity(parameter: str, value: float) -> str:
    """Return a value as it may be typed: 50000000.0 of a rate is ``50MB/s``.

    >>> [shown_quantity(f"x{suffix}", value) for suffix, value in (("_bytes_per_second", 5e7), ("_bytes", 6 * 2**30))]
    ['50MB/s', '6GiB']
    >>> [shown_quantity(*given) for given in (("x_ratio", 0.85), ("x_seconds", 90.0), ("x_days", 7.0))]
    ['85%', '90s', '7d']
    """
    unit = unit_of(parameter)
    if unit is not None and unit.suffix == "_months":
        return f"{value:.12g}"
    if unit is None:
        return f"{value:g}" if isinstance(value, float) else f"{value}"
    if unit.suffix == "_ratio":
        return f"{100 * value:.12g}%"
    if unit.in_seconds:
        seconds = value * unit.in_seconds
        name = next((name for name in "dh" if seconds >= _SECONDS[name] and not seconds % _SECONDS[name]), "s")
        return f"{seconds / _SECONDS[name]:.12g}{name}"
    ways = [(name, size) for name, size in _BYTES.items() if value >= size and not 10 * value % size]
    name, size = min(ways, key=lambda way: value / way[1], default=("b", 1.0))
    written = name.upper().replace("I", "i").replace("KB", "kB")
    return f"{value / size:.12g}{written}" + ("/s" if unit.suffix == "_bytes_per_second" else "")


def _amount(unit: Unit, text: str) -> float | None:
    found = _ONE.fullmatch(text.strip())
    if found is None:
        return None
    number, name, per_second = float(found[1]), found[2], found[3]
    if unit.suffix == "_ratio":
        return number / 100.0 if name == "%" and not per_second else None
    if per_second and unit.suffix != "_bytes_per_second":
        return None
    # A capital prefix before a small b stands for bits: mb is typed for MB, Mb is not.
    is_bits = _BITS.fullmatch(name) is not None and not name.islower()
    size = None if is_bits else _BYTES.get(name.lower())
    return None if size is None else number * size


def _time(unit: Unit, text: str) -> float | None:
    rest, seconds, units = text.strip(), 0.0, _MONTHS if unit.suffix == "_months" else _SECONDS
    while rest:
        found = _TIMES.match(rest)
        if found is None or found[2] not in units:
            return None
        seconds, rest = seconds + float(found[1]) * units[found[2]], rest[found.end() :]
    return seconds / unit.in_seconds if text.strip() else None
