"""What the simulation of groups is told about them."""

from __future__ import annotations

import datetime
import doctest
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.cluster.topic_ids import made_up_topic_id
from kafka_capacity.groups.registry import GroupProtocol
from kafka_capacity.inventory import group_facts as group_facts_module
from kafka_capacity.inventory import group_traffic as group_traffic_module
from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.group_traffic import group_traffic, peak_hour
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from tests.builders import DS, GIB, cluster, rows_of, topic, with_rows
from tests.properties.strategies import repeatable

TOPICS = (topic("orders", partitions=4, bytes_in=1000.0), topic("audit", partitions=2, bytes_in=500.0))


def group(group_id="g", **changes):
    return {
        "group_id": group_id,
        "state": "Stable",
        "group_type": "classic",
        "protocol_type": "consumer",
        "assignor": "range",
    } | changes


def member(member_id, *assigned, group_id="g", subscribed=("orders",), **changes):
    pairs = [{"topic": name, "partition": number} for name, number in assigned]
    return {
        "group_id": group_id,
        "member_id": member_id,
        "subscribed": None if subscribed is None else list(subscribed),
        "assigned": pairs,
    } | changes


def lag(topic="orders", partition=0, group_id="g", **changes):
    return {"group_id": group_id, "topic": topic, "partition": partition} | changes


A = member("a", ("orders", 0), ("orders", 1))
B = member("b", ("orders", 2), ("orders", 3))


def found(*, groups=None, members=(A, B), lags=(), topics=TOPICS, memory=None, **options):
    raw = cluster(topics=topics, groups=[group()] if groups is None else groups, members=members, lags=lags, **options)
    raw = with_rows(raw, "brokers", [row | {"memory_bytes": memory} for row in rows_of(raw, "brokers")])
    return group_facts(raw, build_snapshot(raw))


def only(**options):
    answer = found(**options)
    assert answer.skipped == ()
    (facts,) = answer.facts
    return facts


def test_a_group_comes_with_its_members_partitions_and_owners():
    seat = member("b", ("orders", 2), ("orders", 3), instance_id="seat-1", rack="a")
    facts = only(members=(A, seat))

    assert (facts.group_id, facts.protocol, facts.assignor) == ("g", GroupProtocol.CLASSIC, "range")
    assert [(one.member_id, one.topics, one.instance_id, one.rack) for one in facts.members] == [
        ("a", ("orders",), None, None),
        ("b", ("orders",), "seat-1", "a"),
    ]
    assert facts.members[1].owned.pairs() == [("orders", 2), ("orders", 3)]
    assert [(one.name, one.partitions) for one in facts.topics] == [("orders", 4)]
    assert [facts.partition_name(row) for row in range(len(facts))] == ["orders-0", "orders-1", "orders-2", "orders-3"]
    assert facts.owner.tolist() == [0, 0, 1, 1]
    assert facts.mean_bytes_per_second.tolist() == [1000.0] * 4
    assert facts.peak_bytes_per_second.tolist() == [1000.0] * 4
    assert facts.history_hours == 168
    assert (facts.topic.dtype, facts.partition.dtype, facts.owner.dtype) == (np.int32,) * 3


def test_a_group_of_kip_848_is_one_of_the_coordinator():
    facts = only(groups=[group(group_type="Consumer", protocol_type=None, assignor="uniform")])

    assert (facts.protocol, facts.assignor) == (GroupProtocol.CONSUMER, "uniform")


@pytest.mark.parametrize(("group_type", "assignor"), [(None, "range"), ("classic", "range"), ("consumer", "uniform")])
def test_an_assignor_that_is_not_told_is_kafkas_default(group_type, assignor):
    assert only(groups=[group(group_type=group_type, assignor=None)]).assignor == assignor


def test_several_topics_are_sorted_by_name():
    both = member("a", ("orders", 3), ("audit", 1), subscribed=("orders", "audit"))
    facts = only(members=[both, member("b", ("audit", 0))])

    assert [one.name for one in facts.topics] == ["audit", "orders"]
    assert facts.topic.tolist() == [0, 0, 1, 1, 1, 1]
    assert facts.partition.tolist() == [0, 1, 0, 1, 2, 3]
    assert facts.owner.tolist() == [1, 0, -1, -1, -1, 0]
    assert facts.mean_bytes_per_second.tolist() == [500.0] * 2 + [1000.0] * 4


