"""What a request refuses, and in which words."""

import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.plan.request import PlanRequest, parse_plan_request

MINIMAL = {"cluster": "shop"}


def refusal(**values):
    with pytest.raises(RequestError) as refused:
        parse_plan_request({**MINIMAL, **values})
    return str(refused.value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("cluster", "", "cluster: '' is invalid: must not be empty"),
        ("cluster", 5, "cluster: 5 is invalid: write a string"),
        (
            "ds",
            "yesterday",
            "ds: 'yesterday' is invalid: input should be a valid date or datetime, input is too short",
        ),
        ("broker_counts", [0], "broker_counts.0: 0 is invalid: give at least 1"),
        (
            "broker_counts",
            [12, 2_001],
            "broker_counts.1: 2001 is invalid: give at most 2000",
        ),
        (
            "broker_counts",
            ["x"],
            "broker_counts.0: 'x' is invalid: write a whole number",
        ),
        ("broker_counts", 12, "broker_counts: 12 is invalid: write a list, […]"),
        ("new_broker_racks", [""], "new_broker_racks.0: '' is invalid: must not be empty"),
        (
            "placers",
            ["best"],
            "placers: ['best'] is invalid: 'best' is not a placer; choose from fewest-bytes, generate, modulo, "
            "striped, zk",
        ),
        (
            "replaced_brokers",
            {"3": -1},
            "replaced_brokers.3: -1 is invalid: give at least 0",
        ),
        ("placers", [], "placers: [] is invalid: give at least 1, not 0"),
        ("replication_factor", 0, "replication_factor: 0 is invalid: give at least 1"),
        ("rack_rule", "three", "rack_rule: 'three' is invalid: choose 'strict', 'two-racks' or 'off'"),
        ("balance", "cpu", "balance: 'cpu' is invalid: choose 'bytes' or 'replicas'"),
        ("tolerance_ratio", -0.1, "tolerance_ratio: -0.1 is invalid: give at least 0"),
        ("tolerance_ratio", 2, "tolerance_ratio: 2 is invalid: give at most 100%"),
        ("disk_limit_ratio", 0, "disk_limit_ratio: 0 is invalid: give more than 0"),
        ("disk_limit_ratio", 85, "disk_limit_ratio: 85 is invalid: give at most 100%"),
        ("throttle_bytes_per_second", 0, "throttle_bytes_per_second: 0 is invalid: give at least 1kB/s"),
        (
            "throttle_bytes_per_second",
            float("inf"),
            "throttle_bytes_per_second: inf is invalid: give at most 1TB/s",
        ),
        (
            "pinned_topics",
            {"audit": [1, "a"]},
            "pinned_topics.audit.1: 'a' is invalid: write a broker id such as 3, or a rack as rack:NAME",
        ),
        (
            "pinned_topics",
            {"audit": []},
            "pinned_topics.audit: [] is invalid: give at least 1, not 0",
        ),
        (
            "max_replicas_per_broker",
            0,
            "max_replicas_per_broker: 0 is invalid: give at least 1",
        ),
        ("seed", -1, "seed: -1 is invalid: give at least 0"),
        (
            "recipients",
            ["sre"],
            "recipients.0: 'sre' is invalid: write an e-mail address as name@host",
        ),
        (
            "is_approval_required",
            "perhaps",
            "is_approval_required: 'perhaps' is invalid: write true or false",
        ),
        ("headroom_ratio", 1, "headroom_ratio: 1 is invalid: give less than 100%"),
        ("max_concurrent_moves_per_broker", 0, "max_concurrent_moves_per_broker: 0 is invalid: give at least 1"),
        ("max_wave_hours", 0, "max_wave_hours: 0 is invalid: give more than 0"),
        ("pause_seconds", float("nan"), "pause_seconds: nan is invalid: write a finite number"),
        ("fetchers", 0, "fetchers: 0 is invalid: give at least 1"),
        (
            "wave_order",
            "largest-first",
            "wave_order: 'largest-first' is invalid: choose 'auto', 'relief-first', 'smallest-first' or "
            "'hottest-first'",
        ),
        ("consumer_counts", [0], "consumer_counts.0: 0 is invalid: give at least 1"),
        (
            "group_protocols",
            ["share"],
            "group_protocols.0: 'share' is invalid: choose 'classic' or 'consumer'",
        ),
        (
            "group_assignors",
            ["best"],
            "group_assignors: ['best'] is invalid: 'best' is not an assignor for consumer groups; choose from "
            "cooperative-sticky, range, roundrobin, sticky, uniform",
        ),
        ("static_membership", "no", "static_membership: 'no' is invalid: choose 'as-is', 'static' or 'both'"),
        (
            "group_events",
            [],
            "group_events: [] is invalid: nothing would be simulated; choose at least one event",
        ),
        (
            "group_events",
            ["flood"],
            "group_events.0: 'flood' is invalid: choose 'scale', 'scale-one-by-one', 'rolling-restart', "
            "'crash', 'crash-restart', 'slow-member' or 'more-partitions'",
        ),
        ("lag_slo_seconds", 0, "lag_slo_seconds: 0 is invalid: give more than 0"),
        ("consumer_failures", -1, "consumer_failures: -1 is invalid: give at least 0"),
        ("partitions_factor", 1, "partitions_factor: 1 is invalid: give at least 2"),
        ("poll_seconds", float("nan"), "poll_seconds: nan is invalid: write a finite number"),
        (
            "session_timeout_seconds",
            3,
            "session_timeout_seconds: 3 is invalid: it must be above heartbeat_interval_seconds, which is 3, or "
            "Kafka rejects it; change one of them",
        ),
        (
            "server_heartbeat_interval_seconds",
            60,
            "server_session_timeout_seconds: 45.0 is invalid: it must be above server_heartbeat_interval_seconds, "
            "which is 60, or Kafka rejects it; change one of them",
        ),
        (
            "max_poll_interval_seconds",
            0.2,
            "poll_seconds: 0.5 is invalid: it must be below max_poll_interval_seconds, which is 0.2, or healthy "
            "members are removed from the group again and again; change one of them",
        ),
        (
            "lost_limit_ratio",
            0.5,
            "lost_limit_ratio: 0.5 is invalid: it must be at least disk_io_limit_ratio, which is 0.8; "
            "change one of them",
        ),
        (
            "poll_seconds",
            300,
            "poll_seconds: 300 is invalid: it must be below max_poll_interval_seconds, which is 300, or healthy "
            "members are removed from the group again and again; change one of them",
        ),
    ],
)
def test_a_wrong_value_is_refused_with_its_field_and_the_value(field, value, message):
    assert refusal(**{field: value}) == message


