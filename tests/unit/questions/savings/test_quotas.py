"""Quotas on the few clients that make the peak, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kafka_capacity.demand.quota import least_quota, throttled
from kafka_capacity.plan.handing import sized_cluster
from kafka_capacity.questions.savings.decide import decide_savings
from kafka_capacity.questions.savings.quotas import find_quotas
from tests.builders import topic
from tests.unit.questions.savings.small import DAY, GIB, action_rows, asked_of, idle, inventory, savings_of

RATE = 150e6 / 12  # to each of twelve partitions, bytes per second
PEAK = ("bytes_in_bytes_per_second", "bytes_out_bytes_per_second")
BUSY = topic(
    "events",
    partitions=12,
    size_bytes=int(RATE * 2 * DAY),
    bytes_in=RATE,
    bytes_out=0.0,
    settings={"retention_ms": 2 * DAY * 1000},
)


def nightly(*others, is_written_at_once=False):
    """A nightly job reads in one hour what a day brought, 24 x 150 MB/s; or it is written in that hour, too."""
    made = {"disk_gib": 40_000, "brokers": {"cpu_cores": 1000.0}}
    offsets = {"committed_offset": 9, "log_end_offset": 9, "lag_records": 0}
    made |= {
        "groups": [{"group_id": "nightly", "state": "Stable"}],
        "members": [
            {"group_id": "nightly", "member_id": f"m{one}", "client_id": f"batch-{one}", "subscribed": ["events"]}
            for one in (1, 2)
        ],
        "lags": [{"group_id": "nightly", "topic": "events", "partition": one, **offsets} for one in range(12)],
    }
    hours = [
        row | dict.fromkeys(PEAK[not is_written_at_once :], 24 * RATE if row["hour"].hour == 3 else 0.0)
        for row in inventory(BUSY).table("metrics").to_pylist()
    ]
    hours += [row for other in others for row in inventory(other).table("metrics").to_pylist()]
    return inventory(BUSY, *others, metrics=hours, **made)


def test_a_quota_on_the_nightly_job():
    tables = savings_of(nightly())
    action = action_rows(tables)["quotas:consumers"]
    # Under a quota of half the burst the other half has passed an hour later.
    assert action["text"] == (
        "limit reads of events to 1.68 GiB/s by quotas on consumers, which cuts the peak of all reads by 50 %"
    )
    # Followers are sent 300 MB/s: three brokers 3,900 / 3 = 1,300 MB/s each at peak, six 650, and 875 are allowed; with
    # the quota three send 2,100 / 3 = 700.
    assert action["saved_brokers"] == 3
    assert (action["effort"], action["needs_restart"], action["is_reversible"]) == (1, "", True)
    # In each of seven nights one hour ends with something that waits.
    assert action["risk"].startswith(
        "throttled in 7 hours of 168, for up to 1 h: consumer group nightly (client ids batch-1, batch-2); "
    )
    assert "quotas:producers" not in action_rows(tables)


def test_a_longer_delay_allows_a_smaller_quota():
    """b = q (1 + d): in four hours a fifth of the burst each."""
    action = action_rows(savings_of(nightly(), quota_delay_seconds=4 * 3600))["quotas:consumers"]
    assert action["text"].startswith("limit reads of events to 686.65 MiB/s")
    assert "throttled in 28 hours of 168, for up to 4 h" in action["risk"]


def test_a_quota_saves_nothing_where_disks_bind():
    # 36 x 5,000 GiB and 36 x 2,012 of events: 42,070 on each of six brokers, 28,047 on nine; 34,000 are allowed.
    old = idle(size_bytes=5000 * GIB)
    action = action_rows(savings_of(nightly(old)))["quotas:consumers"]
    assert (action["saved_brokers"], action["saves_nothing"], action["binds"]) == (0, True, "disk")


def test_reads_that_come_at_once_wait_with_what_is_written():
    """150 MB/s on average are written and read in one hour of the day."""
    found = action_rows(savings_of(nightly(is_written_at_once=True)))
    assert found["quotas:producers"]["text"] == (
        "limit writes to events to 1.68 GiB/s by quotas on producers, which cuts the peak of all writes by 50 %"
    )
    assert "client ids are not known" in found["quotas:producers"]["risk"]
    assert "delivery.timeout.ms" in found["quotas:producers"]["risk"]
    cluster = sized_cluster(asked_of(nightly(is_written_at_once=True)))
    _, producers = find_quotas(cluster, np.array([True]), np.array([3600.0]), 3600.0)
    assert producers.in_quota == pytest.approx(np.full(12, 12 * RATE))
    assert producers.out_quota == pytest.approx(np.full(12, 12 * RATE))


def test_what_waits_is_not_deleted():
    """The job reaches back a day, two are kept: it may not wait another day."""
    assert "quotas:consumers" not in action_rows(savings_of(nightly(), quota_delay_seconds=25 * 3600))


def test_the_usual_course_of_a_day_is_no_burst():
    rows = nightly().table("metrics").to_pylist()

    def offered(is_busy, times):
        daily = [row | dict.fromkeys(PEAK, RATE * (times if is_busy(row["hour"]) else 1)) for row in rows]
        found = action_rows(savings_of(inventory(BUSY, disk_gib=40_000, metrics=daily)))
        return any(one.startswith("quotas:") for one in found)

    assert not offered(lambda hour: 8 <= hour.hour < 20, 2)
    # Seven hours a day have 3.4 times the mean, and nobody wants to be throttled all day long.
    assert not offered(lambda hour: 8 <= hour.hour < 15, 20)
    assert offered(lambda hour: 8 <= hour.hour < 10, 20)


def test_the_answer_says_what_the_quota_does():
    assert decide_savings(savings_of(nightly())).headline.startswith("Limit reads of events to 1.68 GiB/s by quotas")


RATES = arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 30)), elements=st.floats(0.0, 1e3, width=32))


@given(RATES, st.floats(0.5, 2e3))
def test_a_quota_delays_and_loses_nothing(rates, quota):
    found = throttled(rates, np.full(len(rates), quota))
    for row, passed, late, is_waiting in zip(rates, found.passed, found.late_hours, found.is_waiting, strict=True):
        waiting, most = 0.0, 0.0
        for rate, through, waits in zip(row, passed, is_waiting, strict=True):
            assert through == pytest.approx(min(quota, waiting + rate), abs=1e-6)
            waiting = waiting + rate - through
            assert waiting > -1e-6
            assert waits or waiting < 1e-4 * max(quota, 1.0)
            most = max(most, waiting)
        assert late == pytest.approx(most / quota, abs=1e-6)


@given(RATES, st.floats(0.1, 48.0))
def test_the_least_quota_is_the_least(rates, late):
    rates = rates + 1.0
    found = least_quota(rates, late)
    assert (throttled(rates, found).late_hours <= late + 1e-6).all()
    less = throttled(rates, found * 0.999).late_hours
    assert ((less > late - 1e-3) | (found >= rates.max(axis=1) * (1 - 1e-6))).all()
