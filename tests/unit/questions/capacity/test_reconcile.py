"""Calculators as published, and waterfalls that add up; partitions that topics need."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.hardware.cpu import STATED
from kafka_capacity.hardware.limits import FailureTolerance, Limits
from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.questions.capacity.calculators import Totals, msk_answer, plain_answer
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest
from kafka_capacity.questions.capacity.partition_advice import advise_partitions
from kafka_capacity.questions.capacity.reconcile import EvenLoad, even_count, even_load, fits_evenly, waterfalls
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from tests.asking import run_sizes
from tests.shapes import read_shapes
from tests.unit.proposal.snapshots import observed
from tests.unit.questions.capacity.workloads import GIB, MIB, workload

PUBLISHED = Totals(
    mean_in_bytes_per_second=100 * MIB,
    peak_in_bytes_per_second=300 * MIB,
    fan_out=3.0,
    replication_factor=3.0,
    retention_seconds=72 * 3600.0,
    replicas=6000,
)


@pytest.mark.parametrize(
    ("shape", "brokers", "usd_thousand"),
    [("kafka.m5.xlarge", 39, 30.6), ("kafka.m7g.large", 54, 26.7), ("express.m7g.large", 27, 16.6)],
)
def test_amazons_script_says_what_it_says(shape, brokers, usd_thousand):
    """Run of msk_sizing.py: 100 MiB/s on average, 300 at peak, factor 3, fan-out 3, 72 h, 6,000 replicas."""
    answer = msk_answer(read_shapes()[shape], PUBLISHED)
    assert answer.brokers == brokers
    assert round(answer.usd_per_month / 1000, 1) == usd_thousand


def test_amazons_script_does_not_look_at_the_replication_factor():
    shape = read_shapes()["kafka.m5.xlarge"]
    two = Totals(**{field: getattr(PUBLISHED, field) for field in PUBLISHED.__slots__} | {"replication_factor": 2.0})
    assert msk_answer(shape, two).brokers == 39


def test_calculators_say_nothing_where_they_know_nothing():
    assert msk_answer(read_shapes()["i3en.large"], PUBLISHED) is None
    assert plain_answer(read_shapes()["express.m7g.large"], PUBLISHED) is None
    # Out: 5 x 300 MiB/s with 40 % on top, over 750 Mbit/s.
    assert plain_answer(read_shapes()["m5.large"], PUBLISHED).brokers == np.ceil(5 * 300 * MIB * 1.4 / (750e6 / 8))


def test_even_counts_by_hand():
    load = EvenLoad(
        client_in=100 * MIB, client_out=300 * MIB, copied=200 * MIB, disk_bytes=0.0, replicas=0.0, cpu=STATED
    )
    network = read_shapes()["kafka.m7g.large"]  # 117 MiB/s
    shape = replace(network, disk_bytes_per_second=np.nan, client_in_bytes_per_second=np.nan)
    none = Limits(tolerance=FailureTolerance.NONE)
    # 500 / (117 x 0.7) = 6.1
    assert even_count(load, shape, none, 1) == 7
    assert even_count(load, shape, none, 3) == 9
    # With a third gone: 300 / 6 + 200 / 9 = 72.2 of 105.3.
    assert even_count(load, shape, Limits(tolerance=FailureTolerance.ONE_RACK), 3) == 9
    # Normal 55.6 of 58.5; with a third gone 72.2 of 73.7.
    tight = Limits(network_ratio=0.5, lost_ratio=0.63, tolerance=FailureTolerance.ONE_RACK)
    assert fits_evenly(load, shape, tight, 9, 3)
    tighter = Limits(network_ratio=0.5, lost_ratio=0.61, tolerance=FailureTolerance.ONE_RACK)
    assert not fits_evenly(load, shape, tighter, 9, 3)
    assert not fits_evenly(load, shape, Limits(network_ratio=1.0, lost_ratio=1.0), 1, 1)


@pytest.mark.parametrize("shape", ["kafka.m7g.large", "express.m7g.large", "m5.2xlarge"])
def test_waterfalls_add_up_from_theirs_to_ours(shape):
    snapshot, load = observed(bytes_in=4 * MIB, partitions=12, size_bytes=GIB)
    work = workload(
        load.bytes_in_mean_bytes_per_second,
        load.bytes_out_mean_bytes_per_second,
        names=["orders"] * 12,
        retention=GIB / (4 * MIB),
        middle=[[1, 2]],
    )
    chosen = read_shapes()[shape]
    request = SizingRequest(today=chosen, broker_counts=(6, 9, 12))
    results = simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes).results
    found = list(waterfalls(SizingInputs.of(snapshot, work, request), results, chosen))
    assert found
    for one in found:
        steps = one["steps"]
        assert one["theirs"]["brokers"] + sum(step["change"] for step in steps) == one["ours"]
        assert all(step["before"] == before["after"] for before, step in pairwise(steps))
        growth = next(step for step in steps if step["name"] == "growth")
        assert growth["change"] >= 0
        if one["is_placed"]:
            fits = [r.option.placement.broker_count for r in results if r.fits]
            assert one["ours"] == min(fits)


def advised(rates, growth=(1.0, 1.0), limit=10e6):
    work = workload(rates, names=["t"] * len(rates), middle=[growth])
    return advise_partitions(work, np.full(len(rates), 3, np.int32), limit)[0]


def test_a_topic_gets_as_many_partitions_as_its_fullest_one_needs():
    fits = advised([9e6, 10e6])
    assert (fits.needed, fits.remapped_ratio, fits.added_replicas) == (2, 0.0, 0)
    expanded = advised([9e6, 10e6], growth=(1.0, 2.0))
    assert expanded.needed == 4
    assert expanded.added_replicas == 6
    assert expanded.remapped_ratio == 0.5
    assert "4 instead of 2 partitions move 50 % of the keys to other partitions" in expanded.reason
    assert "; 2 instead of 1 partition move 50 % of" in advised([10e6], growth=(1.0, 2.0)).reason
    assert advised([9e6, 10e6], limit=5e6).needed == 4


def fits_one():
    return advised([1e6] * 9 + [5e6])


def test_a_hot_key_is_no_reason_for_more_partitions():
    hot = advised([1e6] * 9 + [50e6])
    assert hot.is_hot
    assert hot.is_wanting
    assert not fits_one().is_wanting
    assert hot.needed == 10
    assert "it carries 8.5 times the mean, which more partitions do not fix: check its keys" in hot.reason


def test_an_added_topic_is_stored_as_often_as_its_own_factor_says():
    snapshot, load = observed(bytes_in=1e3, partitions=6, size_bytes=2**30, racks=3)
    rates = load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second
    added = AddedTopic(
        name="new", from_date="2026-11-20", partitions=1, replication_factor=1,
        bytes_in_peak_bytes_per_second=1e6, bytes_in_mean_bytes_per_second=1e6,
        bytes_out_peak_bytes_per_second=0.0, bytes_out_mean_bytes_per_second=0.0, retention_seconds=86_400.0,
    )  # fmt: skip
    request = SizingRequest(today=observed_shape(snapshot.brokers))
    stored = []
    for topics in ((), (added,)):
        work = workload(*rates, size=2**30, names=["orders"] * 6, added=topics)
        stored.append(even_load(SizingInputs.of(snapshot, work, request))[1].disk_bytes)
    assert stored[1] - stored[0] == pytest.approx(1e6 * 86_400 + GIB)
