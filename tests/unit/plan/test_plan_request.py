"""The request: what is published, what names a plan, and what its questions get of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.placement import Balance, RackRule, placer_names
from kafka_capacity.kafka.reassignment.problem import WaveSettings
from kafka_capacity.kafka.rebalance.model import Event, GroupSettings
from kafka_capacity.plan.request import PlanRequest, parameter_schemas, parse_plan_request
from kafka_capacity.proposal.constraints.registry import BROKER_MAXIMA
from kafka_capacity.proposal.pins import Pin, pins_of
from kafka_capacity.questions.capacity.demand_parameters import DemandParameters
from kafka_capacity.questions.capacity.parameters import SizingParameters
from kafka_capacity.questions.change.move_schedule import MoveSettings
from kafka_capacity.questions.change.parameters import TRIED_WAVE_HOURS
from kafka_capacity.questions.chargeback.parameters import ChargebackParameters
from kafka_capacity.questions.failures.durability.parameters import DurabilityParameters
from kafka_capacity.questions.failures.parameters import FailureParameters
from kafka_capacity.questions.savings.parameters import SavingsParameters
from tests.properties.strategies import repeatable
from tests.unit.plan.test_request_refusals import refusal

MINIMAL = {"cluster": "shop"}
PINNED = {"ds": "2026-11-20", "inventory_sha256": "ab" * 32}
OTHER_VALUES = {
    "cluster": "other",
    "broker_counts": [12, 15],
    "new_broker_racks": ["a"],
    "removed_brokers": [3],
    "replaced_brokers": {"4": 14},
    "rack_names": {"a": "zone-a"},
    "partition_counts": {"orders": 24},
    "placers": ["zk"],
    "replication_factor": 2,
    "rack_rule": "off",
    "balance": "replicas",
    "tolerance_ratio": 0.3,
    "disk_limit_ratio": 0.5,
    "pinned_topics": {"audit": [1, 2], "pay.*": ["rack:a"]},
    "max_replicas_per_broker": 4000,
    "max_leaders_per_broker": 1500,
    "throttle_bytes_per_second": 1e6,
    "throttles_bytes_per_second": [5e7, 1e8],
    "seed": 7,
}
MOVE_VALUES = {
    "is_throttle_automatic": True,
    "headroom_ratio": 0.4,
    "disk_bytes_per_second": 2e8,
    "max_concurrent_moves_per_broker": 5,
    "max_wave_hours": 1.5,
    "max_traffic_ratio": 1.0,
    "pause_seconds": 0.0,
    "fetchers": 4,
    "fetcher_bytes_per_second": 1e7,
    "wave_order": "smallest-first",
    "is_leadership_first_tried": False,
    "are_detours_allowed": False,
    "window": "22:00-06:00",
}
GROUP_VALUES = {
    "groups": ["orders-etl"],
    "consumer_counts": [4, 6],
    "group_protocols": ["classic"],
    "group_assignors": ["sticky"],
    "static_membership": "static",
    "group_events": ["crash"],
    "lag_slo_seconds": 30.0,
    "catch_up_limit_seconds": 60.0,
    "consumer_failures": 2,
    "member_capacity_bytes_per_second": 5e6,
    "partitions_factor": 3,
    "broker_heap_bytes": 2**30,
    "heartbeat_interval_seconds": 1.0,
    "session_timeout_seconds": 10.0,
    "server_heartbeat_interval_seconds": 1.0,
    "server_session_timeout_seconds": 30.0,
    "max_poll_interval_seconds": 60.0,
    "auto_commit_interval_seconds": 1.0,
    "metadata_max_age_seconds": 30.0,
    "poll_seconds": 2.0,
    "restart_seconds": 40.0,
    "settle_seconds": 0.0,
    "slow_seconds": 900.0,
    "standby_replicas": 1,
    "restore_bytes_per_second": 5e7,
    "record_processing_seconds": 0.2,
    "max_poll_records": 100,
    "share_lock_seconds": 60.0,
    "share_record_locks": 4000,
    "share_delivery_limit": 3,
}
BROKER_CHANGES = {"removed_brokers": "removed", "replaced_brokers": "replaced", "rack_names": "rack_names"}
DELIVERY = {
    "recipients": ["sre@example.com"],
    "is_approval_required": True,
    "is_split_by_question": True,
    "ds": "2026-11-20",
}


def test_what_is_published_is_what_is_parsed():
    schemas = parameter_schemas()

    assert set(schemas) == set(PlanRequest.model_fields)
    assert schemas["rack_rule"]["enum"] == [rule.value for rule in RackRule]
    assert schemas["balance"]["enum"] == [balance.value for balance in Balance]
    assert schemas["placers"]["items"]["enum"] == list(placer_names())
    assert schemas["tolerance_ratio"]["type"] == ["number", "null"]
    for name, schema in schemas.items():
        assert schema["description"], name
        assert schema["section"], name
        assert "$ref" not in str(schema), name
        assert "anyOf" not in schema, name


@pytest.mark.parametrize("field", [name for name in PlanRequest.model_fields if name != "cluster"])
def test_every_default_is_a_value_that_is_accepted(field):
    default = TypeAdapter(PlanRequest).dump_python(PlanRequest(**MINIMAL), mode="json")[field]

    assert getattr(parse_plan_request({**MINIMAL, field: default}), field) == PlanRequest.model_fields[field].default


@pytest.mark.parametrize("field", ["replication_factor", "tolerance_ratio", "disk_limit_ratio", "seed"])
def test_published_limits_are_those_of_the_parser(field):
    schema = parameter_schemas()[field]
    too_small = schema.get("minimum", schema.get("exclusiveMinimum", 0)) - (0 if "exclusiveMinimum" in schema else 1)

    assert refusal(**{field: too_small})
    assert refusal(**{field: schema["maximum"] + 1})
    assert parse_plan_request({**MINIMAL, field: schema["maximum"]})


def plan_id(values, **pinned):
    return parse_plan_request(values).plan_id(**{**PINNED, **pinned})


@pytest.mark.parametrize("field", [*OTHER_VALUES, *MOVE_VALUES, *GROUP_VALUES])
def test_a_plan_is_named_by_every_question(field):
    assert plan_id({**MINIMAL, field: {**OTHER_VALUES, **MOVE_VALUES, **GROUP_VALUES}[field]}) != plan_id(MINIMAL)


@pytest.mark.parametrize("field", DELIVERY)
def test_a_plan_is_not_named_by_who_gets_it(field):
    assert plan_id({**MINIMAL, field: DELIVERY[field]}) == plan_id(MINIMAL)


def test_every_field_is_a_question_or_delivery():
    elsewhere = (DemandParameters, SizingParameters, FailureParameters, DurabilityParameters)
    elsewhere += (SavingsParameters, ChargebackParameters)
    known = set(OTHER_VALUES) | set(MOVE_VALUES) | set(GROUP_VALUES) | set(DELIVERY)
    assert known.union(*(one.model_fields for one in elsewhere)) == set(PlanRequest.model_fields)


def test_a_plan_is_named_by_its_inventory():
    assert len({plan_id(MINIMAL), plan_id(MINIMAL, ds="2026-11-21"), plan_id(MINIMAL, inventory_sha256="cd" * 32)}) == 3


@pytest.mark.parametrize("window", ["", "0:00-24:00", "08:00-08:00"])
def test_a_window_of_a_whole_day_is_none(window):
    assert parse_plan_request({**MINIMAL, "window": window}).window is None
    assert plan_id({**MINIMAL, "window": window}) == plan_id(MINIMAL)


@pytest.mark.parametrize(("typed", "read"), [(" 6:00 - 9:30", "06:00-09:30"), ("18:00-24:00", "18:00-00:00")])
def test_a_window_is_read_as_people_write_it(typed, read):
    assert parse_plan_request({**MINIMAL, "window": typed}).window == read


@pytest.mark.parametrize("window", ["22-6", "25:00-06:00", "22:00", "22:00-06:60", "24:30-06:00"])
def test_what_is_no_window_is_refused(window):
    with pytest.raises(RequestError) as error:
        parse_plan_request({**MINIMAL, "window": window})
    assert str(error.value) == (
        f"window: {window!r} is invalid: write when it opens and closes, in UTC, such as 22:00-06:00"
    )


def test_a_default_that_is_written_out_names_the_same_plan():
    assert plan_id({**MINIMAL, "rack_rule": "strict", "seed": 0}) == plan_id(MINIMAL)


def test_a_plans_name_does_not_change_between_releases_of_the_same_model():
    # What was approved is what is released: another name here orphans every stored plan.
    assert plan_id({**MINIMAL, "broker_counts": [12, 15]}) == "1db8424eefcfe750"


@repeatable(60)
@given(st.fixed_dictionaries({}, optional={name: st.just(value) for name, value in OTHER_VALUES.items()}))
def test_the_grid_holds_what_was_asked(values):
    request = parse_plan_request({**MINIMAL, **values})
    grid = request.grid()

    for name in OTHER_VALUES:
        if name == "pinned_topics":
            assert grid.pins == pins_of(request.pinned_topics)
        elif name == "partition_counts":
            assert dict(grid.partition_counts) == request.partition_counts
        elif name in BROKER_MAXIMA:
            assert dict(grid.broker_maxima).get(BROKER_MAXIMA[name].name) == getattr(request, name)
        elif name in BROKER_CHANGES:
            assert bool(getattr(grid.broker_changes, BROKER_CHANGES[name])) == bool(getattr(request, name))
        elif name != "cluster":
            assert getattr(grid, name) == getattr(request, name)


def test_brokers_and_racks_of_a_pin_may_be_mixed_and_a_rack_may_be_a_number():
    request = parse_plan_request({**MINIMAL, "pinned_topics": {"audit": ["2", 1, "rack:1"]}})

    assert request.grid().pins == (Pin(topics="audit", broker_ids=(1, 2), racks=("1",)),)


@pytest.mark.parametrize("field", MOVE_VALUES)
def test_every_parameter_of_the_move_changes_what_is_scheduled(field):
    asked = parse_plan_request({**MINIMAL, field: MOVE_VALUES[field]}).move_settings()
    assert asked != MoveSettings()


def test_the_defaults_of_the_move_are_those_of_the_schedule():
    # But for the length of waves, of which a plan takes the best.
    tried = tuple(hours * 3600.0 for hours in TRIED_WAVE_HOURS)
    assert parse_plan_request(MINIMAL).move_settings() == MoveSettings(waves=WaveSettings(tried_wave_seconds=tried))


def test_the_section_of_the_move_follows_the_rules():
    sections = [schema["section"] for schema in parameter_schemas().values()]
    places = {name: [at for at, each in enumerate(sections) if each == name] for name in sections}
    assert places["The move"] == list(range(places["Rules"][-1] + 1, places["Demand"][0]))


@pytest.mark.parametrize("field", GROUP_VALUES)
def test_every_parameter_of_groups_changes_what_is_evaluated(field):
    usual = parse_plan_request(MINIMAL).group_grid(seed=0)
    assert parse_plan_request({**MINIMAL, field: GROUP_VALUES[field]}).group_grid(seed=0) != usual


def test_the_defaults_of_timeouts_are_those_of_kafka():
    assert parse_plan_request(MINIMAL).group_grid(seed=0).settings == GroupSettings()


def test_an_event_that_is_asked_for_twice_is_simulated_once():
    asked = parse_plan_request({**MINIMAL, "group_events": ["crash", "scale", "crash"]})
    assert asked.group_grid(seed=0).events == (Event.CRASH, Event.SCALE)


def test_lists_say_what_they_hold_so_that_the_form_draws_them():
    lists = {name: schema for name, schema in parameter_schemas().items() if "items" in schema}
    assert all("type" in schema["items"] for schema in lists.values())
    assert lists["planned_events"]["items"]["type"] == "object"
    assert lists["topic_classes"]["items"]["type"] == "string"


def test_a_request_that_was_written_down_with_earlier_names_is_read():
    earlier = {"most_replicas_per_broker": 400, "most_moves_per_broker": 3, "longest_wave_hours": 2.0}
    now = {"max_replicas_per_broker": 400, "max_concurrent_moves_per_broker": 3, "max_wave_hours": 2.0}
    assert parse_plan_request({**MINIMAL, **earlier}) == parse_plan_request({**MINIMAL, **now})
