"""Tasks of streams groups: what holds of every assignment, and where the versions differ."""

import doctest
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.cluster import release
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KAFKA_4_4
from kafka_capacity.kafka.groups import sticky_tasks
from kafka_capacity.kafka.groups.sticky_tasks import Subtopology, TaskMember, assign_tasks

RELEASES = st.sampled_from([KAFKA_4_3, KAFKA_4_4])


def subtopology(name, partitions, *, is_stateful=True):
    return Subtopology(subtopology_id=name, partitions=partitions, is_stateful=is_stateful)


def member(name, process, active=(), standby=(), **more):
    return TaskMember(member_id=name, process_id=process, active=tuple(active), standby=tuple(standby), **more)


def numbers(assigned):
    return {name: ([n for _, n in tasks.active], [n for _, n in tasks.standby]) for name, tasks in assigned.items()}


@st.composite
def applications(draw, *, with_past):
    stateful = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    subtopologies = [subtopology(f"s{i}", draw(st.integers(1, 9)), is_stateful=kept) for i, kept in enumerate(stateful)]
    tasks = [(each.subtopology_id, number) for each in subtopologies for number in range(each.partitions)]
    some = st.lists(st.sampled_from(tasks), max_size=8, unique=True) if with_past else st.just(())
    members = [
        member(f"m{i}", f"p{draw(st.integers(0, 4))}", draw(some), draw(some)) for i in range(draw(st.integers(1, 8)))
    ]
    return subtopologies, members


@given(applications(with_past=True), st.integers(0, 3), RELEASES)
def test_every_task_is_active_once_and_copied_to_other_processes(application, standbys, version):
    subtopologies, members = application
    assigned = assign_tasks(subtopologies, members, standby_replicas=standbys, release=version)
    tasks = [(each.subtopology_id, number) for each in subtopologies for number in range(each.partitions)]
    processes = {one.process_id for one in members}

    assert sorted(task for given in assigned.values() for task in given.active) == sorted(tasks)
    assert max(len(given.active) for given in assigned.values()) <= ceil(len(tasks) / len(members))
    for each in subtopologies:
        for task in [(each.subtopology_id, number) for number in range(each.partitions)]:
            having = [
                one.process_id
                for one in members
                for task_list in (assigned[one.member_id].active, assigned[one.member_id].standby)
                if task in task_list
            ]
            assert len(having) == len(set(having)) == 1 + (min(standbys, len(processes) - 1) if each.is_stateful else 0)


@given(applications(with_past=False), st.integers(0, 2), RELEASES)
def test_a_group_that_starts_is_balanced_and_stays_as_it_is(application, standbys, version):
    subtopologies, members = application
    first = assign_tasks(subtopologies, members, standby_replicas=standbys, release=version)
    held = [
        member(one.member_id, one.process_id, first[one.member_id].active, first[one.member_id].standby)
        for one in members
    ]
    again = assign_tasks(subtopologies, held, standby_replicas=standbys, release=version)
    counts = [len(given.active) for given in first.values()]

    assert max(counts) - min(counts) <= 1
    assert {name: given.active for name, given in again.items()} == {name: x.active for name, x in first.items()}


def test_a_task_goes_where_its_standby_is():
    words = subtopology("words", 2)
    left = [member("c", "3"), member("b", "2", (), [("words", 0)]), member("d", "4", [("words", 1)])]

    assert numbers(assign_tasks([words], left)) == {"b": ([0], []), "c": ([], []), "d": ([1], [])}


def test_from_4_4_on_a_process_that_has_the_task_is_passed_over():
    words = subtopology("words", 1)
    had = [member("b", "2", (), [("words", 0)]), member("d", "1", (), [("words", 0)])]
    members = [member("a", "2"), *had, member("c", "1")]
    before, now = (
        numbers(assign_tasks([words], members, standby_replicas=1, release=version))
        for version in (KAFKA_4_3, KAFKA_4_4)
    )

    assert (before["b"], before["c"]) == (([0], []), ([], [0]))
    assert (now["b"], now["d"]) == (([0], []), ([], [0]))


def test_from_4_4_on_the_most_advanced_state_on_disk_counts():
    words = subtopology("words", 1)
    members = [
        member("a", "1", offsets={("words", 0): 5}),
        member("b", "2", offsets={("words", 0): 9}),
        member("c", "3"),
    ]

    assert numbers(assign_tasks([words], members, release=KAFKA_4_4))["b"] == ([0], [])
    assert numbers(assign_tasks([words], members, release=KAFKA_4_3))["b"] == ([], [])


def test_there_is_nobody_to_run_tasks():
    with pytest.raises(AssignmentError) as caught:
        assign_tasks([subtopology("words", 1)], [])

    assert caught.value.kafka_type == "org.apache.kafka.coordinator.group.streams.assignor.TaskAssignorException"
    assert assign_tasks([], []) == {}


@pytest.mark.parametrize("module", [sticky_tasks, release])
def test_the_examples_are_true(module):
    assert doctest.testmod(module).failed == 0
