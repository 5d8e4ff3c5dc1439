"""What brokers carry at peak: of the same hours where these are known, as failures, sizing and checks of health say."""

import numpy as np
import pytest

from kafka_capacity.demand.workload import PeakBasis, Traffic
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.loads import network_peaks
from tests.unit.proposal.snapshots import observed, scenario

HOURS = 200


def by_hand(brokers, replicas, leader, traffic):
    """Add the hours up broker by broker."""
    written, sent = np.zeros((2, len(brokers), traffic.bytes_in.shape[1]))
    for row, held in enumerate(replicas.tolist()):
        followers = sum(one >= 0 for one in held) - 1
        for place, broker in enumerate(brokers.ids.tolist()):
            written[place] += traffic.bytes_in[row] * (broker in held)
            if leader[row] == broker:
                sent[place] += traffic.bytes_out[row] + followers * traffic.bytes_in[row]
    return np.percentile(written, 99, axis=1), np.percentile(sent, 99, axis=1)


@pytest.mark.parametrize("seed", range(3))
def test_peaks_are_those_of_the_hourly_totals_of_a_broker(seed):
    snapshot, load = observed(partitions=24)
    rng = np.random.default_rng(seed)
    hours = rng.lognormal(10, 2, size=(2, len(snapshot.partitions), HOURS)).astype(np.float32)
    traffic = Traffic(bytes_in=hours[0], bytes_out=hours[1], basis=PeakBasis.SAME_HOURS)
    found = network_peaks(snapshot.brokers, snapshot.replicas, snapshot.leader, load, traffic)
    wanted = by_hand(snapshot.brokers, snapshot.replicas, snapshot.leader, traffic)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def half_days(rate):
    """Every second partition is busy by day, the others by night."""
    snapshot, load = observed(partitions=24, bytes_in=rate)
    busy = np.arange(HOURS) % 24 < 12
    is_by_day = (np.arange(24) // 6 % 2 == 0)[:, None]
    hours = np.where(is_by_day == busy, np.float32(rate), np.float32(0))
    return snapshot, load, Traffic(bytes_in=hours, bytes_out=0 * hours, basis=PeakBasis.SAME_HOURS)


def test_what_peaks_at_other_hours_is_not_added_up():
    # 24 partitions in three replicas on six brokers: twelve each, six of them at a time.
    snapshot, load, traffic = half_days(rate=1.25e9 / 10)
    asked = scenario(6)
    fitting = evaluate_placement(snapshot, load, asked, traffic=traffic)
    assert [one.constraint for one in fitting.excuses] == []
    assert fitting.loads.peak_in_after.max() == pytest.approx(6 * 1.25e9 / 10)
    assert fitting.metrics.moved_replicas == 0
    # Without hours, nobody can tell.
    unsure = evaluate_placement(snapshot, load, asked)
    assert {one.constraint for one in unsure.excuses} >= {"network_in"}
    assert unsure.loads.peak_in_after.max() == pytest.approx(12 * 1.25e9 / 10)


def test_what_is_too_much_at_any_hour_does_not_fit():
    snapshot, load, traffic = half_days(rate=1.25e9 / 5)
    found = evaluate_placement(snapshot, load, scenario(6), traffic=traffic)
    worst = next(one for one in found.excuses if one.constraint == "network_in")
    assert worst.needed / worst.available == pytest.approx(1.2)
    # How many brokers are missing is not proven by what placers can add up.
    assert worst.is_proven is False
    assert worst.reason.endswith(" its network takes 1,192.1 MiB/s; a limit 1.20 times as high would be enough")


def test_hours_judge_a_placement_and_make_no_other():
    """Partitions that peak together must not be taken for small ones because others peak at other hours."""
    snapshot, load, traffic = half_days(rate=1.25e9 / 14)
    for brokers in (6, 8, 9):
        asked = scenario(brokers)
        sure, unsure = (evaluate_placement(snapshot, load, asked, traffic=one) for one in (traffic, None))
        assert sure.diff.after.tolist() == unsure.diff.after.tolist()
        assert not {one.constraint for one in sure.excuses} & {"network_in", "network_out"}
