"""How often whole copysets are gone, against brokers that fail and are repaired at random."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.annual_losses import SECONDS_PER_YEAR, copysets_of
from tests.copyset_losses import copyset_aware_copysets, loss_frequency


def counted_losses(copysets, brokers, mttf, repair, seconds, seed):
    """Let brokers fail and come back, and count how often a failure completes a copyset."""
    random = np.random.default_rng(seed)
    events = []
    for broker in range(brokers):
        cycles = int(seconds / (mttf + repair) * 1.2) + 50
        spans = np.stack([random.exponential(mttf, cycles), random.exponential(repair, cycles)], axis=1)
        times = spans.ravel().cumsum()
        events += [(time, broker, i % 2 == 0) for i, time in enumerate(times) if time < seconds]
    down, losses = set(), 0
    for _, broker, fails in sorted(events):
        if fails:
            down.add(broker)
            losses += sum(broker in copyset and copyset <= down for copyset in copysets)
        else:
            down.discard(broker)
    return losses


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_closed_form_is_what_random_failures_count(size):
    mttf, repair, seconds = 100.0, 15.0, 200_000.0
    replicas = np.array(list(combinations(range(6), size)))
    expected = loss_frequency(replicas, mttf_seconds=mttf, repair_seconds=repair).losses_per_second * seconds

    counted = counted_losses([set(row) for row in replicas.tolist()], 6, mttf, repair, seconds, seed=3)

    # Poisson-like counts; events share brokers, so the spread is wider than that of single ones.
    assert counted == pytest.approx(expected, abs=8 * expected**0.5)
    assert counted == pytest.approx(expected, rel=0.1)


def test_short_repairs_give_the_textbook_formula():
    found = loss_frequency(np.array([[1, 2, 3]]), mttf_seconds=1e6, repair_seconds=1.0)

    assert found.losses_per_second == pytest.approx(3 / 1e6**3, rel=1e-4)
    assert found.losses_per_year == found.losses_per_second * SECONDS_PER_YEAR


@given(st.lists(st.permutations(range(5)).map(lambda order: order[:3]), min_size=1, max_size=20))
def test_order_and_repetition_do_not_matter(rows):
    replicas = np.array(rows)
    found = loss_frequency(replicas, mttf_seconds=100, repair_seconds=1)
    one = loss_frequency(replicas[:1], mttf_seconds=100, repair_seconds=1)

    distinct = {frozenset(row) for row in rows}
    assert {frozenset(row) for row in copysets_of(replicas).tolist()} == distinct
    assert found.copysets == len(distinct)
    assert found.losses_per_second == pytest.approx(len(distinct) * one.losses_per_second)
    assert found.partitions_lost_per_second == pytest.approx(len(rows) * one.losses_per_second)
    assert found.losses_per_second <= found.partitions_lost_per_second * (1 + 1e-12)


def test_few_copysets_lose_data_seldomer():
    assert copyset_aware_copysets(30, 3, 4) == 20
    assert copyset_aware_copysets(9, 3, 2) == 3
    random = np.random.default_rng(1)
    spread = np.array([random.choice(30, 3, replace=False) for _ in range(6000)])
    assert copyset_aware_copysets(30, 3, 29) < len(copysets_of(spread)) / 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: loss_frequency(np.array([[1]]), mttf_seconds=0, repair_seconds=1), "mttf_seconds must be above 0"),
        (lambda: loss_frequency(np.array([[1]]), mttf_seconds=1, repair_seconds=-1), "repair_seconds must be above 0"),
        (lambda: loss_frequency(np.array([[1], [-1]]), mttf_seconds=1, repair_seconds=1), "partition 1 .* no replica"),
        (lambda: copyset_aware_copysets(9, 1, 2), "replication_factor must be from 2"),
        (lambda: copyset_aware_copysets(9, 3, 9), "scatter_width must be from 2 to 8, not 9"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(RequestError, match=message):
        call()


def test_nothing_assigned_loses_nothing():
    found = loss_frequency(np.empty((0, 3), dtype=np.int32), mttf_seconds=1, repair_seconds=1)

    assert (found.copysets, found.losses_per_second) == (0, 0.0)
