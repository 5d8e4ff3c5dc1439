"""Streams groups of an inventory: their tasks, their state, and how the doctor sees them."""

import dataclasses

import numpy as np

from kafka_capacity.health.check import check_health
from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.groups import expansion_problems
from kafka_capacity.health.problem import Severity
from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.validation import inventory_problems
from kafka_capacity.kafka.cluster.release import KAFKA_4_4
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad
from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation
from kafka_capacity.kafka.rebalance.tasks import as_tasks
from tests.builders import GIB, cluster, topic
from tests.plain_groups import plain_scenario
from tests.unit.inventory.inventories_with_groups import found, group, member

PARTS = [
    {"subtopology": "1", "topics": ["app-repartition"], "changelogs": ["app-store-changelog"]},
    {"subtopology": "0", "topics": ["orders"], "changelogs": []},
]
TOPICS = (
    topic("app-repartition", partitions=2),
    topic("app-store-changelog", partitions=2, size_bytes=6 * GIB),
    topic("orders", partitions=4, bytes_in=1000.0),
)


def streams_group(**changes):
    return group(group_type="Streams", protocol_type="streams", assignor=None) | {"subtopologies": PARTS} | changes


def thread(number, *assigned, standby=(), process=None):
    tasks = [{"subtopology": name, "partition": partition} for name, partition in standby]
    return member(f"m{number}", *assigned, subscribed=None, process_id=process or f"p{number}", standby_tasks=tasks)


def test_a_streams_group_comes_with_its_tasks_and_their_state():
    members = [
        thread(0, ("orders", 0), ("orders", 1), ("app-repartition", 1), standby=[("1", 0)]),
        thread(1, ("orders", 2), ("orders", 3), ("app-repartition", 0), standby=[("1", 1)]),
    ]
    (facts,) = found(topics=TOPICS, groups=[streams_group(num_standby_replicas=1)], members=members).facts

    assert (facts.protocol, facts.assignor, facts.members[0].process_id) == (GroupProtocol.STREAMS, "sticky", "p0")
    assert facts.streams.sources == {"0": ("orders",), "1": ("app-repartition",)}
    assert facts.streams.state_bytes == {"1": (6 * GIB, 6 * GIB)}
    assert facts.streams.standby_replicas == 1
    assert facts.members[1].standby == (("1", 1),)
    assert as_tasks(facts).owner.tolist() == [0, 0, 1, 1, 1, 0]


def test_the_rate_of_a_task_is_known_where_those_of_all_its_partitions_are():
    both = {"subtopology": "0", "topics": ["orders", "users"], "changelogs": []}
    (facts,) = found(
        topics=(topic("orders", partitions=4), topic("users", partitions=2, bytes_in=None)),
        groups=[streams_group(subtopologies=[both])],
        members=[thread(0, *(("orders", n) for n in range(4)), *(("users", n) for n in range(2)))],
    ).facts

    assert as_tasks(facts).is_rate_known.tolist() == [False, False, True, True]
    # One that nobody leads holds up the task that reads it.
    offline = dataclasses.replace(facts, is_offline=np.arange(6) == 4)
    assert as_tasks(offline).is_offline.tolist() == [True, False, False, False]


def test_the_release_of_the_brokers_decides():
    raw = cluster(topics=TOPICS, groups=[streams_group()], members=[thread(0)])
    raw = dataclasses.replace(raw, kafka_version="4.4.0")
    (facts,) = group_facts(raw, build_snapshot(raw)).facts

    assert facts.streams.release == KAFKA_4_4


def test_a_changelog_that_is_not_there_leaves_the_state_open():
    (facts,) = found(topics=TOPICS[::2], groups=[streams_group()], members=[thread(0)]).facts

    assert facts.streams.state_bytes == {"1": ()}


def test_a_task_may_read_topics_of_which_some_have_fewer_partitions():
    both = {"subtopology": "0", "topics": ["orders", "users"], "changelogs": []}
    members = [thread(0, *(("orders", n) for n in range(4)), *(("users", n) for n in range(4)))]
    raw = cluster(
        topics=(topic("orders", partitions=4), topic("users", partitions=2)),
        groups=[streams_group(subtopologies=[both])],
        members=members,
    )
    (facts,) = group_facts(raw, build_snapshot(raw)).facts

    assert "assigned_unknown_partition" not in {one.code for one in inventory_problems(raw)}
    assert as_tasks(facts).owner.tolist() == [0] * 4


def test_what_no_streams_group_can_be_is_named():
    def codes(*members, **changes):
        raw = cluster(topics=TOPICS, groups=[streams_group(**changes)], members=list(members) or [thread(0)])
        return {one.code: (one.severity, one.message) for one in inventory_problems(raw)}

    fatal, message = codes(num_standby_replicas=-1)["negative_standbys"]
    assert (fatal, message) == (Severity.FATAL, "num_standby_replicas below 0 ('g': -1); give 0 or more")
    assert codes(subtopologies=PARTS * 2)["duplicate_subtopology"][0] is Severity.FATAL
    strange = thread(0, standby=[("1", 0), ("9", 0)])
    assert "standby_of_unknown_subtopology" not in codes(thread(0, standby=[("1", 0)]))
    assert codes(strange)["standby_of_unknown_subtopology"] == (
        Severity.WARNING,
        "standby tasks of subtopologies that their group lacks ('g': '9'); they are left out",
    )
    assert "standby_of_unknown_subtopology" not in codes(strange, subtopologies=None)


