"""Processor costs that are fitted, and readers that fall out of the page cache."""

from collections import OrderedDict

import numpy as np
import pytest

from kafka_capacity.demand.workload import Lags
from kafka_capacity.hardware.cpu import STATED, calibrate, cores
from kafka_capacity.kafka.storage.page_cache import window_seconds
from kafka_capacity.questions.capacity.loads import read_by_leaders
from tests.unit.questions.capacity.workloads import MIB, workload


def samples(count=200, *, noise=0.0, seed=1):
    draw = np.random.default_rng(seed)
    leader, follower, out = draw.uniform(0, 200 * MIB, (3, count))
    used = 0.5 + (0.04 * leader + 0.01 * follower + 0.02 * out) / MIB
    return used + draw.normal(0, noise, count), leader, follower, out


def test_costs_are_found_again_in_exact_samples():
    found = calibrate(*samples())
    assert found.is_used
    assert found.r_squared == pytest.approx(1.0)
    costs = found.costs
    assert costs.base_cores == pytest.approx(0.5)
    assert costs.leader_in_seconds_per_mib == pytest.approx(0.04)
    assert costs.follower_in_seconds_per_mib == pytest.approx(0.01)
    assert costs.out_seconds_per_mib == pytest.approx(0.02)
    assert float(cores(costs, 100 * MIB, 0, 0)) == pytest.approx(4.5)


def test_bad_and_few_samples_leave_the_stated_costs_and_say_why():
    noisy = calibrate(*samples(noise=50.0))
    assert not noisy.is_used
    assert noisy.costs == STATED
    assert "so the stated figures are used" in noisy.reason
    few = calibrate(*(values[:10] for values in samples()))
    assert few.reason == "10 samples are too few to fit four figures; 50 are needed"
    assert few.costs == STATED


@pytest.mark.parametrize("used", [0.0, 0.1])
def test_processors_that_never_change_leave_the_stated_costs_and_say_why(used):
    rates = np.arange(60) * 1e6
    found = calibrate(np.full(60, used), rates, 2 * rates, 5 * rates)
    assert (found.costs, found.is_used, found.samples) == (STATED, False, 60)
    assert found.reason.startswith(f"all 60 samples use {used:g} cores, which says nothing about the cost of traffic")


def test_no_cost_is_fitted_below_zero():
    used, leader, follower, out = samples()
    found = calibrate(used - 0.03 * out / MIB + 10, leader, follower, out)
    assert found.is_used
    assert found.costs.out_seconds_per_mib == 0.0


def replay(cache_pages, written_per_second, lag_seconds, seconds=400):
    """Pages read from disk by one reader behind a writer, on a cache that drops what was written first."""
    cache, missed = OrderedDict(), 0
    for second in range(seconds):
        for page in range(second * written_per_second, (second + 1) * written_per_second):
            cache[page] = True
            if len(cache) > cache_pages:
                cache.popitem(last=False)
        if second >= lag_seconds:
            first = (second - lag_seconds) * written_per_second
            missed += sum(page not in cache for page in range(first, first + written_per_second))
    return missed / (seconds - lag_seconds)


@pytest.mark.parametrize(("lag", "is_out"), [(5, False), (19, False), (21, True), (100, True)])
def test_groups_fall_out_of_the_cache_as_in_a_replay_of_pages(lag, is_out):
    lags = Lags(
        groups=("slow",), group=np.zeros(1, np.int32), row=np.zeros(1, np.int64), seconds=np.array([float(lag)])
    )
    work = workload([10.0], lags=lags)
    window = window_seconds(np.full((2, 2, 1), 200.0), np.full((2, 2, 1), 10.0))
    read, fallen_out = read_by_leaders(work, lags, np.zeros(1, np.int32), window)
    assert window[0, 0, 0] == 20.0
    assert (replay(200, 10, lag) > 0) == is_out
    assert read[0, 0, 0] == (10.0 if is_out else 0.0)
    assert bool(fallen_out) == is_out


def test_growth_makes_a_group_fall_out_on_a_date():
    lags = Lags(groups=("g",), group=np.zeros(1, np.int32), row=np.zeros(1, np.int64), seconds=np.array([15.0]))
    work = workload([10.0], lags=lags, middle=[[1, 1.2]], high=[[1, 2]])
    written = 10.0 * np.array([[1, 1.2], [1, 2]])[:, :, None]
    window = window_seconds(np.full(written.shape, 200.0), written)
    read, fallen_out = read_by_leaders(work, lags, np.zeros(1, np.int32), window)
    assert fallen_out == (("g", "2026-12-20"),)
    assert read[:, :, 0].tolist() == [[0, 0], [0, 20]]


def test_an_unknown_memory_is_not_judged():
    lags = Lags(groups=("g",), group=np.zeros(1, np.int32), row=np.zeros(1, np.int64), seconds=np.array([1e9]))
    window = window_seconds(np.full((2, 2, 1), np.nan), np.full((2, 2, 1), 10.0))
    read, _ = read_by_leaders(workload([10.0], lags=lags), lags, np.zeros(1, np.int32), window)
    assert np.isnan(window).all()
    assert not read.any()
