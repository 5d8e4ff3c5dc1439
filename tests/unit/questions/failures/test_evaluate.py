"""Sets of losses against plain loops over partitions, and worked cases."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.demand.workload import PeakBasis, Traffic
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.cpu import CpuCosts
from kafka_capacity.hardware.limits import MIB
from kafka_capacity.hardware.shapes import hardware, observed_shape
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.cluster.release import KafkaRelease
from kafka_capacity.kafka.controller.failing import ElectionRules, fail_brokers
from kafka_capacity.kafka.controller.partition_states import states_of
from kafka_capacity.kafka.reassignment.flow import move_duration
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.questions.failures.baseline import placed_snapshot
from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.scenario import CoordinatorState, FailureScenario, SetKind
from tests.unit.proposal.snapshots import observed, scenario
from tests.unit.questions.failures.made_up import group, loaded, lost, made

EVERY_KIND = (SetKind.BROKER, SetKind.PAIR, SetKind.RACK, SetKind.RACK_AND_BROKER)


@st.composite
def small(draw):
    """Draw a cluster with brokers 10 to 15, its load and its groups."""
    brokers = range(10, 16)
    lists, isr, leaders = {}, [], []
    for name in ("__consumer_offsets", "audit", "orders"):
        lists[name] = []
        for _ in range(draw(st.integers(1, 4))):
            row = draw(st.permutations(brokers))[: draw(st.integers(1, 4))]
            lists[name].append(row)
            keep = draw(st.sets(st.sampled_from(row), min_size=1))
            isr.append(keep)
            leaders.append(draw(st.sampled_from(sorted(keep))))
    count = len(isr)
    figures = st.lists(st.integers(0, 1000), min_size=count, max_size=count)
    snapshot = made(
        lists,
        isr=isr,
        leaders=leaders,
        min_isr=draw(st.integers(1, 3)),
        unclean=draw(st.booleans()),
        network=500.0,
        sizes=draw(st.lists(st.integers(1, 1000), min_size=count, max_size=count)),
        groups=[group("billing", subscribed=("orders",)), group("search", assigned=(("audit", 0),))],
    )
    return snapshot, loaded(count, draw(figures), draw(figures))


def by_loops(snapshot, load, lost, throttle):
    """Lose brokers in plain Python; the elections alone are the arrays', which have oracles of their own."""
    ids = snapshot.brokers.ids.tolist()
    states = fail_brokers(states_of(snapshot), [ids.index(b) for b in lost], ElectionRules.KRAFT)
    today = states_of(snapshot)
    found = dict.fromkeys(("offline", "under", "newly", "at", "moved", "unclean"), 0)
    found |= {"stopped": 0.0, "refused": 0.0, "newly_refused": 0.0, "topics": set(), "rows": []}
    leaders, peak_in, peak_out, *mean = ({b: 0.0 for b in ids} for _ in range(5))
    after, joined = [], []
    for row, replicas in enumerate(snapshot.replicas.tolist()):
        held = [b for b in replicas if b >= 0]
        live = [b for b in held if b not in lost]
        leader = replicas[states.leader[row]] if states.leader[row] >= 0 else -1
        isr = [b for b, is_in in zip(replicas, states.in_sync[row].tolist(), strict=True) if is_in]
        least = min(int(snapshot.topics.min_insync_replicas[0]), len(held))
        if leader < 0:
            found["offline"] += 1
            found["stopped"] += load.bytes_in_mean_bytes_per_second[row]
            found["topics"].add(int(snapshot.partitions.topic[row]))
            found["rows"].append(row)
            continue
        found["under"] += len(isr) < least
        if len(isr) < least and not (today.leader[row] >= 0 and today.in_sync[row].sum() < least):
            found["newly"] += 1
            found["newly_refused"] += load.bytes_in_mean_bytes_per_second[row]
        found["at"] += len(isr) == least
        found["refused"] += load.bytes_in_mean_bytes_per_second[row] if len(isr) < least else 0
        found["moved"] += leader != snapshot.leader[row]
        found["unclean"] += bool(states.is_unclean[row])
        leaders[leader] += 1
        for b in live:
            peak_in[b] += load.bytes_in_peak_bytes_per_second[row]
            mean[0][b] += load.bytes_in_mean_bytes_per_second[row]
        mean[1][leader] += load.bytes_out_mean_bytes_per_second[row]
        mean[1][leader] += load.bytes_in_mean_bytes_per_second[row] * (len(live) - 1)
        peak_out[leader] += load.bytes_out_peak_bytes_per_second[row]
        peak_out[leader] += load.bytes_in_peak_bytes_per_second[row] * (len(live) - 1)
        after.append((row, live, [*live, *(b for b in held if b in lost)], leader, len(isr) - 1))
        joined.append(len(held) - len(live))
    found |= {"leaders": leaders, "peak_in": peak_in, "peak_out": peak_out}
    found["seconds"] = rebuilt_seconds(snapshot, load, after, throttle, mean)
    found["bytes"] = sum(n * int(snapshot.partition_size_bytes()[one[0]]) for n, one in zip(joined, after, strict=True))
    return found


