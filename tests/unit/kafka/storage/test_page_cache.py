"""The window of the page cache: closed form, properties, and a replay of pages."""

from __future__ import annotations

import doctest
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad
from kafka_capacity.kafka.storage import page_cache
from kafka_capacity.kafka.storage.page_cache import GIB, HEAP_BYTES, SYSTEM_BYTES, cache_bytes, peak_windows
from tests.properties.strategies import repeatable


def load(mean, peak=None, hours=168):
    """Return the traffic of partitions; who reads does not matter here."""
    mean = np.array(mean, dtype=np.float64)
    zeros = np.zeros(len(mean))
    return PartitionLoad(
        bytes_in_mean_bytes_per_second=mean,
        bytes_in_peak_bytes_per_second=mean if peak is None else np.array(peak, dtype=np.float64),
        bytes_out_mean_bytes_per_second=zeros,
        bytes_out_peak_bytes_per_second=zeros,
        hours=hours,
    )


def test_the_window_is_the_cache_by_what_leaders_and_followers_write():
    brokers = Brokers.of([1, 2, 3], memory_bytes=[64 * GIB, 32 * GIB, None])
    replicas = np.array([[1, 2], [2, 1], [3, 2]], dtype=np.int32)

    windows = peak_windows(brokers, replicas, load([10e6, 20e6, 30e6], [15e6, 40e6, 30e6]))

    assert HEAP_BYTES == 6 * GIB
    assert SYSTEM_BYTES == GIB
    assert cache_bytes(brokers.memory_bytes)[:2].tolist() == [57 * GIB, 25 * GIB]
    assert windows[:2].tolist() == [57 * GIB / 55e6, 25 * GIB / 85e6]
    assert np.isnan(cache_bytes(brokers.memory_bytes)[2])
    assert np.isnan(windows[2])


def test_a_broker_that_nothing_is_written_to_forgets_nothing():
    windows = peak_windows(
        Brokers.of([1, 2], memory_bytes=[8 * GIB, None]), np.array([[-1]], dtype=np.int32), load([5])
    )

    assert windows[0] == np.inf
    assert np.isnan(windows[1])


def test_a_heap_that_needs_all_memory_leaves_no_window():
    brokers, replicas = Brokers.of([1], memory_bytes=[6.5 * GIB]), np.array([[1]], dtype=np.int32)

    assert peak_windows(brokers, replicas, load([5.0])).tolist() == [0.0]
    assert cache_bytes(brokers.memory_bytes, heap_bytes=4 * GIB, system_bytes=0.5 * GIB).tolist() == [2 * GIB]


def test_without_a_history_nobody_knows_the_window():
    brokers = Brokers.of([1], memory_bytes=[64 * GIB])

    assert np.isnan(peak_windows(brokers, np.array([[1]], dtype=np.int32), PartitionLoad.unknown(1))).all()


@repeatable(60)
@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=6),
    st.lists(st.integers(0, 1000).map(lambda rate: rate * 1e3), min_size=1, max_size=12),
    st.floats(1.0, 8.0),
    st.randoms(use_true_random=False),
)
def test_windows_shrink_with_traffic_and_follow_their_broker(memory, rates, growth, random):
    ids = list(range(1, len(memory) + 1))
    brokers = Brokers.of(ids, memory_bytes=[gib * GIB for gib in memory])
    replicas = np.array([[ids[(p + r) % len(ids)] for r in range(min(2, len(ids)))] for p in range(len(rates))])
    windows = peak_windows(brokers, replicas.astype(np.int32), load(rates))

    # What is written somewhere is written on every replica's broker.
    written = brokers.sum_held(replicas.astype(np.int32), np.array(rates))
    assert written.sum() == pytest.approx(sum(rates) * replicas.shape[1])
    grown = peak_windows(brokers, replicas.astype(np.int32), load([rate * growth for rate in rates]))
    finite = np.isfinite(windows)
    assert np.allclose(grown[finite] * growth, windows[finite])
    assert (grown[~finite] == np.inf).all()
    # Another order of the brokers is another order of the answer.
    order = random.sample(range(len(ids)), len(ids))
    renamed = {ids[place]: new for new, place in enumerate(order, start=1)}
    other = peak_windows(
        Brokers.of(range(1, len(ids) + 1), memory_bytes=[memory[place] * GIB for place in order]),
        np.vectorize(renamed.__getitem__)(replicas).astype(np.int32),
        load(rates),
    )
    assert other.tolist() == windows[order].tolist()


class Pages:
    """A cache of so many pages that lets go of the one that was used least recently."""

    def __init__(self, size):
        self._size = size
        self._pages = OrderedDict()

    def use(self, page):
        """Read or write a page; tell whether it was there."""
        is_there = page in self._pages
        self._pages[page] = None
        self._pages.move_to_end(page)
        if len(self._pages) > self._size:
            self._pages.popitem(last=False)
        return is_there


def hits(*, partitions, pages_a_second, cache_pages, lag_seconds, seconds):
    """Write round robin, and read one partition so far behind; give the share of its reads that hit."""
    cache, found, reads = Pages(cache_pages), 0, 0
    written = seconds * pages_a_second
    behind = int(lag_seconds * pages_a_second)
    for number in range(written):
        cache.use((number % partitions, number // partitions))
        old = number - behind
        if number > written // 2 and old >= 0 and old % partitions == 0:
            reads += 1
            found += cache.use((0, old // partitions))
    return found / reads


@pytest.mark.parametrize("partitions", [20, 50])
@pytest.mark.parametrize("cache_pages", [1000, 4000])
def test_a_reader_is_served_from_memory_if_and_only_if_it_is_within_the_window(partitions, cache_pages):
    page, pages_a_second = 4096.0, 100
    brokers = Brokers.of([1], memory_bytes=[cache_pages * page + SYSTEM_BYTES])
    (window,) = peak_windows(
        brokers,
        np.ones((partitions, 1), dtype=np.int32),
        load([pages_a_second * page / partitions] * partitions),
        heap_bytes=0.0,
    ).tolist()
    assert window == pytest.approx(cache_pages / pages_a_second)

    def share(lag_seconds):
        return hits(
            partitions=partitions,
            pages_a_second=pages_a_second,
            cache_pages=cache_pages,
            lag_seconds=lag_seconds,
            seconds=int(6 * window),
        )

    # The pages that the reader itself keeps in are one in so many partitions.
    margin = 2 * window / partitions
    assert share(0.0) == 1.0
    assert share(window / 2) == 1.0
    assert share(window - margin) == 1.0
    assert share(window + margin) == 0.0
    assert share(2 * window) == 0.0


def test_the_example_is_true():
    assert doctest.testmod(page_cache).failed == 0
