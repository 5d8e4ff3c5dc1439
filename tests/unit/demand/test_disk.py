"""Sizes of logs at each date: by hand, and against a log that is written and deleted hour by hour."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.demand.disk import partition_sizes
from tests.unit.questions.capacity.workloads import DAY, GIB, workload

DATES = ("2026-11-20", "2026-11-30", "2026-12-10")


def sizes(**options):
    return partition_sizes(workload(dates=DATES, **({"middle": [[1, 1, 1]]} | options)))[0, 0].tolist()


def test_a_full_log_grows_with_the_mean_ratio_over_its_retention():
    # Ten days later the last five of ten days of doubling: from 1.5 to 2, 1.75 on average.
    rate = GIB / (5 * DAY)
    assert sizes(bytes_in=[rate], retention=5 * DAY, middle=[[1, 2, 2]]) == pytest.approx([GIB, 1.75 * GIB, 2 * GIB])


def test_what_a_full_log_takes_beyond_its_records_grows_with_them():
    rate = GIB / (5 * DAY)
    assert sizes(bytes_in=[rate], size=1.2 * GIB, retention=5 * DAY, middle=[[2, 2, 2]]) == pytest.approx(
        [2.4 * GIB] * 3, rel=1e-6
    )


def test_a_log_is_as_old_as_what_was_written_of_late_says():
    day, limit = 24, {"retention": 7 * DAY, "middle": [[1, 1, 1]]}

    def later(rates, held_days):
        hours = np.repeat(rates, day) * GIB / DAY
        held = float(hours[-held_days * day :].sum() * 3600)
        return [size / GIB for size in sizes(bytes_in=[hours.mean()], hours_in=[hours], size=held, **limit)]

    # Three times as much on two days three weeks ago: the mean of four weeks has it, the log of a week has not.
    burst = [1.0] * 7 + [3.0] * 2 + [1.0] * 19
    assert later(burst, held_days=7) == pytest.approx([7.0, 7 * 32 / 28, 7 * 32 / 28], rel=1e-3)
    # Half as much for eleven days, three days ago: the log has four of them, and is full of the mean a week later.
    dip = [1.0] * 14 + [0.5] * 11 + [1.0] * 3
    assert later(dip, held_days=7) == pytest.approx([5.0, 7 * 22.5 / 28, 7 * 22.5 / 28], rel=1e-3)
    # A day later one of its seven days has come at the mean rate, by which alone the log would be one that fills up.
    hours = np.repeat(burst, day) * GIB / DAY
    soon = workload(
        dates=("2026-11-20", "2026-11-21"), bytes_in=[hours.mean()], hours_in=[hours], size=7 * GIB, retention=7 * DAY,
        middle=[[1, 28 / 32]],
    )  # fmt: skip
    assert partition_sizes(soon)[0, 0, 1] / GIB == pytest.approx(6 + 32 / 28, rel=1e-6)
    # A log that holds far more than its hours explain tells nothing of them.
    quiet = [1.0] * 21 + [1e-6] * 7
    assert later(quiet, held_days=28)[1:] == pytest.approx([21.0, 21.0], rel=1e-3)


@pytest.mark.parametrize(("days", "held"), [(1, 4.0), (3, 6.0), (5, 6.0)])
def test_a_planned_event_counts_from_its_first_day_to_the_end_of_its_last(days, held):
    """Twice as much on so many days: where these end, as many of the last three days that the log keeps have it."""
    dates = ("2026-11-20", "2026-11-30", "2026-12-01", f"2026-12-{days:02d}", f"2026-12-{days + 1:02d}", "2026-12-20")
    ratios = dict(zip(dates, [1, 1, 2, 2, 1, 1], strict=True))
    at = sorted(ratios)  # of a single day the first is the last
    launch = workload(
        dates=tuple(at), bytes_in=[GIB / DAY], size=3 * GIB, retention=3 * DAY, middle=[[ratios[day] for day in at]]
    )
    by_day = dict(zip(at, (partition_sizes(launch)[0, 0] / GIB).tolist(), strict=True))
    assert by_day["2026-12-01"] == pytest.approx(3.0)  # as it begins
    assert by_day[f"2026-12-{days + 1:02d}"] == pytest.approx(held)
    assert by_day["2026-12-20"] == pytest.approx(3.0)


def test_a_filling_log_fills_until_its_retention_and_one_more_segment():
    rate = GIB / DAY
    filling = sizes(bytes_in=[rate], size=2 * GIB, retention=15 * DAY, segment=GIB)
    assert filling == pytest.approx([2 * GIB, 12 * GIB, 16 * GIB])


def test_a_log_without_limit_grows_by_all_that_is_written():
    rate = GIB / DAY
    endless = sizes(bytes_in=[rate], size=2 * GIB, retention=np.inf, middle=[[1, 2, 2]])
    assert endless == pytest.approx([2 * GIB, 17 * GIB, 37 * GIB])


def test_a_limit_in_bytes_caps_with_one_more_segment():
    rate = GIB / DAY
    capped = sizes(bytes_in=[rate], size=2 * GIB, retention=np.inf, retention_bytes=5 * GIB, segment=GIB)
    assert capped == pytest.approx([2 * GIB, 6 * GIB, 6 * GIB])


def test_a_compacted_log_grows_as_its_traffic():
    assert sizes(bytes_in=[1e3], size=3 * GIB, is_compacted=True, middle=[[1, 2, 4]]) == [3 * GIB, 6 * GIB, 12 * GIB]


def test_a_log_without_known_traffic_keeps_its_size():
    assert sizes(bytes_in=[0.0], size=GIB, retention=DAY, middle=[[1, 2, 2]]) == [GIB] * 3
    assert sizes(bytes_in=[0.0], size=GIB, retention=np.inf) == [GIB] * 3


def test_a_log_that_is_nearly_full_fills_up_without_another_segment():
    # 12 of 15 days are there, be it young or its traffic a quarter higher than it was.
    nearly = sizes(bytes_in=[GIB / DAY], size=12 * GIB, retention=15 * DAY, segment=GIB)
    assert nearly == pytest.approx([12 * GIB, 15 * GIB, 15 * GIB])


def test_what_is_left_of_higher_traffic_does_not_grow():
    # A day's traffic and a segment twice are explained; of 100 GiB with a GiB a day for 10 days 22 are, and 78 are not.
    left = {"bytes_in": [GIB / DAY], "size": 100 * GIB, "retention": 10 * DAY, "segment": GIB}
    assert sizes(**left, middle=[[1, 1.5, 2]]) == pytest.approx([100 * GIB] * 3)
    assert sizes(**left, middle=[[8, 8, 8]]) == pytest.approx([176 * GIB] * 3)
    # With less traffic, or a shorter retention, less of both is there.
    assert sizes(**left, middle=[[1, 0.5, 0.5]]) == pytest.approx([100 * GIB, 94.5 * GIB, 89 * GIB])
    assert sizes(**left, retention_changes=[[1, 0.5, 0.5]]) == pytest.approx([100 * GIB, 50 * GIB, 50 * GIB])


def test_shorter_retention_frees_at_once_and_longer_fills_up_again():
    rate = GIB / DAY
    full = {"bytes_in": [rate], "size": 10 * GIB, "retention": 10 * DAY}
    assert sizes(**full, retention_changes=[[1, 0.5, 2]]) == pytest.approx([10 * GIB, 5 * GIB, 15 * GIB])


def test_a_planned_retention_is_the_topics_and_what_brokers_keep_of_a_tiered_one_is_less():
    tiered = {"bytes_in": [GIB / DAY], "size": 3 * GIB, "retention": 3 * DAY, "whole_retention": 30 * DAY}
    for change, kept in ((2.0, 3), (0.5, 3), (0.05, 1.5)):
        assert sizes(**tiered, retention_changes=[[1, change, change]])[1:] == pytest.approx([kept * GIB] * 2)


@pytest.mark.parametrize("kept", [{"retention": 0.0}, {"retention": 0.0, "whole_retention": 10 * DAY}])
def test_a_topic_that_is_purged_by_a_retention_of_0_has_a_size(kept):
    purged = {"bytes_in": [GIB / DAY], "size": GIB, "segment": GIB, **kept}
    assert sizes(**purged) == pytest.approx([GIB] * 3)
    assert sizes(**purged, retention_changes=[[1, 2, 2]]) == pytest.approx([GIB] * 3)


@settings(deadline=None)
@given(
    rate=st.sampled_from([0.0, 1e-9, 1.0, 1e12, 1e30]),
    size=st.sampled_from([0, 1, GIB, 2**62]),
    retention=st.sampled_from([0.0, 1e-3, DAY, 1e15, np.inf]),
    whole_retention=st.sampled_from([0.0, DAY, np.inf]),
    retention_bytes=st.sampled_from([0.0, 1.0, GIB, np.inf]),
    segment=st.sampled_from([0.0, GIB]),
    is_compacted=st.booleans(),
    changes=st.sampled_from([[1, 1, 1], [1, 1e-3, 2], [1, 1e9, 1e-9]]),
    ratio=st.sampled_from([[1, 1, 1], [0, 0, 0], [1, 1e6, 0]]),
)
def test_every_log_has_a_size_whatever_its_settings(rate, size, changes, ratio, **settings):
    """What is no number would be within every limit."""
    found = sizes(bytes_in=[rate], size=size, retention_changes=[changes], middle=[ratio], **settings)
    assert np.isfinite(found).all()
    assert min(found) >= 0


@settings(deadline=None, max_examples=60)
@given(
    ratio=st.tuples(st.just(1.0), st.floats(0.3, 3.0), st.floats(0.3, 3.0)),
    retention_days=st.integers(1, 40),
    age_days=st.integers(1, 60),
    changes=st.tuples(st.just(1.0), st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from([0.5, 1.0, 2.0])),
)
def test_sizes_are_those_of_a_log_written_hour_by_hour(ratio, retention_days, age_days, changes):
    """The log's own rate is 1 byte an hour today; a segment is nothing, so that deletion is exact."""
    held = min(retention_days, age_days) * 24
    found = partition_sizes(
        workload(
            [1000 / 3600],
            size=held * 1000,
            retention=retention_days * DAY,
            segment=0,
            dates=DATES,
            middle=[ratio],
            retention_changes=[changes],
        )
    )[0, 0]
    written = [(-hour - 1, 1000.0) for hour in range(held)]
    expected = []
    for hour in range(20 * 24 + 1):
        place = min(hour // 240, 2)
        # A longer retention counts from just after the date before, a shorter one from its own date on.
        both = changes[place : place + 2] if hour % 240 else changes[place : place + 1]
        limit = retention_days * 24 * max(both)
        written = [(at, size) for at, size in written if at >= hour - limit]
        if hour % 240 == 0:
            expected.append(sum(size for _, size in written))
        now = np.interp(hour + 0.5, [0, 240, 480], ratio)
        written.append((hour, 1000.0 * now))
    assert found.tolist() == pytest.approx(expected, rel=2e-3)
