"""What brokers carry: by hand, by brute force, and what must hold whatever the cluster."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.demand.workload import Lags
from kafka_capacity.hardware.cpu import CpuCosts
from kafka_capacity.hardware.limits import CONDITIONS, RESOURCES, Condition, Resource
from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from tests.unit.questions.capacity.workloads import GIB, MIB, brokers, replicas, workload

COSTS = CpuCosts(
    base_cores=1.0,
    leader_in_seconds_per_mib=0.5,
    follower_in_seconds_per_mib=0.25,
    out_seconds_per_mib=0.125,
    source="test",
)


def load_of(loads, resource, condition=Condition.NORMAL, *, estimate=0, date=0):
    return loads.load[CONDITIONS.index(condition), RESOURCES.index(resource), estimate, date]


def three(**options):
    """Three brokers; broker 1 leads P0 (10 MiB/s) with 2 and 3, broker 2 leads P1 (4 MiB/s) with 1."""
    work = workload([10 * MIB, 4 * MIB], [20 * MIB, 0.0], **options)
    return work, brokers(3, ["a", "b", "c"]), replicas([1, 2, 3], [2, 1])


def test_normal_loads_by_hand():
    loads = placed_loads(*three(), LoadSettings(cpu=COSTS))
    assert load_of(loads, Resource.NETWORK_IN).tolist() == [14 * MIB, 14 * MIB, 10 * MIB]
    # Leader of P0: 20 to consumers, 2 x 10 to followers; leader of P1: 4 to its follower.
    assert load_of(loads, Resource.NETWORK_OUT).tolist() == [40 * MIB, 4 * MIB, 0.0]
    assert load_of(loads, Resource.CLIENT_IN).tolist() == [10 * MIB, 4 * MIB, 0.0]
    assert load_of(loads, Resource.CLIENT_OUT).tolist() == [20 * MIB, 0.0, 0.0]
    assert load_of(loads, Resource.CPU).tolist() == [1 + 5 + 1 + 5, 1 + 2 + 2.5 + 0.5, 1 + 2.5]
    assert load_of(loads, Resource.DISK).tolist() == [2 * GIB, 2 * GIB, GIB]
    assert load_of(loads, Resource.DISK_IO).tolist() == load_of(loads, Resource.NETWORK_IN).tolist()
    assert load_of(loads, Resource.REPLICAS).tolist() == [2, 2, 1]


def test_after_the_loss_of_a_broker_its_successor_leads_and_nobody_replicates_to_it():
    loads = placed_loads(*three(), LoadSettings(cpu=COSTS))
    out = load_of(loads, Resource.NETWORK_OUT, Condition.BROKER_LOST)
    # Broker 1 is worst off without 3 (20 + 10 + nothing for P1) or without 2, when it also leads P1: 20 + 10.
    # Broker 2 without 1: leads P0 (20 + 10 to broker 3) and P1, whose follower is gone.
    assert out.tolist() == [30 * MIB, 30 * MIB, 0.0]
    why = loads.cause[CONDITIONS.index(Condition.BROKER_LOST), RESOURCES.index(Resource.NETWORK_OUT), 0, 0]
    assert why[1] == 0
    assert load_of(loads, Resource.CLIENT_IN, Condition.BROKER_LOST).tolist() == [14 * MIB, 14 * MIB, 0.0]
    # Racks of one broker each are the same losses.
    for resource in RESOURCES:
        assert np.array_equal(
            load_of(loads, resource, Condition.BROKER_LOST), load_of(loads, resource, Condition.RACK_LOST)
        )


def test_who_takes_over_reads_from_its_disk_for_groups_that_are_behind():
    # A group is 12 h behind on P0 and served from disk. It reads 10 MiB/s from broker 1, and from 2 once 1 is lost.
    lags = Lags(
        groups=("billing",), group=np.zeros(1, np.int32), row=np.zeros(1, np.int64), seconds=np.array([43_200.0])
    )
    work, three_brokers, lists = three(lags=lags)
    shape = dataclasses.replace(observed_shape(three_brokers), memory_bytes=8 * GIB)
    use = capacity_use(placed_loads(work, three_brokers, lists, LoadSettings(cpu=COSTS)), shape)
    assert load_of(use, Resource.DISK_IO).tolist() == [24 * MIB, 14 * MIB, 10 * MIB]
    for condition in (Condition.BROKER_LOST, Condition.RACK_LOST):
        assert load_of(use, Resource.DISK_IO, condition).tolist() == [24 * MIB, 24 * MIB, 10 * MIB]
        why = use.cause[CONDITIONS.index(condition), RESOURCES.index(Resource.DISK_IO), 0, 0]
        assert why.tolist() == [-1, 0, -1]


def test_what_only_the_object_store_has_comes_in_over_the_network_and_from_no_disk():
    """The same group, where brokers keep six hours of a tiered topic; where they keep a day, it reads from disk."""
    lags = Lags(
        groups=("billing",), group=np.zeros(1, np.int32), row=np.zeros(1, np.int64), seconds=np.array([43_200.0])
    )
    found = {}
    for kept in (6, 24):
        work, three_brokers, lists = three(lags=lags, is_tiered=True, retention=kept * 3600.0)
        shape = dataclasses.replace(observed_shape(three_brokers), memory_bytes=8 * GIB)
        use = capacity_use(placed_loads(work, three_brokers, lists, LoadSettings(cpu=COSTS)), shape)
        found[kept] = (
            (use.fallen_out, work.remote_reads().tolist()),
            [
                [load_of(use, resource, condition).tolist() for resource in (Resource.NETWORK_IN, Resource.DISK_IO)]
                for condition in (Condition.NORMAL, Condition.BROKER_LOST, Condition.RACK_LOST)
            ],
        )
    alone = [14 * MIB, 14 * MIB, 10 * MIB]
    # Broker 1 fetches the 10 MiB/s that the group reads, and 2 does once 1 is lost.
    after = [[24 * MIB, 24 * MIB, 10 * MIB], alone]
    assert found[6] == (((), [10 * MIB, 0.0]), [[[24 * MIB, 14 * MIB, 10 * MIB], alone], after, after])
    from_disk = [alone, [24 * MIB, 24 * MIB, 10 * MIB]]
    assert found[24] == (
        ((("billing", "2026-11-20"),), [0.0, 0.0]),
        [[alone, [24 * MIB, 14 * MIB, 10 * MIB]], from_disk, from_disk],
    )


def test_consumers_may_read_in_their_rack():
    loads = placed_loads(*three(), LoadSettings(is_read_in_rack=True))
    assert load_of(loads, Resource.CLIENT_OUT) == pytest.approx([20 * MIB / 3] * 3)
    # P1 is not in rack c: those consumers go to its leader. It has no readers; give it some.
    _, list_of, placement = three()
    read = workload([1.0, 4 * MIB], [0.0, 9 * MIB])
    loads = placed_loads(read, list_of, placement, LoadSettings(is_read_in_rack=True))
    assert load_of(loads, Resource.CLIENT_OUT) == pytest.approx([3 * MIB, 6 * MIB, 0.0])


def test_movement_comes_on_top():
    loads = placed_loads(*three(), LoadSettings(cpu=COSTS, throttle_bytes_per_second=2 * MIB, reread_ratio=0.5))
    assert load_of(loads, Resource.NETWORK_IN, Condition.MOVING).tolist() == [16 * MIB, 16 * MIB, 12 * MIB]
    assert load_of(loads, Resource.NETWORK_OUT, Condition.MOVING).tolist() == [42 * MIB, 6 * MIB, 2 * MIB]
    assert load_of(loads, Resource.DISK_IO, Condition.MOVING).tolist() == [18 * MIB, 18 * MIB, 14 * MIB]
    assert load_of(loads, Resource.CPU, Condition.MOVING)[2] == 3.5 + 2 * 0.25 + 2 * 0.125
    # Broker 3 misses P0 alone, which broker 1 leads: it sends all of it.
    assert load_of(loads, Resource.NETWORK_OUT, Condition.BROKER_RETURNS)[0] == pytest.approx(42 * MIB)
    assert load_of(loads, Resource.DISK_IO, Condition.REREADING).tolist() == [19 * MIB, 16 * MIB, 10 * MIB]
    assert load_of(loads, Resource.CLIENT_OUT, Condition.REREADING).tolist() == [25 * MIB, 2 * MIB, 0.0]


def test_partitions_that_peak_at_other_hours_are_not_added_up():
    quiet, busy = [1.0] * 50, [101.0] * 50
    work = workload([51.0, 51.0], hours_in=[quiet + busy, busy + quiet])
    loads = placed_loads(work, brokers(1), replicas([1], [1]), LoadSettings())
    assert load_of(loads, Resource.NETWORK_IN).tolist() == [102.0]


def test_growth_by_class_weighs_the_hours_anew():
    # Today the first half of the day is the peak; the second class grows until its half is.
    rows = [[100.0] * 50 + [0.0] * 50, [0.0] * 50 + [80.0] * 50]
    work = workload([50.0, 40.0], hours_in=rows, class_of=[0, 1], middle=[[1, 1], [1, 2]], high=[[1, 1], [1, 3]])
    loads = placed_loads(work, brokers(1), replicas([1], [1]), LoadSettings())
    assert load_of(loads, Resource.NETWORK_IN).tolist() == [100.0]
    assert load_of(loads, Resource.NETWORK_IN, date=1).tolist() == [160.0]
    assert load_of(loads, Resource.NETWORK_IN, date=1, estimate=1).tolist() == [240.0]


def test_added_topics_fall_on_every_broker_as_on_the_fullest():
    new = AddedTopic(
        name="new",
        from_date="2026-12-01",
        partitions=4,
        replication_factor=2,
        bytes_in_peak_bytes_per_second=8 * MIB,
        bytes_in_mean_bytes_per_second=4 * MIB,
        bytes_out_peak_bytes_per_second=16 * MIB,
        bytes_out_mean_bytes_per_second=8 * MIB,
        retention_seconds=86_400.0,
    )
    work = workload([0.0], added=[new], size=0)
    loads = placed_loads(work, brokers(3), replicas([1]), LoadSettings())
    assert load_of(loads, Resource.NETWORK_IN).tolist() == [0.0] * 3
    # 2 of 4 leaders and 3 of 8 replicas on the fullest of three.
    assert load_of(loads, Resource.CLIENT_IN, date=1).tolist() == [4 * MIB] * 3
    assert load_of(loads, Resource.NETWORK_IN, date=1).tolist() == [6 * MIB] * 3
    assert load_of(loads, Resource.NETWORK_OUT, date=1).tolist() == [12 * MIB] * 3
    assert load_of(loads, Resource.REPLICAS, date=1).tolist() == [4, 3, 3]
    # A day of 4 MiB/s, and one more segment for each of the four partitions, three quarters of it here.
    assert load_of(loads, Resource.DISK, date=1)[1] == pytest.approx(0.75 * (86_400 * 4 * MIB + 4 * GIB))


@st.composite
def clusters(draw):
    """Up to five brokers, up to six partitions with distinct replicas, up to five hours, two classes."""
    count = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(st.integers(1, count), min_size=1, max_size=3, unique=True), min_size=1, max_size=6))
    rate = st.integers(0, 1000).map(float)
    hours = draw(st.integers(1, 5))
    hourly = draw(st.lists(st.lists(rate, min_size=hours, max_size=hours), min_size=len(rows), max_size=len(rows)))
    out = draw(st.lists(st.lists(rate, min_size=hours, max_size=hours), min_size=len(rows), max_size=len(rows)))
    class_of = draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))
    ratio = draw(st.tuples(*[st.floats(0.5, 4.0)] * 2))
    racks = draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    work = workload(
        np.mean(hourly, axis=1),
        np.mean(out, axis=1),
        hours_in=hourly,
        hours_out=out,
        class_of=class_of,
        middle=[[1, ratio[0]], [1, ratio[1]]],
    )
    return work, brokers(count, racks), rows


def by_brute_force(work, list_of, rows, dead, *, in_rack):
    """Peaks of (in, out, client in, client out) by broker at the last date, one replica and hour at a time."""
    ratio = work.outlook.rate_ratio[:, -1]
    racks = sorted({list_of.racks[i] for i in range(len(list_of))})
    hours = work.traffic.bytes_in.shape[1]
    totals = np.zeros((4, len(list_of), hours))
    for p, row in enumerate(rows):
        expanded = ratio[work.outlook.class_of[p]]
        alive = [b - 1 for b in row if b - 1 not in dead]
        if not alive:
            continue
        for h in range(hours):
            produced = work.traffic.bytes_in[p, h] * expanded
            read = work.traffic.bytes_out[p, h] * expanded
            for b in alive:
                totals[0, b, h] += produced
            totals[1, alive[0], h] += produced * (len(alive) - 1)
            totals[2, alive[0], h] += produced
            readers = [
                next((b for b in alive if list_of.racks[b] == rack), alive[0]) if in_rack else alive[0]
                for rack in racks
            ]
            for b in readers:
                totals[1, b, h] += read / len(racks)
                totals[3, b, h] += read / len(racks)
    return np.quantile(totals, 0.99, axis=2)


@settings(deadline=None, max_examples=60)
@given(clusters(), st.booleans())
def test_loads_are_those_of_brute_force(cluster, in_rack):
    work, list_of, rows = cluster
    loads = placed_loads(work, list_of, replicas(*rows), LoadSettings(is_read_in_rack=in_rack))
    four = (Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CLIENT_IN, Resource.CLIENT_OUT)
    normal = by_brute_force(work, list_of, rows, set(), in_rack=in_rack)
    for place, resource in enumerate(four):
        assert load_of(loads, resource, date=1) == pytest.approx(normal[place], rel=1e-4, abs=1e-2)
    racks = {rack: {i for i, r in enumerate(list_of.racks) if r == rack} for rack in set(list_of.racks)}
    for condition, losses in (
        (Condition.BROKER_LOST, [{i} for i in range(len(list_of))]),
        (Condition.RACK_LOST, list(racks.values())),
    ):
        worst = np.zeros_like(normal)
        for dead in losses if len(losses) > 1 else []:
            after = by_brute_force(work, list_of, rows, dead, in_rack=in_rack)
            after[:, sorted(dead)] = 0.0
            worst = np.maximum(worst, after)
        for place, resource in enumerate(four):
            assert load_of(loads, resource, condition, date=1) == pytest.approx(worst[place], rel=1e-4, abs=1e-2)


@settings(deadline=None, max_examples=30)
@given(clusters(), st.randoms(use_true_random=False))
def test_relabelling_brokers_relabels_the_loads(cluster, random):
    work, list_of, rows = cluster
    count = len(list_of)
    new = list(range(1, count + 1))
    random.shuffle(new)
    racks = [None] * count
    for old, to in enumerate(new):
        racks[to - 1] = list_of.racks[old]
    renamed = replicas(*[[new[b - 1] for b in row] for row in rows])
    before = placed_loads(work, list_of, replicas(*rows), LoadSettings()).load
    after = placed_loads(work, brokers(count, racks), renamed, LoadSettings()).load
    assert after[..., np.array(new) - 1] == pytest.approx(before, rel=1e-4, abs=1e-2)


@settings(deadline=None, max_examples=30)
@given(clusters(), st.floats(1.0, 3.0))
def test_more_demand_is_never_less_load(cluster, more):
    work, list_of, rows = cluster
    was = work.outlook
    higher = dataclasses.replace(was, rate_ratio=was.rate_ratio * more, rate_ratio_high=was.rate_ratio_high * more)
    expanded = dataclasses.replace(work, outlook=higher)
    before = placed_loads(work, list_of, replicas(*rows), LoadSettings()).load
    after = placed_loads(expanded, list_of, replicas(*rows), LoadSettings()).load
    assert (after >= before * (1 - 1e-5) - 1e-2).all()


def test_a_cluster_without_partitions_carries_nothing():
    loads = placed_loads(workload([]), brokers(3, ["a", "b", "c"]), np.empty((0, 3), dtype=np.int32), LoadSettings())
    assert not load_of(loads, Resource.DISK).any()
    assert not load_of(loads, Resource.NETWORK_OUT, Condition.BROKER_LOST).any()


def test_replicas_on_brokers_that_are_not_listed_are_left_out():
    work = workload([10 * MIB], [20 * MIB])
    loads = placed_loads(work, brokers(2, ["a", "b"]), replicas([1, 9, 2]), LoadSettings())
    assert load_of(loads, Resource.NETWORK_IN).tolist() == [10 * MIB, 10 * MIB]
