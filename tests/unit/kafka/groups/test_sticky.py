"""``sticky`` and ``cooperative-sticky``: what members keep, what they give up, and where Kafka throws."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.groups import Assignment, Group, TopicPartitions, UserData, assignor
from kafka_capacity.kafka.groups.loads import balance_score
from kafka_capacity.kafka.groups.reassigning import Movements
from tests.examples import at_most
from tests.unit.kafka.groups.made_up import check_complete, group, groups, had, listed, member, numbers
from tests.unit.kafka.groups.test_range_and_roundrobin import racked

STICKY = assignor("sticky")
COOPERATIVE = assignor("cooperative-sticky")
ILLEGAL_STATE = "java.lang.IllegalStateException"


def t(*partitions):
    return tuple(("t", partition) for partition in partitions)


def test_members_keep_the_lowest_partitions_up_to_their_share():
    members = [
        member("a", "t", user_data=had(1, *t(5, 0, 1, 2))),
        member("b", "t", user_data=had(1, *t(3, 4))),
        member("c", "t"),
    ]

    assert numbers(STICKY.assign(group(members, t=6))) == {"a": [0, 1], "b": [3, 4], "c": [2, 5]}


def test_what_changes_hands_is_held_back_for_one_round():
    members = [member("a", "t", owned=listed(*t(0, 1, 2, 3)), generation=1), member("b", "t")]

    assert numbers(COOPERATIVE.assign(group(members, t=4))) == {"a": [0, 1], "b": []}
    members[0] = member("a", "t", owned=listed(*t(0, 1)), generation=2)
    assert numbers(COOPERATIVE.assign(group(members, t=4))) == {"a": [0, 1], "b": [2, 3]}


def test_the_order_of_a_hash_map_says_who_keeps_the_larger_share():
    # In Java's map "p" comes before "q", whichever was put in first.
    members = [member("q", "t", user_data=had(1, *t(0, 1))), member("p", "t", user_data=had(1, *t(2, 3)))]
    members.append(member("x", "t"))

    assert [len(part) for part in numbers(STICKY.assign(group(members, t=4))).values()] == [1, 2, 1]


def test_of_two_claims_the_later_generation_holds_and_in_one_generation_neither():
    later = [member("a", "t", user_data=had(1, *t(0)), generation=1), member("b", "t", user_data=had(2, *t(0, 1)))]
    assert numbers(STICKY.assign(group(later, t=2))) == {"a": [1], "b": [0]}

    same = [member("a", "t", owned=listed(*t(0)), generation=1), member("b", "t", owned=listed(*t(0)), generation=1)]
    # Whoever gets it takes it over from someone, so that it waits for a round.
    assert numbers(COOPERATIVE.assign(group(same, t=2))) == {"a": [], "b": [1]}


def test_the_generation_of_the_first_claimant_is_read_from_its_subscription():
    def claims(generation):
        first = member("a", "t", user_data=had(9, *t(0)), generation=generation)
        return group([first, member("b", "t", user_data=had(5, *t(0)))], t=2)

    assert numbers(STICKY.assign(claims(9))) == {"a": [0], "b": [1]}
    assert numbers(STICKY.assign(claims(1))) == {"a": [1], "b": [0]}


def test_a_claim_of_a_partition_that_does_not_exist_may_break_kafkas_count():
    with pytest.raises(AssignmentError, match="1 partitions are left and 0 members may get one more") as caught:
        STICKY.assign(group([member("a", "t", user_data=had(8, *t(0, 1, 3, 5)))], t=3))
    assert caught.value.kafka_type == ILLEGAL_STATE


def test_a_member_of_the_last_generation_that_is_set_aside_is_a_null_pointer():
    members = [
        member("C125", "Aa", owned=listed(("Aa", 0), ("a.b", 0), ("a.b", 1)), generation=0),
        member("C122", "a.b", owned=listed(("a.b", 3))),
        member("C144", "a.b", owned=listed(("a.b", 2)), user_data=UserData(generation=3)),
    ]
    crowded = [*members, member("C1", "a.b")]
    with pytest.raises(AssignmentError, match="set aside") as caught:
        COOPERATIVE.assign(group(_loaded(crowded), **{"Aa": 1, "a.b": 9}))
    assert caught.value.kafka_type == "java.lang.NullPointerException"


def _loaded(members):
    """Let the last but one hold all of ``a.b`` but what the first claims from an older generation."""
    members[2] = dataclasses.replace(members[2], owned=listed(*(("a.b", p) for p in range(9))), generation=3)
    return members


def test_a_group_without_members_divides_by_zero():
    with pytest.raises(AssignmentError, match="without members") as caught:
        STICKY.assign(group([], t=1))
    assert caught.value.kafka_type == "java.lang.ArithmeticException"


def test_who_subscribes_to_nothing_and_comes_first_takes_part():
    # "a" comes before "b" in Java's map, and "c" after it.
    assert numbers(STICKY.assign(group([member("a"), member("b", "t")], t=2))) == {"a": [0], "b": [1]}
    assert numbers(STICKY.assign(group([member("c"), member("b", "t")], t=2))) == {"c": [], "b": [0, 1]}


def test_user_data_without_a_generation_is_older_than_any():
    members = [member("a", "t", user_data=had(None, *t(0))), member("b", "t", user_data=had(0, *t(0)))]

    assert numbers(STICKY.assign(group(members, t=2))) == {"a": [1], "b": [0]}


def test_partitions_in_the_wrong_rack_are_given_up_and_those_with_few_members_nearby_go_first():
    members = [
        member("a", "t", rack="r1", user_data=had(1, *t(0, 1))),
        member("b", "t", rack="r2", user_data=had(1, *t(2, 3))),
    ]
    found = STICKY.assign(racked(members, t=[["r2"], ["r1"], ["r1"], ["r2"]]))

    assert numbers(found) == {"a": [1, 2], "b": [3, 0]}


def test_where_subscriptions_differ_a_partition_of_the_same_topic_moves_back_instead():
    hashes = Movements(lambda code: code // 10, lambda code: code)
    hashes.record(1, 0, 1)
    hashes.record(2, 0, 1)

    assert hashes.actual(5, 1, 0) == 1  # instead of 5, one that came from member 0
    assert hashes.actual(15, 1, 0) == 15  # of another topic none moved
    hashes.record(1, 1, 0)
    assert hashes.actual(5, 1, 0) == 2
    hashes.record(2, 1, 2)
    assert hashes.actual(5, 1, 0) == 5
    assert hashes.actual(5, 2, 0) == 2


def test_the_score_adds_up_the_differences_of_all_pairs():
    assert balance_score({0: [1, 2, 3], 1: [4], 2: []}) == 2 + 3 + 1
    assert balance_score({}) == 0


@st.composite
def remembering(draw, **options):
    """Groups whose members hold something of what they subscribe to, each partition once."""
    found = draw(groups(**options))
    held = {who.member_id: [] for who in found.members}
    for topic in found.topics:
        readers = [who.member_id for who in found.members if topic.name in who.topics]
        for partition in range(topic.partitions):
            owner = draw(st.sampled_from([None, *readers]))
            if owner is not None:
                held[owner].append((topic.name, partition))
    members = tuple(
        dataclasses.replace(
            who,
            owned=TopicPartitions.of(held[who.member_id]),
            generation=1,
            user_data=had(1, *held[who.member_id]),
        )
        for who in found.members
    )
    return Group(topics=found.topics, members=members)


def kept(before: Group, after: Assignment):
    parts = after.lists()
    return {who.member_id: len(set(who.owned) & set(parts[who.member_id])) for who in before.members}


@at_most(100)
@given(remembering(equal=True))
def test_equal_subscriptions_are_balanced_and_keep_all_that_balance_allows(given):
    found = STICKY.assign(given)
    counts = found.counts()
    share = int(counts.sum()) // len(given.members)

    assert counts.max() - counts.min() <= 1
    for who in given.members:
        assert kept(given, found)[who.member_id] >= min(len(who.owned), share)


@at_most(100)
@given(remembering(equal=True, racks=True))
def test_racks_never_cost_balance(given):
    found = STICKY.assign(given)
    check_complete(given, found)

    assert found.counts().max() - found.counts().min() <= 1


@at_most(100)
@given(remembering(racks=True))
def test_assigning_again_what_was_assigned_changes_nothing(given):
    first = STICKY.assign(given).parts()
    again = [
        dataclasses.replace(who, user_data=UserData(generation=2, partitions=first[who.member_id]), generation=2)
        for who in given.members
    ]
    second = STICKY.assign(Group(topics=given.topics, members=tuple(again))).lists()
    if all(topic.racks is None for topic in given.topics) or not any(who.rack for who in given.members):
        assert {name: set(pairs) for name, pairs in second.items()} == {n: set(p) for n, p in first.items()}


@at_most(100)
@given(remembering())
def test_everything_is_given_once_to_subscribers_and_nothing_could_move_for_a_better_balance(given):
    found = STICKY.assign(given)
    check_complete(given, found)

    lists = found.lists()
    for who in given.members:
        for other in lists.values():
            if len(other) > len(lists[who.member_id]) + 1:
                assert not any(topic in who.topics for topic, _ in other)


@at_most(100)
@given(remembering(racks=True))
def test_the_cooperative_answer_is_the_eager_one_without_what_others_still_hold(given):
    eager, cooperative = STICKY.assign(given).lists(), COOPERATIVE.assign(given).lists()
    for who in given.members:
        others = {pair for other in given.members if other is not who for pair in other.owned}
        assert set(cooperative[who.member_id]) == set(eager[who.member_id]) - others
