"""What a history of hourly rates says about everything that carries traffic, as Spark SQL.

The history has one row a partition and day with 24 hours in a list, so that 100,000 partitions × 90 days are nine
million rows. Sums are made of whole thousandths of a byte per second: the order in which Spark adds them cannot show.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kafka_capacity.objects.profile_tables import QUANTILES, rate_columns

HOURS = 24


def newest_hour(history: DataFrame) -> int:
    """Give the last hour of which anything is known, counted from 1970-01-01 0:00 UTC; -1 for none."""
    found = history.agg(F.max(F.unix_date("day") * HOURS + F.col("last_hour"))).collect()[0][0]
    return -1 if found is None else int(found)


def partitions_profile(history: DataFrame, *, end: int) -> DataFrame:
    """Describe each partition: rates, trend, peak hour, and how much of its history is known.

    Args:
        history: as :data:`kafka_capacity.inventory.history.HISTORY`.
        end: the hour after the newest, counted from 1970-01-01 0:00 UTC: up to there every hour is expected.
    """
    day = F.unix_date("day")
    sums = {way: _sum_of_day(F.col(f"bytes_{way}")) for way in ("in", "out")}
    days = _with_gaps(history).select(
        "*",
        day.alias("d"),
        sums["in"].alias("in_milli"),
        sums["out"].alias("out_milli"),
        F.when(F.col("known_hours") > 0, F.floor(sums["in"] / F.col("known_hours"))).alias("y"),
    )
    grouped = days.groupBy("topic", "partition").agg(
        *(_sorted_hours(f"bytes_{way}").alias(way) for way in ("in", "out")),
        F.sum("in_milli").alias("in_milli"),
        F.sum("out_milli").alias("out_milli"),
        F.sum("known_hours").alias("known_hours"),
        F.min(F.col("d") * HOURS + F.col("first_hour")).alias("first"),
        F.max(F.col("d") * HOURS + F.col("last_hour")).alias("last"),
        F.max("gap").alias("longest_gap_hours"),
        *_trend_sums("d", "y"),
        *(_hour_mean(F.col("bytes_in"), hour).alias(f"hour_{hour}") for hour in range(HOURS)),
    )
    expected = F.lit(end) - F.coalesce(F.col("first"), F.lit(end))
    return grouped.select(
        "topic",
        "partition",
        *_rates_of("in", F.col("in"), F.col("in_milli")),
        *_rates_of("out", F.col("out"), F.col("out_milli")),
        _slope().alias("trend_bytes_per_second_per_day"),
        _peak_hour([F.col(f"hour_{hour}") for hour in range(HOURS)]).alias("peak_hour_utc"),
        F.col("known_hours").cast("bigint"),
        expected.cast("bigint").alias("expected_hours"),
        F.when(expected > 0, F.col("known_hours") / expected).otherwise(F.lit(0.0)).alias("coverage_ratio"),
        F.coalesce("longest_gap_hours", F.lit(0)).cast("bigint").alias("longest_gap_hours"),
        (F.lit(end - 1) - F.coalesce(F.col("last"), F.lit(end - 1))).cast("bigint").alias("stale_hours"),
    )


def daily_totals(history: DataFrame, keys: Sequence[str], ways: dict[str, Column]) -> DataFrame:
    """Add partitions up by day, hour by hour.

    Gives the keys, ``day``, ``partitions`` (how many there are that day), and for each way ``<way>_sum`` and
    ``<way>_known``: 24 sums in thousandths of a byte per second, and of how many partitions each is.

    Args:
        history: with the columns of :data:`kafka_capacity.inventory.history.HISTORY` and the keys.
        keys: what to add up by.
        ways: a list of 24 rates a row, by the name of the way.
    """
    wide = history.groupBy(*keys, "day").agg(
        F.count(F.lit(1)).alias("partitions"),
        *(
            made.alias(f"{name}_{what}_{hour}")
            for name, hours in ways.items()
            for hour in range(HOURS)
            for what, made in (("sum", F.sum(_milli(hours[hour]))), ("known", F.count(hours[hour])))
        ),
    )
    return wide.select(
        *keys,
        "day",
        "partitions",
        *(
            F.array(*(F.coalesce(F.col(f"{name}_{what}_{hour}"), F.lit(0)) for hour in range(HOURS))).alias(
                f"{name}_{what}"
            )
            for name in ways
            for what in ("sum", "known")
        ),
    )


def _milli(rate: Column) -> Column:
    # Not round(): that takes a microsecond a value, by way of BigDecimal.
    return F.floor(rate.cast("double") * 1000.0 + 0.5)


def _sum_of_day(hours: Column) -> Column:
    total = F.lit(0).cast("bigint")
    for hour in range(HOURS):
        total = total + F.coalesce(_milli(hours[hour]), F.lit(0))
    return total


def _sorted_hours(column: str) -> Column:
    return F.sort_array(F.array_compact(F.flatten(F.collect_list(column))))


def _hour_mean(hours: Column, hour: int) -> Column:
    return F.sum(_milli(hours[hour])) / F.count(hours[hour])


def _rates_of(way: str, hours: Column, milli: Column) -> list[Column]:
    """Give the columns of one way from its sorted hours; null where nothing is known."""
    count = F.size(hours)
    mean = F.when(count > 0, milli / 1000.0 / count)
    found = [mean, *(_percentile(hours, count, quantile) for quantile in QUANTILES.values()), F.get(hours, count - 1)]
    return [made.cast("double").alias(column) for column, made in zip(rate_columns(way), found, strict=True)]


def _percentile(hours: Column, count: Column, quantile: float) -> Column:
    place = (count - 1) * F.lit(quantile)
    below = F.floor(place).cast("int")
    low = F.get(hours, below).cast("double")
    high = F.get(hours, F.least(below + 1, count - 1)).cast("double")
    return low + (high - low) * (place - below)


def _trend_sums(day: str, value: str) -> list[Column]:
    known = F.when(F.col(value).isNotNull(), F.col(day).cast("bigint"))
    return [
        F.count(value).alias("t_n"),
        F.min(known).alias("t_first"),
        F.sum(known).alias("t_d"),
        F.sum(known * known).alias("t_dd"),
        F.sum(value).alias("t_y"),
        F.sum(known * F.col(value)).alias("t_dy"),
    ]


def _slope() -> Column:
    """Give the least-squares slope of whole numbers, null for less than two days."""
    n, d, y = (F.col(f"t_{name}").cast("decimal(38,0)") for name in ("n", "d", "y"))
    below = n * F.col("t_dd") - d * d
    above = n * F.col("t_dy") - d * y
    return F.when(F.col("t_n") > 1, above.cast("double") / below.cast("double") / 1000.0)


def _peak_hour(means: list[Column]) -> Column:
    hours = F.array(*means)
    highest = F.array_max(hours)
    return F.when(highest.isNotNull(), F.array_position(hours, highest) - 1).cast("int")


def _with_gaps(history: DataFrame) -> DataFrame:
    """Add ``gap``: the longest run of unknown hours that ends in this day's known ones."""
    known = F.col("known_hours") > 0
    begin = F.when(known, F.unix_date("day") * HOURS + F.col("first_hour"))
    end = F.when(known, F.unix_date("day") * HOURS + F.col("last_hour"))
    before = F.last(end, ignorenulls=True).over(
        Window.partitionBy("topic", "partition").orderBy("day").rowsBetween(Window.unboundedPreceding, -1)
    )
    between = F.coalesce(begin - before - 1, F.lit(0))
    return history.withColumn("gap", F.when(known, F.greatest(F.col("longest_gap_hours"), between)).otherwise(F.lit(0)))
