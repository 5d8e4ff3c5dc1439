"""What is found to be wrong, case by case, and that nothing is where nothing is wrong."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.health.check import check_health
from kafka_capacity.health.cluster_view import ClusterView, RackLoss
from kafka_capacity.health.controllers import controllers_remedy
from kafka_capacity.health.problem import Code, Severity
from kafka_capacity.health.settings import lower_factor_problems
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import LogDirs
from kafka_capacity.kafka.controller.partition_states import states_of
from kafka_capacity.kafka.controller.quorum.voters import Quorum, QuorumReplica, Voter
from kafka_capacity.kafka.placement.shares import distinct_racks
from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.scenario import FailureScenario, SetKind
from tests.builders import cluster, topic
from tests.unit.questions.failures.made_up import group, loaded, made

HEALTHY = {"orders": [[10, 12, 14], [13, 15, 11]]}


def examined(snapshot, **known):
    load = loaded(len(snapshot.partitions))
    racks = FailureScenario(kinds=(SetKind.RACK,))
    losses = evaluate_failures(snapshot, load, racks).rack_losses()
    return check_health(ClusterView.of(snapshot, load, rack_losses=losses, **known))


def found(snapshot, **known):
    return {one.code: one for one in examined(snapshot, **known)}


def test_a_healthy_cluster_has_nothing():
    voters = [Voter(node_id=i, rack=rack) for i, rack in enumerate("abc")]
    assert found(made(HEALTHY), voters=voters) == {}


def test_what_is_down_now():
    lists = {"audit": [[10, 12]], "orders": [[10, 12, 14], [11, 13, 15], [12, 14, 10]]}
    snapshot = made(lists, isr=[{10, 12}, {10}, {11, 13}, set()], leaders=[10, 10, 11, -1], racks="aabbcc", min_isr=2)
    snapshot = dataclasses.replace(
        snapshot, brokers=Brokers.of(range(10, 16), list("aabbcc"), is_fenced=[False] * 5 + [True])
    )
    seen = found(snapshot)

    assert seen["offline-now"].message == (
        "1 partition of 1 topic, which receives 50 B/s, has no leader: nothing is written or read there"
    )
    assert seen["under-min-isr-now"].partitions == 1
    behind = seen["under-replicated-now"]
    assert (behind.severity, behind.partitions) == (Severity.WARNING, 1)
    assert seen["fenced-brokers"].where == "broker 15"
    assert seen["fenced-brokers"].message == "broker 15 is fenced and holds replicas of 1 partition"
    assert all(seen[code].severity is Severity.SERIOUS for code in ("offline-now", "under-min-isr-now"))


@pytest.mark.parametrize(
    ("cordoned", "severity", "message"),
    [
        (1, Severity.INFO, "1 broker of 6 is cordoned: it keeps its replicas but gets no new ones"),
        (
            4,
            Severity.SERIOUS,
            "4 brokers of 6 are cordoned and 2 brokers can take new replicas: no topic with replication factor 3 "
            "can be created, and none can get more partitions",
        ),
    ],
)
def test_cordoned_brokers_are_named_and_too_many_are_serious(cordoned, severity, message):
    brokers = Brokers.of(range(10, 16), list("aabbcc"), is_cordoned=[place < cordoned for place in range(6)])
    problem = found(dataclasses.replace(made(HEALTHY), brokers=brokers))["cordoned-brokers"]
    assert (problem.severity, problem.message) == (severity, message)


def with_dirs(is_cordoned, is_failed=None):
    """A healthy cluster with two directories of broker 10 and one of broker 11."""
    unknown = np.full(3, np.nan)
    dirs = LogDirs(
        broker_id=np.array([10, 10, 11]),
        path=("/a", "/b", "/a"),
        total_bytes=unknown,
        usable_bytes=unknown,
        is_cordoned=np.array(is_cordoned),
        is_failed=None if is_failed is None else np.array(is_failed),
    )
    return dataclasses.replace(made(HEALTHY), log_dirs=dirs)


def test_cordoned_directories_of_brokers_that_have_others_are_named():
    problem = found(with_dirs([True, False, False]))["cordoned-log-dirs"]
    assert (problem.where, problem.message.split(":")[0]) == (
        "broker 10",
        "1 log dir is cordoned on brokers that have others",
    )


@pytest.mark.parametrize(
    ("is_cordoned", "is_failed", "told"),
    [
        ([False, False, False], [True, True, False], None),
        ([True, False, False], [True, False, False], None),
        ([True, False, False], [False, True, False], None),
        ([True, False, True], [False, False, False], "broker 10"),
    ],
)
def test_failed_directories_are_not_called_cordoned_and_take_no_replicas(is_cordoned, is_failed, told):
    snapshot = with_dirs(is_cordoned, is_failed)
    problem = found(snapshot).get("cordoned-log-dirs")
    assert (problem and problem.where) == told
    assert snapshot.log_dirs.takes_replicas.tolist() == [
        not (cordoned or failed) for cordoned, failed in zip(is_cordoned, is_failed, strict=True)
    ]


def test_settings_of_topics():
    seen = found(made({"one": [[10]], "two": [[10, 12]]}, isr=[{10}, {10, 12}], min_isr=2, unclean=True))

    assert seen["single-replica"].where == "one"
    assert seen["single-replica"].topics == ("one",)
    assert seen["min-isr-above-rf"].where == "one"
    assert seen["min-isr-above-rf"].message.endswith(
        "brokers before 3.7 reject every write with acks=all, later ones once a replica is lost"
    )
    assert seen["min-isr-above-rf"].remedy == (
        "lower min.insync.replicas below the replication factor, to 1 for a single replica, or add replicas"
    )
    assert seen["min-isr-equals-rf"].where == "two"
    assert seen["unclean-election"].where == "one, two"
    bare = made(HEALTHY, min_isr=1)
    assert found(bare)["min-isr-one"].partitions == 2
    assumed = dataclasses.replace(bare.topics, is_min_isr_assumed=np.ones(len(bare.topics.is_internal), dtype=bool))
    assert "min-isr-one" not in found(dataclasses.replace(bare, topics=assumed))


def test_kafkas_own_topics():
    lists = {"__consumer_offsets": [[10, 12]], "__transaction_state": [[10, 12, 14]]}
    seen = found(made(lists, min_isr=1, groups=[group("billing"), group("search")]))

    assert seen["internal-topic-replicas"].message == (
        "__consumer_offsets, where groups commit their offsets, has 2 replicas where 3 are standard, on which 2 "
        "groups depend: two losses stop its partitions"
    )
    assert seen["internal-topic-min-isr"].where == "__transaction_state"


def test_of_two_replicas_that_must_both_be_in_sync_one_loss_stops_writes():
    message = found(made({"__transaction_state": [[10, 12]]}, min_isr=2))["internal-topic-replicas"].message
    assert message == (
        "__transaction_state, where transactions are kept, has 2 replicas where 3 are standard: one loss stops writes "
        "to its partitions"
    )


def test_one_of_anything_is_told_in_the_singular():
    lists = {"__consumer_offsets": [[10]], "orders": [[10, 12, 14]]}
    seen = found(made(lists, min_isr=3, groups=[group("billing")]))
    assert "on which 1 group depends: one loss" in seen["internal-topic-replicas"].message
    assert "leaves 1 partition under min ISR" in seen["rack-loss"].message


def test_one_broker_alone_is_not_told_to_hold_more_replicas():
    snapshot = made({"one": [[10]]})
    alone = dataclasses.replace(snapshot, brokers=Brokers.of([10], ["a"]))
    assert found(alone)["single-replica"].remedy == "add brokers: a single broker cannot hold a second replica"


def test_partitions_in_one_rack_though_there_are_more():
    seen = found(made({"orders": [[10, 11], [10, 12], [10, 11, 12]]}, min_isr=1))

    assert seen["one-rack-partitions"].partitions == 1
    assert seen["one-rack-partitions"].severity is Severity.SERIOUS
    assert seen["narrow-partitions"].partitions == 1
    assert seen["rack-loss"].where == "rack a"
    assert seen["rack-loss"].message == ("losing rack a takes 1 partition offline, 50 B/s in total")


def test_of_racks_that_stop_as_many_partitions_the_one_with_the_most_traffic_is_named():
    losses = [
        RackLoss(rack=rack, offline=2, under_min_isr=5, bytes_per_second=rate)
        for rack, rate in (("e", 9.0), ("f", 5.0))
    ]
    snapshot = made(HEALTHY)
    view = ClusterView.of(snapshot, loaded(len(snapshot.partitions)), rack_losses=losses)
    (problem,) = [one for one in check_health(view) if one.code == "rack-loss"]
    assert problem.message.startswith("losing rack e takes 2 partitions offline ")


def test_a_loss_that_lets_partitions_elect_again_takes_none_offline():
    snapshot = made({"orders": [[10, 12], [12, 10]], "idle": [[11, 13]]})
    leaderless = dataclasses.replace(snapshot, leader=np.array([-1, -1, 11], dtype=np.int32))
    losses = evaluate_failures(leaderless, loaded(3), FailureScenario(kinds=(SetKind.RACK,))).rack_losses()
    assert [loss.offline for loss in losses if loss.offline < 0] == []


def test_traffic_that_is_not_there_is_no_rate_of_a_rack_loss():
    snapshot = made({"orders": [[10, 11]]}, min_isr=1)
    loss = RackLoss(rack="a", offline=1, under_min_isr=0, bytes_per_second=0.0)
    view = ClusterView.of(snapshot, loaded(len(snapshot.partitions)), rack_losses=[loss])
    seen = {one.code: one for one in check_health(view)}
    assert seen["rack-loss"].message == "losing rack a takes 1 partition offline"


@pytest.mark.parametrize(
    ("racks", "remedy"),
    [
        ("aaabc", "keep at most 2 of 5 voters in any one rack"),
        ("aab", "run 3 controllers in three racks, or 5 with at most 2 in any one rack"),
        ("aabc", "run 3 controllers in three racks, or 5 with at most 2 in any one rack"),
        ("a", "run 3 controllers in three racks, or 5 with at most 2 in any one rack"),
    ],
)
def test_controllers_are_to_be_as_racks_allow(racks, remedy):
    assert controllers_remedy([Voter(node_id=place, rack=rack) for place, rack in enumerate(racks)]) == remedy


def test_a_rack_whose_loss_leaves_no_majority_of_the_controllers_is_the_worst():
    snapshot = made(HEALTHY)
    losses = [
        RackLoss(rack="a", offline=0, under_min_isr=5, bytes_per_second=0.0, leaderless=27),
        RackLoss(rack="b", offline=9, under_min_isr=0, bytes_per_second=9.0),
    ]
    voters = [Voter(node_id=101 + place, rack=rack) for place, rack in enumerate("aaabc")]
    view = ClusterView.of(snapshot, loaded(len(snapshot.partitions)), rack_losses=losses, voters=voters)
    (problem,) = [one for one in check_health(view) if one.code == "rack-loss"]
    assert problem.message.startswith(
        "losing rack a leaves no majority of the controllers, so that 27 partitions have no leader; it stops writes "
        "with acks=all on 5 more partitions, whose lost replicas nobody takes out of the ISR"
    )
    assert problem.remedy == "keep at most 2 of 5 voters in any one rack"
    behind = QuorumReplica(node_id=105, is_voter=True, behind_seconds=1e6)
    down = dataclasses.replace(view, quorum=Quorum(replicas=(behind,)))
    (other,) = [one for one in check_health(down) if one.code == "rack-loss"]
    assert other.remedy == "bring back controller 105"
    assert problem.partitions == 27
    alone = ClusterView.of(
        snapshot,
        loaded(len(snapshot.partitions)),
        rack_losses=[RackLoss(rack="a", offline=0, under_min_isr=0, bytes_per_second=0.0, leaderless=1)],
    )
    (problem,) = [one for one in check_health(alone) if one.code == "rack-loss"]
    assert problem.message.endswith("leaves no majority of the controllers, so that 1 partition has no leader")


def test_racks_that_are_not_set_or_all_one():
    assert found(made(HEALTHY, racks=[None] * 6))["one-rack"].message == (
        "the 6 brokers have no rack: Kafka may put all replicas of a partition in the same place"
    )
    assert "are all in rack a" in found(made(HEALTHY, racks="aaaaaa"))["one-rack"].message
    assert "racks-incomplete" in found(made(HEALTHY, racks=["a", "a", "b", "b", "c", None]))
    some = found(made(HEALTHY, racks=["a", "a", None, None, None, None]))
    assert "one-rack" not in some
    assert some["racks-incomplete"].message.startswith("4 of 6 brokers have no rack")
    assert {"rf-above-racks", "rack-loss"} <= set(found(made(HEALTHY, racks="aaabbb")))
    assert "uneven-racks" in found(made(HEALTHY, racks="aabbbc"))


@pytest.mark.parametrize(
    ("racks", "code", "message"),
    [
        (
            "ab",
            "few-controllers",
            "there are 2 voters: losing one stops all leader elections and metadata changes",
        ),
        (
            "abcd",
            "even-controllers",
            "of 4 voters 1 may be lost: no more than of 3, with one more that can fail",
        ),
        (
            "aab",
            "controllers-share-rack",
            "2 of 3 voters are in rack a: losing it leaves 1 where 2 are needed, and no partition can elect a leader",
        ),
    ],
)
def test_controllers(racks, code, message):
    voters = [Voter(node_id=i, rack=rack) for i, rack in enumerate(racks)]
    seen = found(made(HEALTHY), voters=voters)
    assert set(seen) == {code}
    assert seen[code].message == message


def test_controllers_without_a_rack_are_named():
    voters = [Voter(node_id=1, rack="a"), Voter(node_id=2), Voter(node_id=3)]
    (seen,) = found(made(HEALTHY), voters=voters).values()
    assert (seen.severity, seen.where) == (Severity.INFO, "controllers 2, 3")
    assert seen.message == "2 of 3 voters have no rack: what fails together with them is not known"


def test_five_controllers_may_share_racks_in_twos():
    assert found(made(HEALTHY), voters=[Voter(node_id=i, rack=rack) for i, rack in enumerate("aabbc")]) == {}


def test_the_most_serious_comes_first():
    severities = [one.severity for one in examined(made({"one": [[10]], "two": [[10, 11]]}))]
    assert severities == sorted(severities, key=list(Severity).index)
    assert len(set(severities)) > 1


@given(st.lists(st.permutations(range(10, 16)).map(lambda row: row[:3]), min_size=1, max_size=8))
def test_racks_of_partitions_are_counted(rows):
    snapshot = made({"orders": rows})
    rack = dict(zip(range(10, 16), "aabbcc", strict=True))
    counted = distinct_racks(snapshot.brokers.rack_indexes(), states_of(snapshot).replicas)
    assert counted.tolist() == [len({rack[b] for b in row}) for row in rows]
    assert np.array_equal(counted, np.asarray(counted, dtype=np.int64))


@pytest.mark.parametrize(
    ("name", "rates", "hours", "times"),
    [
        # Eight get 3,500 in all, 437.5 each, and one of them 1,400: 3.2 times as much.
        ("orders", [1400] + 7 * [300], 672, "3.2"),
        ("orders", [1200] + 7 * [300], 672, None),  # 2.9 times the mean of 412.5
        ("orders", [1400] + 7 * [300], 5, None),  # five hours tell nothing
        ("__consumer_offsets", [1400] + 7 * [300], 672, None),  # Kafka's own keys
        ("orders", [0.14] + 7 * [0.03], 672, None),  # next to nothing beside the other topic
    ],
)
def test_hot_partitions(name, rates, hours, times):
    snapshot = made({name: 8 * [[10, 12, 14]], "zother": 8 * [[10, 12, 14]]})
    load = dataclasses.replace(loaded(16, bytes_in=[*rates, *(8 * [300])]), hours=hours)
    seen = {one.code: one for one in check_health(ClusterView.of(snapshot, load))}
    if times is None:
        assert "hot-partitions" not in seen
        return
    hot = seen["hot-partitions"]
    assert (hot.partitions, hot.topics, hot.severity) == (1, (name,), Severity.INFO)
    assert hot.message == (
        f"partition 0 of {name} is hot: it gets 700 B/s on average, {times} times the mean of its topic’s 8 partitions"
    )
    assert "kafka-capacity inventory keys --topic orders" in hot.remedy


def test_several_hot_partitions():
    lists = {name: 8 * [[10, 12, 14]] for name in ("orders", "payments")}
    load = dataclasses.replace(loaded(16, bytes_in=[*([1400] + 7 * [300]), *([1600] + 7 * [300])]), hours=672)
    (hot,) = check_health(ClusterView.of(made(lists), load))
    assert hot.message == (
        "2 partitions of 2 topics, which receive 1.5 KiB/s, are hot, with 3 times the mean of their topic or more: "
        "partition 0 of payments gets 800 B/s on average, 3.5 times the mean of its topic’s 8 partitions"
    )


def test_a_smaller_factor_that_leaves_no_spare_replica_is_serious_before_it_is_there():
    raw = cluster(topics=[topic("orders", partitions=2), topic("audit", rf=2), topic("logs", min_insync_replicas=1)])
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)
    (found,) = lower_factor_problems(snapshot, load, 2)
    assert (found.code, found.severity, found.topics) == (Code.MIN_ISR_EQUALS_RF, Severity.SERIOUS, ("orders",))
    assert "would have min.insync.replicas equal to their replication factor: any single loss" in found.message
    assert lower_factor_problems(snapshot, load, None) == lower_factor_problems(snapshot, load, 3) == []
