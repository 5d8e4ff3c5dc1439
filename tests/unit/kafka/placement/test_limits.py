"""What no broker may pass, pins, partitions that are new, and what would do where a limit cannot be kept."""

from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.errors import PlacementError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, BrokerLimits, RackRule, allowed_brokers, placer
from kafka_capacity.kafka.placement.layout import Layout
from kafka_capacity.kafka.placement.relaxing import limit_states, with_attainable_limits
from tests.unit.kafka.placement_kafka.problems import problem

FEWEST = placer("fewest-bytes")
ROUND = {"orders": [[p % 4 + 1, (p + 1) % 4 + 1] for p in range(24)]}  # 12 replicas of 100 bytes on each of 1 to 4


def asked(target=(1, 2, 3, 4), rows=ROUND, *, tolerance=1.0, **limits):
    wanted = problem(rows, target if isinstance(target, Brokers) else list(target), rack_rule=RackRule.OFF)
    return replace(
        wanted,
        tolerance_ratio=tolerance,
        broker_limits=BrokerLimits.of(len(wanted.target), **limits) if limits else None,
    )


def held(placed):
    ids, counts = np.unique(placed[placed >= 0], return_counts=True)
    return dict(zip(ids.tolist(), counts.tolist(), strict=True))


def test_within_the_limits_nothing_moves():
    assert FEWEST.place(asked(disk_bytes=1200)).tolist() == ROUND["orders"]


@pytest.mark.parametrize(
    "limits",
    [
        {"disk_bytes": [900, 1300, 1300, 1300]},
        {"replica_count": [9, 13, 13, 13]},
        {"network_in_bytes_per_second": [9, 13, 13, 13]},
    ],
)
@pytest.mark.parametrize("balance", Balance)
def test_a_broker_above_a_limit_gives_what_is_too_much_and_no_more(limits, balance):
    placed = FEWEST.place(replace(asked(**limits), balance=balance))

    assert held(placed) == {1: 9, 2: 13, 3: 13, 4: 13}
    assert sum(set(row) != set(before) for row, before in zip(placed.tolist(), ROUND["orders"], strict=True)) == 3


def test_of_the_replicas_that_relieve_alike_the_smallest_go():
    wanted = asked(network_in_bytes_per_second=[9, 13, 13, 13])
    sizes = np.arange(100, 124)
    placed = FEWEST.place(replace(wanted, size_bytes=sizes))
    moved = [row for row in range(24) if set(placed[row]) != set(ROUND["orders"][row])]

    assert moved == [row for row in range(24) if 1 in ROUND["orders"][row]][:3]


def test_a_broker_whose_network_out_is_full_leads_less():
    wanted = asked(network_out_bytes_per_second=[4, 99, 99, 99])
    placed = FEWEST.place(wanted)
    (state,) = limit_states(wanted, placed)

    # Each partition is produced one byte a second, sent to one follower.
    assert (placed[:, 0] == 1).sum() <= 4
    assert (state.constraint, state.is_passed) == ("network_out", False)
    assert [set(row) for row in placed.tolist()] == [set(row) for row in ROUND["orders"]]


def test_what_consumers_read_counts_as_sent():
    wanted = replace(asked(network_out_bytes_per_second=30.0), limit_out_bytes_per_second=np.full(24, 4.0))

    assert wanted.sent_bytes_per_second().tolist() == [5.0] * 24
    assert limit_states(wanted, FEWEST.place(wanted))[0].highest_ratio == pytest.approx(1.0)


def test_a_limit_that_no_plan_can_keep_is_passed_evenly_and_says_what_would_do():
    wanted = asked(disk_bytes=1000)
    placed = FEWEST.place(wanted)
    (state,) = limit_states(wanted, placed)

    assert held(placed) == {1: 12, 2: 12, 3: 12, 4: 12}
    assert (state.proven_ratio, state.highest_ratio, state.missing_brokers) == (1.2, 1.2, 1)
    assert state.relaxation() == (
        "it needs at least 1 more broker of this size, or a limit 1.20 times as high would be enough"
    )
    assert state.binding_brokers == (1, 2, 3, 4)


