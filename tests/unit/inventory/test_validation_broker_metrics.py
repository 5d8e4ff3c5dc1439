"""One broken inventory for each thing that can be found of the hours of brokers."""

import pytest

from kafka_capacity.inventory.sizing_workload import observed_costs
from tests.builders import cluster
from tests.unit.inventory.broken import FAULT, assert_found, hour, ids


def with_hours(*rows):
    full = {"broker_id": 1, "hour": hour("2026-11-20"), "cpu_cores_used": 1.0}
    return cluster(broker_metrics=[full | row for row in rows])


CASES = [
    (
        with_hours({"hour": hour("2026-11-20", "00:30")}),
        "fatal",
        "broker_hour_not_whole",
        "1 row whose hour is not the start of an hour; give one row for each hour of a broker",
    ),
    (
        with_hours({}, {}),
        "fatal",
        "duplicate_broker_hour",
        "1 row for a duplicate hour of 1 broker (1); give one row for each hour",
    ),
    (
        with_hours({"broker_id": 70}),
        "warning",
        "metrics_of_unlisted_broker",
        "metrics of 1 broker that the inventory lacks (70); they still count as CPU samples",
    ),
    (
        with_hours({"out_bytes_per_second": -1.0}),
        "warning",
        "unusable_broker_metric",
        "1 value of out_bytes_per_second negative, infinite or not a number; they are left out",
    ),
    (
        with_hours({"cpu_cores_used": 5000.0}),
        "warning",
        "absurd_cores",
        "1 value of cpu_cores_used above 4096; it is cores, not percent",
    ),
]


@pytest.mark.parametrize(FAULT, CASES, ids=ids(CASES))
def test_a_fault_is_found(raw, severity, code, message):
    assert_found(raw, severity, code, message)


def test_costs_rest_on_hours_of_which_all_is_known():
    assert observed_costs(cluster()) is None
    assert observed_costs(with_hours({})) is None
    known = {"leader_in_bytes_per_second": 1.0, "follower_in_bytes_per_second": 1.0, "out_bytes_per_second": 1.0}
    found = observed_costs(with_hours(known, {"broker_id": 2}))
    assert (found.samples, found.is_used) == (1, False)
