"""Real moves, planned by us and carried out by Kafka's own tools, with what they took beside what was predicted."""

from __future__ import annotations

import random
import re
import shlex
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np
from kafka import KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.kafka.cluster.assignment import replica_lists, replica_matrix
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.placement.log_dirs import place_log_dirs
from kafka_capacity.kafka.placement.problem import LogDirRoom
from kafka_capacity.kafka.reassignment.kafka_json import files_of, wave_rows
from kafka_capacity.kafka.reassignment.problem import MoveProblem, Throttle, WaveSettings, move_problem
from kafka_capacity.kafka.reassignment.runbook import SERVERS, WAVES_FOLDER, RunbookStep, runbook_page
from kafka_capacity.kafka.reassignment.schedule import Schedule, Wave
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.live.clients import produce, replica_sizes
from tests.live.cluster import START_SECONDS, KafkaCluster

TOOLS = {
    "kafka-reassign-partitions.sh": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-leader-election.sh": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-broker-api-versions.sh": "org.apache.kafka.tools.BrokerApiVersionsCommand",
}
"""What the scripts of a runbook start."""
HEADROOM_RATIO = 0.25
RECORD_BYTES = 10_000
FILLED_BYTES = 20_000_000
"""What is written to a partition before its size is looked at."""
SMALL_FETCHES = {"replica.fetch.max.bytes": 262144, "replica.fetch.response.max.bytes": 1048576}
"""Kafka looks at a quota before a fetch, not within: fetches are as small beside it as they are at real throttles."""
Assignment = Mapping[int, Sequence[int]]


def make_topic(cluster: KafkaCluster, topic: str, assignment: Assignment, **configs: str) -> None:
    """Make a topic whose replicas are where they are wanted."""
    settings = {name.replace("_", "."): value for name, value in configs.items()}
    wanted = {number: list(brokers) for number, brokers in assignment.items()}
    with cluster.admin() as admin:
        admin.create_topics({topic: {"assignments": wanted, "configs": settings}}, wait_for_metadata=True)


class SteadyWriter:
    """Writes so many bytes a second to each partition, from a thread of its own."""

    def __init__(self, cluster: KafkaCluster, topic: str, bytes_per_second: Mapping[int, float]) -> None:
        self._cluster, self._topic, self._rates = cluster, topic, dict(bytes_per_second)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def __enter__(self) -> SteadyWriter:
        if any(self._rates.values()):
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(START_SECONDS)

    def _run(self) -> None:
        servers = self._cluster.bootstrap_servers().split(",")
        record = random.Random(7).randbytes(RECORD_BYTES)
        producer = KafkaProducer(bootstrap_servers=servers, acks=1, linger_ms=5)
        sent = dict.fromkeys(self._rates, 0)
        start = time.monotonic()
        try:
            while not self._stop.wait(0.05):
                passed = time.monotonic() - start
                for partition, rate in self._rates.items():
                    while sent[partition] + RECORD_BYTES <= rate * passed:
                        producer.send(self._topic, record, partition=partition)
                        sent[partition] += RECORD_BYTES
        finally:
            producer.close(timeout=5)


@dataclass(frozen=True, slots=True)
class DiskLevel:
    """What every replica held at one moment, by topic, partition and broker; ``at`` is seconds after the start."""

    at: float
    sizes: dict[tuple[str, int, int], int]

    def held_bytes(self) -> dict[int, int]:
        """Sum by broker."""
        held: dict[int, int] = {}
        for (_, _, broker), size in self.sizes.items():
            held[broker] = held.get(broker, 0) + size
        return held


@dataclass(slots=True)
class WaveRun:
    """One wave, carried out.

    Attributes:
        wave: as planned.
        seconds: from the moment that it is under way until it is not, ``None`` where it was cancelled.
        levels: of the disks, on the way.
        max_copies: that a broker received at once.
        verified: what ``--verify`` said last.
    """

    wave: Wave
    seconds: float | None = None
    levels: list[DiskLevel] = field(default_factory=list)
    max_copies: int = 0
    verified: str = ""

    def predicted_seconds(self) -> float | None:
        """Return how long it was to take, ``None`` for never."""
        start, end = self.wave.start_seconds[1], self.wave.end_seconds[1]
        return None if start is None or end is None else end - start

    def peak_bytes(self) -> dict[int, int]:
        """Return the most that each broker held."""
        peaks: dict[int, int] = {}
        for level in self.levels:
            for broker, held in level.held_bytes().items():
                peaks[broker] = max(peaks.get(broker, 0), held)
        return peaks


