"""Samples of what brokers use of their processors, as a CSV file that monitoring exports.

cores_used,leader_in_bytes_per_second,follower_in_bytes_per_second,out_bytes_per_second
3.1,41000000,80000000,205000000
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.cpu import CpuCalibration, calibrate
from kafka_capacity.text.files import read_text_file

COLUMNS = ("cores_used", "leader_in_bytes_per_second", "follower_in_bytes_per_second", "out_bytes_per_second")
_MAX_MISTAKES = 10


def read_cpu_samples(file: Path) -> CpuCalibration:
    """Read samples and fit them.

    Raises:
        RequestError: a column is missing, or a value is no number of zero or more, or one too many; one line each.
        InventoryError: the file cannot be read.
    """
    reader = csv.DictReader(io.StringIO(read_text_file(file), newline=""))
    try:
        return _fitted(reader, file)
    except csv.Error as error:
        msg = f"{file}: line {reader.line_num + 1}: is not CSV that can be read ({error}); fix the line"
        raise RequestError(msg) from error


def _fitted(reader: csv.DictReader[str], file: Path) -> CpuCalibration:
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise RequestError(f"{file}: has no column {', '.join(missing)}; the first line names {', '.join(COLUMNS)}")
    rows: list[list[float]] = []
    mistakes: list[str] = []
    for row in reader:
        if None in row:  # what there is beyond the last column
            mistakes.append(
                f"{file}: line {reader.line_num}: has more values than the first line has names; write numbers without "
                "commas in them, 3.1 and 41000000"
            )
            continue
        values = [_number(row[name]) for name in COLUMNS]
        mistakes += [
            f"{file}: line {reader.line_num}: {name} is {row[name]!r}; write a number of zero or more"
            for name, value in zip(COLUMNS, values, strict=True)
            if value is None
        ]
        rows.append([value for value in values if value is not None])
    if mistakes:
        more = len(mistakes) - _MAX_MISTAKES
        raise RequestError("\n".join([*mistakes[:_MAX_MISTAKES], *([f"… and {more} more"] if more > 0 else [])]))
    columns = np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS)).T
    return calibrate(columns[0], columns[1], columns[2], columns[3])


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
