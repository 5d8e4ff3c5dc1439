"""What topics lose in a year, against brokers and racks that fail at random."""

from itertools import combinations
from math import inf

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.annual_losses import (
    SECONDS_PER_YEAR,
    Hazards,
    annual_losses,
    copysets_of,
    simulate_losses,
)
from tests.copyset_losses import loss_frequency

RACKS = [0, 0, 1, 1, 2, 2]


def found_for(replicas, hazards):
    count = len(replicas)
    return annual_losses(replicas, np.zeros(count, dtype=int), np.ones(count), hazards, topics=1)


def test_brokers_alone_lose_as_copysets_do():
    replicas = np.array([[0, 1, 2], [2, 1, 0], [3, 4, 5], [4, 5, -1]])
    hazards = Hazards.of(range(6), mttf_seconds=1e6, repair_seconds=10.0)
    found = found_for(replicas, hazards)
    plain = loss_frequency(replicas, mttf_seconds=1e6, repair_seconds=10.0)
    assert found.all_events == pytest.approx(plain.losses_per_year)
    assert found.lost_partitions[0] == pytest.approx(plain.partitions_lost_per_year)
    assert (found.all_copysets, found.copysets.tolist()) == (3, [3])


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("rack_mttf", [inf, 900.0])
def test_the_closed_form_is_what_random_failures_count(size, rack_mttf):
    hazards = Hazards.of(
        RACKS,
        mttf_seconds=200.0,
        repair_seconds=[10.0, 20.0, 30.0, 10.0, 20.0, 30.0],
        rack_mttf_seconds=rack_mttf,
        rack_repair_seconds=25.0,
    )
    replicas = np.array(list(combinations(range(6), size))[::2])
    found = found_for(replicas, hazards)
    counted = simulate_losses(copysets_of(replicas), hazards, seconds=400_000.0, seed=5)
    exact = found.lost_partitions[0] / SECONDS_PER_YEAR
    assert counted.copysets_error < 0.1 * exact
    assert abs(counted.copysets - exact) < 4 * counted.copysets_error
    assert counted.events < found.all_events / SECONDS_PER_YEAR + 4 * counted.events_error


def test_one_copyset_has_an_exact_rate_of_events():
    hazards = Hazards.of(RACKS, mttf_seconds=100.0, repair_seconds=20.0, rack_mttf_seconds=300.0)
    counted = simulate_losses(np.array([[0, 1, 2]]), hazards, seconds=400_000.0, seed=1)
    exact = found_for(np.array([[0, 1, 2]]), hazards).all_events / SECONDS_PER_YEAR
    assert counted.events == counted.copysets
    assert abs(counted.events - exact) < 4 * counted.events_error


@pytest.mark.parametrize("copyset", [[0, -1, -1], [0, 1, -1], [0, 1, 2]])
def test_brokers_of_a_rack_that_is_gone_are_not_lost_again(copyset):
    hazards = Hazards.of(
        RACKS, mttf_seconds=60.0, repair_seconds=20.0, rack_mttf_seconds=60.0, rack_repair_seconds=40.0
    )
    counted = simulate_losses(np.array([copyset]), hazards, seconds=300_000.0, seed=2)
    exact = found_for(np.array([copyset]), hazards).lost_partitions[0] / SECONDS_PER_YEAR
    assert counted.copysets_error < 0.05 * exact
    assert abs(counted.copysets - exact) < 4 * counted.copysets_error


def test_a_rack_that_holds_all_replicas_takes_them_at_once():
    day = 86_400.0
    for replicas, per_year in (([[0, 1]], 1 / 10), ([[0, 2]], 0.0)):
        hazards = Hazards.of(
            RACKS, mttf_seconds=1e15, repair_seconds=1.0, rack_mttf_seconds=3650 * day, rack_repair_seconds=1.0
        )
        assert found_for(np.array(replicas), hazards).all_events == pytest.approx(per_year, abs=1e-6)


def test_one_failure_is_one_event_however_many_partitions_it_takes():
    hazards = Hazards.of(range(3), mttf_seconds=SECONDS_PER_YEAR * 10, repair_seconds=1.0)
    found = found_for(np.array([[0], [0], [1]]), hazards)
    assert found.all_events == pytest.approx(0.2)
    assert found.lost_partitions[0] == pytest.approx(0.3)
    assert found.probability()[0] == pytest.approx(1 - np.exp(-0.2))


def test_topics_lose_by_themselves_and_by_their_sizes():
    hazards = Hazards.of(range(4), mttf_seconds=SECONDS_PER_YEAR, repair_seconds=3600.0)
    replicas = np.array([[0, 1], [2, 3], [0, 1]])
    found = annual_losses(replicas, np.array([0, 1, 1]), np.array([10.0, 20.0, 40.0]), hazards, topics=3)
    once = found.events[0]
    assert found.copysets.tolist() == [1, 2, 0]
    assert found.events.tolist() == pytest.approx([once, 2 * once, 0])
    assert found.lost_bytes.tolist() == pytest.approx([10 * once, 60 * once, 0])
    assert found.all_events == pytest.approx(2 * once)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mttf_seconds": 0}, "mttf_seconds must be above 0, not 0"),
        ({"repair_seconds": [1.0, inf]}, "repair_seconds must be above 0 and finite, not inf"),
        ({"rack_repair_seconds": -1}, "rack_repair_seconds must be above 0 and finite, not -1"),
    ],
)
def test_bad_times_are_named(changes, message):
    with pytest.raises(RequestError, match=message):
        Hazards.of([0, 1], **({"mttf_seconds": 1.0, "repair_seconds": 1.0} | changes))


def test_a_partition_without_replicas_is_named():
    hazards = Hazards.of([0], mttf_seconds=1.0, repair_seconds=1.0)
    with pytest.raises(RequestError, match="partition 1 of the assignment has no replica"):
        found_for(np.array([[0], [-1]]), hazards)


def test_many_replicas_on_brokers_with_large_positions_are_told_apart_as_well():
    brokers = 200
    hazards = Hazards.of(range(brokers), mttf_seconds=1e6, repair_seconds=10.0)
    wide = np.array([[*range(190, 199)], [*range(198, 189, -1)], [*range(0, 9)]])
    found = found_for(wide, hazards)
    assert (found.all_copysets, found.copysets.tolist()) == (2, [2])
