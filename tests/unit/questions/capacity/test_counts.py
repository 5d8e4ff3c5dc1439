"""Which counts of brokers sizing tries, and that it comes to the fewest."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.kafka.placement import Balance
from kafka_capacity.proposal.pins import pins_of
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest, default_counts, scale_in_count
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from tests.asking import run_sizes
from tests.unit.proposal.snapshots import observed
from tests.unit.questions.capacity.workloads import brokers, workload

GIB, MIB = 2**30, 2**20


def options_by_id(results):
    return {result.option_id: result for result in results}


def test_default_counts_step_by_racks_up_to_twice_as_many():
    assert default_counts(brokers(6, list("abcabc")), 3) == (3, 6, 9, 12)
    assert default_counts(brokers(4, list("abca")), 3) == (3, 4, 6)
    # What 40 brokers in racks of 14, 13 and 13 hold is limited by those of 13: a 43rd adds nothing to 42.
    counts = default_counts(brokers(40, list("abc") * 13 + ["a"]), 3)
    assert (40 in counts, {count % 3 for count in counts if count != 40}) == (True, {0})
    assert 42 in counts
    # New brokers go to the smallest rack: each of them tells until all are even.
    assert default_counts(brokers(9, list("abababacb")), 3) == (3, 6, 9, 10, 11, 12, 15, 18)
    assert default_counts(brokers(6, list("aaaabc")), 3) == (3, 6, 8, 9, 10, 12)
    counts = default_counts(brokers(60, list("abc") * 20), 3)
    assert len(counts) <= 9
    assert {60, 120} <= {*counts, 120}
    assert 60 in counts
    assert scale_in_count(brokers(6, list("abcabc")), 3) == 3
    assert scale_in_count(brokers(6, list("abcabc")), 4) is None


def sized_by_disk(**asked):
    return simulate_sizing(sized_by_disk_inputs(**asked), run_sizes)


def sized_by_network(*, mib, partitions=200, **asked):
    """Size six brokers in three racks, networks of 1.25 GB/s, to which so many MiB a second are produced in all."""
    snapshot, load = observed(partitions=partitions, rf=2, bytes_in=mib * MIB / partitions, size_bytes=MIB)
    rates = load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second
    work = workload(*rates, size=MIB, retention=1.0, names=["orders"] * partitions)
    shape = observed_shape(snapshot.brokers, vcpu=16.0, usd_per_hour=1.0)
    request = SizingRequest(today=shape, balance=Balance.REPLICAS, **asked)
    return simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes)


def sized_by_disk_inputs(*, brokers, racks, gib, growth=(1.0, 1.0), **asked):
    """Size brokers with a disk of 100 GiB each, 85 of them allowed, that hold so many GiB in all, in two replicas."""
    snapshot, load = observed(
        brokers=brokers, racks=racks, partitions=200, rf=2, size_bytes=gib * GIB // 400, disk_capacity_bytes=100.0 * GIB
    )
    rates = load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second
    work = workload(
        *rates, size=gib * GIB // 400, retention=gib * GIB / 400 / 1000, names=["orders"] * 200, middle=[growth]
    )
    # Partitions are of one size: by their number they are even as soon, and placed much sooner.
    asked |= {"balance": Balance.REPLICAS}
    request = SizingRequest(today=observed_shape(snapshot.brokers, vcpu=16.0, usd_per_hour=1.0), **asked)
    return SizingInputs.of(snapshot, work, request)


@pytest.mark.parametrize(("racks", "gib", "least"), [(0, 1050, 13), (1, 1050, 13), (2, 1050, 14), (0, 640, 8)])
def test_the_fewest_brokers_are_found_whatever_counts_are_tried_first(racks, gib, least):
    """Counts are tried a few apart at first: 12 brokers in one rack would go to 16, 60 in three racks to 84."""
    found = sized_by_disk(brokers=12, racks=racks, gib=gib)
    step = max(1, racks)
    every = tuple(range(2 * step, 25, step))
    exhaustive = sized_by_disk(brokers=12, racks=racks, gib=gib, broker_counts=every)
    assert found.advice.recommended == exhaustive.advice.recommended == f"{least:03d}-brokers.today"


@pytest.mark.parametrize(("gib", "least"), [(500, 7), (600, 8), (900, 12)])
def test_racks_that_are_uneven_get_no_more_than_what_is_enough(gib, least):
    """Each of two racks has a replica of everything, so that one with a single broker binds: 4 and 1 become 4 and 3."""
    inputs = sized_by_disk_inputs(brokers=5, racks=1, gib=gib)
    uneven = inputs.snapshot.brokers.with_racks(dict(zip(inputs.snapshot.brokers.ids.tolist(), "aaaab", strict=True)))
    snapshot = dataclasses.replace(inputs.snapshot, brokers=uneven)
    found, exhaustive = (
        simulate_sizing(
            SizingInputs.of(snapshot, inputs.workload, dataclasses.replace(inputs.request, broker_counts=counts)),
            run_sizes,
        )
        for counts in ((), tuple(range(2, 15)))
    )
    assert found.advice.recommended == exhaustive.advice.recommended == f"{least:03d}-brokers.today"


def test_where_racks_outnumber_replicas_brokers_of_every_rack_help():
    """Two replicas in three racks of 3, 1 and 1: a sixth broker adds room, whichever rack it is in."""
    inputs = sized_by_disk_inputs(brokers=5, racks=1, gib=480)
    uneven = inputs.snapshot.brokers.with_racks(dict(zip(inputs.snapshot.brokers.ids.tolist(), "aaabc", strict=True)))
    snapshot = dataclasses.replace(inputs.snapshot, brokers=uneven)
    found = simulate_sizing(SizingInputs.of(snapshot, inputs.workload, inputs.request), run_sizes)
    assert found.advice.recommended == "006-brokers.today"


@pytest.mark.parametrize("gib", [1050, 1160, 1240])
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_fewest_at_other_loads_are_found_as_well(gib, factor):
    found = sized_by_disk(brokers=12, racks=0, gib=gib)
    exhaustive = sized_by_disk(brokers=12, racks=0, gib=gib, broker_counts=tuple(range(2, 25)))
    fewest, least = (
        min(one.option.placement.broker_count for one in each.results if one.carries(factor))
        for each in (found, exhaustive)
    )
    assert fewest == least


def test_where_twice_as_many_have_too_little_space_more_are_tried():
    found = sized_by_disk(brokers=6, racks=3, gib=6 * 85 * 4)
    assert found.advice.recommended == "027-brokers.today"
    # Disks that are so small are a mistake of units.
    assert sized_by_disk(brokers=6, racks=3, gib=6 * 85 * 400).advice.recommended is None


def test_where_twice_as_many_have_too_little_network_more_are_tried():
    found = sized_by_network(mib=1500.0)
    exhaustive = sized_by_network(mib=1500.0, broker_counts=tuple(range(3, 49, 3)))
    assert found.advice.recommended == exhaustive.advice.recommended == "030-brokers.today"


@pytest.mark.parametrize(("maximum", "asked"), [("replica_count", 22), ("leader_count", 11)])
def test_where_twice_as_many_have_more_than_a_request_allows_more_are_tried(maximum, asked):
    """200 partitions in two replicas, on six brokers."""
    found = sized_by_disk(brokers=6, racks=0, gib=20, broker_maxima=((maximum, asked),))
    assert found.advice.recommended == "019-brokers.today"


@pytest.mark.parametrize("too_much", [{"mib": 1500.0, "partitions": 2}, {"mib": 60_000.0}])
def test_no_more_are_tried_where_they_do_not_help(too_much):
    """A partition is too much for any broker, or it would take hundreds: then a figure is wrong."""
    found = sized_by_network(**too_much)
    assert found.advice.recommended is None
    assert max(one.option.placement.broker_count for one in found.results) == 12


def test_partitions_without_a_leader_today_do_not_tell_how_many_brokers_are_enough():
    inputs = sized_by_disk_inputs(brokers=6, racks=3, gib=20)
    nobody = np.full_like(inputs.snapshot.leader, -1)
    offline = dataclasses.replace(inputs.snapshot, leader=nobody, in_sync=np.zeros_like(inputs.snapshot.in_sync))
    found, usual = (
        simulate_sizing(SizingInputs.of(one, inputs.workload, inputs.request), run_sizes)
        for one in (offline, inputs.snapshot)
    )
    assert [one.fits for one in found.results] == [one.fits for one in usual.results]
    assert found.advice.recommended == usual.advice.recommended


def test_no_more_counts_than_were_asked_for():
    assert len(sized_by_disk(brokers=12, racks=0, gib=1050, broker_counts=(12, 24)).results) == 4


@pytest.mark.parametrize(("maximum", "asked"), [("replica_count", 40), ("leader_count", 21)])
def test_what_a_request_limits_for_every_broker_counts(maximum, asked):
    # 200 partitions in two replicas: 66.7 replicas and 33.3 leaders on each of six brokers.
    assert sized_by_disk(brokers=6, racks=0, gib=20).advice.recommended == "002-brokers.today"
    found = sized_by_disk(brokers=6, racks=0, gib=20, broker_maxima=((maximum, asked),))
    assert found.advice.recommended == "010-brokers.today"
    today = options_by_id(found.results)["do-nothing"]
    assert (today.fits, {one.constraint for one in today.excuses}) == (False, {maximum})


def test_topics_that_are_pinned_stay_where_they_may_be():
    pins = pins_of({"orders": [1, 2, 3]})
    found = options_by_id(sized_by_disk(brokers=6, racks=0, gib=20, pins=pins).results)
    assert {one.constraint for one in found["do-nothing"].excuses} == {"pin"}
    assert found["006-brokers.today"].fits


def test_what_was_tried_stays_where_more_is_tried_between():
    inputs = sized_by_disk_inputs(brokers=6, racks=3, gib=6 * 85 * 4)
    tried = {option.option_id for option in inputs.options}
    found = {result.option_id for result in simulate_sizing(inputs, run_sizes).results}
    assert tried < found