def rebuilt_seconds(snapshot, load, after, throttle, mean):
    """Ask what times moves."""
    if not after:
        return 0.0
    rows = [one[0] for one in after]
    width = snapshot.replicas.shape[1]

    def matrix(lists):
        return np.array([[*row, *([-1] * (width - len(row)))] for row in lists], dtype=np.int32)

    found = move_duration(
        diff_assignments(matrix([one[1] for one in after]), matrix([one[2] for one in after])),
        brokers=snapshot.brokers,
        leader=np.array([one[3] for one in after], dtype=np.int32),
        in_sync_followers=np.array([one[4] for one in after], dtype=np.int32),
        size_bytes=snapshot.partition_size_bytes()[rows],
        bytes_in_bytes_per_second=load.bytes_in_mean_bytes_per_second[rows],
        throttle_bytes_per_second=throttle,
        spare_in_bytes_per_second=snapshot.brokers.network_in_bytes_per_second - list(mean[0].values()),
        spare_out_bytes_per_second=snapshot.brokers.network_out_bytes_per_second - list(mean[1].values()),
    )
    return np.inf if found.seconds is None else found.seconds


def test_what_a_loss_brings_back_is_offline_no_more():
    snapshot = made({"orders": [[10, 12]]}, groups=[group("billing", subscribed=("orders",))], unclean=True)
    leaderless = dataclasses.replace(snapshot, leader=np.array([-1], dtype=np.int32), in_sync=np.array([[True, False]]))
    asked = FailureScenario(kinds=(SetKind.GIVEN,), given=lost([10]), rules=ElectionRules.ZOOKEEPER)
    result = evaluate_failures(leaderless, loaded(1), asked)
    assert (result.offline_today, result.offline.tolist()) == (1, [0])
    assert (result.offline_topics.tolist(), result.group_offline.tolist()) == ([0], [[0]])


@settings(max_examples=40)
@given(small(), st.sets(st.integers(10, 15), min_size=1, max_size=4))
def test_without_a_majority_of_the_controllers_nobody_is_elected_and_nobody_leaves_an_isr(drawn, chosen):
    snapshot, load = drawn
    asked = FailureScenario(kinds=(SetKind.RACK_AND_BROKER,), given=lost(chosen))
    result = evaluate_failures(snapshot, load, asked, has_majority=lambda one: one.kind is not SetKind.GIVEN)
    (number,) = [place for place, one in enumerate(result.sets) if one.kind is SetKind.GIVEN]
    assert [place for place, known in enumerate(result.has_majority) if known is False] == [number]
    assert np.isinf(result.rebuild_seconds[number])
    is_led = ~np.isin(snapshot.leader, sorted(chosen))
    isr = snapshot.in_sync
    held_back = (np.isin(snapshot.replicas, sorted(chosen)) & isr).any(axis=1)
    held = (snapshot.replicas >= 0).sum(axis=1)
    least = np.minimum(snapshot.topics.min_insync_replicas[snapshot.partitions.topic], held)
    refused = is_led & (held_back | (isr.sum(axis=1) < least))
    mean = load.bytes_in_mean_bytes_per_second
    assert (result.new_leaders[number], result.unclean_leaders[number]) == (0, 0)
    assert result.offline[number] == (~is_led).sum()
    assert result.under_min_isr[number] == refused.sum()
    assert result.stopped_bytes_per_second[number] == pytest.approx(mean[~is_led].sum())
    assert result.refused_bytes_per_second[number] == pytest.approx(mean[refused].sum())
    with_one = evaluate_failures(snapshot, load, FailureScenario(kinds=(SetKind.RACK_AND_BROKER,)))
    assert np.delete(result.offline, number).tolist() == with_one.offline.tolist()


