"""The health of a cluster as its inventory shows it: what was found of inventories before is found of clusters now."""

from __future__ import annotations

import pytest

from kafka_capacity.health.problem import RETIRED_CODES, Code, Problem, Problems, Severity, info
from kafka_capacity.inventory.validation import inventory_problems
from tests.builders import cluster, topic
from tests.unit.inventory.broken import change, change_all

HEALTHY_HOURS = 168


def codes(raw):
    return {one.code for one in inventory_problems(raw)}


@pytest.mark.parametrize(
    ("before", "raw", "code"),
    [
        ("leader_missing", change(cluster(), "replicas", 0, is_leader=False), Code.OFFLINE),
        ("isr_empty", change_all(cluster(), "replicas", is_in_sync=False), Code.UNDER_MIN_ISR),
        ("under_replicated", change(cluster(), "replicas", 1, is_in_sync=False), Code.UNDER_REPLICATED),
        ("min_isr_above_rf", cluster(topics=[topic("orders", min_insync_replicas=4)]), Code.MIN_ISR_ABOVE_RF),
        ("min_isr_equals_rf", cluster(topics=[topic("orders", min_insync_replicas=3)]), Code.MIN_ISR_EQUALS_RF),
        ("min_isr_one", cluster(topics=[topic("orders", min_insync_replicas=1)]), Code.MIN_ISR_ONE),
        ("single_replica", cluster(topics=[topic("log", rf=1, min_insync_replicas=1)]), Code.SINGLE_REPLICA),
        ("rack_missing", change(cluster(), "brokers", 1, rack=None), Code.RACKS_INCOMPLETE),
        ("rf_above_racks", cluster(racks=2), Code.RF_ABOVE_RACKS),
        ("uneven_racks", cluster(brokers=5, racks=2), Code.UNEVEN_RACKS),
        ("size_above_capacity", change(cluster(), "replicas", 0, size_bytes=4 * 10**12), Code.DISK_OVER_LIMIT),
    ],
)
def test_what_was_found_of_an_inventory_is_found_once_of_its_cluster(before, raw, code):
    assert before in RETIRED_CODES
    found = codes(raw)
    assert code in found
    assert not found & RETIRED_CODES


def test_a_sound_inventory_of_a_healthy_cluster_has_no_problems():
    assert inventory_problems(cluster(hours=HEALTHY_HOURS)) == Problems()


def test_an_unsound_inventory_is_not_judged_further():
    found = inventory_problems(change(cluster(racks=2), "replicas", 4, broker_id=50))
    assert {one.code for one in found.fatal} == {"unknown_broker"}
    assert Code.RF_ABOVE_RACKS not in {one.code for one in found}


def test_a_problem_of_the_version_before_is_read():
    row = {"severity": "serious", "code": "single-replica", "where": "log", "message": "one", "mend": "raise it"}
    assert Problem.from_dict({**row, "partitions": 1, "bytes_per_second": 0.0}).remedy == "raise it"
    assert Problem.from_dict({"severity": "info", "code": "x", "where": "y", "message": "z"}) == info("x", "y", "z")


def test_severities_are_ranked():
    assert Severity.FATAL.is_at_least(Severity.SERIOUS)
    assert not Severity.INFO.is_at_least(Severity.WARNING)
