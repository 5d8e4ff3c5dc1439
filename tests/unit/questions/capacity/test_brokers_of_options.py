"""Which brokers options are made of: where some are named to go, listed with other figures, or far weaker."""

from __future__ import annotations

import dataclasses

import numpy as np

from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.proposal.grid import BrokerChanges
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest, brokers_of, capacity_options
from kafka_capacity.questions.capacity.results import OptionKind, PlacementKey
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from tests.asking import run_sizes
from tests.shapes import read_shapes
from tests.unit.proposal.snapshots import observed
from tests.unit.questions.capacity.workloads import MIB, workload


def test_new_brokers_take_no_id_of_those_that_are_named_to_go():
    snapshot, _ = observed()
    left = BrokerChanges(removed=(6,)).apply(snapshot.brokers)
    request = SizingRequest(today=observed_shape(snapshot.brokers), broker_counts=(5, 6))
    inputs = SizingInputs.of(snapshot, workload([1e3] * len(snapshot.partitions)), request, named=left)
    placed = {count: PlacementKey(broker_count=count, extra_racks=0, replication_factor=None) for count in (5, 6)}
    assert {count: brokers_of(inputs, key).ids.tolist() for count, key in placed.items()} == {
        5: [1, 2, 3, 4, 5],
        6: [1, 2, 3, 4, 5, 7],
    }
    # Doing nothing leaves replicas where they are, on the brokers that are to go too.
    assert brokers_of(inputs, inputs.options[0].placement).ids.tolist() == [1, 2, 3, 4, 5, 6]


def test_new_brokers_go_to_the_racks_that_the_move_names_or_to_as_many_more_as_are_asked_for():
    snapshot, _ = observed()
    today = snapshot.brokers.rack_names()
    named = SizingRequest(today=observed_shape(snapshot.brokers), new_broker_racks=("z", today[0]))
    inputs = SizingInputs.of(snapshot, workload([1e3] * len(snapshot.partitions)), named)
    added = {
        more: list(brokers_of(inputs, PlacementKey(broker_count=9, extra_racks=more)).racks[6:]) for more in (0, 1, 2)
    }
    assert added == {
        0: ["z", today[0], "z"],
        1: ["new-rack-1"] * 3,
        2: ["new-rack-1", "new-rack-2", "new-rack-1"],
    }


def test_brokers_that_are_named_without_a_count_are_one_to_size():
    snapshot, _ = observed()
    request = SizingRequest(today=observed_shape(snapshot.brokers), broker_counts=(9,))
    work, left = workload([1e3] * len(snapshot.partitions)), BrokerChanges(removed=(6,)).apply(snapshot.brokers)

    def counts(named):
        options = SizingInputs.of(snapshot, work, request, named=named).options
        return {one.placement.broker_count for one in options if not one.placement.is_observed}

    assert counts(left) - counts(None) == {5}


def test_few_brokers_that_are_far_weaker_than_the_others_are_tried_without():
    snapshot, _ = observed()
    work, now = workload([1e3] * len(snapshot.partitions)), snapshot.brokers

    def inputs(cores, **given):
        unlike = dataclasses.replace(snapshot, brokers=dataclasses.replace(now, cpu_cores=np.array(cores)))
        request = SizingRequest(today=observed_shape(unlike.brokers), broker_counts=(6,))
        return SizingInputs.of(unlike, work, request, **given)

    without = next(
        one for one in inputs([8, 8, 2.5, 8, 8, 8]).options if one.option_id == "006-brokers.today.without-3"
    )
    assert without.kind is OptionKind.WITHOUT_SOME
    found = brokers_of(inputs([8, 8, 2.5, 8, 8, 8]), without.placement)
    assert (found.ids.tolist(), found.cpu_cores.tolist()) == ([1, 2, 4, 5, 6, 7], [8.0] * 6)
    # As many as are no exceptions are another generation of machines; a little less makes no difference.
    for alike in ([8.0] * 6, [8, 8, 2.5, 2.5, 8, 8], [8, 8, 6.5, 8, 8, 8], [8, 8, np.nan, 8, 8, 8]):
        assert not [one for one in inputs(alike).options if one.placement.removed_brokers]
    # Those that the request does without are named as well, on the way to as many as there are, too.
    named = dataclasses.replace(now, cpu_cores=np.full(6, 8.0)).take(now.ids != 2)
    kept = inputs([8.0] * 6, named=named)
    assert kept.removed == (2,)
    assert [one.option_id for one in kept.options[1:]] == [
        "005-brokers.today.without-2",  # those that are left are where the move goes
        "006-brokers.today.without-2",
    ]
    other = dataclasses.replace(kept.request, shapes=(read_shapes()["m5.large"],))
    kinds = {one.option_id: one.kind for one in capacity_options(dataclasses.replace(kept, request=other))}
    assert kinds["006-brokers.m5.large.without-2"] is OptionKind.OTHER_HARDWARE


def test_without_the_weaker_broker_no_more_of_the_others_are_needed():
    # Half a core carries its share on no number of brokers, whatever the others have.
    snapshot, load = observed(bytes_in=4 * MIB, partitions=24, size_bytes=2**30, racks=3)
    cores = np.where(snapshot.brokers.ids == 3, 0.5, 16.0)
    snapshot = dataclasses.replace(snapshot, brokers=dataclasses.replace(snapshot.brokers, cpu_cores=cores))
    rates = load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second
    work = workload(*rates, size=2**30, retention=256.0, names=["orders"] * 24, middle=[[1, 1]])
    request = SizingRequest(today=observed_shape(snapshot.brokers), broker_counts=(6, 9, 12))
    found = simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes)
    fitting = {one.option_id for one in found.results if one.fits}
    assert fitting == {f"{count:03d}-brokers.today.without-3" for count in (3, 6, 9, 12)}
    assert found.advice.recommended == "003-brokers.today.without-3"


def test_brokers_that_are_listed_with_other_figures_are_other_hardware_and_those_that_replace_are_not():
    snapshot, _ = observed()
    now, request = snapshot.brokers, SizingRequest(today=observed_shape(snapshot.brokers), broker_counts=(6, 9))

    def kinds(named):
        inputs = SizingInputs.of(snapshot, workload([1e3] * len(snapshot.partitions)), request, named=named)
        return {option.option_id: option.kind for option in inputs.options}

    alike = {
        "do-nothing": OptionKind.DO_NOTHING,
        "003-brokers.today": OptionKind.SCALE_IN,
        "006-brokers.today": OptionKind.REBALANCE,
        "009-brokers.today": OptionKind.SCALE_OUT,
    }
    assert kinds(None) == alike
    replaced = kinds(BrokerChanges(replaced=((6, 16),)).apply(now))
    assert set(list(replaced.values())[1:]) == {OptionKind.WITHOUT_SOME}
    assert all(one.endswith(".without-6") for one in list(replaced)[1:])
    larger = dataclasses.replace(now, cpu_cores=np.full(len(now), 64.0))
    assert set(list(kinds(larger).values())[1:]) == {OptionKind.OTHER_HARDWARE}