@settings(max_examples=40)
@given(small(), st.sets(st.integers(10, 15), min_size=1, max_size=4))
def test_every_figure_is_that_of_a_plain_loop(drawn, chosen):
    snapshot, load = drawn
    asked = FailureScenario(kinds=EVERY_KIND, given=lost(chosen), throttle_bytes_per_second=3000.0)
    result = evaluate_failures(snapshot, load, asked)
    assert len(result.sets) == 1 + 6 + 3 + 3 * 4 + 15
    for number, one in enumerate(result.sets):
        expected = by_loops(snapshot, load, one.brokers, 3000.0)
        assert (result.offline[number], result.under_min_isr[number]) == (expected["offline"], expected["under"])
        assert (result.at_min_isr[number], result.new_leaders[number]) == (expected["at"], expected["moved"])
        assert result.unclean_leaders[number] == expected["unclean"]
        assert result.offline_topics[number] == len(expected["topics"])
        assert result.stopped_bytes_per_second[number] == pytest.approx(expected["stopped"])
        assert result.refused_bytes_per_second[number] == pytest.approx(expected["refused"])
        assert result.newly_under_min_isr[number] == expected["newly"]
        assert result.newly_refused_bytes_per_second[number] == pytest.approx(expected["newly_refused"])
        assert result.rebuild_bytes[number] == pytest.approx(expected["bytes"])
        assert result.rebuild_seconds[number] == pytest.approx(expected["seconds"])
        for place, broker in enumerate(snapshot.brokers.ids.tolist()):
            assert result.leaders[number, place] == expected["leaders"][broker]
            for name in ("peak_in", "peak_out"):
                figure = getattr(result, f"{name}_bytes_per_second")[number, place]
                if broker in one.brokers:
                    assert np.isnan(figure)
                else:
                    assert figure == pytest.approx(expected[name][broker], rel=1e-5, abs=0.01)
        for place, name in enumerate(("orders", "audit")):
            topic = snapshot.partitions.topics.index(name)
            mine = [
                row
                for row in expected["rows"]
                if snapshot.partitions.topic[row] == topic
                and (name == "orders" or snapshot.partitions.partition[row] == 0)
            ]
            assert result.group_offline[number, place] == len(mine)


@settings(max_examples=30)
@given(small())
def test_losing_more_never_brings_partitions_back(drawn):
    snapshot, load = drawn
    result = evaluate_failures(snapshot, load, FailureScenario(kinds=EVERY_KIND))
    for small_set, fewer in zip(result.sets, result.offline.tolist(), strict=True):
        for large_set, more in zip(result.sets, result.offline.tolist(), strict=True):
            if set(small_set.brokers) <= set(large_set.brokers):
                assert fewer <= more


@given(small(), st.permutations(range(10, 16)))
def test_other_ids_of_brokers_give_the_same_figures(drawn, names):
    snapshot, load = drawn
    table = dict(zip(range(10, 16), names, strict=True)) | {-1: -1}
    order = sorted(range(6), key=lambda place: names[place])
    renamed = dataclasses.replace(
        snapshot,
        brokers=Brokers.of(names, list(snapshot.brokers.racks), network_out_bytes_per_second=[500.0] * 6),
        replicas=np.vectorize(table.get)(snapshot.replicas).astype(np.int32),
        leader=np.vectorize(table.get)(snapshot.leader).astype(np.int32),
    )
    asked = FailureScenario(kinds=(SetKind.BROKER,))
    plain, other = (evaluate_failures(one, load, asked) for one in (snapshot, renamed))
    for name in ("offline", "under_min_isr", "new_leaders", "rebuild_bytes", "stopped_bytes_per_second"):
        assert getattr(other, name).tolist() == pytest.approx(getattr(plain, name)[order].tolist())
    assert other.leaders.tolist() == plain.leaders[np.ix_(order, order)].tolist()