def test_the_rack_that_lacks_brokers_is_named():
    target = Brokers.of([1, 2, 3, 4, 5], ["a", "a", "b", "b", "b"])
    wanted = replace(asked(target, disk_bytes=1000.0), rack_rule=RackRule.STRICT)
    (state,) = limit_states(wanted, FEWEST.place(wanted))

    # Each rack must hold one copy, 2,400 bytes: three brokers of 1,000 can, two lack 400.
    assert [(one.rack, one.missing_brokers) for one in state.shortages] == [("a", 1)]
    assert state.relaxation().startswith("it needs at least 1 more broker of this size in rack a, or a limit 1.2")


def test_a_limit_that_holds_asks_for_nothing():
    wanted = asked(disk_bytes=2000)
    (state,) = limit_states(wanted, FEWEST.place(wanted))

    assert (state.is_passed, state.relaxation(), state.binding_brokers) == (False, "", ())
    assert with_attainable_limits(wanted) is wanted
    assert limit_states(asked(), FEWEST.place(asked())) == ()


def test_unknown_limits_are_none():
    limits = BrokerLimits.of(2, disk_bytes=[100.0, np.nan])

    assert limits.disk_bytes.tolist() == [100.0, np.inf]
    assert np.isinf(limits.replica_count).all()


@pytest.mark.parametrize("seed", range(4))
def test_two_limits_at_once_are_kept(seed):
    rng = np.random.default_rng(seed)
    wanted = asked(
        tolerance=0.05, rows={"orders": [rng.permutation(6)[:3].tolist() for _ in range(300)]}, target=range(8)
    )
    rates = rng.lognormal(0.0, 0.7, 300)
    sizes = rng.integers(50, 150, 300)
    wanted = replace(
        wanted,
        size_bytes=sizes,
        bytes_in_bytes_per_second=rates,
        broker_limits=BrokerLimits.of(
            8,
            disk_bytes=1.04 * 3 * float(sizes.sum()) / 8,
            network_in_bytes_per_second=1.03 * 3 * float(rates.sum()) / 8,
        ),
    )

    assert not any(state.is_passed for state in limit_states(wanted, FEWEST.place(wanted)))


