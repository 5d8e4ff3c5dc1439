"""``uniform``: what the group coordinator gives, and where Kafka throws."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.groups import Group, GroupProtocol, TopicPartitions, assignor
from kafka_capacity.kafka.groups.coordinator import integer_set_order
from kafka_capacity.kafka.groups.uniform_mixed import Levels
from kafka_capacity.kafka.java.hash_map import JavaHashSet
from kafka_capacity.kafka.java.hashing import integer_hash
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

UNIFORM = assignor("uniform", GroupProtocol.CONSUMER)


def of(topic, *partitions):
    return listed(*((topic, partition) for partition in partitions))


def test_members_keep_what_they_have_up_to_their_share():
    members = [member("a", T, owned=of(T, 0, 1, 2, 3)), member("b", T, owned=of(T, 4)), member("c", T)]

    assert numbers(UNIFORM.assign(group(members, **{T: 6}))) == {"a": [0, 1], "b": [4, 5], "c": [2, 3]}


def test_a_topic_no_longer_subscribed_to_is_taken_away():
    members = [member("a", T, owned=listed((U, 0), (T, 0))), member("b", T)]

    assert UNIFORM.assign(group(members, **{T: 2, U: 1})).lists() == {"a": [(T, 0)], "b": [(T, 1)]}


def test_the_order_of_a_hash_set_says_which_partitions_are_taken_away():
    # 16 and 0 share a bucket of 16: the one that was listed first comes first.
    members = [member("a", T, owned=of(T, 16, 0)), *(member(f"b{n}", T) for n in range(16))]

    assert numbers(UNIFORM.assign(group(members, **{T: 17})))["a"] == [16]


def test_a_subscribed_topic_must_exist():
    for others in ((), (T,)):
        with pytest.raises(AssignmentError, match=f"subscribes to topic {U}, which does not exist") as caught:
            UNIFORM.assign(group([member("a", U), member("b", U, *others)], **{T: 1}))
        assert caught.value.kafka_type == PROTOCOL_ERROR


def test_a_target_beyond_the_partitions_leaves_others_over():
    members = [member("a", T), member("b", T, owned=of(T, 0, 1, 3, 4, 5, 9))]
    with pytest.raises(AssignmentError, match="1 partitions are left over") as caught:
        UNIFORM.assign(group(members, **{T: 6}))
    assert caught.value.kafka_type == PROTOCOL_ERROR


def test_where_subscriptions_differ_a_target_beyond_the_partitions_is_out_of_bounds():
    with pytest.raises(AssignmentError, match=f"'b' has partition 3 of {T}, which has 3") as caught:
        UNIFORM.assign(group([member("a"), member("b", T, owned=of(T, 3))], **{T: 3}))
    assert caught.value.kafka_type == "java.lang.ArrayIndexOutOfBoundsException"


def test_nobody_and_nothing_give_nothing():
    assert UNIFORM.assign(group([], **{T: 1})).lists() == {}
    assert UNIFORM.assign(group([member("a")], **{T: 1})).lists() == {"a": []}


def test_a_partition_that_two_members_hold_stays_with_both():
    members = [member("a", T, owned=of(T, 0)), member("b", T, U, owned=of(T, 0))]

    assert UNIFORM.assign(group(members, **{T: 2, U: 2})).lists() == {
        "a": [(T, 0), (T, 1)],
        "b": [(T, 0), (U, 0), (U, 1)],
    }


def test_members_with_nothing_to_give_are_passed_over():
    levels = Levels([0, 1, 2], [0, 3, 5])

    assert levels.next_highest() == 2
    levels.exclude_highest()
    assert levels.next_highest() == 1
    levels.exclude_highest()
    assert levels.next_highest() == 0
    levels.exclude_highest()
    assert levels.next_highest() is None


@given(st.lists(st.integers(0, 300), min_size=1, max_size=40))
def test_numbers_come_in_the_order_of_a_hash_set(given):
    assert integer_set_order(given) == list(JavaHashSet(integer_hash, given))


@st.composite
def targets(draw, **options):
    """Groups whose members have something of any topic, each partition once."""
    found = draw(groups(names=IDS, **options))
    held = {who.member_id: [] for who in found.members}
    for topic in found.topics:
        for partition in range(topic.partitions):
            owner = draw(st.sampled_from([None, *held]))
            if owner is not None:
                held[owner].append((topic.name, partition))
    members = tuple(dataclasses.replace(who, owned=TopicPartitions.of(held[who.member_id])) for who in found.members)
    return Group(topics=found.topics, members=members)


@at_most(100)
@given(targets())
def test_uniform_gives_everything_once_to_subscribers(given):
    check_complete(given, UNIFORM.assign(given))


@at_most(100)
@given(targets(equal=True))
def test_uniform_balances_and_keeps_all_that_balance_allows(given):
    found = UNIFORM.assign(given)
    lists = found.lists()
    share = int(found.counts().sum()) // len(given.members)

    assert found.counts().max() - found.counts().min() <= 1
    for who in given.members:
        assert len(set(who.owned) & set(lists[who.member_id])) >= min(len(who.owned), share)
