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
from kafka_capacity.kafka.groups.model import Group, Member, StreamsTopology, Topic, TopicPartitions
from kafka_capacity.kafka.groups.sticky_tasks import assign_streams

RELEASES = st.sampled_from([KAFKA_4_3, KAFKA_4_4])


def subtopology(name, partitions):
    return Topic(name=name, partitions=partitions)


def member(name, process, active=(), standby=()):
    owned = TopicPartitions.of(active)
    return Member(member_id=name, topics=(), process_id=process, owned=owned, standby=tuple(standby))


def assign_tasks(subtopologies, members, *, stateful=None, standby_replicas=0, release=KAFKA_4_3):
    """Return the active and the standby tasks of each member; all subtopologies keep state unless said otherwise."""
    kept = [each.name for each in subtopologies] if stateful is None else stateful
    streams = StreamsTopology(
        sources={}, state_bytes=dict.fromkeys(kept, ()), standby_replicas=standby_replicas, release=release
    )
    answer = assign_streams(Group(topics=tuple(subtopologies), members=tuple(members), streams=streams))
    return {name: (active, list(answer.standby.get(name, ()))) for name, active in answer.lists().items()}


def numbers(assigned):
    return {name: tuple([n for _, n in tasks] for tasks in lists) for name, lists in assigned.items()}


@st.composite
def applications(draw, *, with_past):
    stateful = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    subtopologies = [subtopology(f"s{i}", draw(st.integers(1, 9))) for i in range(len(stateful))]
    tasks = [(each.name, number) for each in subtopologies for number in range(each.partitions)]
    some = st.lists(st.sampled_from(tasks), max_size=8, unique=True) if with_past else st.just(())
    members = [
        member(f"m{i}", f"p{draw(st.integers(0, 4))}", draw(some), draw(some)) for i in range(draw(st.integers(1, 8)))
    ]
    return subtopologies, members, {f"s{i}" for i, kept in enumerate(stateful) if kept}


@given(applications(with_past=True), st.integers(0, 3), RELEASES)
def test_every_task_is_active_once_and_copied_to_other_processes(application, standbys, version):
    subtopologies, members, stateful = application
    assigned = assign_tasks(subtopologies, members, stateful=stateful, standby_replicas=standbys, release=version)
    tasks = [(each.name, number) for each in subtopologies for number in range(each.partitions)]
    processes = {one.process_id for one in members}

    assert sorted(task for active, _ in assigned.values() for task in active) == sorted(tasks)
    assert max(len(active) for active, _ in assigned.values()) <= ceil(len(tasks) / len(members))
    for each in subtopologies:
        copies = min(standbys, len(processes) - 1) if each.name in stateful else 0
        for task in [(each.name, number) for number in range(each.partitions)]:
            having = [one.process_id for one in members for tasks in assigned[one.member_id] if task in tasks]
            assert len(having) == len(set(having)) == 1 + copies


@given(applications(with_past=False), st.integers(0, 2), RELEASES)
def test_a_group_that_starts_is_balanced_and_stays_as_it_is(application, standbys, version):
    subtopologies, members, stateful = application
    asked = {"stateful": stateful, "standby_replicas": standbys, "release": version}
    first = assign_tasks(subtopologies, members, **asked)
    held = [member(one.member_id, one.process_id, *first[one.member_id]) for one in members]
    again = assign_tasks(subtopologies, held, **asked)
    counts = [len(active) for active, _ in first.values()]

    assert max(counts) - min(counts) <= 1
    assert {name: active for name, (active, _) in again.items()} == {
        name: active for name, (active, _) in first.items()
    }


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


def test_there_is_nobody_to_run_tasks():
    with pytest.raises(AssignmentError) as caught:
        assign_tasks([subtopology("words", 1)], [])

    assert caught.value.kafka_type == "org.apache.kafka.coordinator.group.streams.assignor.TaskAssignorException"
    assert assign_tasks([], []) == {}


@pytest.mark.parametrize("module", [sticky_tasks, release])
def test_the_examples_are_true(module):
    assert doctest.testmod(module).failed == 0
