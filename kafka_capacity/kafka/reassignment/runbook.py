"""What a team does, wave by wave, as plain data: steps and their commands, forward and back; words are the report's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kafka_capacity.kafka.reassignment.kafka_json import WaveFiles
from kafka_capacity.kafka.reassignment.schedule import COPIES, Schedule, Wave

WAVES_FOLDER = "waves/"  # where the files of waves are, seen from the runbook

SERVERS = "--bootstrap-server $BOOTSTRAP $COMMAND_CONFIG"  # variables of the shell: where brokers are, how to sign in
_REASSIGN = f"kafka-reassign-partitions.sh {SERVERS} --reassignment-json-file"
_ELECT = f"kafka-leader-election.sh {SERVERS} --election-type preferred --path-to-json-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookStep:
    """One thing to do."""

    does: str  # in a word: `check`, `execute`, `throttle`, `watch`, `verify`, `elect`, `wait`, `cancel`, `roll back`
    commands: tuple[str, ...] = ()  # to be run in a shell, in this order; may be empty
    seconds: float | None = None  # how long to wait, `None` where the step is something else


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookWave:
    """The steps of a wave."""

    number: int  # of the wave, from 1
    kind: str  # of the wave
    partitions: int  # how many it changes
    throttle_bytes_per_second: int | None  # for `--throttle`, `None` where nothing is copied
    files: tuple[tuple[str, str], ...]  # name and sha256 of each file, by name
    steps: tuple[RunbookStep, ...]  # forward
    back: tuple[RunbookStep, ...]  # to go back, while it runs and once it is done

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON and templates."""
        return asdict(self)


def runbook_page(schedule: Schedule, wave: Wave, files: WaveFiles) -> RunbookWave:
    """Write the page of one wave, whose files are at hand."""
    # Replicas whose size nobody knows are copied too.
    throttle = max(1, math.floor(wave.throttle_bytes_per_second)) if wave.kind in COPIES else None
    limit = f" --throttle {throttle}" if throttle is not None else ""
    execute, rollback = (f"{_REASSIGN} {WAVES_FOLDER}{each.name}" for each in (files.execute, files.rollback))
    undone = files.rollback_election
    steps = [
        RunbookStep(
            does="check",
            commands=(
                *(f'echo "{each.sha256}  {WAVES_FOLDER}{each.name}" | sha256sum --check' for each in files.listed()),
                f"kafka-reassign-partitions.sh {SERVERS} --list",
                f"kafka-topics.sh {SERVERS} --describe --under-replicated-partitions",
            ),
        ),
        RunbookStep(does="execute", commands=(f"{execute} --execute{limit}",)),
        *_higher_throttles(schedule, wave, throttle),
        RunbookStep(does="watch", commands=(f"kafka-reassign-partitions.sh {SERVERS} --list",)),
        RunbookStep(does="verify", commands=(f"{execute} --verify",)),
    ]
    if files.election is not None:
        steps.append(RunbookStep(does="elect", commands=(f"{_ELECT} {WAVES_FOLDER}{files.election.name}",)))
    if _removes(wave) and wave.number < len(schedule.waves):
        steps.append(RunbookStep(does="wait", seconds=schedule.problem.settings.pause_seconds))
    back = [
        RunbookStep(does="cancel", commands=(f"{execute} --cancel",)),
        RunbookStep(
            does="roll back",
            commands=(
                f"{rollback} --execute{limit}",
                f"{rollback} --verify",
                *((f"{_ELECT} {WAVES_FOLDER}{undone.name}",) if undone is not None else ()),
            ),
        ),
    ]
    return RunbookWave(
        number=wave.number,
        kind=str(wave.kind),
        partitions=len(wave.rows),
        throttle_bytes_per_second=throttle,
        files=tuple((each.name, each.sha256) for each in files.listed()),
        steps=tuple(steps),
        back=tuple(back),
    )


def _removes(wave: Wave) -> bool:
    stays = (wave.replicas_before[:, :, None] == wave.replicas_after[:, None, :]).any(axis=2)
    return bool(((wave.replicas_before >= 0) & ~stays).any())


def _higher_throttles(schedule: Schedule, wave: Wave, throttle: int | None) -> list[RunbookStep]:
    """Raise the throttles of those brokers that may do more than the slowest one."""
    if throttle is None or not schedule.problem.throttle.is_automatic:
        return []
    line, given = schedule.brokers, schedule.throttles
    commands = []
    for at in np.flatnonzero(line.wave == wave.number).tolist():
        broker = int(line.broker_id[at])
        place = int(np.searchsorted(schedule.problem.brokers.ids, broker))
        rates = []
        for name, amount, rate in (
            ("leader", line.out_bytes[at], given.out_bytes_per_second[place]),
            ("follower", line.in_bytes[at], given.in_bytes_per_second[place]),
        ):
            if amount > 0 and math.floor(rate) > throttle:
                rates.append(f"{name}.replication.throttled.rate={math.floor(rate)}")
        if rates:
            commands.append(
                f"kafka-configs.sh {SERVERS} --entity-type brokers --entity-name {broker} --alter "
                f"--add-config {','.join(rates)}"
            )
    return [RunbookStep(does="throttle", commands=tuple(commands))] if commands else []


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartitions:
    """Partitions that a topic gets, and the command for that, on brokers that are named.

    Source: ``TopicCommand`` of Kafka 4: ``--replica-assignment`` lists all partitions, those that exist too, and the
    tool passes over as many as there are; every list must have as many replicas as the first. ``--topic`` is a regular
    expression there, in which a dot would match other topics as well. Each topic is a request of its own: from 4.4 on
    Kafka refuses one that adds more than 10,000.
    """

    topic: str  # its name
    count_before: int  # how many it has
    # of each new partition, the preferred leader first; all lists are of one length
    replicas: tuple[tuple[int, ...], ...]
    moved_keys_ratio: float  # of records with keys, the share that goes to another partition than before

    @property
    def count_after(self) -> int:
        """How many partitions it has then."""
        return self.count_before + len(self.replicas)

    def command(self) -> str:
        r"""Return the command for a shell.

        >>> made = NewPartitions(topic="a.b", count_before=1, replicas=((2, 3), (3, 1)), moved_keys_ratio=0.5)
        >>> print(made.command().partition("--alter ")[2])
        --topic 'a\.b' --partitions 3 --replica-assignment 2:3,2:3,3:1
        """
        lists: Sequence[tuple[int, ...]] = [self.replicas[0]] * self.count_before + list(self.replicas)
        assignment = ",".join(":".join(map(str, brokers)) for brokers in lists)
        name = self.topic.replace(".", r"\.")
        return (
            f"kafka-topics.sh {SERVERS} --alter --topic '{name}' --partitions {self.count_after} "
            f"--replica-assignment {assignment}"
        )
