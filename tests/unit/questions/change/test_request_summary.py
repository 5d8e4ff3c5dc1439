"""What was asked, in one line."""

from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.questions.change.request_summary import asked_sentence


def asked(**values):
    return asked_sentence(parse_plan_request({"cluster": "shop", **values}).model_dump(mode="json"))


def test_what_is_left_to_its_default_is_not_asked():
    assert asked() is None
    assert asked_sentence({}) is None


def test_every_change_is_named():
    everything = asked(
        broker_counts=[15, 12, 13],
        new_broker_racks=["a"],
        removed_brokers=[3, 4],
        replaced_brokers={"10": 20, "9": 19},
        rack_names={"a": "zone-a"},
        replication_factor=2,
        partition_counts={"orders": 24},
        pinned_topics={"audit": [1, "rack:b"]},
        max_replicas_per_broker=4000,
        throttles_bytes_per_second=[1e8, 5e7],
        window="22:00-06:00",
    )

    assert everything == (
        "Requested: 12, 13 or 15 brokers; new brokers in rack a; brokers 3, 4 removed; broker 9 replaced by 19, 10 "
        "replaced by 20; rack a renamed to zone-a; replication factor 2; 24 partitions of orders; pinned audit on "
        "1, rack b; at most 4,000 replicas on a broker; throttles of 50 MB/s, 100 MB/s; copying from "
        "22:00 to 06:00 UTC only."
    )


def test_long_lists_are_cut():
    assert asked(removed_brokers=list(range(10))) == "Requested: brokers 0, 1, 2, 3, 4, 5 and 4 more removed."
    assert asked_sentence({"brokers": [1]}) == "Requested: a list of 1 broker."


def test_a_broker_that_is_removed_twice_is_told_once():
    assert asked(removed_brokers=[4, 4]) == "Requested: broker 4 removed."
