"""How much a group reads, and how much it can."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.group_traffic import group_traffic, peak_hour
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from tests.builders import DS, cluster, rows_of, topic, with_rows
from tests.properties.strategies import repeatable
from tests.unit.inventory.broken import change_all
from tests.unit.inventory.inventories_with_groups import TOPICS, A, B, group, lag, member, only


def rates(raw, value):
    """Set the rate of each partition and hour: ``value(topic, partition, hour)``."""
    end = datetime.datetime.fromisoformat(f"{DS}T00:00:00+00:00")
    rows = rows_of(raw, "metrics")
    hours = max(int((end - row["hour"]).total_seconds()) // 3600 for row in rows)
    changed = []
    for row in rows:
        hour = hours - int((end - row["hour"]).total_seconds()) // 3600
        rate = value(row["topic"], row["partition"], hour)
        if rate != "missing":
            changed.append(row | {"bytes_in_bytes_per_second": rate})
    return with_rows(raw, "metrics", changed)


def test_the_peak_hour_is_one_hour_for_the_whole_group():
    raw = cluster(topics=TOPICS, groups=[group()], members=[A, B], lags=[lag(lag_records=0)], hours=200)
    # Partition 0 is highest in hour 7, partition 1 in hours 8 to 11; only one of 200 hours is above hour 8's total.
    peaks = {(0, 7): 9000.0, (1, 8): 5000.0, (1, 9): 5000.0, (1, 10): 4000.0}
    raw = rates(raw, lambda name, partition, hour: peaks.get((partition, hour), 1000.0) if name == "orders" else 1.0)
    snapshot = build_snapshot(raw)
    (facts,) = group_facts(raw, snapshot).facts

    assert facts.peak_bytes_per_second.tolist() == [1000.0, 5000.0, 1000.0, 1000.0]
    assert facts.estimated_capacity_bytes_per_second == 10000.0
    load = partition_load(raw, snapshot)
    assert facts.mean_bytes_per_second.tolist() == load.bytes_in_mean_bytes_per_second[2:].tolist()
    (again,) = group_facts(raw, snapshot, load=load).facts
    assert again.peak_bytes_per_second.tolist() == facts.peak_bytes_per_second.tolist()


def test_the_order_of_rows_does_not_matter():
    raw = cluster(
        topics=TOPICS,
        groups=[group(), group("h")],
        members=[A, B, member("a", ("audit", 1), group_id="h", subscribed=("audit", "orders"))],
        lags=[
            lag(partition=p, group_id=g, lag_records=p, log_start_offset=0, log_end_offset=9)
            for p in (0, 2)
            for g in "gh"
        ],
    )
    raw = rates(raw, lambda name, partition, hour: 100.0 + (37 * partition + 11 * hour) % 29)
    turned = raw
    for name in raw.tables:
        turned = with_rows(turned, name, rows_of(raw, name)[::-1])
    for one, other in zip(
        group_facts(raw, build_snapshot(raw)).facts, group_facts(turned, build_snapshot(turned)).facts, strict=True
    ):
        assert one.members == other.members
        assert one.estimated_capacity_bytes_per_second == other.estimated_capacity_bytes_per_second
        for name in ("owner", "peak_bytes_per_second", "mean_bytes_per_second", "start_lag_bytes"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_an_hour_that_is_not_known_counts_the_mean_and_one_without_any_does_not_count():
    raw = cluster(topics=[topic("orders", partitions=2)], groups=[group()], members=[member("a")], hours=4)
    told = {
        (0, 0): 10.0, (0, 1): None, (0, 2): "missing", (0, 3): 40.0,
        (1, 0): 1.0, (1, 1): 90.0, (1, 2): -5.0, (1, 3): 2.0,
    }  # fmt: skip
    raw = rates(raw, lambda _, partition, hour: told[partition, hour])
    (facts,) = group_facts(raw, build_snapshot(raw)).facts

    assert facts.history_hours == 3
    assert facts.peak_bytes_per_second.tolist() == [25.0, 90.0]


def test_without_a_history_there_are_no_rates_and_no_capacity():
    facts = only(hours=0, lags=[lag(lag_records=5)])

    assert facts.history_hours == 0
    assert facts.peak_bytes_per_second.tolist() == [0.0] * 4
    assert facts.mean_bytes_per_second.tolist() == [0.0] * 4
    assert facts.estimated_capacity_bytes_per_second is None


def test_a_partition_without_rates_is_known_as_such_and_its_reader_has_been_seen_at_no_limit():
    raw = cluster(topics=TOPICS, groups=[group()], members=[A, B], hours=9, lags=[lag(partition=0, lag_records=8_000)])
    whole = rates(raw, lambda name, partition, hour: (900.0 if hour > 5 else 1.0) if partition < 2 else 0.0)
    part = rates(raw, lambda name, partition, hour: 900.0 if partition in (0, 3) else "missing")

    (facts,) = group_facts(whole, build_snapshot(whole)).facts
    assert (facts.is_rate_known.all(), facts.is_estimate_a_limit) == (True, True)
    (facts,) = group_facts(part, build_snapshot(part)).facts
    assert facts.is_rate_known.tolist() == [True, False, False, True]
    assert facts.peak_bytes_per_second.tolist() == [900.0, 0.0, 0.0, 900.0]
    assert not facts.is_estimate_a_limit
    assert not only(hours=0).is_rate_known.any()


def test_what_waits_where_no_rate_is_known_says_nothing_of_how_fast_the_rest_was_read():
    raw = cluster(topics=TOPICS, groups=[group()], members=[A, B], lags=[lag(partition=0, lag_records=1e6)])
    raw = rates(raw, lambda name, partition, hour: "missing" if (name, partition) == ("orders", 0) else 1000.0)
    (facts,) = group_facts(raw, build_snapshot(raw)).facts
    assert (facts.estimated_capacity_bytes_per_second, facts.is_estimate_a_limit) == (2000.0, False)


def test_who_has_lost_records_has_not_read_them_either():
    # 150 hours of 168 behind, and the log holds the last of them: it has read what came in 18 hours.
    orders = [topic("orders", partitions=4, size_bytes=3_600_000)]
    offsets = {"committed_offset": 0, "log_start_offset": 536_400, "log_end_offset": 540_000}
    lost = only(members=[A], topics=orders, lags=[lag(**offsets)])
    kept = only(members=[A], topics=orders, lags=[lag(lag_records=540_000)])

    assert (lost.record_bytes, lost.start_lag_bytes[0], lost.lost_records[0]) == (1000.0, 3_600_000.0, 536_400.0)
    assert lost.estimated_capacity_bytes_per_second == kept.estimated_capacity_bytes_per_second


def test_without_anybody_who_reads_there_is_no_capacity():
    assert only(members=[member("a"), member("b")]).estimated_capacity_bytes_per_second is None


@pytest.mark.parametrize("hours", [1, 5, 99, 100, 101, 672])
def test_the_peak_hour_is_the_nearest_rank_and_the_earliest_of_equals(hours):
    totals = np.random.default_rng(hours).integers(0, 50, hours).astype(np.float64)
    chosen = peak_hour(totals)

    assert totals[chosen] == np.percentile(totals, 99, method="inverted_cdf")
    assert chosen == totals.tolist().index(totals[chosen])


HISTORY = np.array([[100.0, 500.0, 100.0, 300.0], [80.0, 80.0, 80.0, 80.0]], dtype=np.float32)


@pytest.mark.parametrize(
    ("lag_bytes", "capacity"),
    [
        # A minute of the mean rate: it keeps up.
        ([125.0 * 60, 0.0], 500.0),
        # Over the last three hours 900 bytes/s x hour came, of which 60 wait.
        ([60.0 * 3600, 0.0], 280.0),
        ([240.0 * 3600, 0.0], 220.0),
        ([1e9, 0.0], 80.0),
        ([1e9, 1e9], None),
    ],
)
def test_who_is_behind_has_read_what_came_less_what_waits(lag_bytes, capacity):
    history = np.pad(HISTORY, ((0, 0), (HISTORY.shape[1], 0)))  # quiet hours before, in which both kept up
    traffic = group_traffic(history, history.mean(axis=1), np.array([0, 1]), np.array(lag_bytes))

    assert traffic.best_read_bytes_per_second == capacity


@pytest.mark.parametrize(("behind_hours", "keeps_up"), [(48, [0, 1]), (48, [0, 0]), (500, [0, 1])])
def test_who_is_behind_by_days_without_more_being_produced_is_not_told_to_read_no_more(behind_hours, keeps_up):
    # It had stopped, or has been too slow since before the history begins: the mean of weeks is what neither can do.
    produced = np.tile(np.array([[60.0, 140.0] * 336], dtype=np.float32), (2, 1))
    lag_bytes = np.array([100.0 * 3600 * behind_hours, 0.0])
    traffic = group_traffic(produced, produced.mean(axis=1), np.array(keeps_up), lag_bytes)

    told = 140.0 if keeps_up == [0, 1] else None  # what the other one has read is told all the same
    assert (traffic.best_read_bytes_per_second, traffic.is_at_its_limit) == (told, False)


WORKING = np.tile(np.where((np.arange(24) >= 8) & (np.arange(24) < 20), 100.0, 20.0), 7).astype(np.float32)


@pytest.mark.parametrize(("hours", "reads"), [(4, 0.0), (4, None), (4, 1.0), (168, 0.0)])
def test_who_has_stopped_was_at_no_limit_when_it_was_seen_last(hours, reads):
    # Two partitions that members of their own keep up with: one is not read in the last hours, all of which wait.
    produced = np.stack([WORKING, WORKING / 2])
    read = produced.copy()
    read[0, -hours:] = np.nan if reads is None else reads * produced[0, -hours:]
    lag = np.array([produced[0, -hours:].sum() * 3600, 0.0])
    traffic = group_traffic(produced, produced.mean(axis=1), np.array([0, 1]), lag, read)
    if reads == 0.0:
        # The best hour before; who has never been seen to read tells nothing, and the other one what it did.
        assert (traffic.best_read_bytes_per_second, traffic.is_at_its_limit) == (100.0 if hours == 4 else 50.0, False)
    else:  # somebody read it, or that is not known: twelve working hours and four of the night, less what waits
        assert traffic.best_read_bytes_per_second == pytest.approx(12 * 100 / 16)
        assert traffic.is_at_its_limit


def test_who_has_stopped_while_it_was_behind_has_read_what_came_less_what_waited_then():
    produced = np.array([10.0] * 48 + [100.0] * 3 + [20.0])[None].astype(np.float32)
    read = np.where(np.arange(52) < 51, produced, 0.0).astype(np.float32)
    traffic = group_traffic(produced, produced.mean(axis=1), np.array([0]), np.array([140.0 * 3600]), read)
    # Of 300 bytes/s x hour that came in three hours 120 waited when it stopped.
    assert traffic.best_read_bytes_per_second == pytest.approx(60.0)
    assert not traffic.is_at_its_limit


def test_what_is_read_of_partitions_that_are_late_is_taken_out_of_the_inventory():
    raw = cluster(topics=TOPICS, groups=[group()], members=[A, B], lags=[lag(partition=0, lag_records=4 * 3600)])
    rows = rows_of(raw, "metrics")
    last = sorted({row["hour"] for row in rows})[-4:]

    def is_limit(**changes):
        told = [row | (changes if row["partition"] == 0 and row["hour"] in last else {}) for row in rows]
        inventory = with_rows(raw, "metrics", told)
        (facts,) = group_facts(inventory, build_snapshot(inventory)).facts
        return facts.is_estimate_a_limit, facts.estimated_capacity_bytes_per_second

    assert is_limit(bytes_out_bytes_per_second=0.0) == (False, 2000.0)
    # A compacted log does not tell how large its records are.
    raw = change_all(raw, "topics", cleanup_policy="compact")
    raw = change_all(raw, "lags", log_start_offset=0, log_end_offset=10**12)
    assert is_limit(bytes_out_bytes_per_second=0.0) == (False, 2000.0)
    assert is_limit(bytes_out_bytes_per_second=None) == is_limit()


@repeatable(80)
@given(st.data())
def test_what_a_member_is_said_to_have_read_it_has_read(data):
    """Replay: members read up to their capacity each hour; the estimate must stay below it, however far behind."""
    hours = data.draw(st.integers(1, 30))
    produced = np.array(data.draw(st.lists(st.integers(0, 50), min_size=hours, max_size=hours)), dtype=np.float32)
    capacity = data.draw(st.integers(1, 50))
    waiting = float(data.draw(st.integers(0, 100)))
    for rate in produced.tolist():
        waiting = max(0.0, waiting + rate - capacity)
    traffic = group_traffic(
        produced[None, :], produced[None, :].mean(axis=1), np.zeros(1, dtype=np.int32), np.array([waiting * 3600])
    )
    if waiting * 3600 > 60 * produced.mean():
        assert (traffic.best_read_bytes_per_second or 0.0) <= capacity * (1 + 1e-6)
    elif produced.any():
        assert traffic.best_read_bytes_per_second == produced.max()


def test_capacity_adds_up_what_one_member_reads():
    generator = np.random.default_rng(3)
    history = generator.integers(0, 1000, (40, 50)).astype(np.float32)
    owner = generator.integers(-1, 5, 40)
    traffic = group_traffic(history, history.mean(axis=1), owner, np.zeros(40))

    expected = max(history[owner == one].sum(axis=0).max() for one in range(5))
    assert traffic.best_read_bytes_per_second == expected
    assert math.isclose(traffic.peak_bytes_per_second.sum(), np.sort(history.sum(axis=0))[-1])
