"""More brokers never leave less headroom, whatever the placements for their counts are like."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.hardware.limits import RESOURCES, FailureTolerance, Limits
from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.placement.problem import RackRule
from kafka_capacity.questions.capacity.idle import _keeps_racks
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest, placement_keys
from kafka_capacity.questions.capacity.placing import place_option
from kafka_capacity.questions.capacity.results import OptionKind
from kafka_capacity.questions.capacity.simulate import evaluate_placed, simulate_sizing
from tests.asking import run_sizes
from tests.builders import cluster, topic
from tests.unit.questions.capacity.workloads import GIB, MIB, workload

COUNTS = tuple(range(3, 16))


def made_up(rates, *, brokers, racks, rf=3, tolerance=FailureTolerance.ONE_BROKER, counts=COUNTS, **asked):
    """Inputs of sizing a small cluster: one topic, so many bytes a second produced to each of its partitions."""
    made = topic("orders", partitions=len(rates), rf=rf, size_bytes=GIB)
    raw = cluster(brokers=brokers, racks=racks, topics=[made])
    snapshot = build_snapshot(raw)
    load = dataclasses.replace(
        partition_load(raw, snapshot),
        bytes_in_mean_bytes_per_second=np.array(rates, dtype=float),
        bytes_out_mean_bytes_per_second=2 * np.array(rates, dtype=float),
    )
    work = workload(
        load.bytes_in_mean_bytes_per_second,
        load.bytes_out_mean_bytes_per_second,
        size=GIB,
        retention=GIB / float(np.mean(rates)),
        names=["orders"] * len(rates),
    )
    request = SizingRequest(
        today=dataclasses.replace(
            observed_shape(snapshot.brokers, vcpu=4.0, usd_per_hour=1.0), network_bytes_per_second=60 * MIB
        ),
        limits=Limits(tolerance=tolerance),
        broker_counts=counts,
        **asked,
    )
    return SizingInputs.of(snapshot, work, request)


@st.composite
def small_clusters(draw):
    """Clusters of 3 to 12 brokers with 9 to 60 leaders of different weight."""
    racks = draw(st.sampled_from([None, 3]))
    rates = draw(st.lists(st.integers(1, 8), min_size=9, max_size=60))
    return made_up(
        [rate * 0.5 * MIB for rate in rates],
        brokers=draw(st.integers(3, 12)),
        racks=racks,
        rf=draw(st.integers(2, 3)),
        tolerance=draw(st.sampled_from([FailureTolerance.ONE_BROKER, FailureTolerance.ONE_RACK]))
        if racks
        else FailureTolerance.ONE_BROKER,
        rack_rule=draw(st.sampled_from([RackRule.STRICT, RackRule.TWO_RACKS])),
        counts=tuple(sorted(draw(st.sets(st.sampled_from(COUNTS), min_size=3, max_size=5)))),
    )


def falls(results):
    """List (fewer, more) where more brokers have less headroom than they may.

    What is wrong with fewer for another reason than headroom is no example for more: that placement is not wanted.
    """
    judged = sorted(
        (one for one in results if one.headroom_ratio is not None), key=lambda one: one.option.placement.broker_count
    )
    return [
        (less.option_id, more.option_id)
        for less, more in itertools.combinations(judged, 2)
        if less.option.placement.broker_count < more.option.placement.broker_count
        and more.option.kind is not OptionKind.DO_NOTHING  # it is what it is
        and all(excuse.constraint in RESOURCES for excuse in less.excuses)
        and more.headroom_ratio < less.headroom_ratio - 1e-9
    ]


@settings(deadline=None, max_examples=15)
@given(small_clusters())
def test_more_brokers_never_leave_less_headroom(inputs):
    # Only the list is compared: hypothesis would print every array of what is inside.
    found = falls(simulate_sizing(inputs, run_sizes).results)
    assert found == []


def test_a_larger_option_stands_on_the_placement_that_it_names():
    # Nine leaders of these weights are less even after the loss of one of nine or twelve brokers than on six.
    rates = np.array([1.0, 0.5, 0.5, 2.5, 1.0, 1.0, 3.0, 3.0, 3.5]) * MIB
    inputs = made_up(rates, brokers=9, racks=3, counts=(6, 12))
    assert falls(placed_alone(inputs)) == [("006-brokers.today", "012-brokers.today")]
    sized = simulate_sizing(inputs, run_sizes)
    smaller, larger = (
        next(one for one in sized.results if one.option_id == name)
        for name in ("006-brokers.today", "012-brokers.today")
    )
    assert (larger.option.placement.idle_brokers, larger.as_dict()["idle_brokers"]) == (6, 6)
    assert smaller.option.placement.idle_brokers == 0
    placed = place_option(inputs, larger.option.placement)
    held = np.bincount(placed.loads.replicas.ravel(), minlength=12)
    assert (held > 0).sum() == 6
    assert larger.headroom_ratio == smaller.headroom_ratio == pytest.approx(0.71086, abs=1e-5)
    assert larger.change.moved_bytes == smaller.change.moved_bytes
    # Idle brokers are paid for as all others.
    assert (smaller.cost.brokers, larger.cost.brokers) == (6 * 730, 12 * 730)
    assert sized.advice.recommended == "006-brokers.today"


def test_todays_placement_does_for_more_brokers_where_it_keeps_the_rack_rule():
    # Nobody placed as well as this by hand: each broker leads one partition and follows the next two.
    inputs = made_up([MIB] * 6, brokers=6, racks=3, counts=(9,))
    today, _, larger = simulate_sizing(inputs, run_sizes).results
    assert larger.headroom_ratio >= today.headroom_ratio
    crowded = dataclasses.replace(inputs.snapshot, replicas=np.array([[1, 4]] * 6, dtype=np.int32))
    assert _keeps_racks(inputs.snapshot, inputs.request)
    assert not _keeps_racks(crowded, inputs.request)  # both in rack a


def placed_alone(inputs):
    """Results as they are before any broker is left idle."""
    return [result for key in placement_keys(inputs.options) for result in evaluate_placed(inputs, key)]