def test_a_limit_after_a_loss_goes_with_normal_ones_that_are_no_higher():
    normal = ("network_limit_ratio", "cpu_limit_ratio", "disk_io_limit_ratio", "client_limit_ratio")
    assert parse_plan_request({**MINIMAL, **dict.fromkeys(normal, 0.5), "lost_limit_ratio": 0.5})
    # A normal limit alone may be above the default, in a pinned request, too, which has both.
    high = parse_plan_request({**MINIMAL, "network_limit_ratio": 0.95})
    assert parse_plan_request(high.model_dump(mode="json")) == high


@pytest.mark.parametrize("field", ["throttle_bytes_per_second", "disk_limit_ratio", "tolerance_ratio"])
def test_what_is_no_number_is_refused(field):
    assert refusal(**{field: float("nan")}).startswith(f"{field}: nan is invalid: ")


def test_an_unknown_parameter_is_refused_with_the_known_ones():
    known = ", ".join(PlanRequest.model_fields)

    assert refusal(brokers=12) == f"brokers: no such parameter; the parameters are {known}"


def test_a_field_within_a_parameter_is_no_parameter():
    launch = {"kind": "launch", "topics": "a.*", "from_date": "2026-12-01", "factor": 2.0}
    known = refusal(planned_events=[{**launch, "factr": 2}])
    assert known == "planned_events.0.launch.factr: no such field; remove it or correct its name"
    assert refusal(planned_events=[{**launch, "kind": "lunch"}]).endswith(
        "is invalid: choose 'kind' from 'launch', 'retention', 'new-topic'"
    )
    del launch["kind"]
    assert refusal(planned_events=[launch]).endswith("is invalid: it has no 'kind', which says what it is; add it")
    assert "write an object, {…}" in refusal(planned_events=["launch orders"])


def test_an_automatic_throttle_leaves_nothing_to_compare():
    assert refusal(throttles_bytes_per_second=[5e7, 1e8], is_throttle_automatic=True) == (
        "is_throttle_automatic: True is invalid: it leaves nothing to compare; leave out either this or "
        "throttles_bytes_per_second"
    )


def test_every_wrong_field_is_told_at_once():
    assert refusal(seed=-1, balance="cpu").splitlines() == [
        "balance: 'cpu' is invalid: choose 'bytes' or 'replicas'",
        "seed: -1 is invalid: give at least 0",
    ]


def test_the_cluster_must_be_named():
    with pytest.raises(RequestError, match=r"^cluster: is required$"):
        parse_plan_request({})


def test_an_assignor_must_be_of_a_protocol_that_is_asked_for():
    assert refusal(group_protocols=["classic"], group_assignors=["uniform"]) == (
        "group_assignors: ['uniform'] is invalid: 'uniform' is not an assignor for classic groups; choose from "
        "cooperative-sticky, range, roundrobin, sticky"
    )
    assert refusal(group_protocols=["classic", "consumer"], group_assignors=["sticky"]) == (
        "group_assignors: ['sticky'] is invalid: none of them is for consumer groups; add one of range, uniform"
    )
    assert parse_plan_request({**MINIMAL, "group_protocols": ["consumer"], "group_assignors": ["uniform"]})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "failure_kinds",
            ["disk"],
            "failure_kinds.0: 'disk' is invalid: choose 'broker', 'pair', 'rack' or 'rack+broker'",
        ),
        ("controllers", list("0123456789"), "is invalid: give at most 9, not 10"),
        ("controllers", ["x" * 301], "is invalid: write at most 300 characters"),
        ("max_failure_sets", 2.5, "max_failure_sets: 2.5 is invalid: write a whole number"),
        ("rack_up_ratio", "often", "rack_up_ratio: 'often' is invalid: write a ratio, such as 0.4 or 40%"),
    ],
)
def test_a_mistake_is_told_once_in_plain_words(field, value, message):
    with pytest.raises(RequestError) as refused:
        parse_plan_request({"cluster": "payments", field: value})
    assert message in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
