"""The daily rates of an example: growth, a week, slow swings and noise, up to the day that it stands for."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_capacity.example.shapes import TopicKind
from kafka_capacity.inventory.tables import TABLES

WEEKDAY_FACTOR, WEEKEND_FACTOR = 1.04, 0.9

_SWING_RATIO = 0.012  # how far the traffic of alike topics wanders off in a week
_SWING_WEEKS = 26.0  # after so many weeks little is left of where it was
_NOISE_RATIO = 0.05


def history_table(
    names: Sequence[str],
    kinds: Sequence[TopicKind],
    rate_bytes_per_second: NDArray[np.float64],
    ds: str,
    *,
    days: int,
    seed: int,
) -> pa.Table:
    """Make the table of history.

    Args:
        names: T topics.
        kinds: of each.
        rate_bytes_per_second: float64[T], what is produced to each today.
        ds: the day that the example stands for; the history ends the day before.
        days: how many there are.
        seed: of the noise.
    """
    schema = TABLES["history"].schema
    if not days:
        return schema.empty_table()
    # Its own stream, so that an example with a history is otherwise the one without.
    rng = np.random.default_rng([seed, days])
    last = datetime.date.fromisoformat(ds).toordinal() - 1
    ordinal = np.arange(last - days + 1, last + 1)
    week = np.where((ordinal - 1) % 7 >= 5, WEEKEND_FACTOR, WEEKDAY_FACTOR)  # day 1 of the calendar was a Monday
    years = (ordinal - last) / 365.25
    swings = {prefix: _swing(rng, days) for prefix in dict.fromkeys(kind.prefix for kind in kinds)}
    growth = np.array([(1.0 + kind.growth_per_year_ratio) ** years for kind in kinds])
    noise = rng.lognormal(0.0, _NOISE_RATIO, growth.shape)
    level = np.array([swings[kind.prefix] for kind in kinds])
    bytes_in = np.rint(rate_bytes_per_second[:, None] * growth * week * level * noise)
    bytes_out = np.rint(bytes_in * np.array([kind.fan_out for kind in kinds])[:, None])
    seconds = (ordinal - datetime.date(1970, 1, 1).toordinal()) * 86_400
    rows = np.repeat(np.arange(len(names)), days)
    return pa.table(
        {
            "topic": pa.array(names).take(pa.array(rows)),
            "day": pa.array(np.tile(seconds, len(names)), pa.int64()).cast(pa.timestamp("s", tz="UTC")),
            "bytes_in_bytes_per_second": pa.array(bytes_in.ravel().astype(np.float32)),
            "bytes_out_bytes_per_second": pa.array(bytes_out.ravel().astype(np.float32)),
        },
        schema=schema,
    )


def _swing(rng: np.random.Generator, days: int) -> NDArray[np.float64]:
    """Return float64[days], a factor that wanders around 1 from week to week and is 1 on the last day."""
    weeks = days // 7 + 2
    logarithm = np.zeros(weeks)
    for place, step in enumerate(rng.normal(0.0, _SWING_RATIO, weeks - 1), start=1):
        logarithm[place] = logarithm[place - 1] * (1 - 1 / _SWING_WEEKS) + step
    # Made from today backwards.
    ago = np.arange(days)[::-1] / 7
    return np.asarray(np.exp(np.interp(ago, np.arange(weeks), logarithm)), dtype=np.float64)
