"""The request: what is refused and in which words, what is published, and what names a plan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.placement import Balance, RackRule, placer_names
from kafka_capacity.kafka.reassignment.problem import WaveSettings
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.kafka.rebalance.settings import GroupSettings
from kafka_capacity.plan.request import PlanRequest, parameter_schemas, parse_plan_request
from kafka_capacity.proposal.constraints.registry import BROKER_MAXIMA
from kafka_capacity.proposal.pins import Pin, pins_of
from kafka_capacity.questions.capacity.demand_parameters import DemandParameters
from kafka_capacity.questions.capacity.parameters import SizingParameters
from kafka_capacity.questions.change.move_parameters import TRIED_WAVE_HOURS
from kafka_capacity.questions.change.move_schedule import MoveSettings
from kafka_capacity.questions.failures.durability.parameters import DurabilityParameters
from kafka_capacity.questions.failures.parameters import FailureParameters
from tests.properties.strategies import repeatable

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
}
BROKER_CHANGES = {"removed_brokers": "removed", "replaced_brokers": "replaced", "rack_names": "rack_names"}
DELIVERY = {
    "recipients": ["sre@example.com"],
    "is_approval_required": True,
    "is_split_by_question": True,
    "ds": "2026-11-20",
}


def refusal(**values):
    with pytest.raises(RequestError) as refused:
        parse_plan_request({**MINIMAL, **values})
    return str(refused.value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("cluster", "", "cluster: '' is refused: write a text that is not empty"),
        ("cluster", 5, "cluster: 5 is refused: write a text"),
        (
            "ds",
            "yesterday",
            "ds: 'yesterday' is refused: input should be a valid date or datetime, input is too short",
        ),
        ("broker_counts", [0], "broker_counts.0: 0 is refused: give at least 1"),
        (
            "broker_counts",
            [12, 2_001],
            "broker_counts.1: 2001 is refused: give at most 2000",
        ),
        (
            "broker_counts",
            ["x"],
            "broker_counts.0: 'x' is refused: write a whole number",
        ),
        ("broker_counts", 12, "broker_counts: 12 is refused: write a list, […]"),
        ("new_broker_racks", [""], "new_broker_racks.0: '' is refused: write a text that is not empty"),
        (
            "placers",
            ["best"],
            "placers: ['best'] is refused: 'best' is no placer; "
            "choose from fewest-bytes, generate, modulo, striped, zk",
        ),
        (
            "replaced_brokers",
            {"3": -1},
            "replaced_brokers.3: -1 is refused: give at least 0",
        ),
        ("placers", [], "placers: [] is refused: give at least 1, not 0"),
        ("replication_factor", 0, "replication_factor: 0 is refused: give at least 1"),
        ("rack_rule", "three", "rack_rule: 'three' is refused: choose 'strict', 'two-racks' or 'off'"),
        ("balance", "cpu", "balance: 'cpu' is refused: choose 'bytes' or 'replicas'"),
        ("tolerance_ratio", -0.1, "tolerance_ratio: -0.1 is refused: give at least 0"),
        ("tolerance_ratio", 2, "tolerance_ratio: 2 is refused: give at most 100%"),
        ("disk_limit_ratio", 0, "disk_limit_ratio: 0 is refused: give more than 0"),
        ("disk_limit_ratio", 85, "disk_limit_ratio: 85 is refused: give at most 100%"),
        ("throttle_bytes_per_second", 0, "throttle_bytes_per_second: 0 is refused: give more than 0"),
        (
            "throttle_bytes_per_second",
            float("inf"),
            "throttle_bytes_per_second: inf is refused: give at most 1TB/s",
        ),
        (
            "pinned_topics",
            {"audit": [1, "a"]},
            "pinned_topics.audit.1: 'a' is refused: write a broker id such as 3, or a rack as rack:NAME",
        ),
        (
            "pinned_topics",
            {"audit": []},
            "pinned_topics.audit: [] is refused: give at least 1, not 0",
        ),
        (
            "max_replicas_per_broker",
            0,
            "max_replicas_per_broker: 0 is refused: give at least 1",
        ),
        ("seed", -1, "seed: -1 is refused: give at least 0"),
        (
            "recipients",
            ["sre"],
            "recipients: ['sre'] is refused: 'sre' is not an e-mail address; write each as name@host",
        ),
        (
            "is_approval_required",
            "perhaps",
            "is_approval_required: 'perhaps' is refused: write true or false",
        ),
        ("headroom_ratio", 1, "headroom_ratio: 1 is refused: give less than 100%"),
        ("max_concurrent_moves_per_broker", 0, "max_concurrent_moves_per_broker: 0 is refused: give at least 1"),
        ("max_wave_hours", 0, "max_wave_hours: 0 is refused: give more than 0"),
        ("pause_seconds", float("nan"), "pause_seconds: nan is refused: write a finite number"),
        ("fetchers", 0, "fetchers: 0 is refused: give at least 1"),
        (
            "wave_order",
            "largest-first",
            "wave_order: 'largest-first' is refused: choose 'auto', 'relief-first', 'smallest-first' or "
            "'hottest-first'",
        ),
        ("consumer_counts", [0], "consumer_counts.0: 0 is refused: give at least 1"),
        (
            "group_protocols",
            ["share"],
            "group_protocols.0: 'share' is refused: choose 'classic' or 'consumer'",
        ),
        (
            "group_assignors",
            ["best"],
            "group_assignors: ['best'] is refused: 'best' is no assignor of consumer groups; "
            "choose from cooperative-sticky, range, roundrobin, sticky, uniform",
        ),
        ("static_membership", "no", "static_membership: 'no' is refused: choose 'as-is', 'static' or 'both'"),
        (
            "group_events",
            [],
            "group_events: [] is refused: nothing would be simulated; choose at least one event",
        ),
        (
            "group_events",
            ["flood"],
            "group_events.0: 'flood' is refused: choose 'scale', 'scale-one-by-one', 'rolling-restart', "
            "'crash', 'crash-restart', 'slow-member' or 'more-partitions'",
        ),
        ("lag_slo_seconds", 0, "lag_slo_seconds: 0 is refused: give more than 0"),
        ("consumer_failures", -1, "consumer_failures: -1 is refused: give at least 0"),
        ("partitions_factor", 1, "partitions_factor: 1 is refused: give at least 2"),
        ("poll_seconds", float("nan"), "poll_seconds: nan is refused: write a finite number"),
        (
            "session_timeout_seconds",
            3,
            "session_timeout_seconds: 3 is refused: it must be above heartbeat_interval_seconds, which is 3, "
            "or Kafka refuses it; change one",
        ),
        (
            "server_heartbeat_interval_seconds",
            60,
            "server_session_timeout_seconds: 45.0 is refused: it must be above server_heartbeat_interval_seconds, "
            "which is 60, or Kafka refuses it; change one",
        ),
    ],
)
def test_a_wrong_value_is_refused_with_its_field_and_the_value(field, value, message):
    assert refusal(**{field: value}) == message


@pytest.mark.parametrize("field", ["throttle_bytes_per_second", "disk_limit_ratio", "tolerance_ratio"])
def test_what_is_no_number_is_refused(field):
    assert refusal(**{field: float("nan")}).startswith(f"{field}: nan is refused: ")


def test_an_unknown_parameter_is_refused_with_the_known_ones():
    known = ", ".join(PlanRequest.model_fields)

    assert refusal(brokers=12) == f"brokers: there is no such parameter; the parameters are {known}"


def test_an_automatic_throttle_leaves_nothing_to_compare():
    assert refusal(throttles_bytes_per_second=[5e7, 1e8], is_throttle_automatic=True) == (
        "is_throttle_automatic: True is refused: it leaves nothing to compare; leave out this or "
        "throttles_bytes_per_second"
    )


def test_every_wrong_field_is_told_at_once():
    assert refusal(seed=-1, balance="cpu").splitlines() == [
        "balance: 'cpu' is refused: choose 'bytes' or 'replicas'",
        "seed: -1 is refused: give at least 0",
    ]


def test_the_cluster_must_be_named():
    with pytest.raises(RequestError, match=r"^cluster: is missing; give it$"):
        parse_plan_request({})


def test_an_assignor_must_be_of_a_protocol_that_is_asked_for():
    assert refusal(group_protocols=["classic"], group_assignors=["uniform"]) == (
        "group_assignors: ['uniform'] is refused: 'uniform' is no assignor of classic groups; "
        "choose from cooperative-sticky, range, roundrobin, sticky"
    )
    assert refusal(group_protocols=["classic", "consumer"], group_assignors=["sticky"]) == (
        "group_assignors: ['sticky'] is refused: none of them is for consumer groups; add one of range, uniform"
    )
    assert parse_plan_request({**MINIMAL, "group_protocols": ["consumer"], "group_assignors": ["uniform"]})


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
    known = set(OTHER_VALUES) | set(MOVE_VALUES) | set(GROUP_VALUES) | set(DELIVERY)
    assert known.union(*(one.model_fields for one in elsewhere)) == set(PlanRequest.model_fields)


def test_a_plan_is_named_by_its_inventory():
    assert len({plan_id(MINIMAL), plan_id(MINIMAL, ds="2026-11-21"), plan_id(MINIMAL, inventory_sha256="cd" * 32)}) == 3


def test_a_default_that_is_written_out_names_the_same_plan():
    assert plan_id({**MINIMAL, "rack_rule": "strict", "seed": 0}) == plan_id(MINIMAL)


def test_a_plans_name_does_not_change_between_releases_of_the_same_model():
    # What was approved is what is released: another name here orphans every stored plan.
    assert plan_id({**MINIMAL, "broker_counts": [12, 15]}) == "db93cc2c98100248"


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


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "failure_kinds",
            ["disk"],
            "failure_kinds.0: 'disk' is refused: choose 'broker', 'pair', 'rack' or 'rack+broker'",
        ),
        ("controllers", list("0123456789"), "is refused: give at most 9, not 10"),
        ("controllers", ["x" * 301], "is refused: write a text of at most 300 characters"),
        ("max_failure_sets", 2.5, "max_failure_sets: 2.5 is refused: write a whole number"),
        ("rack_up_ratio", "often", "rack_up_ratio: 'often' is refused: write a ratio, such as 0.4 or 40%"),
    ],
)
def test_a_mistake_is_told_once_in_plain_words(field, value, message):
    with pytest.raises(RequestError) as refused:
        parse_plan_request({"cluster": "payments", field: value})
    assert message in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_request_that_was_written_down_with_earlier_names_is_read():
    earlier = {"most_replicas_per_broker": 400, "most_moves_per_broker": 3, "longest_wave_hours": 2.0}
    now = {"max_replicas_per_broker": 400, "max_concurrent_moves_per_broker": 3, "max_wave_hours": 2.0}
    assert parse_plan_request({**MINIMAL, **earlier}) == parse_plan_request({**MINIMAL, **now})
