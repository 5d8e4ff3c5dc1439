"""What a plan is asked about failures."""

import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.controller.quorum.voters import Voter
from kafka_capacity.plan.request import parameter_schemas, parse_plan_request
from kafka_capacity.questions.failures.parameters import FailureParameters
from kafka_capacity.questions.failures.scenario import SetKind

MINIMAL = {"cluster": "payments"}
PINNED = {"ds": "2026-11-20", "inventory_sha256": "ab" * 32}
OTHERS = {
    "failure_kinds": ["broker"],
    "failure_sets": ["1,2", "7, rack:a"],
    "failure_placements": "all",
    "max_failure_sets": 40,
    "election_rules": "zookeeper",
    "controllers": ["1:a", "2:b", "3"],
    "wanted_controllers": ["1:a", "2:b", "4:c"],
    "controller_properties": {"controller.quorum.fetch.timeout.ms": 3000},
    "controller_up_ratio": 0.99,
    "rack_up_ratio": 0.999,
    "failover_runs": 50,
}


def question(**asked):
    request = parse_plan_request({**MINIMAL, **asked})
    return request.failure_request(throttle_bytes_per_second=request.throttle_bytes_per_second, seed=request.seed)


def test_every_parameter_has_its_place_in_the_form():
    schemas = parameter_schemas()
    assert set(OTHERS) == set(FailureParameters.model_fields)
    assert {schemas[name]["section"] for name in OTHERS} == {"Failures"}


@pytest.mark.parametrize("field", OTHERS)
def test_a_plan_is_named_by_each_of_them(field):
    asked = parse_plan_request({**MINIMAL, field: OTHERS[field]})
    assert asked.plan_id(**PINNED) != parse_plan_request(MINIMAL).plan_id(**PINNED)


def test_every_parameter_reaches_the_question():
    found = question(**OTHERS, throttle_bytes_per_second=7e6, seed=5)
    assert (found.asked.kinds, found.asked.rules) == ((SetKind.BROKER,), ElectionRules.ZOOKEEPER)
    assert [(one.brokers, one.racks, one.name) for one in found.given] == [
        ((1, 2), (), "brokers 1, 2"),
        ((7,), ("a",), "broker 7 + rack a"),
    ]
    assert (found.asked.max_sets, found.asked.throttle_bytes_per_second, found.asked.seed) == (40, 7e6, 5)
    asked = found.controllers
    assert asked.voters == (
        Voter(node_id=1, rack="a"),
        Voter(node_id=2, rack="b"),
        Voter(node_id=3, rack=None),
    )
    assert asked.wanted == (*asked.voters[:2], Voter(node_id=4, rack="c"))
    assert (asked.timeouts.fetch_timeout_seconds, asked.timeouts.election_timeout_seconds) == (3.0, 1.0)
    assert (asked.up_ratio, asked.rack_up_ratio, asked.runs, asked.seed) == (0.99, 0.999, 50, 5)


def test_sets_that_share_a_short_name_are_both_lost():
    many = ",".join(map(str, range(1, 9)))
    found = question(failure_sets=[f"{many},9", f"{many},10", f"10,{many}"])
    scenario = found.scenario("today", Brokers.of(range(1, 11), [None] * 10), [SetKind.GIVEN])
    assert [lost.brokers[-1] for lost in scenario.given] == [9, 10]
    assert [lost.name for lost in scenario.given] == [
        "brokers 1, 2, 3, 4, 5, 6, 7, 8 and 1 more",
        "brokers 1, 2, 3, 4, 5, 6, 7, 8 and 1 more (set 2)",
    ]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"failure_sets": ["1,x"]},
            "failure_sets: ['1,x'] is invalid: 'x' is neither a broker nor a rack: write ids and racks, such as 1,2 or "
            "7,rack:a",
        ),
        (
            {"controllers": ["1:a", "b"]},
            "controllers: ['1:a', 'b'] is invalid: 'b' is not a voter: write node id and rack, such as 1:a",
        ),
        (
            {"controllers": ["1:a", "1:b"]},
            "controllers: ['1:a', '1:b'] is invalid: 1 is given more than once; name each voter once",
        ),
        (
            {"controllers": ["99999999999:a"]},
            "controllers: ['99999999999:a'] is invalid: 99999999999 is above the largest node id, 2147483647",
        ),
        (
            {"controller_properties": {"quorum.fetch.timeout.ms": 0}},
            "controller_properties: {'quorum.fetch.timeout.ms': 0} is invalid: quorum.fetch.timeout.ms must be a whole "
            "number of milliseconds, at least 1, not 0",
        ),
    ],
)
def test_what_cannot_be_is_refused(asked, message):
    with pytest.raises(RequestError) as refused:
        parse_plan_request({**MINIMAL, **asked})
    assert str(refused.value) == message


def test_a_name_that_kafka_does_not_have_is_refused():
    with pytest.raises(
        RequestError, match=r"'controller\.quorum\.fetch\.ms' is not a timeout that is simulated; choose"
    ):
        parse_plan_request({**MINIMAL, "controller_properties": {"controller.quorum.fetch.ms": 5}})
