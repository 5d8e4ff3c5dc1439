"""Whether figures of a plan still hold: known changes are flagged, chance is not."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.demand.workload import PeakBasis, Traffic
from kafka_capacity.hardware.coefficients import score_cpu, score_disk
from kafka_capacity.hardware.cpu import STATED, CpuCosts, calibrate, cores
from kafka_capacity.hardware.overhead import TopicOverhead, topic_overheads
from tests.unit.questions.capacity.workloads import MIB, workload

COSTS = CpuCosts(
    base_cores=0.4,
    leader_in_seconds_per_mib=0.03,
    follower_in_seconds_per_mib=0.01,
    out_seconds_per_mib=0.02,
    source="made up",
)


def days_of(seed, *, factor=1.0, days=14, brokers=3, noise=0.1):
    """Fit made-up hours: traffic swings by the day, and what else a broker does hangs together for hours."""
    rng = np.random.default_rng(seed)
    hours = days * 24
    swing = 1.5 + np.sin(np.arange(hours) * 2 * np.pi / 24)
    leader, follower, out = (
        np.concatenate([level * swing * rng.lognormal(0, 0.2, hours) * MIB for _ in range(brokers)])
        for level in (20.0, 40.0, 60.0)
    )
    unrest = np.zeros(hours * brokers)
    for place, shock in enumerate(rng.normal(0, noise, hours * brokers)):
        unrest[place] = 0.8 * unrest[place - 1] + shock if place else shock
    used = factor * cores(COSTS, leader, follower, out) + unrest
    return calibrate(used.clip(min=0.0), leader, follower, out)


def cpu_scored(before, after):
    return score_cpu("p", "2026-11-20", "2026-12-20", before.costs, before.covariance, after)


def test_a_known_change_of_what_traffic_costs_is_flagged_in_words():
    found = cpu_scored(days_of(1), days_of(2, factor=1.3))
    assert found.has_drifted
    assert found.change_ratio == pytest.approx(0.3, abs=0.03)
    assert abs(found.now - 1.3 * found.used) < 3 * found.error
    assert found.sentence.startswith("The traffic of later days uses ")
    assert "the figures of the plan of 2026-11-20 predict" in found.sentence
    assert "produced 3" in found.sentence
    less = cpu_scored(days_of(3), days_of(4, factor=0.8))
    assert less.has_drifted
    assert less.change_ratio == pytest.approx(-0.2, abs=0.03)


def test_without_a_change_nothing_is_flagged_and_errors_are_as_large_as_they_are_said_to_be():
    scores = [cpu_scored(days_of(2 * seed), days_of(2 * seed + 1)) for seed in range(100)]
    assert not any(one.has_drifted for one in scores)
    # Differences over their standard errors: around 1, or chance would be taken for drift.
    assert 0.7 < np.std([(one.now - one.used) / one.error for one in scores]) < 1.4


def test_figures_that_were_stated_are_held_against_what_is_measured():
    found = score_cpu("p", "2026-11-20", "2026-12-20", STATED, (), days_of(5))
    assert found.has_drifted
    assert found.change_ratio < 0
    few = days_of(6, days=1, brokers=1)
    assert score_cpu("p", "2026-11-20", "2026-12-20", STATED, (), few) is None


def test_a_change_within_the_tolerance_is_not_flagged_however_sure_it_is():
    found = cpu_scored(days_of(7, noise=0.001), days_of(8, factor=1.08, noise=0.001))
    assert abs(found.change_ratio) > 20 * found.error / found.used
    assert not found.has_drifted


def overheads(rng, *, factor=1.0, topics=20, spread=0.1):
    return [
        TopicOverhead(
            topic=f"t{number}",
            ratio=factor * (1.1 + 0.01 * number) * rng.lognormal(0, spread),
            produced_bytes=1e9 * (number + 1),
            retention_seconds=604_800.0,
        )
        for number in range(topics)
    ]


def disk_scored(before, after):
    return score_disk("p", "2026-11-20", "2026-12-20", before, after)


def test_a_known_change_of_stored_bytes_per_produced_byte_is_flagged():
    rng = np.random.default_rng(9)
    found = disk_scored(overheads(rng), overheads(rng, factor=0.6))
    assert found.has_drifted
    assert found.change_ratio == pytest.approx(-0.4, abs=0.05)
    assert "Logs of 20 topics hold" in found.sentence
    alarms = [disk_scored(overheads(rng), overheads(rng)).has_drifted for _ in range(500)]
    assert sum(alarms) <= 2


def test_topics_that_were_filling_are_gone_or_have_another_retention_do_not_count():
    rng = np.random.default_rng(10)
    one, *_ = overheads(rng, topics=1)
    assert disk_scored([one], []) is None
    filling = TopicOverhead(topic="t0", ratio=0.5, produced_bytes=1.0, retention_seconds=604_800.0)
    assert disk_scored([filling], [one]) is None
    longer = TopicOverhead(topic="t0", ratio=1.0, produced_bytes=1.0, retention_seconds=86_400.0)
    assert disk_scored([one], [longer]) is None
    assert disk_scored([one], [one]).error is None


def test_overhead_is_what_is_stored_over_what_came_within_the_retention():
    # Ten hours at 1 MiB/s and ten at 3: a retention of five hours holds the last five.
    hours = [[1.0] * 10 + [3.0] * 10] * 2
    work = workload([2 * MIB] * 2, hours_in=np.array(hours) * MIB, size=5 * 3600 * 3 * MIB * 1.2, retention=5 * 3600)

    def told(traffic=work.traffic, **changes):
        limits = dataclasses.replace(work.limits, **changes)
        return topic_overheads(work.partitions, traffic, work.size_bytes, limits)

    (found,) = told()
    assert found.ratio == pytest.approx(1.2)
    assert found.produced_bytes == 2 * 5 * 3600 * 3 * MIB
    assert told(retention_seconds=np.full(2, 21 * 3600.0)) == ()  # longer than the hours that are known
    assert told(retention_seconds=np.full(2, np.inf)) == ()
    assert told(retention_bytes=np.full(2, 1e9)) == ()
    assert told(is_compacted=np.array([True, False])) == ()
    peaks = Traffic(bytes_in=work.traffic.bytes_in, bytes_out=work.traffic.bytes_out, basis=PeakBasis.SUM_OF_PEAKS)
    assert told(traffic=peaks) == ()