def test_of_two_that_hold_a_partition_the_first_reads_it():
    assert only(members=(A, member("b", ("orders", 1)))).owner.tolist() == [0, 0, -1, -1]


def test_who_does_not_tell_its_topics_subscribes_to_what_it_is_assigned_and_an_idle_one_to_everything():
    facts = only(
        members=[
            member("a", ("orders", 0), subscribed=None),
            member("b", ("audit", 0), subscribed=None),
            member("c", subscribed=None),
        ]
    )

    assert [one.topics for one in facts.members] == [("orders",), ("audit",), ("audit", "orders")]


def test_what_nobody_subscribes_to_any_more_and_what_does_not_exist_are_left_out():
    facts = only(members=[member("a", ("orders", 1), ("audit", 0), subscribed=("orders", "gone"))])

    assert facts.members[0].topics == ("orders",)
    assert facts.members[0].owned.pairs() == [("orders", 1)]
    assert [one.name for one in facts.topics] == ["orders"]


def test_groups_are_sorted_and_each_has_its_own():
    facts = found(
        groups=[group("z"), group("b")],
        members=[
            member("m", ("orders", 0), group_id="z"),
            member("m", ("audit", 0), group_id="b", subscribed=("audit",)),
        ],
        lags=[lag(group_id="b", topic="audit", lag_records=3), lag(group_id="z", partition=2, lag_records=7)],
    ).facts

    assert [(one.group_id, one.start_lag_bytes.tolist()) for one in facts] == [
        ("b", [3000.0, 0.0]),
        ("z", [0.0, 0.0, 7000.0, 0.0]),
    ]


@pytest.mark.parametrize(
    ("changes", "members", "lags", "reason"),
    [
        (
            {"group_type": "share", "protocol_type": "share"},
            [A],
            [],
            "A share group: several members read a partition at once, and a rebalance stops nobody.",
        ),
        (
            {"group_type": "streams"},
            [A],
            [],
            "A group of type 'streams': its members do not share partitions as consumers do.",
        ),
        (
            {"protocol_type": "connect"},
            [A],
            [],
            "A group of protocol type 'connect': its members share other things than partitions.",
        ),
        (
            {"protocol_type": None, "assignor": None},
            [],
            [lag(lag_records=3)],
            "Its consumers take partitions by hand (assign), so that it never rebalances.",
        ),
        ({}, [], [lag(lag_records=3)], "It has no members, so nobody subscribes to anything."),
        (
            {"group_type": "consumer", "protocol_type": None},
            [],
            [],
            "It has no members, so nobody subscribes to anything.",
        ),
        (
            {"state": "PreparingRebalance", "assignor": None},
            [member("a", subscribed=None)],
            [],
            "It was 'PreparingRebalance' when the inventory was taken: Kafka tells what members read when it is "
            "'Stable'.",
        ),
        (
            {},
            [member("a", subscribed=None)],
            [],
            "The inventory tells neither what its members subscribe to nor what they are assigned.",
        ),
        (
            {},
            [member("a", subscribed=("x", "gone", "more", "even-more"))],
            [],
            "None of its topics is in the inventory ('even-more', 'gone', 'more', …).",
        ),
    ],
)
def test_a_group_that_is_not_simulated_says_why(changes, members, lags, reason):
    answer = found(groups=[group(**changes)], members=members, lags=lags)

    assert answer.facts == ()
    assert [(one.group_id, one.reason) for one in answer.skipped] == [("g", reason)]


def test_an_inventory_without_groups_has_nothing_to_tell():
    answer = found(groups=[], members=[])
    assert (answer.facts, answer.skipped) == ((), ())
    nothing = found(topics=[], members=[A])
    assert nothing.facts == ()
    assert [one.reason for one in nothing.skipped] == ["None of its topics is in the inventory ('orders')."]