@dataclass(slots=True)
class LiveMoves:
    """Plans and carries out moves of the topics of one cluster.

    Attributes:
        cluster: real brokers.
        folder: for the files of waves.
        racks: of the brokers.
    """

    cluster: KafkaCluster
    folder: Path
    racks: Mapping[int, str | None]

    def snapshot(self) -> Snapshot:
        """Read the inventory as the product does."""
        connection = KafkaConnection(bootstrap_servers=self.cluster.bootstrap_servers())
        return build_snapshot(read_cluster(connection, cluster="live", ds="2026-11-20"))

    def settled_snapshot(self, is_so: Callable[[Snapshot], bool]) -> Snapshot:
        """Do so until all that the cluster is to have become is heard of by the broker that is asked."""
        seen: list[Snapshot] = []

        def is_settled() -> bool:
            seen.append(self.snapshot())
            return is_so(seen[-1])

        self.cluster.wait_for(is_settled, "what was to come of it")
        return seen[-1]

    def problem(
        self,
        targets: Mapping[str, Assignment],
        *,
        throttle_bytes_per_second: float,
        rates: Mapping[str, Mapping[int, float]] | None = None,
        limits: Mapping[int, float] | None = None,
        network: Mapping[int, float] | None = None,
        settings: WaveSettings | None = None,
    ) -> MoveProblem:
        """Put a target as a problem, with what is known to be written.

        Args:
            targets: replica lists by topic and partition.
            throttle_bytes_per_second: of every broker.
            rates: what is produced, by topic and partition.
            limits: how many bytes a broker may hold.
            network: what each broker takes a second, in and out; where it is given, throttles are automatic.
            settings: how to cut waves.
        """
        snapshot = self.snapshot()
        lists, written = replica_lists(snapshot.replicas), np.zeros(len(snapshot.partitions))
        for row in range(len(snapshot.partitions)):
            topic = snapshot.partitions.topics[int(snapshot.partitions.topic[row])]
            number = int(snapshot.partitions.partition[row])
            lists[row] = list(targets.get(topic, {}).get(number, lists[row]))
            written[row] = (rates or {}).get(topic, {}).get(number, 0.0)
        nothing = np.zeros(len(written))
        speeds = [(network or {}).get(broker) for broker in self.racks]
        load = PartitionLoad(
            bytes_in_mean_bytes_per_second=written,
            bytes_in_peak_bytes_per_second=written,
            bytes_out_mean_bytes_per_second=nothing,
            bytes_out_peak_bytes_per_second=nothing,
            hours=1,
        )
        after, dirs = replica_matrix(lists), snapshot.log_dirs
        placed = place_log_dirs(
            before=snapshot.replicas,
            after=after,
            size_bytes=snapshot.partition_size_bytes(),
            room=LogDirRoom(
                broker_id=dirs.broker_id,
                limit_bytes=np.nan_to_num(dirs.total_bytes, nan=np.inf),
                before=snapshot.log_dir,
                takes_replicas=np.ones(len(dirs.path), dtype=bool),
            ),
        )
        return move_problem(
            snapshot,
            load,
            brokers=Brokers.of(
                list(self.racks),
                list(self.racks.values()),
                disk_capacity_bytes=[(limits or {}).get(broker) for broker in self.racks],
                network_in_bytes_per_second=speeds,
                network_out_bytes_per_second=speeds,
            ),
            after=after,
            log_dir_after=placed.log_dir,
            throttle=Throttle(
                bytes_per_second=throttle_bytes_per_second,
                is_automatic=network is not None,
                headroom_ratio=HEADROOM_RATIO,
            ),
            disk_limit_ratio=1.0,
            settings=settings or WaveSettings(pause_seconds=0.0),
        )

    def fill(self, topic: str, bytes_by_partition: Mapping[int, int]) -> None:
        """Write until every partition has as much as is wanted of it, a part at a time; a machine may be busy."""
        missing = dict(bytes_by_partition)
        for turn in range(40):
            produce(self.cluster, topic, {n: min(want, FILLED_BYTES) for n, want in missing.items()}, seed=turn)
            held = {n: 0 for n in bytes_by_partition}
            with self.cluster.admin() as admin:
                for (name, partition, _), size in replica_sizes(admin, self.racks).items():
                    if name == topic:
                        held[partition] = max(held[partition], size)
            missing = {n: want - held[n] for n, want in bytes_by_partition.items() if want - held[n] > RECORD_BYTES}
            if not missing:
                return
        raise AssertionError(f"{topic} still misses {missing}")

    def forget(self, *topics: str) -> None:
        """Delete topics, so that nothing of them is in the way of the next case."""
        with self.cluster.admin() as admin:
            admin.delete_topics(list(topics))
        self.cluster.wait_for(lambda: not set(topics) & set(self.snapshot().partitions.topics), "topics gone")

    def plan(self, problem: MoveProblem) -> Schedule:
        """Plan it, and leave its files in the folder."""
        schedule = plan_waves(problem)
        for wave in schedule.waves:
            for each in files_of(wave_rows(schedule, wave)).listed():
                (self.folder / each.name).write_bytes(each.content)
        return schedule

    def run(self, schedule: Schedule, *, max_seconds: float = 600.0) -> list[WaveRun]:
        """Carry all waves out, as the runbook says."""
        return [self.run_wave(schedule, wave, max_seconds=max_seconds) for wave in schedule.waves]

    def run_wave(self, schedule: Schedule, wave: Wave, *, max_seconds: float = 600.0) -> WaveRun:
        """Do what its page of the runbook says: execute, raise throttles, watch, verify, elect."""
        page = runbook_page(schedule, wave, files_of(wave_rows(schedule, wave)))
        done = WaveRun(wave)
        for step in page.steps:
            if step.does == "start":
                self.look_for_brokers(step)
        begun = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(done, begun, max_seconds), daemon=True)
        watcher.start()
        said = self._do(page.steps, "execute")
        assert "Successfully started" in said, said
        begun.set()
        self._do(page.steps, "throttle")
        watcher.join()
        if done.seconds is not None:
            done.verified = self._do(page.steps, "verify")
            self._do(page.steps, "elect")
        return done

    def carry_out(self, targets: Mapping[str, Assignment]) -> None:
        """Bring replicas to where they are wanted, as fast as it goes and whatever is under way."""
        wanted = {
            TopicPartition(topic, number): list(brokers)
            for topic, assignment in targets.items()
            for number, brokers in assignment.items()
        }
        with self.cluster.admin() as admin:
            admin.alter_partition_reassignments(wanted)
        self.cluster.wait_for(lambda: not self._under_way(), "replicas where they are wanted")

    def cancel(self, schedule: Schedule, wave: Wave) -> str:
        """Cancel a wave that is under way."""
        return self._do(runbook_page(schedule, wave, files_of(wave_rows(schedule, wave))).back, "cancel")

    def roll_back(self, schedule: Schedule, *, is_throttled: bool = True) -> None:
        """Undo all waves, the last one first."""
        for wave in reversed(schedule.waves):
            page = runbook_page(schedule, wave, files_of(wave_rows(schedule, wave)))
            self._do(page.back, "roll back", is_throttled=is_throttled)

    def _do(self, steps: Sequence[RunbookStep], does: str, *, is_throttled: bool = True) -> str:
        """Run the commands of a step, where there is one, and give what they said."""
        said = []
        for command in (command for step in steps if step.does == does for command in step.commands):
            script, _, arguments = command.partition(f" {SERVERS} ")
            words = shlex.split(arguments)
            words = [
                str(self.folder / w.removeprefix(WAVES_FOLDER)) if w.startswith(WAVES_FOLDER) else w for w in words
            ]
            if not is_throttled and "--throttle" in words:
                at = words.index("--throttle")
                del words[at : at + 2]
            said.append(self.cluster.tool(TOOLS[script], *words))
            if does == "roll back" and "--execute" in words:
                self.cluster.wait_for(lambda: not self._under_way(), "the way back")
        return "\n".join(said)

    def look_for_brokers(self, step: RunbookStep) -> None:
        """Run the command that lists the brokers to be filled: each is there, in its rack."""
        (command,) = step.commands
        script, _, search = command.partition(f" {SERVERS} ")
        pattern = shlex.split(search)[-1]
        lines = [line for line in self.cluster.tool(TOOLS[script]).splitlines() if re.search(pattern, line)]
        assert len(lines) == len(step.brokers), (step, lines)
        for broker, rack in step.brokers:
            assert any(f"(id: {broker} rack: {rack or 'null'} " in line for line in lines), lines

    def _under_way(self) -> bool:
        with self.cluster.admin() as admin:
            return bool(admin.list_partition_reassignments())

    def _watch(self, done: WaveRun, begun: threading.Event, max_seconds: float) -> None:
        """Time a wave; the tool's own start-up does not count."""
        with self.cluster.admin() as admin:
            start: float | None = None
            while True:
                asked = time.monotonic()
                try:
                    moving, sizes = admin.list_partition_reassignments(), replica_sizes(admin, self.racks)
                except KafkaError:  # a busy broker answers late
                    if start is not None and asked - start > max_seconds:
                        return
                    time.sleep(0.3)
                    continue
                is_under_way = bool(moving)
                copies = Counter(broker for each in moving.values() for broker in each["adding_replicas"])
                done.max_copies = max(done.max_copies, *copies.values(), 0)
                if is_under_way and start is None:
                    start = asked
                if start is not None:
                    done.levels.append(DiskLevel(asked - start, sizes))
                    if not is_under_way:
                        done.seconds = asked - start
                        return
                    if asked - start > max_seconds:
                        return
                elif begun.is_set() and not is_under_way:
                    done.seconds = 0.0
                    return
                time.sleep(0.3)
