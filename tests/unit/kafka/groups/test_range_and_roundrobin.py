"""``range`` of client and coordinator, and ``roundrobin``."""

import pytest
from hypothesis import given

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.groups import Group, GroupProtocol, Topic, assignor
from tests.examples import at_most
from tests.unit.kafka.groups.made_up import PROTOCOL_ERROR, check_complete, group, groups, member, numbers, topic_id

RANGE = assignor("range")
ROUND_ROBIN = assignor("roundrobin")
SERVER_RANGE = assignor("range", GroupProtocol.CONSUMER)
IDS = tuple(topic_id(2**63 * n + n) for n in range(4))


def test_extra_partitions_of_every_topic_pile_up_on_the_first_members():
    found = RANGE.assign(group([member("b", "t", "u"), member("a", "t", "u")], t=3, u=1))

    assert {name: sorted(pairs) for name, pairs in found.lists().items()} == {
        "b": [("t", 2)],
        "a": [("t", 0), ("t", 1), ("u", 0)],
    }


def test_static_members_come_first():
    members = [member("a", "t"), member("z", "t", instance_id="2"), member("y", "t", instance_id="3")]

    assert numbers(RANGE.assign(group(members, t=4))) == {"a": [3], "z": [0, 1], "y": [2]}
    assert numbers(ROUND_ROBIN.assign(group(members, t=4))) == {"a": [2], "z": [0, 3], "y": [1]}


def test_members_sort_by_utf_16_unit():
    members = [member("\ue000", "t"), member("\U0001f600", "t")]

    assert numbers(RANGE.assign(group(members, t=1))) == {"\ue000": [], "\U0001f600": [0]}
    assert numbers(ROUND_ROBIN.assign(group(members, t=1))) == {"\ue000": [], "\U0001f600": [0]}


@pytest.mark.parametrize("found", [RANGE, ROUND_ROBIN])
def test_topics_without_metadata_are_left_out(found):
    assert found.assign(group([member("a", "t", "gone", "empty")], t=1, empty=0)).lists() == {"a": [("t", 0)]}


def test_a_topic_named_twice_counts_once():
    assert numbers(RANGE.assign(group([member("a", "t", "t"), member("b", "t")], t=3))) == {"a": [0, 1], "b": [2]}


def test_the_circle_goes_on_over_topics_and_passes_over_who_does_not_subscribe():
    members = [member("a", "t"), member("b", "t", "u"), member("c", "t", "u", "v")]

    assert ROUND_ROBIN.assign(group(members, t=1, u=2, v=3)).lists() == {
        "a": [("t", 0)],
        "b": [("u", 0)],
        "c": [("u", 1), ("v", 0), ("v", 1), ("v", 2)],
    }


def test_a_circle_needs_a_member():
    with pytest.raises(AssignmentError, match="needs at least one member") as caught:
        ROUND_ROBIN.assign(group([], t=1))
    assert caught.value.kafka_type == "java.lang.IllegalArgumentException"
    assert RANGE.assign(group([], t=1)).lists() == {}


def racked(members, **racks):
    topics = tuple(Topic(name=n, partitions=len(r), racks=tuple(map(tuple, r))) for n, r in racks.items())
    return Group(topics=topics, members=tuple(members))


def test_partitions_go_to_members_in_their_rack_within_the_same_shares():
    members = [member("a", "t", rack="r1"), member("b", "t", rack="r2")]

    assert numbers(RANGE.assign(racked(members, t=[["r2"], ["r2"], ["r1"]]))) == {"a": [2], "b": [0, 1]}
    # Where every partition is everywhere, or no member is where replicas are, racks do not count.
    assert numbers(RANGE.assign(racked(members, t=[["r2", "r1"]] * 3))) == {"a": [0, 1], "b": [2]}
    assert numbers(RANGE.assign(racked(members, t=[["r3"], ["r3"], ["r4"]]))) == {"a": [0, 1], "b": [2]}


def test_topics_of_one_size_stay_together_even_if_only_one_needs_racks():
    members = [member("a", "t", "u", rack="r1"), member("b", "t", "u", rack="r2")]
    found = RANGE.assign(racked(members, t=[["r2"], ["r1"]], u=[["r1", "r2"], ["r1", "r2"]]))

    assert found.lists() == {"a": [("t", 1), ("u", 1)], "b": [("t", 0), ("u", 0)]}


def test_topics_of_one_size_never_give_a_member_more_than_its_share():
    members = [member(name, "t", "u", rack=rack) for name, rack in (("a", "r1"), ("b", "r2"), ("c", "r3"))]
    racks = [["r1"], ["r2"], ["r2"], ["r1"]]  # once b has the larger share there is none left for a

    assert numbers(RANGE.assign(racked(members, t=racks, u=racks))) == {
        "a": [0, 0],
        "b": [1, 2, 1, 2],
        "c": [3, 3],
    }


def test_a_partition_in_nobodys_rack_goes_to_whoever_has_room():
    members = [member("a", "t", rack="r1"), member("b", "t"), member("c", "t", rack="")]
    found = RANGE.assign(racked(members, t=[["r9"], [None], ["r1"]]))

    assert numbers(found) == {"a": [2], "b": [0], "c": [1]}


def test_the_coordinator_refuses_a_topic_that_does_not_exist():
    with pytest.raises(AssignmentError, match=f"a member subscribes to topic {IDS[1]}, which does not exist") as caught:
        SERVER_RANGE.assign(group([member("a", IDS[1])], **{IDS[0]: 1}))
    assert caught.value.kafka_type == PROTOCOL_ERROR
    assert SERVER_RANGE.assign(group([])).lists() == {}


def test_the_coordinator_cuts_each_topic_among_its_own_subscribers():
    t, u = IDS[:2]
    members = [member("b", t, u), member("a", t, u), member("c", u, instance_id="1")]

    assert SERVER_RANGE.assign(group(members, **{t: 3, u: 4})).lists() == {
        "b": [(t, 2), (u, 3)],
        "a": [(t, 0), (t, 1), (u, 2)],
        "c": [(u, 0), (u, 1)],
    }


@at_most(100)
@given(groups(racks=True))
def test_range_balances_each_topic_whatever_the_racks(given):
    found = RANGE.assign(given)
    check_complete(given, found)
    for topic in given.topics:
        counts = [
            sum(name == topic.name for name, _ in pairs)
            for who, pairs in zip(given.members, found.lists().values(), strict=True)
            if topic.name in who.topics
        ]
        assert not counts or max(counts) - min(counts) <= 1


@at_most(100)
@given(groups())
def test_a_circle_gives_all_and_balances_equal_subscriptions(given):
    found = ROUND_ROBIN.assign(given)
    check_complete(given, found)
    if len({who.topics for who in given.members}) == 1:
        assert found.counts().max() - found.counts().min() <= 1
