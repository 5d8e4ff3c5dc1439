"""Groups through random joins, leaves, restarts and new partitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.groups import Assignment, Group, GroupProtocol, Topic, assignor
from kafka_capacity.kafka.groups.life import MAX_ROUNDS, ClassicLife, ServerLife
from tests.unit.kafka.groups.made_up import check_complete, member, numbers, topic_id

T = (Topic(name="t", partitions=4),)


def last(rounds):
    return numbers(rounds[-1].assignment)


def test_generations_are_counted_over_all_rounds():
    life = ClassicLife(assignor("cooperative-sticky"))
    rounds = [life.rebalance(T, [member(name, "t") for name in names]) for names in ("a", "ab", "abc")]

    assert [[one.generation for one in step] for step in rounds] == [[1], [2, 3], [4, 5]]
    assert [numbers(one.assignment) for one in rounds[1]] == [{"a": [0, 1], "b": []}, {"a": [0, 1], "b": [2, 3]}]
    assert life.generation == 5


def test_an_eager_group_needs_one_round():
    life = ClassicLife(assignor("sticky"))
    life.rebalance(T, [member("a", "t")])

    assert [numbers(one.assignment) for one in life.rebalance(T, [member("a", "t"), member("b", "t")])] == [
        {"a": [0, 1], "b": [2, 3]}
    ]


def test_who_comes_back_remembers_unless_it_was_restarted():
    def back(*restarted):
        life = ClassicLife(assignor("sticky"))
        life.rebalance(T, [member("a", "t"), member("b", "t"), member("c", "t")])
        before = life.held("c").pairs()
        life.rebalance(T, [member("a", "t")], restarted=["a"])
        assert life.held("c").pairs() == before
        return last(life.rebalance(T, [member("b", "t"), member("c", "t")], restarted=restarted)), before

    lists, before = back()
    assert {("t", partition) for partition in lists["c"]} >= set(before)
    assert back("b", "c")[0] == {"b": [0, 2], "c": [1, 3]}


@pytest.mark.parametrize(
    ("restarted", "lists"), [((), {"a": [2, 3], "b": [0, 1]}), (("b",), {"a": [0, 1], "b": [2, 3]})]
)
def test_the_claim_of_a_restarted_member_is_forgotten(restarted, lists):
    life = ClassicLife(assignor("sticky"))
    life.rebalance(T, [member("a", "t")])
    life.rebalance(T, [member("b", "t")])

    assert last(life.rebalance(T, [member("a", "t"), member("b", "t")], restarted)) == lists


def test_a_round_that_fails_counts_for_nothing():
    life = ClassicLife(assignor("roundrobin"))
    with pytest.raises(AssignmentError):
        life.rebalance(T, [])
    assert life.generation == 0
    assert len(life.held("a")) == 0


def test_a_group_that_never_settles_is_left_alone():
    class Restless:
        name = "restless"
        is_cooperative = True
        turn = 0

        def assign(self, group: Group) -> Assignment:
            self.turn += 1
            return Assignment.of(group, {group.members[self.turn % 2].member_id: [("t", 0)]})

    life = ClassicLife(Restless())
    rounds = [life.rebalance(T, [member("a", "t"), member("b", "t")]) for _ in range(2)]
    assert [len(step) for step in rounds] == [1, MAX_ROUNDS]


def test_a_topic_made_anew_with_fewer_partitions_breaks_a_sticky_group():
    life = ClassicLife(assignor("sticky"))
    life.rebalance(T, [member("a", "t"), member("b", "t")])
    with pytest.raises(AssignmentError, match="1 partitions are left and 0 members may get one more"):
        life.rebalance((Topic(name="t", partitions=2),), [member("a", "t")])


@st.composite
def lives(draw):
    """Who is there, how many partitions there are (never fewer than before), and who was restarted; step by step."""
    numbers = st.integers(0, 6)
    partitions = draw(st.integers(1, 6))
    steps = []
    for _ in range(draw(st.integers(1, 8))):
        steps.append((draw(st.sets(numbers, min_size=1)), partitions, draw(st.sets(numbers, max_size=2))))
        partitions += draw(st.integers(0, 2))
    return steps


@given(lives(), st.sampled_from(["range", "roundrobin", "sticky", "cooperative-sticky"]))
def test_a_classic_group_always_settles_complete_and_balanced(steps, name):
    life = ClassicLife(assignor(name))
    for present, partitions, restarted in steps:
        topics = (Topic(name="t", partitions=partitions),)
        members = tuple(member(f"m{number}", "t") for number in sorted(present))
        rounds = life.rebalance(topics, members, [f"m{number}" for number in restarted])
        final = rounds[-1].assignment

        check_complete(Group(topics=topics, members=members), final)
        assert final.counts().max() - final.counts().min() <= 1
        assert len(rounds) <= 3
        for who, part in final.parts().items():
            assert life.held(who) == part


@given(lives())
def test_a_cooperative_group_never_gives_out_what_another_holds(steps):
    life = ClassicLife(assignor("cooperative-sticky"))
    present_before = set()
    for present, partitions, _ in steps:
        held = {number: set(life.held(f"m{number}")) for number in present & present_before}
        members = [member(f"m{number}", "t") for number in sorted(present)]
        for one in life.rebalance((Topic(name="t", partitions=partitions),), members):
            lists = {number: set(one.assignment.lists()[f"m{number}"]) for number in present}
            for number, pairs in lists.items():
                assert not any(pairs & others for other, others in held.items() if other != number)
            held = lists
        present_before = present


@given(lives(), st.sampled_from(["range", "uniform"]))
def test_a_group_of_the_coordinator_is_complete_and_balanced_at_every_step(steps, name):
    life = ServerLife(assignor(name, GroupProtocol.CONSUMER))
    for present, partitions, _ in steps:
        topics = (Topic(name=topic_id(3), partitions=partitions),)
        members = tuple(member(f"m{number}", topic_id(3)) for number in sorted(present))
        found = life.assign(topics, members)

        check_complete(Group(topics=topics, members=members), found)
        assert found.counts().max() - found.counts().min() <= 1
