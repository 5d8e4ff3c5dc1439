"""``simple`` of share groups: what the group coordinator gives, and where Kafka throws."""

import math

import pytest
from hypothesis import given

from kafka_capacity.conformance.models.simple import assign_shares
from kafka_capacity.errors import AssignmentError
from tests.examples import at_most
from tests.unit.kafka.groups.made_up import (
    IDS,
    PROTOCOL_ERROR,
    T,
    U,
    check_complete,
    group,
    groups,
    listed,
    member,
    numbers,
)


def test_a_subscribed_topic_must_exist():
    for others in ((), (T,)):
        with pytest.raises(AssignmentError, match=f"subscribes to topic {U}, which does not exist") as caught:
            assign_shares(group([member("a", U), member("b", U, *others)], **{T: 1}))
        assert caught.value.kafka_type == PROTOCOL_ERROR


def test_nobody_and_nothing_give_nothing():
    assert assign_shares(group([], **{T: 1})).lists() == {}
    assert assign_shares(group([member("a")], **{T: 1})).lists() == {"a": []}


def test_partitions_are_shared_when_there_are_more_members():
    found = assign_shares(group([member(name, T) for name in "abcd"], **{T: 2}))

    assert numbers(found) == {"a": [0], "b": [0], "c": [1], "d": [1]}


def test_partitions_that_may_not_be_assigned_are_left_out():
    given = group([member("a", T, U), member("b", T, U)], **{T: 2, U: 2})
    found = assign_shares(given, {(T, 1), (U, 0)})

    assert {pair for pairs in found.lists().values() for pair in pairs} == {(T, 1), (U, 0)}


def test_a_share_group_may_run_out_of_members():
    members = [
        member("\U0001f6002", T),
        member("c0", T),
        member("\U0001f6001", T, owned=listed((T, 0), (T, 1), (T, 2))),
        member("\U0001f6003", T),
    ]
    given = group(members, **{T: 3})
    with pytest.raises(AssignmentError, match="no member is left") as caught:
        assign_shares(given, {(T, 0), (T, 2)})
    assert caught.value.kafka_type == "java.util.NoSuchElementException"


@at_most(100)
@given(groups(names=IDS, equal=True))
def test_simple_shares_each_partition_evenly(given):
    found = assign_shares(given)
    partitions = sum(topic.partitions for topic in given.topics)
    sharers = math.ceil(len(given.members) / partitions)
    pairs = [pair for part in found.lists().values() for pair in part]

    check_complete(given, found, sharers)
    assert all(pairs.count(pair) == sharers for pair in pairs)
    assert found.counts().max() - found.counts().min() <= 1


@at_most(100)
@given(groups(names=IDS))
def test_simple_gives_everything_to_subscribers(given):
    check_complete(given, assign_shares(given), sharers=True)
