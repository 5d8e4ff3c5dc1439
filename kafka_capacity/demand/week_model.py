"""The model of a series: its level, its own growth, last year's shape, and how far off all that was.

All is in logarithms of weekly means. There is one for the week that ends on each day, so that a day more moves nothing
by much.

* **Level**: exponential smoothing that is not moved by a single odd week (what is new is clipped). Of traffic that
  comes now and then it is that of the highest weeks of late, since weeks without traffic tell nothing of it.
* **Growth**: the slope, older days counting less, alone and beside a season of the year, since the rise of half a
  season is none; pulled to none as far as a series that wanders like this one shows such a slope by chance, and wearing
  off with the years.
* **Last year's shape** comes again by the share by which it has come again so far: the regression of what came on what
  came a year before, pulled to none where less than some quarters could tell.
* **Errors** are those of the same model, made on every past day with what was known then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kafka_capacity.demand.calendar_days import WEEK_DAYS
from kafka_capacity.demand.pauses import days_of_pauses, highest_of_late, intermittence
from kafka_capacity.kafka.arrays import Floats, Ints

YEAR_WEEKS = 52
YEAR_DAYS = YEAR_WEEKS * WEEK_DAYS
SMOOTHING = 0.5  # what a week counts in the level
CLIP_FACTOR = 3.0  # what is new counts up to so many times what is usual
LEVEL_DAYS = 35  # a forecast of the level is held against the median of the weeks that end on so many days around
FLOOR_RATIO = 0.02  # weeks with less of the mean are all the same
END_DAYS = 56  # at either end of a series
MAX_LAG_WEEKS = 8  # how far a level wanders is told by weeks up to so far apart
HALF_LIFE_DAYS = YEAR_DAYS / 2  # of what a day counts in growth
PERSISTENT_GROWTH_PER_YEAR = 0.3  # logarithm of growth that typically goes on: what slopes by chance are held against
LEFT_DAYS = 60.0  # what a line leaves of the level counts as one of so many days
MAX_GROWTH = float(np.log(3.0))  # a series' own growth makes three times as much at most: launches rise so for a time
TOP_SHARE = 0.1
MAX_OVER_TOP = float(np.log(1.5))  # single weeks are at most half as much again as the largest of the history
GROWTH_LASTS_WEEKS = 104.0  # growth wears off: in so many weeks e-fold
SEASON_PROOF_DAYS = 91.0  # so many days tell once whether last year's shape comes again
FIRST_ORIGIN = 21  # forecasts are made from the fourth week on
HORIZONS = np.array([1, 2, 4, 8, 13, 26, 39, 52, 78, 104])  # in weeks
SMALL_SHAPE = 0.05  # a year whose weeks stand off its level by so much, in logarithms, has half a shape: less is noise
_SHAPE_YEARS = 3
USUAL_WANDER, MEDIAN_NOISE = 0.03, 0.023
"""How far levels go astray in a week as a rule, and weeks are off their level in half of all series, in logarithms."""
UNKNOWN_NOISE, UNKNOWN_PAUSES = 0.05, 0.3
"""The same of weeks as far as too few of them tell, and how much more it is where traffic comes now and then."""
SEASON = 0.22  # the usual height of a season of the year, in logarithms
RISE_IS_GROWTH = 0.5  # how likely what rises or falls as a season might, in less than a year, is growth after all
USUAL_WEEKS = 3.0
"""What is usual counts as so many weeks of history: few weeks may seem not to wander at all, and then any slope would
be taken for growth."""
_INNER, _INNER_MEAN = 0.4, 0.2563
"""The innermost four tenths of a normal distribution are off by so many standard deviations on average."""
_TINY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeekModel:
    """What was fitted to a series."""

    level: float  # logarithm of the week to start from
    top: float  # logarithm of the largest week to think of over the level, but for what the level does
    past_top: float  # logarithm of the largest week of the history over the level
    path: Floats  # float64[W], logarithm over the level of each week ahead, if what may be a season's rise is that
    rising_path: Floats  # float64[W], the same if it is growth
    residuals: Floats  # float64[R], logarithms of weeks over the level around them, ascending
    noise_size: float  # the standard deviation of weeks around the level, without the odd ones
    errors: Floats  # float64[O, H], of past forecasts of the level at `HORIZONS`, NaN beyond the end
    naive_errors: Floats  # float64[O, H], those of the last week again
    growth_per_year: float  # logarithm of the growth that goes on
    season_share: float  # by how much last year's shape comes again


def fit_weeks(values: Floats, weeks_ahead: int) -> WeekModel:
    """Fit the model to float64[N], a week of days at least, not negative, without gaps or shifts."""
    means = sliding_window_view(values, WEEK_DAYS).mean(axis=1)
    weeks = np.log(np.maximum(means, _least(values)))
    pause_days = days_of_pauses(means, YEAR_DAYS)
    busy = highest_of_late(weeks, pause_days)
    count = len(weeks)
    level = _levels(busy, pause_days)
    slope, certain = _slopes(busy, level, pause_days)
    growing = RISE_IS_GROWTH * slope + (1 - RISE_IS_GROWTH) * certain
    lag = WEEK_DAYS * (1 - SMOOTHING) / SMOOTHING
    start = level + slope * np.minimum(lag, np.arange(count) / 2)
    target = _around(busy, LEVEL_DAYS // 2)
    origins = np.arange(min(FIRST_ORIGIN, count - 1), count)
    year = np.arange(1, YEAR_WEEKS + 1)
    shape = _last_years(target, slope, origins, year)
    share = _season_shares(target, start, slope, origins, shape)
    came = _came(target, origins, HORIZONS)
    forecast = start[origins, None] + growing[origins, None] * _worn(HORIZONS)
    forecast += share[:, None] * shape[:, (HORIZONS - 1) % YEAR_WEEKS]
    ahead = np.arange(1, weeks_ahead + 1)
    growth = np.clip(np.outer([certain[-1], slope[-1]], _worn(ahead)), -MAX_GROWTH, MAX_GROWTH)
    path, rising_path = growth + share[-1] * np.resize(shape[-1], weeks_ahead)
    # What a series came down from by a trend or a season of its own is no burst to come again.
    ago = np.arange(count)[::-1]
    fallen = weeks + min(0.0, float(slope[-1])) * ago
    fallen -= share[-1] * shape[-1][(-1 - ago // WEEK_DAYS) % YEAR_WEEKS]
    # The largest week to think of is as far above the largest as the largest tenth is above its least, twice.
    largest, (_, excess) = float(fallen.max()), top_share(fallen, TOP_SHARE)
    return WeekModel(
        level=float(start[-1]),
        top=max(0.0, largest + min(2 * excess, MAX_OVER_TOP) - float(start[-1])),
        past_top=max(0.0, largest - float(start[-1])),
        path=path,
        rising_path=rising_path,
        residuals=np.sort(weeks - target),
        noise_size=_with_usual(_usual_size(busy - target), MEDIAN_NOISE, count),
        errors=came - forecast,
        naive_errors=came - weeks[origins, None],
        growth_per_year=float(growing[-1]) * YEAR_DAYS,
        season_share=float(share[-1]),
    )


def _least(values: Floats) -> float:
    """Return below which weeks are all the same: a share of the mean, of both ends where that of one is less.

    Where a series has grown or fallen many times over, its mean says little of one end; what is hardly anything of the
    mean of all is nothing anyway.
    """
    mean, ends = values.mean(), (values[:END_DAYS].mean(), values[-END_DAYS:].mean())
    return float(FLOOR_RATIO * max(min(mean, *ends), FLOOR_RATIO * mean))


def top_share(values: Floats, share: float) -> tuple[float, float]:
    """Return where the largest share of some values begins, and by how much they are above that on average."""
    least = float(np.quantile(values, 1 - share))
    return least, float(np.maximum(values - least, 0.0).mean()) / share


def _around(values: Floats, reach: int) -> Floats:
    """Return float64[N], the median of so many values before and after each; of fewer at both ends."""
    padded = np.concatenate([np.full(reach, np.nan), values, np.full(reach, np.nan)])
    rows = np.sort(sliding_window_view(padded, 2 * reach + 1), axis=1)
    known = np.isfinite(rows).sum(axis=1)
    place = np.arange(len(values))
    return np.asarray((rows[place, (known - 1) // 2] + rows[place, known // 2]) / 2)


def _levels(weeks: Floats, pause_days: float) -> Floats:
    """Return float64[N], the smoothed level as it was known on each day."""
    lag = min(WEEK_DAYS + round(pause_days), len(weeks) - 1)
    usual = _size(weeks[lag:] - weeks[:-lag], pause_days) if lag else 0.0
    clip = CLIP_FACTOR * max(usual, _TINY)
    smoothing = 1 - (1 - SMOOTHING) ** (1 / WEEK_DAYS)
    found = np.empty(len(weeks))
    level = float(np.median(weeks[: 2 * WEEK_DAYS]))
    for place, week in enumerate(weeks.tolist()):
        level += smoothing * min(max(week - level, -clip), clip)
        found[place] = level
    return found


def _slopes(weeks: Floats, level: Floats, pause_days: float) -> tuple[Floats, Floats]:
    """Return float64[N] twice, growth a day as it was known on each day: the slope alone, and beside a season.

    Both are least squares in which older days count less; growth and the season are both as large as usual, more or
    less, and what is left of the level is by chance.
    """
    day = np.arange(len(level), dtype=np.float64)
    turn = 2 * np.pi * day / YEAR_DAYS
    columns = np.array([np.ones(len(level)), day, np.sin(turn), np.cos(turn), level])
    weight = 2.0 ** (day / HALF_LIFE_DAYS)
    products = np.cumsum(weight * columns[:, None] * columns, axis=2).transpose(2, 0, 1) / weight[:, None, None]
    total, mean = products[:, 0, 0], products[:, 0] / products[:, :1, 0]
    centred = products - total[:, None, None] * mean[:, :, None] * mean[:, None, :]
    squares, with_level = centred[:, 1:4, 1:4], centred[:, 1:4, 4]
    of_days = squares[:, 0, 0]
    in_weeks = np.sqrt(12 * of_days / total + 1) / WEEK_DAYS
    wander, noise = _variances(weeks, pause_days)
    # The square of a slope by chance, times the squares of days: the same as a square of what is left.
    off = (1.2 * wander / in_weeks + 12.0 * noise / in_weeks**3) / WEEK_DAYS**2 * of_days
    # What a line leaves, such as a bend, stays for a while.
    left = np.maximum(centred[:, 4, 4] - with_level[:, 0] ** 2 / np.maximum(of_days, _TINY), 0.0) / total
    off = np.maximum(off, LEFT_DAYS * left)
    growth = (PERSISTENT_GROWTH_PER_YEAR / YEAR_DAYS) ** 2
    least = np.array([1 / growth, 2 / SEASON**2, 2 / SEASON**2])
    squares = squares + off[:, None, None] * np.diag(least) + _TINY**2 * np.eye(3)
    alone = with_level[:, 0] / squares[:, 0, 0]
    beside = np.linalg.solve(squares, with_level[..., None])[:, 0, 0]
    return np.asarray(alone), np.asarray(beside, dtype=np.float64)


def _usual_size(values: Floats) -> float:
    """Return the standard deviation of what is usual: of a batch each month half of all differences tell nothing."""
    inner = np.sort(np.abs(values))[: max(1, round(_INNER * len(values)))]
    return float(inner.mean()) / _INNER_MEAN


def _size(values: Floats, pause_days: float) -> float:
    """Return the standard deviation: of what is usual, and of everything where traffic comes now and then."""
    share = intermittence(pause_days)
    whole = max(float(np.sqrt((values**2).mean())), _TINY)
    return float(max(_usual_size(values), _TINY) ** (1 - share) * whole**share)


def _variances(weeks: Floats, pause_days: float) -> tuple[float, float]:
    """Return the variance of where the level goes astray in a week, and that of a week around the level.

    They come from what is new in a change against the change before, which growth that goes on is no part of, whenever
    it began.
    """

    def spread(lag: int) -> float:
        lag += round(pause_days)
        new = weeks[2 * lag :] - 2 * weeks[lag:-lag] + weeks[: -2 * lag]
        return _size(new - np.median(new), pause_days) ** 2

    few = 3 * WEEK_DAYS
    days = max(0, len(weeks) - 2 * round(pause_days) - 2 * few)
    wander, noise = USUAL_WANDER**2, (UNKNOWN_NOISE + UNKNOWN_PAUSES * intermittence(pause_days)) ** 2
    if days:
        far = min(MAX_LAG_WEEKS, 2 + days / few)
        # Between two whole weeks, so that it does not turn on the day on which one more of them fits.
        part = far - int(far)
        short, long = spread(WEEK_DAYS), (1 - part) * spread(int(far) * WEEK_DAYS)
        if part:
            long += part * spread((int(far) + 1) * WEEK_DAYS)
        own_wander = max(0.0, (long - short) / 2 / (far - 1))
        own_noise = max(0.0, (short - 2 * own_wander) / 6)
        wander, noise = _with_usual(own_wander, wander, days), _with_usual(own_noise, noise, days)
    # The highest week of late is the same for so long.
    return wander, noise * (1 + pause_days / WEEK_DAYS)


def _with_usual(own: float, usual: float, days: int) -> float:
    """Return what so many days show, and what is usual the more the fewer they are."""
    share = days / (days + USUAL_WEEKS * WEEK_DAYS)
    return share * own + (1 - share) * usual


def _worn(weeks: Ints) -> Floats:
    """Return float64[H], for how many days growth goes on at full in so many weeks."""
    return np.asarray(WEEK_DAYS * GROWTH_LASTS_WEEKS * -np.expm1(-weeks / GROWTH_LASTS_WEEKS))


def _came(target: Floats, origins: Ints, weeks: Ints) -> Floats:
    """Return float64[O, H], the levels that came after each origin, NaN beyond the end."""
    padded = np.concatenate([target, np.full(int(weeks[-1]) * WEEK_DAYS, np.nan)])
    return np.asarray(padded[origins[:, None] + WEEK_DAYS * weeks])


def _last_years(target: Floats, slope: Floats, origins: Ints, weeks: Ints) -> Floats:
    """Return float64[O, A], how the level moved in the same weeks of earlier years, without growth; 0 for no year."""
    found = np.zeros((len(origins), len(weeks)))
    number = np.zeros(len(origins))
    for year in range(1, _SHAPE_YEARS + 1):
        first = origins - year * YEAR_DAYS
        has_year = first >= 0
        number += has_year
        then, now = first[has_year], origins[has_year]
        at = np.minimum(then[:, None] + WEEK_DAYS * weeks, now[:, None])
        found[has_year] += target[at] - target[then, None]
    has_any = number > 0
    found[has_any] /= number[has_any, None]
    found[has_any] -= slope[origins[has_any], None] * WEEK_DAYS * weeks
    return found


def _season_shares(target: Floats, start: Floats, slope: Floats, origins: Ints, shape: Floats) -> Floats:
    """Return float64[O], the share of last year's shape that came again, as it was known at each origin."""
    year = np.arange(1, YEAR_WEEKS + 1)
    came = _came(target, origins, year) - start[origins, None] - slope[origins, None] * WEEK_DAYS * year
    is_known = np.isfinite(came) & (origins >= YEAR_DAYS)[:, None]
    at = (origins[:, None] + WEEK_DAYS * year)[is_known]
    size = np.cumsum(np.bincount(at, weights=(shape**2)[is_known] + SMALL_SHAPE**2, minlength=len(target)))[origins]
    product = np.cumsum(np.bincount(at, weights=(shape * came)[is_known], minlength=len(target)))[origins]
    share = np.divide(product, size, out=np.zeros(len(origins)), where=size > 0)
    proof = np.maximum(0, origins - YEAR_DAYS) / SEASON_PROOF_DAYS
    return np.asarray(np.clip(share, 0.0, 1.0) * proof / (proof + 1.0))
