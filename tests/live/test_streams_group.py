"""An application of Kafka Streams (KIP-1071) grows from one member to three and shrinks to two, as predicted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kafka_capacity.inventory.kafka_admin_messages import StreamsGroupDescribeRequest
from kafka_capacity.kafka.groups.processes import Task
from kafka_capacity.kafka.groups.sticky_tasks import Subtopology, TaskMember, assign_tasks
from tests.live import kafka_jars
from tests.live.clients import make_topics, produce
from tests.live.cluster import LOG4J, KafkaCluster
from tests.live.java import java_command

pytestmark = pytest.mark.live

DEMO = "org.apache.kafka.streams.examples.wordcount.WordCountDemo"
READ, WRITTEN = "streams-plaintext-input", "streams-wordcount-output"
GROUP = "words"
PARTITIONS = 5

SETTINGS = {
    "group.streams.heartbeat.interval.ms": 500,
    "group.streams.min.heartbeat.interval.ms": 500,
    "group.streams.initial.rebalance.delay.ms": 0,
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    with KafkaCluster(tmp_path_factory.mktemp("kafka"), {1: None}, settings=SETTINGS) as running:
        make_topics(running, {READ: (PARTITIONS, 1), WRITTEN: (1, 1)})
        produce(running, READ, dict.fromkeys(range(PARTITIONS), 10_000), is_text=True)
        yield running


class Application:
    """The members that run, each a JVM of one thread, by the order in which they came."""

    def __init__(self, cluster: KafkaCluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        folder = self._folder / f"member-{len(self._running)}"
        folder.mkdir()
        settings = {
            "bootstrap.servers": self._cluster.bootstrap_servers(),
            "application.id": GROUP,
            "group.protocol": "streams",
            "state.dir": folder,
            "replication.factor": 1,
        }
        file = folder / "streams.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        options = (f"-Dlog4j2.configurationFile={LOG4J}",)
        command = java_command(DEMO, str(file), class_path=kafka_jars.streams_class_path(), options=options)
        with (folder / "log").open("wb") as log:
            self._running.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))

    def stop_first(self) -> None:
        """End the member that came first, in an orderly way."""
        process = self._running[0]
        process.terminate()
        process.wait(timeout=120)

    def close(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()


@pytest.fixture
def application(broker: KafkaCluster, tmp_path: Path) -> Iterator[Application]:
    with ExitStack() as ending:
        found = Application(broker, tmp_path)
        ending.callback(found.close)
        yield found


def described(cluster: KafkaCluster) -> Any:
    """Return what the coordinator says of the group."""
    with cluster.admin() as admin:
        request = StreamsGroupDescribeRequest(group_ids=[GROUP], include_authorized_operations=False)

        async def send() -> Any:
            return await admin._manager.send(request, node_id=1)

        return admin._manager.run(send).groups[0]


def tasks_of(assignment: Any) -> list[Task]:
    return sorted((tasks.subtopology_id, number) for tasks in assignment.active_tasks for number in tasks.partitions)


def settled(cluster: KafkaCluster, count: int) -> list[TaskMember]:
    """Wait until so many members have what they are to have, and return them with their tasks."""
    found: list[Any] = []

    def is_settled() -> bool:
        group = described(cluster)
        found[:] = group.members
        return (
            group.group_state == "Stable"
            and len(found) == count
            and all(tasks_of(one.assignment) == tasks_of(one.target_assignment) for one in found)
            and sum(len(tasks_of(one.assignment)) for one in found) == 2 * PARTITIONS
        )

    cluster.wait_for(is_settled, f"{count} members have their tasks", seconds=120)
    return [
        TaskMember(member_id=one.member_id, process_id=one.process_id, active=tuple(tasks_of(one.assignment)))
        for one in found
    ]


def predicted(before: list[TaskMember], after: list[TaskMember]) -> Mapping[str, list[Task]]:
    """Return the tasks of those that are there afterwards, who have had what they had."""
    had = {one.member_id: one.active for one in before}
    members = [
        TaskMember(member_id=one.member_id, process_id=one.process_id, active=had.get(one.member_id, ()))
        for one in after
    ]
    parts = [Subtopology(subtopology_id=name, partitions=PARTITIONS, is_stateful=name == "1") for name in ("0", "1")]
    return {name: tasks.active for name, tasks in assign_tasks(parts, members).items()}


def test_it_grows_from_one_to_three_and_shrinks_to_two(broker: KafkaCluster, application: Application) -> None:
    before: list[TaskMember] = []
    moved = []
    for count in (1, 2, 3, 2):
        if count < len(before):
            application.stop_first()
        else:
            application.start()
        after = settled(broker, count)
        assert {one.member_id: list(one.active) for one in after} == predicted(before, after), count
        had = {task: one.member_id for one in before for task in one.active}
        moved.append(sum(had.get(task, one.member_id) != one.member_id for one in after for task in one.active))
        before = after
    # Of ten tasks five go to the second and three to the third; of the first's none is left to move elsewhere.
    assert moved[:3] == [0, 5, 3]
    assert moved[3] in {3, 4}