@pytest.mark.parametrize("partitions", [24, 26])
def test_nobody_leads_more_partitions_than_allowed_and_nothing_is_copied_for_it(partitions):
    # Broker 1 leads nearly all there is, and each of the four may lead a quarter, rounded up.
    rows = {"orders": [[1, p % 3 + 2] for p in range(partitions)]}
    wanted = asked(rows=rows, leader_count=-(-partitions // 4))
    placed = FEWEST.place(wanted)

    (state,) = limit_states(wanted, placed)
    assert (state.constraint, state.is_passed) == ("leader_count", False)
    assert [sorted(row) for row in placed.tolist()] == [sorted(row) for row in rows["orders"]]


def test_traffic_is_made_even_within_the_limit_of_leaders():
    rows = {"orders": [[p % 4 + 1, (p + 1) % 4 + 1] for p in range(40)]}
    wanted = replace(
        asked(rows=rows, leader_count=10), bytes_in_bytes_per_second=np.where(np.arange(40) % 4 == 0, 90.0, 1.0)
    )

    assert np.bincount(FEWEST.place(wanted)[:, 0]).max() <= 10


def test_too_few_leaders_allowed_is_said_with_what_would_do():
    wanted = asked(leader_count=5)
    (state,) = limit_states(wanted, FEWEST.place(wanted))

    # 24 leaders on four brokers that may lead five each.
    assert state.proven_ratio == pytest.approx(24 / 20)
    assert state.missing_brokers == 1
    assert state.relaxation("a limit of 6") == (
        "it needs at least 1 more broker of this size, or a limit of 6 would be enough"
    )


def pinned(pins, rows=None, target=(1, 2, 3, 4)):
    rows = rows or {"audit": [[1, 2]] * 3, "orders": [[3, 4]] * 3}
    wanted = problem(rows, list(target), rack_rule=RackRule.OFF)
    return replace(wanted, tolerance_ratio=1.0, allowed_brokers=allowed_brokers(wanted.partitions, wanted.target, pins))


def test_a_pinned_topic_goes_where_it_is_pinned_to_and_others_stay():
    placed = FEWEST.place(pinned({"audit": [2, 3, 4]}))

    assert all(set(row) <= {2, 3, 4} for row in placed[:3].tolist())
    assert all(2 in row for row in placed[:3].tolist())
    assert all(set(row) == {3, 4} for row in placed[3:].tolist())


def test_a_pinned_topic_wants_no_more_racks_than_it_may_be_on():
    target = Brokers.of([1, 2, 3, 4], ["a", "a", "b", "c"])
    wanted = problem({"audit": [[1, 2]], "orders": [[1, 3]]}, target, rack_rule=RackRule.STRICT)
    wanted = replace(wanted, allowed_brokers=allowed_brokers(wanted.partitions, target, {"audit": [1, 2]}))
    layout = Layout(wanted)

    assert layout.spread.tolist() == [1, 2]
    assert layout.narrow().tolist() == []


def test_without_pins_every_broker_is_allowed():
    assert pinned({}).allowed_brokers is None


def test_a_topic_pinned_to_too_few_brokers_is_refused():
    with pytest.raises(PlacementError) as refused:
        FEWEST.place(pinned({"audit": [3, 9]}))

    assert str(refused.value) == (
        "topic 'audit' needs replication factor 2 but is pinned to 1 broker of the target that may take one; pin "
        "it to 1 more, or lower the factor"
    )


def test_partitions_that_are_new_are_placed_evenly_and_move_nothing():
    rows = {"orders": [[p % 4 + 1, (p + 1) % 4 + 1] for p in range(24)] + [[]] * 12}
    wanted = problem(rows, [1, 2, 3, 4], factors=[2] * 36, rack_rule=RackRule.OFF)
    sizes = np.array([100] * 24 + [0] * 12)
    placed = FEWEST.place(replace(wanted, size_bytes=sizes, bytes_in_bytes_per_second=np.zeros(36)))

    assert held(placed) == {b: 18 for b in (1, 2, 3, 4)}
    assert [set(row) for row in placed[:24].tolist()] == [set(row) for row in rows["orders"][:24]]
    assert all(len(set(row)) == 2 for row in placed[24:].tolist())


def test_where_the_factor_falls_the_replicas_in_sync_stay_even_if_others_are_on_emptier_brokers():
    # Broker 4 is down and holds next to nothing; before, three of these were left with what it had.
    rows = [[1, 2, 4], [2, 3, 4], [3, 1, 4], [1, 3, 2], [2, 1, 3], [3, 2, 1]]
    target = Brokers.of([1, 2, 3, 4], is_fenced=[False, False, False, True])
    wanted = replace(problem({"orders": rows}, target, rack_rule=RackRule.OFF), tolerance_ratio=0.02)
    before = np.array(rows)
    for factor in (1, 2):
        placed = FEWEST.place(
            replace(wanted, in_sync=before != 4, replication_factor=np.full(6, factor, dtype=np.int32))
        )
        assert not (placed == 4).any()
        assert all(set(row) <= set(was) for row, was in zip(placed.tolist(), rows, strict=True))


def test_a_partition_without_a_leader_stays_where_it_is_as_long_as_it_may():
    rows = {"orders": [[1, 2]] * 6, "quiet": [[1, 2]] * 6}
    wanted = replace(problem(rows, [1, 2, 3], rack_rule=RackRule.OFF), tolerance_ratio=0.02)
    led = np.where(np.arange(12) < 6, wanted.leader, -1).astype(np.int32)

    placed = FEWEST.place(replace(wanted, leader=led))
    assert (np.sort(placed[6:]) == [1, 2]).all()
    assert held(placed) == {1: 9, 2: 9, 3: 6}

    drained = FEWEST.place(replace(wanted, leader=led, target=Brokers.of([2, 3])))
    assert np.isin(drained, [2, 3]).all()
