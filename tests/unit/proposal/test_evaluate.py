"""What a scenario comes to, and why it does not fit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.placement import RackRule, placer
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.placing import GENERATE_SEEDS, placement_problem, refined_after
from kafka_capacity.questions.change.tables import scenario_table
from tests.properties.strategies import repeatable
from tests.unit.proposal.snapshots import GIB, observed, scenario, without_leaders


def constraints(result):
    return [excuse.constraint for excuse in result.excuses]


def test_an_even_cluster_that_stays_as_it_is_moves_nothing_and_fits():
    result = evaluate_placement(*observed(), scenario())

    assert result.fits
    assert result.excuses == ()
    assert (result.metrics.moved_replicas, result.metrics.moved_bytes, result.metrics.gap_ratio) == (0, 0, 0.0)
    assert result.metrics.duration_seconds == 0.0
    assert result.metrics.balance_before == result.metrics.balance_after == pytest.approx(0.0)


def test_a_problem_that_was_placed_is_not_placed_again_and_a_changed_one_is():
    refined_after.cache_clear()
    snapshot, load = observed()
    first = evaluate_placement(snapshot, load, scenario(9))
    assert (refined_after.cache_info().misses, refined_after.cache_info().hits) == (1, 0)
    again = evaluate_placement(snapshot, load, scenario(9, throttle_bytes_per_second=1e6))
    assert (refined_after.cache_info().misses, refined_after.cache_info().hits) == (1, 1)
    np.testing.assert_array_equal(again.diff.after, first.diff.after)
    # What was placed is not told by the arrays themselves, but by what is in them.
    snapshot.size_bytes[:] += np.arange(len(snapshot.size_bytes))[:, None] * GIB
    other = evaluate_placement(snapshot, load, scenario(9))
    assert refined_after.cache_info().misses == 2
    refined_after.cache_clear()
    np.testing.assert_array_equal(evaluate_placement(snapshot, load, scenario(9)).diff.after, other.diff.after)


@pytest.mark.parametrize(("name", "is_taken"), [("modulo", True), ("fewest-bytes", False), ("striped", False)])
def test_what_puts_replicas_on_a_cordoned_broker_does_not_fit(name, is_taken):
    snapshot, load = observed()
    asked = scenario(9, placer=name)
    cordoned = replace(asked, target=replace(asked.target, is_cordoned=asked.target.ids == 8))
    result = evaluate_placement(snapshot, load, cordoned)
    assert ("cordoned" in constraints(result)) is is_taken
    assert (8 in result.diff.after) is is_taken


def test_three_more_brokers_in_figures():
    snapshot, load = observed(bytes_in=0.0)
    metrics = evaluate_placement(snapshot, load, scenario(9, throttle_bytes_per_second=GIB / 10)).metrics

    # 36 replicas of 1 GiB on nine brokers: four each, so twelve are copied; 2 % less would do by the tolerance, but
    # there is no part of a replica.
    assert (metrics.moved_replicas, metrics.moved_bytes) == (12, 12 * GIB)
    assert metrics.lower_bound_bytes == pytest.approx(12 * GIB)
    assert metrics.lower_bound_kind == "solver"
    assert metrics.balance_before == pytest.approx(0.0)  # of the six: the three that join hold nothing yet
    assert metrics.balance_after == pytest.approx(0.0)
    assert metrics.broker_count == 9
    assert metrics.total_bytes == 36 * GIB
    # Each new broker fetches 4 GiB at a tenth of a GiB a second, unless one leader has to send more than that.
    assert metrics.duration_seconds >= 40.0


def test_the_broker_table_adds_up():
    snapshot, load = observed()
    result = evaluate_placement(snapshot, load, scenario(5))
    loads, diff = result.loads, result.diff

    assert loads.brokers.ids.tolist() == [1, 2, 3, 4, 5, 6]
    assert loads.is_removed.tolist() == [False] * 5 + [True]
    assert not loads.is_new.any()
    assert (loads.replicas_after[5], loads.bytes_after[5]) == (0, 0)
    assert loads.replicas_before.sum() == loads.replicas_after.sum() == 36
    assert loads.move_in_bytes.sum() == loads.move_out_bytes.sum() == result.metrics.moved_bytes
    assert loads.leaders_after.sum() == 12
    # What is produced is written three times; consumers read it twice and followers twice.
    assert loads.peak_in_after.sum() == pytest.approx(12 * 1000.0 * 3)
    assert loads.peak_out_after.sum() == pytest.approx(12 * (2000.0 + 2 * 1000.0))
    assert diff.moved_bytes(snapshot.partition_size_bytes()) == result.metrics.moved_bytes


def test_a_full_disk_is_named_with_its_figures():
    result = evaluate_placement(*observed(), scenario(disk=5 * GIB))
    first = result.excuses[0]

    assert not result.fits
    assert set(constraints(result)) == {"disk"}
    assert len(result.excuses) == 6
    assert (first.where, first.needed, first.available, first.unit) == (
        "broker 1 (rack a)",
        6 * GIB,
        pytest.approx(0.85 * 5 * GIB),
        "bytes",
    )
    assert first.reason == (
        "broker 1 (rack a) would hold 6.0 GiB but may be filled to 4.2 GiB (85 % of its disk): 1.8 GiB too much; it "
        "needs at least 3 more brokers of this size in these racks (1 in rack a, 1 in rack b, 1 in rack c), "
        "or disks 1.42 times as large would be enough"
    )


def test_a_disk_limit_that_would_do_is_named_in_percent_rounded_up():
    reason = evaluate_placement(*observed(), scenario(disk=6.2 * GIB)).excuses[0].reason
    assert reason.endswith("or a disk limit of 97 % instead of 85 % would be enough")


def test_a_narrow_network_is_named_both_ways():
    result = evaluate_placement(*observed(bytes_in=1e6), scenario(network=2e6))

    assert set(constraints(result)) == {"network_in", "network_out"}
    assert "would carry" in result.excuses[0].reason


def test_capacities_that_are_not_known_forbid_nothing():
    assert evaluate_placement(*observed(bytes_in=1e6), scenario(disk=None, network=None)).fits


def test_a_move_that_never_ends_is_named_with_the_throttle_it_needs():
    result = evaluate_placement(*observed(bytes_in=2e6), scenario(9, throttle_bytes_per_second=3e6))
    excuse = result.excuses[0]

    assert constraints(result) == ["throttle"]
    assert result.metrics.duration_seconds is None
    assert excuse.needed == result.metrics.smallest_throttle_bytes_per_second > excuse.available == 3e6


def test_a_move_that_no_throttle_ends_names_the_network():
    snapshot, load = observed(bytes_in=1e6)
    free = evaluate_placement(snapshot, load, scenario(9, throttle_bytes_per_second=3e8))
    needed = max(free.loads.peak_in_before.max(), free.loads.peak_out_before.max())
    result = evaluate_placement(snapshot, load, scenario(9, network=float(needed), throttle_bytes_per_second=3e8))
    found = next(one for one in result.excuses if one.constraint == "throttle")

    assert found.reason.startswith("the move never finishes, and no throttle helps: the network of broker ")
    assert found.as_dict()["needed"] is None
    (row,) = scenario_table(result).to_pylist()
    assert row["smallest_throttle_bytes_per_second"] is None


def test_what_kafka_would_refuse_is_a_result():
    for name in ("fewest-bytes", "generate", "striped", "zk", "modulo"):
        result = evaluate_placement(*observed(), scenario(2, placer=name))

        assert (result.fits, result.metrics, result.diff, result.loads) == (False, None, None, None)
        assert constraints(result) == ["placement"]
        assert (result.excuses[0].needed, result.excuses[0].available) == (3.0, 2.0)


def test_partitions_that_nobody_leads_cannot_be_copied():
    snapshot, load = observed(brokers=3, racks=3, partitions=6)
    wider = evaluate_placement(without_leaders(snapshot), load, scenario(6, replication_factor=4))
    evened = evaluate_placement(without_leaders(snapshot), load, scenario(6))

    assert "leader" in constraints(wider)
    assert wider.metrics.unreachable_partitions == 6
    assert (constraints(evened), evened.metrics.moved_replicas) == ([], 0)


def test_nobody_copies_from_brokers_that_are_fenced():
    snapshot, load = observed(brokers=3, racks=3, partitions=6)
    for fenced, unreachable in (([1, 2, 3], 6), ([1, 2], 0)):
        brokers = replace(snapshot.brokers, is_fenced=np.isin(snapshot.brokers.ids, fenced))
        wider = evaluate_placement(replace(snapshot, brokers=brokers), load, scenario(6, replication_factor=4))
        assert wider.metrics.unreachable_partitions == unreachable


def test_every_broken_constraint_is_told():
    result = evaluate_placement(
        *observed(bytes_in=2e6), scenario(9, disk=GIB, network=1e6, throttle_bytes_per_second=1e6)
    )

    assert set(constraints(result)) == {"disk", "disk_on_the_way", "network_in", "network_out", "throttle"}


def test_an_unknown_placer_is_an_error_and_no_excuse():
    with pytest.raises(RequestError):
        evaluate_placement(*observed(), scenario(placer="best"))


def test_a_factor_for_all_topics_is_judged():
    metrics = evaluate_placement(*observed(), scenario(replication_factor=2)).metrics

    assert (metrics.total_replicas, metrics.moved_replicas) == (24, 0)
    raised = evaluate_placement(*observed(), scenario(replication_factor=4)).metrics
    assert (raised.total_replicas, raised.lower_bound_bytes) == (48, 12 * GIB)


def test_generate_is_the_median_of_twenty_seeds():
    snapshot, load = observed(partitions=20)
    asked = scenario(8, placer="generate", seed=5)
    moved = []
    for seed in range(5, 5 + GENERATE_SEEDS):
        problem = placement_problem(snapshot, load, replace(asked, seed=seed))
        diff = diff_assignments(problem.before, placer("generate").place(problem))
        moved.append(diff.moved_bytes(problem.size_bytes))

    metrics = evaluate_placement(snapshot, load, asked).metrics

    assert GENERATE_SEEDS == metrics.seeds_tried == 20
    assert metrics.moved_bytes == sorted(moved)[9]
    assert (metrics.moved_bytes_low, metrics.moved_bytes_high) == (min(moved), max(moved))


@pytest.mark.parametrize("name", ["striped", "zk", "modulo", "fewest-bytes"])
def test_other_placers_are_asked_once(name):
    metrics = evaluate_placement(*observed(), scenario(8, placer=name)).metrics

    assert (metrics.seeds_tried, metrics.moved_bytes_low, metrics.moved_bytes_high) == (
        1,
        metrics.moved_bytes,
        metrics.moved_bytes,
    )


@repeatable(60)
@given(st.integers(3, 9), st.floats(0.5, 20), st.floats(1.0, 4.0), st.sampled_from(["fewest-bytes", "zk"]))
def test_more_of_everything_never_turns_fits_into_does_not(brokers, disk_gib, times, name):
    snapshot, load = observed(bytes_in=1e6)
    tight = scenario(brokers, disk=disk_gib * GIB, network=disk_gib * 1e6, throttle_bytes_per_second=8e6, placer=name)
    roomy = scenario(
        brokers,
        disk=disk_gib * GIB * times,
        network=disk_gib * 1e6 * times,
        throttle_bytes_per_second=8e6 * times,
        placer=name,
    )
    before, after = evaluate_placement(snapshot, load, tight), evaluate_placement(snapshot, load, roomy)

    assert after.fits or not before.fits
    assert len(after.excuses) <= len(before.excuses)


@repeatable(40)
@given(st.integers(3, 9), st.floats(1.0, 10.0))
def test_more_traffic_never_turns_does_not_fit_into_fits(brokers, times):
    snapshot, load = observed(bytes_in=1e6)
    busier = replace(
        load,
        **{
            name: getattr(load, name) * times
            for name in (
                "bytes_in_mean_bytes_per_second",
                "bytes_in_peak_bytes_per_second",
                "bytes_out_mean_bytes_per_second",
                "bytes_out_peak_bytes_per_second",
            )
        },
    )
    asked = scenario(brokers, network=12e6, throttle_bytes_per_second=8e6)

    assert evaluate_placement(snapshot, load, asked).fits or not evaluate_placement(snapshot, busier, asked).fits


@pytest.mark.parametrize("name", ["fewest-bytes", "zk", "striped", "generate"])
@pytest.mark.parametrize("count", [5, 7, 9, 12])
def test_the_bound_is_never_above_what_is_moved(name, count):
    snapshot, load = observed(brokers=7, racks=3, partitions=50)
    metrics = evaluate_placement(snapshot, load, scenario(count, placer=name)).metrics

    assert metrics.lower_bound_bytes <= metrics.moved_bytes
    assert metrics.gap_ratio is None or metrics.gap_ratio >= 0


def test_who_breaks_the_rack_rule_does_not_fit_and_has_no_gap():
    # Brokers 7, 1 and 2 are in racks a, a and b: the textbook rule would leave every seventh partition there.
    result = evaluate_placement(*observed(brokers=7, racks=3, partitions=49), scenario(7, placer="modulo"))

    assert not result.fits
    assert result.excuses[0].constraint == "rack_rule"
    assert result.excuses[0].reason == (
        "14 partitions would be on fewer racks than the rack rule strict asks for; choose a rack-aware placer, or "
        "another rule"
    )
    assert (result.metrics.moved_bytes, result.metrics.gap_ratio) == (0, None)
    loose = scenario(7, placer="modulo", rack_rule=RackRule.TWO_RACKS)
    assert evaluate_placement(*observed(brokers=7, racks=3, partitions=49), loose).fits


def test_a_disk_that_cannot_hold_old_and_new_copies_together_is_an_excuse():
    snapshot, load = observed(brokers=3, racks=3, partitions=6, bytes_in=0.0)
    held = int(snapshot.size_bytes.sum(axis=0).sum() / 3)
    # Everything is placed afresh: a broker ends with what it had, and holds more meanwhile.
    tight = evaluate_placement(snapshot, load, scenario(3, placer="modulo", rack_rule=RackRule.OFF, disk=held * 1.05))
    wide = evaluate_placement(snapshot, load, scenario(3, placer="modulo", rack_rule=RackRule.OFF, disk=held * 10))

    assert ("disk_on_the_way" in constraints(tight)) == bool((tight.loads.move_in_bytes > held * 0.05).any())
    assert "disk_on_the_way" not in constraints(wide)


def test_where_no_size_is_known_new_brokers_get_their_share_of_replicas():
    snapshot, load = observed(brokers=3, partitions=12, rf=3, size_bytes=0)
    result = evaluate_placement(snapshot, load, scenario(6))
    counts = np.bincount(result.diff.after[result.diff.after > 0], minlength=7)[1:]
    assert counts.tolist() == [6] * 6
    assert result.metrics.balance_after == 0.0


def test_sizes_that_are_not_known_break_no_limit():
    snapshot, load = observed()
    unknown = replace(snapshot, unknown_size_partitions=len(snapshot.partitions))

    assert constraints(evaluate_placement(unknown, load, scenario(9))) == constraints(
        evaluate_placement(snapshot, load, scenario(9))
    )


def test_giving_up_the_only_replica_in_sync_is_an_excuse():
    snapshot, load = observed()
    stale = replace(snapshot, in_sync=snapshot.replicas == snapshot.replicas[:, -1:])
    shrunk = evaluate_placement(stale, load, scenario(6, replication_factor=1))
    healthy = evaluate_placement(snapshot, load, scenario(6, replication_factor=1))

    assert "in_sync" in constraints(shrunk)
    assert "in_sync" not in constraints(healthy)


def test_a_broker_whose_rack_was_forgotten_is_refused():
    snapshot, load = observed()
    whole = scenario(6)
    racks = [None, *whole.target.racks[1:]]
    forgotten = replace(whole, target=Brokers.of(whole.target.ids.tolist(), racks))
    result = evaluate_placement(snapshot, load, forgotten)

    assert constraints(result) == ["placement"]
    assert "has no rack while others have one" in result.excuses[0].reason


def test_a_throttle_above_what_the_network_takes_makes_no_move_faster():
    snapshot, load = observed(bytes_in=0.0)
    slow = evaluate_placement(snapshot, load, scenario(9, network=1e6, throttle_bytes_per_second=1e6))
    same = evaluate_placement(snapshot, load, scenario(9, network=1e6, throttle_bytes_per_second=1e12))

    assert slow.metrics.duration_seconds == same.metrics.duration_seconds > 0


@pytest.mark.parametrize("placer", ["fewest-bytes", "generate"])
def test_a_placement_that_is_taken_over_gives_what_placing_anew_gives(placer):
    snapshot, load = observed(bytes_in=2e6)
    first = evaluate_placement(snapshot, load, scenario(9, placer=placer))
    slow = scenario(9, placer=placer, throttle_bytes_per_second=3e6)
    taken, again = evaluate_placement(snapshot, load, slow, first), evaluate_placement(snapshot, load, slow)

    assert taken.metrics == again.metrics != first.metrics
    assert taken.excuses == again.excuses
    assert taken.diff is first.diff


def test_a_refusal_is_taken_over_too():
    first = evaluate_placement(*observed(), scenario(2))
    other = scenario(2, throttle_bytes_per_second=1e6)

    assert evaluate_placement(*observed(), other, first).excuses == first.excuses


def test_another_rack_rule_is_named_where_it_would_do_and_only_there():
    # Racks of 2, 2 and 1 brokers: the lone one must hold all twelve, of which it may hold ten.
    snapshot, load = observed(brokers=5)
    strict = evaluate_placement(snapshot, load, scenario(5, broker_maxima=(("replica_count", 10),)))
    looser = evaluate_placement(
        snapshot,
        load,
        scenario(5, broker_maxima=(("replica_count", 10),), rack_rule=RackRule.TWO_RACKS, tolerance_ratio=0.2),
    )

    assert strict.excuses[0].reason.endswith("; so would the rack rule two-racks instead of strict")
    assert looser.fits
    for other in (
        scenario(5, broker_maxima=(("replica_count", 7),)),  # 36 replicas, room for 35
        scenario(5, broker_maxima=(("replica_count", 10),), placer="striped"),
        scenario(5, broker_maxima=(("replica_count", 7),), rack_rule=RackRule.TWO_RACKS),
    ):
        assert not any("two-racks instead" in one.reason for one in evaluate_placement(snapshot, load, other).excuses)
