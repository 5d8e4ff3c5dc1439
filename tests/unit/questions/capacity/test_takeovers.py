"""Who takes over after a loss, as sizing judges it: the order of followers that carries most, without a copy."""

import dataclasses
import itertools

import numpy as np
import pytest

from kafka_capacity.demand.workload import HIGH
from kafka_capacity.hardware.limits import CONDITIONS, RESOURCES, Condition, Resource
from kafka_capacity.hardware.shapes import hardware
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import placement_grid
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from kafka_capacity.questions.capacity.options import SizingInputs
from kafka_capacity.questions.capacity.placing import place_option
from kafka_capacity.questions.capacity.results import PlacementKey
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from kafka_capacity.questions.failures.baseline import Baseline
from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.scenario import FailureScenario, SetKind
from tests.asking import run_sizes
from tests.unit.questions.capacity.test_idle import made_up
from tests.unit.questions.capacity.workloads import MIB


def test_six_brokers_are_enough_where_followers_take_turns():
    """Each of six brokers leads two partitions of 1 MiB/s, read twice, and the next two brokers follow both alike.

    It sends 2 x (2 + 2) = 8 MiB/s, of 0.7 x 14 = 9.8 allowed. When one dies the next one leads both of its partitions
    too, with one follower left: 8 + 2 x (2 + 1) = 14 MiB/s, of 0.9 x 14 = 12.6 allowed. Where the next two take one
    each they send 8 + 3 = 11 MiB/s.
    """
    inputs = made_up([MIB] * 12, brokers=6, racks=0, counts=(6, 7))
    ring = [[broker, broker % 6 + 1, (broker + 1) % 6 + 1] for broker in range(1, 7) for _ in range(2)]
    network = np.full(6, 14 * MIB)
    snapshot = dataclasses.replace(
        inputs.snapshot,
        brokers=dataclasses.replace(
            inputs.snapshot.brokers, network_in_bytes_per_second=network, network_out_bytes_per_second=network
        ),
        replicas=np.array(ring, dtype=np.int32),
        leader=np.array([row[0] for row in ring], dtype=np.int32),
    )
    today = dataclasses.replace(inputs.request.today, network_bytes_per_second=14 * MIB)
    request = dataclasses.replace(inputs.request, today=today)
    sized = simulate_sizing(SizingInputs.of(snapshot, inputs.workload, request), run_sizes)
    found = {one.option_id: one for one in sized.results}
    (excuse,) = found["do-nothing"].excuses
    assert (excuse.constraint, excuse.needed, excuse.available) == ("network_out", 14 * MIB, pytest.approx(12.6 * MIB))
    six = found["006-brokers.today"]
    assert (six.fits, six.change.moved_bytes) == (True, 0)
    assert six.tightest.needed == 11 * MIB
    assert sized.advice.recommended == "006-brokers.today"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [4, 9])
def test_the_change_has_the_lists_that_sizing_judged_and_its_losses_the_loads(count, seed):
    """Networks are ample: processors and disks alone could ask for another order."""
    rng = np.random.default_rng(seed)
    inputs = made_up(rng.lognormal(0, 0.6, 30) * MIB, brokers=6, racks=0, counts=(count,))
    ample = np.full(6, 1e12)
    list_of = dataclasses.replace(
        inputs.snapshot.brokers, network_in_bytes_per_second=ample, network_out_bytes_per_second=ample
    )
    snapshot = dataclasses.replace(inputs.snapshot, brokers=list_of)
    inputs = SizingInputs.of(snapshot, inputs.workload, inputs.request)
    placed = place_option(inputs, PlacementKey(broker_count=count, extra_racks=0, replication_factor=None))
    grid = parse_plan_request({"cluster": "payments", "broker_counts": [count], "placers": ["fewest-bytes"]}).grid()
    (scenario,) = placement_grid(snapshot.brokers, grid)
    made = evaluate_placement(snapshot, inputs.workload.load, scenario)
    assert made.diff.after.tolist() == placed.brokers.ids[placed.loads.replicas].tolist()

    today = Baseline(snapshot=snapshot, load=inputs.workload.load, traffic=inputs.workload.traffic)
    after = today.after(made)
    lost = evaluate_failures(
        after.snapshot,
        after.load,
        FailureScenario(kinds=(SetKind.BROKER,)),
        traffic=after.traffic,
        has=hardware(dataclasses.replace(inputs.request.today, disk_bytes_per_second=1e9), after.snapshot.brokers),
    )
    assert set(lost.capacity) == {Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CPU, Resource.DISK_IO}
    use = capacity_use(placed.loads, inputs.request.today)
    for resource, peaks in lost.peaks().items():
        judged = use.load[CONDITIONS.index(Condition.BROKER_LOST), RESOURCES.index(resource), HIGH, 0]
        assert np.nanmax(peaks, axis=0) == pytest.approx(judged, rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_no_other_order_of_followers_carries_more_by_the_judgement_of_sizing(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 7))
    inputs = made_up(rng.lognormal(0, 0.6, 8) * MIB, brokers=count, racks=0, counts=(count,))
    key = PlacementKey(broker_count=count, extra_racks=0, replication_factor=None)
    placed = place_option(inputs, key)
    lists = placed.brokers.ids[placed.loads.replicas]

    def worst(rows):
        loads = placed_loads(inputs.workload, placed.brokers, rows, inputs.request.loads, sizes=inputs.sizes)
        return loads.load[CONDITIONS.index(Condition.BROKER_LOST), RESOURCES.index(Resource.NETWORK_OUT), 1].max()

    turned = lists[:, [0, 2, 1]]
    every = (
        np.where(np.array(turns)[:, None], turned, lists)
        for turns in itertools.product((False, True), repeat=len(lists))
    )
    assert worst(lists) == pytest.approx(min(map(worst, every)), rel=1e-6)


@pytest.mark.parametrize("throttle", [50 * MIB, 20 * MIB])
def test_copying_onto_other_machines_waits_for_what_is_written_meanwhile(throttle):
    """Three brokers that all hold 12 partitions of 1 GiB: each new one fetches 12 GiB, and 12 MiB/s beside.

    Each of today's leads four, which three others fetch, as much. What the two followers in sync fetch of them counts
    for the throttle of the leader too: 12 + 8 MiB/s.
    """
    inputs = made_up(
        [MIB] * 12, brokers=3, racks=3, counts=(3,), loads=LoadSettings(throttle_bytes_per_second=throttle)
    )
    copied = place_option(inputs, inputs.options[0].placement).everything
    assert copied.moved_bytes == 36 * 2**30
    assert copied.least_throttle_bytes_per_second == pytest.approx(20 * MIB)
    ends = throttle > 20 * MIB
    assert copied.seconds == (pytest.approx(12 * 2**30 / (throttle - 20 * MIB)) if ends else None)
    # Ids may be so high that two do not add up in 32 bits.
    high, snapshot = np.int32(1_200_000_000), inputs.snapshot
    renamed = dataclasses.replace(
        snapshot,
        brokers=dataclasses.replace(snapshot.brokers, ids=snapshot.brokers.ids + high),
        replicas=np.where(snapshot.replicas >= 0, snapshot.replicas + high, -1).astype(np.int32),
        leader=(snapshot.leader + high).astype(np.int32),
    )
    far = SizingInputs.of(renamed, inputs.workload, inputs.request)
    assert place_option(far, far.options[0].placement).everything == copied
