"""Counters with restarts, gaps and copies, against a simulation of what was really counted."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.inventory.counters import HOUR, Fall, growth_by_step, hourly_rates

START = 1_700_000_000 // HOUR * HOUR
STEP = 300


def moments(hours, *, lead=0):
    return np.arange(START - lead, START + hours * HOUR + lead + 1, STEP, dtype=np.int64)


def counter(rates, seconds, *, restarts=(), first=0.0):
    """Count second by second, from 0 again at each restart; give the samples and what each hour really had."""
    begin = int(seconds[0])
    per_second = np.array(
        [rates[min(max((begin + s - START) // HOUR, 0), len(rates) - 1)] for s in range(int(np.ptp(seconds)))]
    )
    value, values = first, [first]
    restarts = {moment - begin for moment in restarts}
    for second, grown in enumerate(per_second.tolist()):
        value = grown if second in restarts else value + grown
        values.append(value)
    return np.array(values)[seconds - begin]


def one(values):
    return values[None, None, :]


def test_whole_counters_give_the_true_hourly_rates():
    rates = [5.0, 0.0, 12.5, 1e6]
    seconds = moments(4, lead=900)
    found = hourly_rates(one(counter(rates, seconds, first=1e12)), seconds)
    np.testing.assert_allclose(found[0], rates, rtol=1e-9)


@given(
    st.lists(st.integers(0, 1000), min_size=3, max_size=3),
    st.sets(st.integers(0, 3 * HOUR - 1), max_size=3),
    st.sets(st.integers(0, 36), max_size=20),
)
def test_each_hour_is_right_within_what_restarts_and_gaps_hide_or_not_known(rates, restarts, missing):
    seconds = moments(3)
    values = counter([float(rate) for rate in rates], seconds, restarts={START + second for second in restarts})
    values[[place for place in missing if place < len(values)]] = np.nan
    found = hourly_rates(one(values), seconds)[0]
    seen = seconds[np.isfinite(values)]
    total = np.concatenate([[0], np.cumsum(np.repeat(rates, HOUR))])
    for hour in range(3):
        begin, end = START + hour * HOUR, START + (hour + 1) * HOUR
        steps = [
            (a, b)
            for a, b in itertools.pairwise(seen)
            if a < end and b > begin and (b - a <= 900 or (a >= begin and b <= end))
        ]
        covered = sum(min(b, end) - max(a, begin) for a, b in steps)
        assert np.isfinite(found[hour]) == (covered >= 2700)
        if covered < 2700:
            continue
        # Brute force: second by second, what was counted in each step, less what a restart took with it.
        expected = sum(_counted(total, restarts, int(a), int(b), begin, end) for a, b in steps) / covered
        assert abs(found[hour] - expected) <= 1e-6 * max(expected, 1.0)


def _counted(total, restarts, a, b, begin, end):
    """Count what a step has, spread evenly over it, of which the part within the hour counts."""
    hit = [START + second for second in restarts if a <= START + second < b]
    earlier = max((START + s for s in restarts if START + s < a), default=START)
    base = total[a - START] - total[earlier - START]
    since = max(hit, default=None)
    grown = total[b - START] - total[(a if since is None else since) - START]
    if since is not None and grown >= base:
        grown -= base  # it grew past its old value: no scrape can tell that it started over
    return grown * (min(b, end) - max(a, begin)) / (b - a)


def test_a_restart_counts_what_was_reached_since():
    seconds = moments(1)
    values = counter([10.0], seconds, restarts={START + 1000}, first=1e9)
    # The step from 900 to 1200 has lost the 100 seconds before the restart.
    assert hourly_rates(one(values), seconds)[0, 0] * HOUR == 10.0 * (HOUR - 100)


def test_an_offset_that_falls_counts_nothing():
    seconds = moments(1)
    values = np.arange(len(seconds), dtype=np.float64) * 30 + 5e9
    values[6:] -= 1000
    assert hourly_rates(one(values), seconds, fall=Fall.REWIND)[0, 0] * HOUR == 30 * 11


def test_an_outage_across_the_end_of_an_hour_leaves_both_hours_unknown():
    seconds = moments(3)
    values = counter([10.0, 20.0, 30.0], seconds)
    values[8:17] = np.nan  # from minute 40 to minute 80
    found = hourly_rates(one(values), seconds)[0]
    assert np.isnan(found[:2]).all()
    assert found[2] == 30.0


def test_an_outage_within_an_hour_is_bridged_by_the_counter():
    seconds = moments(1)
    values = counter([10.0], seconds)
    values[1:12] = np.nan
    assert hourly_rates(one(values), seconds)[0, 0] == 10.0


def test_copies_scraped_at_other_moments_are_no_restarts():
    seconds = moments(2, lead=900)
    true = counter([10.0, 30.0], seconds, first=1e6)
    other = true - 5000.0  # as if read more than a step earlier
    values = np.stack([true, other])[None]
    values[0, 0, 5:9] = np.nan
    values[0, 1, 12:20] = np.nan
    np.testing.assert_allclose(hourly_rates(values, seconds)[0], [10.0, 30.0], rtol=1e-9)


def test_a_new_address_after_a_restart_goes_on_as_the_same_counter():
    seconds = moments(1)
    old = counter([10.0], seconds, first=1e6)
    new = counter([10.0], seconds, restarts={START + 1800})
    old[6:], new[:7] = np.nan, np.nan
    found = hourly_rates(np.stack([old, new])[None], seconds)[0, 0] * HOUR
    # The new one began at 1800; the last of the old is of 1500.
    assert found == 10.0 * (HOUR - 300)


def test_counters_are_born_at_zero_while_their_broker_is_scraped():
    seconds = moments(1)
    values = counter([10.0], seconds)
    values[:3] = np.nan  # its first 10 minutes nobody had made it
    values[3:] -= values[2 + 1] - 1000.0  # its first sample has 1,000 already
    is_up = np.ones((1, len(seconds)), dtype=bool)
    assert hourly_rates(one(values), seconds, is_up=is_up)[0, 0] * HOUR == 1000.0 + 10.0 * (HOUR - 900)
    is_up[0, 1] = False
    assert growth_by_step(one(values), seconds, is_up=is_up)[0][0, 3] == 1000.0
    assert np.isnan(growth_by_step(one(values), seconds)[0][0, 3])


def test_a_counter_that_its_broker_drops_counts_nothing_more():
    seconds = moments(1)
    values = counter([10.0], seconds)
    values[7:] = np.nan
    is_up = np.ones((1, len(seconds)), dtype=bool)
    assert hourly_rates(one(values), seconds, is_up=is_up)[0, 0] * HOUR == 10.0 * 1800