def test_the_size_of_a_record_is_the_size_of_the_log_by_its_records():
    lags = [
        lag(partition=0, log_start_offset=100, log_end_offset=100 + 2**20, committed_offset=100 + 2**20 - 10),
        lag(partition=1, log_start_offset=0, log_end_offset=3 * 2**20, lag_records=0),
        lag(partition=2, log_end_offset=7, lag_records=2),
    ]
    facts = only(lags=lags)

    assert facts.is_record_size_known
    assert facts.record_bytes == 512.0
    assert facts.start_lag_bytes.tolist() == [5120.0, 0.0, 1024.0, 0.0]


@pytest.mark.parametrize(
    ("settings", "offsets", "size_bytes"),
    [
        ({"cleanup_policy": "compact,delete"}, {"log_start_offset": 0, "log_end_offset": 1000}, GIB),
        ({}, {"log_start_offset": None, "log_end_offset": 1000}, GIB),
        ({}, {"log_start_offset": 1000, "log_end_offset": 1000}, GIB),
        ({}, {"log_start_offset": 0, "log_end_offset": 1000}, None),
    ],
)
def test_where_nothing_tells_the_size_of_a_record_it_is_a_usual_one(settings, offsets, size_bytes):
    orders = topic("orders", partitions=4, settings=settings, size_bytes=size_bytes)
    facts = only(topics=[orders], lags=[lag(lag_records=4) | offsets])

    assert (facts.record_bytes, facts.is_record_size_known) == (1000.0, False)
    assert facts.start_lag_bytes.tolist() == [4000.0, 0.0, 0.0, 0.0]


def test_topics_have_their_ids_or_made_up_ones():
    known = topic("audit", partitions=2, settings={"topic_id": "AAAAAAAAAAAAAAAAAAAAAQ"})
    facts = only(topics=[known, topic("orders")], members=[member("a", subscribed=("audit", "orders"))])

    assert facts.topic_ids == ("AAAAAAAAAAAAAAAAAAAAAQ", made_up_topic_id("orders"))
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", facts.topic_ids[1])


def test_racks_are_told_where_members_have_one_too():
    near = only(members=(A, member("b", rack="a")))
    plain = only()

    assert plain.topics[0].racks is None
    assert near.topics[0].racks == (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"), ("a", "b", "c"))
    assert only(members=(A, member("b", rack="a")), racks=None).topics[0].racks is None


def test_the_window_of_the_cache_is_that_of_the_leaders_broker():
    raw = cluster(topics=TOPICS, brokers=3, groups=[group()], members=[A, B])
    brokers = rows_of(raw, "brokers")
    brokers[0]["memory_bytes"] = 8.0 * GIB
    brokers[1]["memory_bytes"] = 10.0 * GIB
    raw = with_rows(raw, "brokers", brokers)
    replicas = rows_of(raw, "replicas")
    for row in replicas:
        if (row["topic"], row["partition"]) == ("orders", 3):
            row["is_leader"] = False
    raw = with_rows(raw, "replicas", replicas)
    snapshot = build_snapshot(raw)

    # Every broker holds everything: 5,000 bytes/s.
    (facts,) = group_facts(raw, snapshot).facts
    assert facts.cache_window_seconds[:2].tolist() == [GIB / 5000, 3 * GIB / 5000]
    assert np.isnan(facts.cache_window_seconds[2:]).all()
    (smaller,) = group_facts(raw, snapshot, broker_heap_bytes=5.0 * GIB).facts
    assert smaller.cache_window_seconds[0] == 2 * GIB / 5000


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
    raw = cluster(topics=TOPICS, groups=[group()], members=[A, B], hours=200)
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
        ([250.0 * 60, 0.0], 500.0),
        # Over the last three hours 900 bytes/s x hour came, of which 60 wait.
        ([60.0 * 3600, 0.0], 280.0),
        ([240.0 * 3600, 0.0], 220.0),
        ([1e9, 0.0], 80.0),
        ([1e9, 1e9], None),
    ],
)
def test_who_is_behind_has_read_what_came_less_what_waits(lag_bytes, capacity):
    traffic = group_traffic(HISTORY, HISTORY.mean(axis=1), np.array([0, 1]), np.array(lag_bytes))

    assert traffic.best_read_bytes_per_second == capacity


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


@pytest.mark.parametrize("module", [group_facts_module, group_traffic_module])
def test_the_examples_are_true(module):
    assert doctest.testmod(module).failed == 0
