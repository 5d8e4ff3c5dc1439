"""Options, what is recommended of them, and what holds for every recommendation."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import FailureTolerance, Limits, Resource
from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.kafka.cluster.snapshot import LogDirs
from kafka_capacity.questions.capacity.choice import advise_size, pareto_front
from kafka_capacity.questions.capacity.options import (
    SizingInputs,
    SizingRequest,
    brokers_of,
    capacity_options,
)
from kafka_capacity.questions.capacity.results import (
    CapacityOption,
    CapacityResult,
    ChangeCost,
    MonthlyCost,
    OptionKind,
    PlacementKey,
)
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from tests.asking import run_sizes
from tests.shapes import read_shapes
from tests.unit.proposal.snapshots import observed
from tests.unit.questions.capacity.workloads import MIB, brokers, workload


def sized(*, bytes_in=4 * MIB, shapes=(), limits=None, growth=(1.0, 1.5), partitions=12, today=None, racks=3, **asked):
    snapshot, load = observed(bytes_in=bytes_in, partitions=partitions, size_bytes=2**30, racks=racks)
    work = workload(
        load.bytes_in_mean_bytes_per_second,
        load.bytes_out_mean_bytes_per_second,
        size=2**30,
        retention=2**30 / bytes_in,
        names=["orders"] * partitions,
        middle=[growth],
    )
    request = SizingRequest(
        today=observed_shape(
            snapshot.brokers, **({"vcpu": 16.0, "usd_per_hour": 1.0, "usd_per_gib_between_racks": 0.0} | (today or {}))
        ),
        shapes=tuple(read_shapes()[name] for name in shapes),
        limits=limits or Limits(),
        **asked,
    )
    found = simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes)
    return found.results, found.advice


def results_of(*asked):
    return simulate_sizing(SizingInputs.of(*asked), run_sizes).results


def by_id(results):
    return {result.option_id: result for result in results}


def test_doing_nothing_and_scaling_in_are_always_tried():
    results, _ = sized(broker_counts=(9,), shapes=("m5.4xlarge",))
    assert [result.option_id for result in results] == [
        "do-nothing",
        "003-brokers.today",
        "009-brokers.today",
        "009-brokers.m5.4xlarge",
    ]
    assert [result.option.kind for result in results] == [
        OptionKind.DO_NOTHING,
        OptionKind.SCALE_IN,
        OptionKind.SCALE_OUT,
        OptionKind.OTHER_HARDWARE,
    ]


def test_counts_of_the_planned_move_are_sized_beside_the_usual_ones():
    assert [name for name in by_id(sized()[0]) if "009" in name or "010" in name] == ["009-brokers.today"]
    assert {"009-brokers.today", "010-brokers.today"} <= set(by_id(sized(moved_broker_counts=(10,))[0]))
    # Those that were asked for take the place of the usual ones, not of those of the move: it is judged by them.
    asked = by_id(sized(broker_counts=(9,), moved_broker_counts=(10,))[0])
    assert {"009-brokers.today", "010-brokers.today"} == {name for name in asked if name > "006"} - {"do-nothing"}


def test_a_count_of_the_move_is_sized_as_the_move_places_it():
    asked = {"broker_counts": (9,), "moved_broker_counts": (10,), "extra_racks": (1,), "replication_factors": (2,)}
    rows = {one.option_id: one for one in sized(**asked)[0]}
    assert "009-brokers.today.1-more-racks.rf2" in rows
    assert rows["010-brokers.today"].option.family == rows["do-nothing"].option.family


def test_what_kafka_would_refuse_is_never_the_nearest():
    results, advice = sized(bytes_in=400 * MIB, broker_counts=(2, 6))
    assert not any(one.fits for one in results)
    assert by_id(results)["002-brokers.today"].headroom_ratio is None
    assert "nearest is 002" not in advice.reason


def test_the_cheapest_that_fits_is_recommended_with_its_reason():
    results, advice = sized()
    found = by_id(results)
    assert found["003-brokers.today"].fits
    assert advice.recommended == "003-brokers.today"
    assert advice.reason.startswith("003-brokers.today is the cheapest option that fits; its tightest resource is ")
    assert advice.reason.endswith("doing nothing fits up to the horizon")
    few = found["003-brokers.today"]
    assert few.cost.brokers == pytest.approx(3 * 730)
    assert few.change.moved_bytes > 0
    # Three brokers run on until they are empty; traffic between racks is free here.
    assert few.change.usd == pytest.approx(3 * few.change.seconds / 3600)
    assert few.change.break_even_days == pytest.approx(few.change.usd / (3 * 24))


def test_growth_leads_to_more_brokers_and_a_date_for_each():
    results, advice = sized(
        bytes_in=5 * MIB, growth=(1.0, 2.0), partitions=48, today={"vcpu": 24.0}, broker_counts=(6, 9, 12)
    )
    found = by_id(results)
    assert not found["do-nothing"].fits
    assert "doing nothing exceeds the limit of" in advice.reason
    assert advice.recommended is not None
    dates = dict(advice.by_date)
    assert dates["2026-12-20"] == advice.recommended
    counts = [int(option[:3]) if option[0].isdigit() else 6 for option in dates.values()]
    assert counts == sorted(counts)
    out = {one.resource: one.high for one in found["do-nothing"].exhaustion}
    assert min(date for date in out.values() if date) < "2026-12-20"


def test_nothing_fits_says_what_is_nearest():
    _, advice = sized(bytes_in=4000 * MIB, broker_counts=(9,))
    assert advice.recommended is None
    assert advice.front == ()
    assert advice.reason.startswith("no option fits; the nearest is 009-brokers.today: broker ")


def test_the_limit_that_is_passed_first_is_the_first_excuse():
    results, _ = sized(bytes_in=10 * MIB, growth=(1.0, 6.0), partitions=48, today={"vcpu": 8.0})
    excuses = by_id(results)["do-nothing"].excuses
    assert {"cpu", "network_in", "network_out"} == {excuse.constraint for excuse in excuses}
    assert excuses[0].constraint == "cpu"
    days = [excuse.when for excuse in excuses]
    assert days == sorted(days)
    assert len(set(days)) > 2


def test_a_placement_that_kafka_refuses_is_an_excuse():
    results, _ = sized(broker_counts=(2,))
    refused = by_id(results)["002-brokers.today"]
    assert [excuse.constraint for excuse in refused.excuses] == ["placement"]
    assert refused.as_dict()["usd_per_month"]["total"] is None


def test_losing_a_rack_needs_racks():
    results, _ = sized(racks=None, limits=Limits(tolerance=FailureTolerance.ONE_RACK))
    assert all("racks" in {excuse.constraint for excuse in result.excuses} for result in results)
    results, advice = sized(limits=Limits(tolerance=FailureTolerance.ONE_RACK))
    assert advice.recommended is not None


def test_other_hardware_copies_everything_unless_disks_can_be_taken_along():
    results, _ = sized(broker_counts=(6,), shapes=("m5.4xlarge",))
    other = by_id(results)["006-brokers.m5.4xlarge"]
    assert not other.change.is_in_place
    assert other.change.moved_bytes == 12 * 3 * 2**30
    # Each of today's leads two partitions of 4 MiB/s, which two followers and three new ones fetch.
    assert other.change.seconds == pytest.approx(6 * 2**30 / (50e6 - 2 * 5 * 4 * MIB))
    snapshot, load = observed(bytes_in=1000.0)
    shapes = read_shapes()
    request = SizingRequest(today=shapes["m5.xlarge"], shapes=(shapes["m5.4xlarge"],), broker_counts=(6,))
    work = workload(load.bytes_in_mean_bytes_per_second, names=["orders"] * 12)
    assert by_id(results_of(snapshot, work, request))["006-brokers.m5.4xlarge"].change.moved_bytes == 0


def test_full_log_dirs_of_today_say_nothing_of_other_shapes():
    snapshot, load = observed(bytes_in=1000.0, brokers=3)
    owner = np.repeat(snapshot.brokers.ids, 2)
    small = LogDirs(
        broker_id=owner,
        path=("/data", "/more") * 3,
        total_bytes=np.full(len(owner), 1e9),
        usable_bytes=np.zeros(len(owner)),
    )
    work = workload(load.bytes_in_mean_bytes_per_second, names=["orders"] * 12)
    request = SizingRequest(
        today=observed_shape(snapshot.brokers), shapes=(read_shapes()["m5.xlarge"],), broker_counts=(6,)
    )
    found = by_id(results_of(dataclasses.replace(snapshot, log_dirs=small), work, request))
    assert found["006-brokers.m5.xlarge"].fits


def test_new_brokers_may_go_to_new_racks():
    snapshot, _ = observed()
    key = PlacementKey(broker_count=8, extra_racks=2, replication_factor=None)
    request = SizingRequest(today=observed_shape(snapshot.brokers), broker_counts=(6, 8), extra_racks=(0, 2))
    inputs = SizingInputs.of(snapshot, workload([1e3] * len(snapshot.partitions)), request)
    assert brokers_of(inputs, key).racks[-2:] == ("new-rack-1", "new-rack-2")
    ids = [option.option_id for option in capacity_options(inputs)]
    assert "008-brokers.today.2-more-racks" in ids
    assert "006-brokers.today.2-more-racks" not in ids


def test_without_a_price_the_fewest_brokers_of_todays_hardware_are_recommended():
    _, advice = sized(today={"usd_per_hour": math.nan}, shapes=("m5.4xlarge",))
    assert advice.recommended == "003-brokers.today"
    assert "its cost is unknown" in advice.reason


def test_of_equals_doing_nothing_is_recommended():
    # The placement is balanced, so that rebalancing moves nothing and costs the same.
    results, advice = sized(bytes_in=14 * MIB, growth=(1.0, 1.0), broker_counts=(6,))
    found = by_id(results)
    assert found["006-brokers.today"].change.moved_bytes == 0
    assert found["006-brokers.today"].fits
    assert advice.recommended == "do-nothing"


def test_the_same_request_gives_the_same_bytes():
    first, second = (repr([result.as_dict() for result in sized(shapes=("m5.4xlarge",))[0]]) for _ in range(2))
    assert first == second


TODAY = observed_shape(brokers(3), usd_per_hour=1.0)


@st.composite
def made_up_results(draw):
    """Some options with made-up figures, doing nothing first."""
    number = st.integers(0, 3).map(float)
    results = []
    for place in range(draw(st.integers(1, 8))):
        fits = draw(st.booleans())
        shape = dataclasses.replace(TODAY, name=draw(st.sampled_from(["today", "x"])) if place else "today")
        # What today's hardware costs is known of all of its options, or of none.
        is_unknown = bool(results) and shape.name == "today" and math.isnan(results[0].cost.brokers)
        cost = math.nan if is_unknown else draw(st.one_of(number, st.just(math.nan)))
        results.append(
            CapacityResult(
                option=CapacityOption(
                    option_id=f"{place}",
                    kind=OptionKind.SCALE_OUT if place else OptionKind.DO_NOTHING,
                    placement=PlacementKey(
                        broker_count=draw(st.integers(3, 5)), extra_racks=0, replication_factor=None
                    ),
                    shape=shape,
                ),
                fits=fits,
                excuses=(),
                not_judged=(),
                fits_until="2026-12-20" if fits else None,
                headroom_ratio=draw(number),
                tightest=None,
                exhaustion=(),
                cost=MonthlyCost(brokers=cost, disks=0.0, between_racks=0.0, ingest=0.0),
                change=ChangeCost(
                    moved_bytes=draw(number),
                    moved_between_racks_bytes=0.0,
                    seconds=draw(st.one_of(st.none(), number)),
                    least_throttle_bytes_per_second=0.0,
                    usd=0.0,
                    break_even_days=None,
                    is_in_place=True,
                ),
                use=None,
            )
        )
    return results


@settings(deadline=None)
@given(made_up_results())
def test_the_recommendation_is_on_the_front_and_the_front_is_undominated(results):
    fitting = [result for result in results if result.fits]
    front = pareto_front(fitting)
    chosen = advise_not_still(results)
    assert (chosen is None) == (not fitting)
    if chosen is not None:
        assert chosen in [result.option_id for result in front]
    for one in front:
        for other in fitting:
            assert not _dominates(other, one)
    for one in fitting:
        assert one in front or any(_dominates(other, one) for other in fitting)


def advise_not_still(results):
    fits = [dataclasses.replace(results[0], fits=results[0].fits, fits_until=None), *results[1:]]
    if not fits[0].fits:  # what doing nothing lacks is said by its excuses, which are not made up here
        from kafka_capacity.questions.capacity.choice import _best

        best = _best([result for result in fits if result.fits], fits)
        return None if best is None else best.option_id
    return advise_size(fits, ("2026-11-20",)).recommended


def _dominates(other, one):
    if math.isnan(one.cost.total) != math.isnan(other.cost.total):
        return False
    if math.isnan(one.cost.total) and one.option.shape.name != other.option.shape.name:
        return False

    def figures(result):
        total = result.cost.total
        return (
            result.option.placement.broker_count if math.isnan(total) else total,
            result.change.moved_bytes,
            math.inf if result.change.seconds is None else result.change.seconds,
            result.option.kind is not OptionKind.DO_NOTHING,
            -result.headroom_ratio,
        )

    mine, its = figures(one), figures(other)
    return all(b <= a for a, b in zip(mine, its, strict=True)) and its != mine


def test_where_nothing_fits_the_limit_that_is_passed_furthest_is_named():
    results, advice = sized(bytes_in=400 * MIB, today={"vcpu": 0.1}, broker_counts=(6,))
    assert advice.recommended is None
    nearest = max(results, key=lambda one: one.headroom_ratio)
    assert nearest.excuses[0].constraint == "network_in"
    assert nearest.tightest.resource is Resource.CPU
    assert f"the nearest is {nearest.option_id}: " in advice.reason
    assert " cores at peak " in advice.reason


def unknowing(snapshot, load, traffic=None):
    """Sizing of a cluster that lacks figures, and what is recommended."""
    work = workload(
        load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second, size=2**30, names=["orders"] * 12
    )
    work = work if traffic is None else dataclasses.replace(work, traffic=traffic(work.traffic))
    request = SizingRequest(today=observed_shape(snapshot.brokers, vcpu=16.0, usd_per_hour=1.0, replica_limit=4000.0))
    found = simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes)
    return found.results, found.advice


def test_nothing_is_said_to_last_where_no_rates_are_known():
    snapshot, load = observed(bytes_in=1e3, partitions=12, size_bytes=2**30, racks=3)
    results, advice = unknowing(snapshot, load, lambda one: dataclasses.replace(one, basis=PeakBasis.UNKNOWN))
    assert advice.recommended is None
    assert {option for _, option in advice.by_date} == {None}
    for result in results:
        assert result.fits_until is None
        assert [one.resource for one in result.exhaustion] == [Resource.REPLICAS]
        assert {Resource.NETWORK_IN, Resource.CPU, Resource.DISK} <= set(result.not_judged)


def test_doing_nothing_does_not_fit_either_where_sizes_are_not_known():
    snapshot, load = observed(bytes_in=1e3, partitions=12, size_bytes=2**30, racks=3)
    known, advice = unknowing(dataclasses.replace(snapshot, unknown_size_partitions=1), load)
    assert advice.recommended is not None  # one of twelve
    assert known[0].fits
    results, advice = unknowing(dataclasses.replace(snapshot, unknown_size_partitions=2), load)
    assert advice.recommended is None
    assert {option for _, option in advice.by_date} == {None}
    for result in results:
        assert [excuse.constraint for excuse in result.excuses] == ["sizes"]
        assert Resource.DISK not in {one.resource for one in result.exhaustion}
        assert Resource.NETWORK_IN in {one.resource for one in result.exhaustion}
