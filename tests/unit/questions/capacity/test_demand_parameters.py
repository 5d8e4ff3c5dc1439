from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from kafka_capacity.demand.events import Launch, RetentionChange
from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.demand.settings import ClassPattern, DemandSettings
from kafka_capacity.plan.request import parameter_schemas
from kafka_capacity.questions.capacity.demand_parameters import DemandParameters

NEW_TOPIC = {
    "kind": "new-topic",
    "name": "fraud.scores",
    "from_date": "2027-03-01",
    "partitions": 12,
    "replication_factor": 3,
    "bytes_in_peak_bytes_per_second": 2e6,
    "bytes_in_mean_bytes_per_second": 1e6,
    "bytes_out_peak_bytes_per_second": 4e6,
    "bytes_out_mean_bytes_per_second": 2e6,
    "retention_seconds": None,
}
LAUNCH = {"kind": "launch", "topics": "orders.*", "from_date": "2027-03-01", "factor": 1.5}
RETENTION = {"kind": "retention", "topics": "logs.*", "from_date": "2027-03-01", "retention_seconds": 86_400}


def complaints(**values):
    with pytest.raises(ValidationError) as refused:
        DemandParameters.model_validate(values)
    return [(".".join(map(str, item["loc"])), item["msg"]) for item in refused.value.errors()]


def test_defaults_are_those_of_the_settings():
    assert DemandParameters().demand_settings() == DemandSettings()


def test_events_and_classes_are_parsed():
    parameters = DemandParameters.model_validate(
        {"planned_events": [LAUNCH, RETENTION, NEW_TOPIC], "topic_classes": ["pay = pay*"]}
    )
    settings = parameters.demand_settings()
    assert settings.topic_classes == (ClassPattern(name="pay", topics="pay*"),)
    launch, retention, added = settings.events
    assert launch == Launch(topics="orders.*", from_date="2027-03-01", factor=1.5)
    assert retention == RetentionChange(topics="logs.*", from_date="2027-03-01", retention_seconds=86_400.0)
    assert isinstance(added, AddedTopic)
    assert (added.name, added.from_date, added.retention_seconds) == ("fraud.scores", "2027-03-01", math.inf)


def test_the_event_and_its_field_are_named():
    assert complaints(planned_events=[LAUNCH, {**RETENTION, "retention_seconds": 0}]) == [
        ("planned_events.1.retention.retention_seconds", "Input should be greater than or equal to 1")
    ]
    assert complaints(planned_events=[{**LAUNCH, "to_date": "2027-02-01"}]) == [
        ("planned_events.0.launch.to_date", "Value error, it is before from_date, 2027-03-01; swap them")
    ]
    assert complaints(planned_events=[{**NEW_TOPIC, "bytes_out_mean_bytes_per_second": 5e6}]) == [
        (
            "planned_events.0.new-topic.bytes_out_mean_bytes_per_second",
            "Value error, it is above bytes_out_peak_bytes_per_second, 4e+06; a mean is at most the peak",
        )
    ]
    assert complaints(planned_events=[{"kind": "party"}])[0][0] == "planned_events.0"


def complaints_of_growth(item):
    wanted = "write name=ratio, such as payments=0.5, from -0.9 to 100"
    return [("class_growth", f"Value error, {item!r} is not a growth rate; {wanted}")]


def test_growth_of_classes_reaches_the_settings_and_none_is_asked_for_by_default():
    settings = DemandParameters(class_growth=("orders = 0.5",)).demand_settings()
    assert settings.class_growth == (("orders", 0.5),)
    assert DemandParameters(class_growth=("orders=40 %",)).demand_settings().class_growth == (("orders", 0.4),)
    assert DemandParameters().demand_settings().growth_of("orders") is None


def test_growth_and_classes_are_checked():
    assert DemandParameters(growth_per_year_ratio=0.7).demand_settings().growth_of("orders").high > 0.7
    assert complaints(class_growth=["orders"]) == complaints_of_growth("orders")
    assert complaints(class_growth=["orders=-0.95"]) == complaints_of_growth("orders=-0.95")
    assert complaints(growth_per_year_ratio=0.7, growth_high_per_year_ratio=0.6) == [
        (
            "growth_high_per_year_ratio",
            "Value error, it is below growth_per_year_ratio, 0.7; the high estimate is at least as much",
        )
    ]
    assert complaints(topic_classes=["pay"]) == [
        ("topic_classes", "Value error, 'pay' is not a topic class; write name=pattern, such as payments=pay*")
    ]


def test_the_form_gets_schemas_that_stand_alone():
    schemas = {name: schema for name, schema in parameter_schemas().items() if name in DemandParameters.model_fields}
    assert all(schema["section"] == "Demand" for schema in schemas.values())
    assert "$ref" not in str(schemas)
    kinds = [option["properties"]["kind"]["const"] for option in schemas["planned_events"]["items"]["oneOf"]]
    assert kinds == ["launch", "retention", "new-topic"]
