"""What the simulation of groups is told about them."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest

from kafka_capacity.inventory import group_facts as group_facts_module
from kafka_capacity.inventory import group_traffic as group_traffic_module
from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.sizing_workload import group_lags
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.cluster.snapshot import made_up_topic_id
from kafka_capacity.kafka.groups.coordinator import coordinator_partitions
from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.questions.consumers.events import offline_partitions
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.unit.inventory.inventories_with_groups import TOPICS, A, B, found, group, lag, member, only


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


def test_a_share_group_is_told_apart():
    answer = found(groups=[group(group_type="Share", protocol_type="share", assignor=None)])
    (facts,) = answer.shared

    assert (answer.facts, answer.skipped) == ((), ())
    assert (facts.protocol, facts.assignor, len(facts.members)) == (GroupProtocol.SHARE, "simple", 2)
    assert facts.peak_bytes_per_second.tolist() == [1000.0] * 4


def test_what_waits_is_told_of_every_group_that_commits_whether_or_not_it_can_be_simulated():
    # Kafka has neither subscriptions nor assignments of a group that is manual, whose members are down, or rebalances.
    kinds = {
        "down": {"state": "Empty"},
        "manual": {"protocol_type": "", "assignor": None},
        "shared": {"group_type": "Share", "protocol_type": "share", "assignor": None},
        "simulated": {},
    }
    members = [member("m", ("orders", 0), group_id=name, subscribed=("orders",)) for name in ("shared", "simulated")]
    lags = [lag(partition=1, group_id=name, lag_records=60.0) for name in kinds]
    groups = [group(name, **more) for name, more in kinds.items()]
    answer = found(groups=groups, members=members, lags=lags)
    assert [one.group_id for one in answer.skipped] == ["down", "manual"]
    raw = cluster(topics=TOPICS, groups=groups, members=members, lags=lags)
    snapshot = build_snapshot(raw)
    row = list(snapshot.partitions.topics[place] for place in snapshot.partitions.topic).index("orders") + 1
    waiting = {one.group_id: dict(zip(one.rows.tolist(), one.lag_seconds.tolist(), strict=True)) for one in answer.lags}
    assert {name: found[row] for name, found in waiting.items()} == dict.fromkeys(kinds, 60.0)
    behind = group_lags(group_facts(raw, snapshot))
    assert (behind.groups, behind.row.tolist()) == (tuple(sorted(kinds)), [row] * 4)
    assert behind.seconds.tolist() == [60.0] * 4


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


def test_who_does_not_tell_its_topics_subscribes_to_all_that_its_group_reads():
    facts = only(
        members=[
            member("a", ("orders", 0), subscribed=None),
            member("b", ("audit", 0), subscribed=None),
            member("c", subscribed=None),
            member("d", subscribed=("orders",)),
        ]
    )

    assert [one.topics for one in facts.members] == [*[("audit", "orders")] * 3, ("orders",)]


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
            {"group_type": "streams"},
            [A],
            [],
            "A streams group without subtopologies in the inventory: its tasks are unknown.",
        ),
        (
            {"protocol_type": "connect"},
            [A],
            [],
            "A group of protocol type 'connect': its members share something other than partitions.",
        ),
        (
            {"protocol_type": None, "assignor": None},
            [],
            [lag(lag_records=3)],
            "Its consumers assign partitions manually (assign), so it never rebalances.",
        ),
        ({}, [], [lag(lag_records=3)], "It has no members, so there are no subscriptions."),
        (
            {"group_type": "consumer", "protocol_type": None},
            [],
            [],
            "It has no members, so there are no subscriptions.",
        ),
        (
            {"state": "PreparingRebalance", "assignor": None},
            [member("a", subscribed=None)],
            [],
            "It was 'PreparingRebalance' when the inventory was taken: Kafka shows assignments only when it is "
            "'Stable'.",
        ),
        (
            {},
            [member("a", subscribed=None)],
            [],
            "The inventory has neither subscriptions nor assignments of its members.",
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


def test_what_waits_is_as_old_as_the_hours_in_which_it_was_produced():
    # Nothing was produced in the last ten of 168 hours, and 1,000 bytes a second before.
    raw = cluster(topics=TOPICS, groups=[group()], members=(A, B), lags=[lag(partition=0, lag_records=3600.0)])
    rows = rows_of(raw, "metrics")
    last = sorted({row["hour"] for row in rows})[-10:]
    quiet = [row | ({"bytes_in_bytes_per_second": 0.0} if row["hour"] in last else {}) for row in rows]
    for metrics, hours in ((rows, 1.0), (quiet, 11.0)):
        raw = with_rows(raw, "metrics", metrics)
        snapshot = build_snapshot(raw)
        (facts,) = group_facts(raw, snapshot).facts
        assert facts.start_lag_seconds == pytest.approx(hours * 3600)
        assert group_lags(group_facts(raw, snapshot)).seconds.tolist() == [facts.start_lag_seconds]


def test_of_what_is_not_known_to_wait_it_is_known_that_it_is_not():
    lags = [lag(partition=0, lag_records=4), lag(partition=1, lag_records=None, committed_offset=7)]
    assert only(lags=lags).unknown_lag_partitions == 1
    assert only(lags=lags[:1]).unknown_lag_partitions == 0
    raw = cluster(topics=TOPICS, groups=[group()], members=(A, B), lags=lags)
    snapshot = build_snapshot(raw)
    assert group_lags(group_facts(raw, snapshot)).unknown == {"g"}


@pytest.mark.parametrize(
    ("settings", "offsets", "size_bytes", "lag_bytes"),
    [
        ({"cleanup_policy": "compact,delete"}, {"log_start_offset": 0, "log_end_offset": 1000}, GIB, 4000.0),
        ({}, {"log_start_offset": None, "log_end_offset": 1000}, GIB, 4000.0),
        ({}, {"log_start_offset": 1000, "log_end_offset": 1000}, GIB, 0.0),
        ({}, {"log_start_offset": 0, "log_end_offset": 1000}, None, 4000.0),
    ],
)
def test_where_nothing_tells_the_size_of_a_record_it_is_a_usual_one(settings, offsets, size_bytes, lag_bytes):
    orders = topic("orders", partitions=4, settings=settings, size_bytes=size_bytes)
    facts = only(topics=[orders], lags=[lag(lag_records=4) | offsets])

    assert (facts.record_bytes, facts.is_record_size_known) == (1000.0, False)
    assert facts.start_lag_bytes.tolist() == [lag_bytes, 0.0, 0.0, 0.0]


def test_what_is_behind_the_start_of_a_log_waits_no_longer_and_is_lost():
    held = {"log_start_offset": 9000, "log_end_offset": 10_000}
    facts = only(
        lags=[
            lag(partition=0, committed_offset=4000, **held),
            lag(partition=1, committed_offset=9500, **held),
            lag(partition=2, lag_records=1500, **held),
            lag(partition=3, committed_offset=4000, log_end_offset=10_000),
        ]
    )

    assert (facts.start_lag_bytes / facts.record_bytes).tolist() == [1000.0, 500.0, 1000.0, 6000.0]
    assert facts.lost_records.tolist() == [5000.0, 0.0, 500.0, 0.0]


def test_who_reads_what_in_a_rebalance_proves_nothing():
    def capacity(state="Stable", **asked):
        known = {"lags": [lag(lag_records=0)]} | asked
        return only(groups=[group(state=state)], **known).estimated_capacity_bytes_per_second

    assert capacity() == 2000.0
    assert capacity(state="Reconciling") is None
    # Nor does who reads the same partition as another, or who may be far behind: nobody knows of any lag.
    assert capacity(members=[A, A | {"member_id": "c"}]) is None
    assert capacity(lags=()) is None


def test_what_is_lost_is_told_of_every_group_that_lost_any():
    ends = {"log_start_offset": 900, "log_end_offset": 1000}
    lags = [lag(group_id=name, committed_offset=at, **ends) for name, at in (("down", 500), ("up", 899), ("well", 900))]
    groups = [group("down", state="Empty"), group("up"), group("well")]
    members = [member("m", ("orders", 0), group_id=name, subscribed=("orders",)) for name in ("up", "well")]
    raw = cluster(topics=TOPICS, groups=groups, members=members, lags=lags)
    snapshot = build_snapshot(raw)
    assert group_lags(group_facts(raw, snapshot)).lost_records == {"down": 400.0, "up": 1.0}


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
    assert facts.is_offline.tolist() == [False, False, False, True]
    assert facts.cache_window_seconds[:2].tolist() == [GIB / 5000, 3 * GIB / 5000]
    assert np.isnan(facts.cache_window_seconds[2:]).all()
    (smaller,) = group_facts(raw, snapshot).with_heap(snapshot, partition_load(raw, snapshot), 5.0 * GIB).facts
    assert smaller.cache_window_seconds[0] == 2 * GIB / 5000


@pytest.mark.parametrize("module", [group_facts_module, group_traffic_module])
def test_the_examples_are_true(module):
    assert doctest.testmod(module).failed == 0


def test_a_group_whose_coordinator_has_no_leader_cannot_commit():
    raw = cluster(topics=(*TOPICS, topic("__consumer_offsets", partitions=3)), groups=[group()], members=(A, B))
    number = int(coordinator_partitions(["g"], 3)[0])
    for gone in (number, (number + 1) % 3):
        rows = [
            row | ({"is_leader": False} if (row["topic"], row["partition"]) == ("__consumer_offsets", gone) else {})
            for row in rows_of(raw, "replicas")
        ]
        headless = with_rows(raw, "replicas", rows)
        (facts,) = group_facts(headless, build_snapshot(headless)).facts
        said = offline_partitions(facts)
        if gone == number:
            assert said == (
                f"it has no coordinator, because partition {number} of __consumer_offsets has no leader: its members "
                "cannot join, stay or commit"
            )
        else:
            assert said is None
