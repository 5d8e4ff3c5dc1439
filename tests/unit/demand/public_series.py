"""Public series, from the files beside this one."""

from __future__ import annotations

import csv
import datetime
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"


def daily_series(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of a file beside ``day``, from the first day known to the last, NaN for others without one."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    day = np.array([datetime.date.fromisoformat(row["day"]).toordinal() for row in rows])
    found = {}
    for column in [name for name in rows[0] if name != "day"]:
        values = np.full(int(np.ptp(day)) + 1, np.nan)
        values[day - day.min()] = [float(row[column] or "nan") for row in rows]
        known = np.flatnonzero(np.isfinite(values))
        if len(known):
            found[column] = values[known[0] : known[-1] + 1]
    return found


def _only(name: str) -> np.ndarray:
    (values,) = daily_series(DATA / name).values()
    return values


def daily_page_views():
    """Return the views of a sportsman's page."""
    return _only("daily_page_views.csv")


def public_series():
    """Return all of them, by what they are of."""
    return {
        "page views": daily_page_views(),
        "page views, R": _only("daily_page_views_r.csv"),
        "bike rentals": _only("daily_bike_rentals.csv"),
    }