def test_a_worked_case():
    # Two partitions on 10 and 12, one on 12 alone; minimum 2 (1 where there is one replica), 100 in and 300 out each.
    snapshot = made({"orders": [[10, 12], [10, 12]], "single": [[12]]}, racks="ab", network=600.0)
    snapshot = dataclasses.replace(
        snapshot, brokers=Brokers.of([10, 12], ["a", "b"], network_out_bytes_per_second=[600.0, 600.0])
    )
    asked = FailureScenario(kinds=(SetKind.BROKER,), throttle_bytes_per_second=200.0)
    result = evaluate_failures(snapshot, loaded(3), asked)

    assert [one.name for one in result.sets] == ["broker 10", "broker 12"]
    assert result.offline.tolist() == [0, 1]
    assert result.under_min_isr.tolist() == [2, 2]
    assert result.at_min_isr.tolist() == [1, 0]
    assert result.new_leaders.tolist() == [2, 0]
    assert result.stopped_bytes_per_second.tolist() == [0.0, 50.0]
    assert result.refused_bytes_per_second.tolist() == [100.0, 100.0]
    # Broker 12 leads all three and sends nothing to followers: 900; today it sends 300, and broker 10 800.
    assert result.peak_out_today_bytes_per_second.tolist() == [800.0, 300.0]
    np.testing.assert_array_equal(result.peak_out_bytes_per_second, [[np.nan, 900.0], [600.0, np.nan]])
    assert result.overloaded().tolist() == [1, 0]
    # Two replicas of 1,000 bytes at 200 - 2 * 50 a second; broker 12 has 600 - 3 * 150 - 2 * 50 left on its network.
    assert result.rebuild_bytes.tolist() == [2000.0, 2000.0]
    assert result.rebuild_seconds.tolist() == [40.0, 20.0]
    assert result.peak_basis is PeakBasis.SUM_OF_PEAKS


def test_processors_and_disks_of_survivors_count_where_they_are_known():
    # The worked case once more: after the loss of 10, broker 12 leads all three.
    snapshot = made({"orders": [[10, 12], [10, 12]], "single": [[12]]}, racks="ab", network=600.0)
    snapshot = dataclasses.replace(snapshot, brokers=Brokers.of([10, 12], ["a", "b"]))
    costs = CpuCosts(
        base_cores=1.0,
        leader_in_seconds_per_mib=0.01 * MIB,
        follower_in_seconds_per_mib=0.002 * MIB,
        out_seconds_per_mib=0.001 * MIB,
        source="made up",
    )
    has = hardware(observed_shape(snapshot.brokers, vcpu=4.0, disk_bytes_per_second=250.0), snapshot.brokers)
    asked = FailureScenario(kinds=(SetKind.BROKER,))
    result = evaluate_failures(snapshot, loaded(3), asked, has=has, costs=costs)
    # 10 leads two with one follower each: 200 in, 800 out; 12 leads one and follows two: 100 and 200 in, 300 out.
    assert result.peak_cores_today.tolist() == pytest.approx([1 + 2 + 0.8, 1 + 1 + 0.4 + 0.3])
    np.testing.assert_allclose(result.peak_cores, [[np.nan, 1 + 3 + 0.9], [1 + 2 + 0.6, np.nan]], rtol=1e-5)
    assert [str(resource) for resource in result.capacity] == ["network_in", "network_out", "cpu", "disk_io"]
    used = result.used_ratios()
    assert np.isnan(used[:2]).all()
    assert (used[2, 0, 1], used[3, 0, 1], used[3, 1, 0]) == (pytest.approx(4.9 / 4), 300 / 250, 200 / 250)
    assert result.overloaded().tolist() == [1, 0]
    assert list(evaluate_failures(snapshot, loaded(3), asked).capacity) == ["network_in", "network_out"]


@pytest.mark.parametrize("throttle", [40.0, 50.0, 50.0 + 1e-7])
def test_a_throttle_that_what_is_produced_takes_but_for_rounding_never_ends(throttle):
    snapshot = made({"orders": [[10, 11]]})
    asked = FailureScenario(given=lost([10]), kinds=(), throttle_bytes_per_second=throttle)
    assert evaluate_failures(snapshot, loaded(1), asked).rebuild_seconds.tolist() == [np.inf]


def test_hours_tell_that_brokers_do_not_peak_together():
    snapshot = made({"orders": [[10], [11]]}, isr=[{10}, {11}])
    hours = np.zeros((2, 100), dtype=np.float32)
    hours[0, :50], hours[1, 50:] = 10.0, 20.0
    traffic = Traffic(bytes_in=hours, bytes_out=2 * hours, basis=PeakBasis.SAME_HOURS)
    both = made({"orders": [[10, 11], [11, 10]]}, min_isr=1)
    asked = FailureScenario(given=lost([11]), kinds=())

    result = evaluate_failures(both, loaded(2), asked, traffic=traffic)
    # Broker 10 then leads both, and they never come at the same hour: 40 out, not 20 + 40.
    assert result.peak_out_bytes_per_second[0, 0] == pytest.approx(40.0)
    alone = evaluate_failures(snapshot, loaded(2), asked, traffic=traffic)
    assert alone.peak_out_bytes_per_second[0, 0] == pytest.approx(20.0)