def test_without_subtopologies_or_members_nothing_is_simulated():
    for changes, members, reason in (
        ({"subtopologies": None}, [thread(0)], "A streams group without subtopologies in the inventory: "),
        ({}, [], "It has no members, "),
    ):
        answer = found(topics=TOPICS, groups=[streams_group(**changes)], members=members)
        assert not answer.facts
        assert answer.skipped[0].reason.startswith(reason)


def problems(members, code="streams-idle-members", *, processes=None, **changes):
    threads = [thread(i, process=f"p{i % (processes or members)}") for i in range(members)]
    raw = cluster(topics=TOPICS, groups=[streams_group(**changes)], members=threads)
    snapshot = build_snapshot(raw)
    view = ClusterView.of(snapshot, PartitionLoad.unknown(len(snapshot.partitions)))
    return [one for one in check_health(view) if one.code == code]


def test_more_members_than_tasks_are_named():
    (problem,) = problems(7)

    assert problem.message == "streams group g has 7 members for 6 tasks: 1 of them has nothing to do"
    # More partitions would stop it: its changelog keeps those that it has.
    assert problem.remedy == "run at most 6 threads"
    (stateless,) = problems(5, subtopologies=[PARTS[1]])
    assert stateless.remedy == "run at most 4 threads, or give the topics more partitions"
    assert problems(6) == []
    assert problems(8, num_standby_replicas=1) == []
    assert "6 tasks and 2 standbys" in problems(9, num_standby_replicas=1)[0].message


def test_nobody_is_idle_where_the_topics_are_not_in_the_inventory():
    assert problems(3, subtopologies=[{"subtopology": "0", "topics": ["elsewhere"], "changelogs": []}]) == []


def stopped(wanted, *groups):
    raw = cluster(topics=TOPICS, groups=list(groups), members=[thread(0)])
    return expansion_problems(build_snapshot(raw), wanted)


def test_more_partitions_stop_an_application_whose_own_topics_keep_theirs():
    (problem,) = stopped({"app-repartition": 4}, streams_group())
    assert problem.severity is Severity.SERIOUS
    assert problem.topics == ("app-repartition",)
    assert problem.message.endswith(
        "reads app-repartition, and its own topics keep their partitions: app-store-changelog (2). "
        "Kafka refuses a topology whose topics do not match, so that no member gets a task and the application "
        "stops"
    )
    # What it reads without state is passed on to a topic that may have too few.
    (problem,) = stopped({"orders": 8}, streams_group())
    assert problem.message.endswith("so that no member gets a task and the application may stop")


def test_more_partitions_stop_nobody_without_topics_of_its_own():
    assert stopped({"orders": 8}, streams_group(subtopologies=[PARTS[1]])) == ()
    assert stopped({"orders": 4}, streams_group()) == ()
    # The subtopology runs as many tasks as its largest topic has partitions.
    both = {"subtopology": "1", "topics": ["app-repartition", "orders"], "changelogs": ["app-store-changelog"]}
    assert stopped({"app-repartition": 4}, streams_group(subtopologies=[both])) == ()


def test_an_application_that_shares_partitions_by_itself_is_known_by_the_names_of_its_topics():
    classic = group("app", group_type="Classic", assignor="stream")
    raw = cluster(topics=TOPICS, groups=[classic], members=[member("m0", ("orders", 0), group_id="app")])
    (problem,) = expansion_problems(build_snapshot(raw), {"orders": 8})
    assert problem.where == "group app"
    assert "app-store-changelog (2)" in problem.message


def test_threads_of_a_large_process_have_nothing_to_do_while_others_have_too_few():
    threads = [thread(i, process="small" if i == 0 else "large") for i in range(12)]
    raw = cluster(topics=TOPICS, groups=[streams_group(num_standby_replicas=1)], members=threads)
    snapshot = build_snapshot(raw)
    view = ClusterView.of(snapshot, PartitionLoad.unknown(len(snapshot.partitions)))
    (problem,) = [one for one in check_health(view) if one.code == "streams-idle-members"]
    # As the assignor of the group leaves them.
    facts = as_tasks(group_facts(raw, snapshot).facts[0])
    rest = GroupSimulation(facts, plain_scenario(facts, standby_replicas=1, events=())).proposed
    members = zip(rest.numbers, rest.parts, strict=True)
    idle = sum(not len(part) and not rest.standby.get(f"m{member}") for member, part in members)
    assert f": {idle} of them have nothing to do" in problem.message
    assert idle > 12 - 6 - 2


def test_a_process_takes_one_standby_of_a_task_and_none_of_what_it_runs():
    standbys = {"num_standby_replicas": 2}

    # Two tasks keep state: of two standbys each two processes take one, and one takes none.
    assert "6 tasks and 2 standbys: 1 of them" in problems(9, processes=2, **standbys)[0].message
    assert "7 members for 6 tasks: 1 of them" in problems(7, processes=1, **standbys)[0].message
    (problem,) = problems(4, "streams-standbys", processes=2, **standbys)
    assert problem.message.endswith("runs in 2 processes: with one per process only 1 can be placed")
    assert problem.remedy == "run it in at least 3 processes, or set streams.num.standby.replicas=1"
    assert problems(4, "streams-standbys", processes=3, **standbys) == []
