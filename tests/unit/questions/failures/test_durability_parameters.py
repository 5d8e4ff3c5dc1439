"""What a plan assumes of producers and brokers, to tell what could be lost."""

import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks
from kafka_capacity.plan.request import parameter_schemas, parse_plan_request
from kafka_capacity.questions.failures.durability.parameters import DurabilityParameters
from kafka_capacity.questions.failures.durability.scenario import DurabilityScenario

MINIMAL = {"cluster": "payments"}
PINNED = {"ds": "2026-11-20", "inventory_sha256": "ab" * 32}
OTHERS = {
    "producer_acks": "1",
    "is_producer_idempotent": False,
    "disk_mttf_days": 100.0,
    "crash_mttf_days": 10.0,
    "rack_mttf_days": 1000.0,
    "replacement_hours": 2.0,
    "replica_lag_seconds": 0.25,
    "copyset_scatter_width": 2,
}


def scenario(**asked):
    request = parse_plan_request({**MINIMAL, **asked})
    return request.durability_scenario(rules=ElectionRules.KRAFT, throttle_bytes_per_second=50e6)


def test_every_parameter_has_its_place_in_the_form():
    schemas = parameter_schemas()
    assert set(OTHERS) == set(DurabilityParameters.model_fields)
    assert {schemas[name]["section"] for name in OTHERS} == {"Failures"}


@pytest.mark.parametrize("field", OTHERS)
def test_a_plan_is_named_by_each_of_them(field):
    asked = parse_plan_request({**MINIMAL, field: OTHERS[field]})
    assert asked.plan_id(**PINNED) != parse_plan_request(MINIMAL).plan_id(**PINNED)


def test_every_parameter_reaches_the_scenario():
    day = 86_400.0
    assert scenario() == DurabilityScenario()
    assert scenario(**OTHERS) == DurabilityScenario(
        acks=Acks.LEADER,
        is_idempotent=False,
        mttf_seconds=100 * day,
        crash_mttf_seconds=10 * day,
        rack_mttf_seconds=1000 * day,
        replacement_seconds=7200.0,
        replica_lag_seconds=0.25,
        scatter_width=2,
    )


@pytest.mark.parametrize(("field", "value"), [("producer_acks", "2"), ("disk_mttf_days", 0), ("rack_mttf_days", -1)])
def test_what_cannot_be_is_refused_by_its_name(field, value):
    with pytest.raises(RequestError, match=field):
        parse_plan_request({**MINIMAL, field: value})