def test_groups_lose_partitions_commits_and_coordinators():
    # By Java's hashes, -109829509 and -906336856, "billing" is on partition 1 of 4 and "search" on 0.
    lists = {"__consumer_offsets": [[10, 11], [10, 13], [12, 13], [12, 13]], "orders": [[10, 12], [10, 12]]}
    readers = [group("billing", lags=(("orders", 0),)), group("search", assigned=(("orders", 1),))]
    snapshot = made(lists, isr=[{10, 11}, {10, 13}, {12, 13}, {12, 13}, {10}, {10, 12}], groups=readers)
    asked = FailureScenario(kinds=(), given=lost([10], [13], [10, 11]))
    result = evaluate_failures(snapshot, loaded(6), asked)

    assert result.groups == ("billing", "search")
    assert result.group_offline.tolist() == [[1, 0], [0, 0], [1, 0]]
    refuses, stays, offline = CoordinatorState.REFUSES, CoordinatorState.STAYS, CoordinatorState.OFFLINE
    assert result.coordinator.tolist() == [[refuses, refuses], [refuses, stays], [refuses, offline]]
    assert result.groups_affected().tolist() == [2, 1, 2]


def test_a_placement_can_be_stood_on():
    snapshot, load = observed(brokers=6, racks=3, partitions=12)
    placed = evaluate_placement(snapshot, load, scenario(brokers=9))
    result = evaluate_failures(
        placed_snapshot(snapshot, placed),
        load,
        FailureScenario(kinds=(SetKind.RACK,), placement_id="asked"),
    )
    assert len(result.brokers) == 9
    assert [one.name for one in result.sets] == ["rack a", "rack b", "rack c"]
    assert result.offline.tolist() == [0, 0, 0]
    assert result.under_min_isr.tolist() == [0, 0, 0]
    assert result.at_min_isr.tolist() == [12, 12, 12]


def test_what_a_placement_leaves_on_a_fenced_broker_is_as_dead_as_today():
    snapshot, load = observed(brokers=6, racks=3, partitions=12)
    placed = evaluate_placement(snapshot, load, scenario(brokers=6))
    target = placed.scenario.target
    dead = int(placed.diff.after[0, 0])
    fenced = dataclasses.replace(target, is_fenced=target.ids == dead)
    placed = dataclasses.replace(placed, scenario=dataclasses.replace(placed.scenario, target=fenced))
    after = placed_snapshot(snapshot, placed)
    assert not (after.leader == dead).any()
    assert not after.in_sync[after.replicas == dead].any()
    assert after.leader[0] == after.replicas[0, 1]

    everything = dataclasses.replace(target, is_fenced=np.ones(6, dtype=bool))
    placed = dataclasses.replace(placed, scenario=dataclasses.replace(placed.scenario, target=everything))
    assert (placed_snapshot(snapshot, placed).leader == -1).all()


def test_fenced_brokers_are_dead_already():
    snapshot = made({"orders": [[10, 11]]}, racks="ab", isr=[{11}], leaders=[11])
    brokers = Brokers.of([10, 11], ["a", "b"], is_fenced=[True, False])
    result = evaluate_failures(
        dataclasses.replace(snapshot, brokers=brokers),
        loaded(1),
        FailureScenario(kinds=(SetKind.BROKER,)),
    )
    assert [one.name for one in result.sets] == ["broker 11"]
    assert result.offline.tolist() == [1]
    assert (result.offline_today, result.under_min_isr_today) == (0, 1)


def test_a_broker_that_is_not_there_is_refused():
    snapshot = made({"orders": [[10, 11]]})
    with pytest.raises(RequestError) as caught:
        evaluate_failures(snapshot, loaded(1), FailureScenario(given=lost([99])))
    assert str(caught.value) == "brokers: 99 is not a broker of this cluster; its 6 brokers have ids 10 to 15"


@pytest.mark.parametrize(("minor", "refused"), [(6, 2), (7, 0)])
def test_since_3_7_as_many_in_sync_as_there_are_replicas_are_enough(minor, refused):
    snapshot = dataclasses.replace(made({"orders": [[10], [11]]}, min_isr=2), release=KafkaRelease(3, minor))
    states = states_of(snapshot)
    assert np.count_nonzero(states.refuses(states.live_replicas())) == refused
