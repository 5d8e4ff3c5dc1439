"""What a team does, wave by wave, as plain data: commands, what to watch, how to go back."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kafka_capacity.reassignment.kafka_json import WaveFiles, wave_files
from kafka_capacity.reassignment.schedule import Schedule, Wave, WaveKind

WAVES_FOLDER = "waves/"
"""Where the files of waves are, seen from the runbook."""

_SERVERS = "--bootstrap-server $BOOTSTRAP"
_REASSIGN = f"kafka-reassign-partitions.sh {_SERVERS} --reassignment-json-file"
_ELECT = f"kafka-leader-election.sh {_SERVERS} --election-type preferred --path-to-json-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookStep:
    """One thing to do.

    Attributes:
        does: in a word: ``check``, ``execute``, ``throttle``, ``watch``, ``verify``, ``elect``, ``wait``, ``cancel``,
            ``roll back``.
        why: a sentence.
        commands: to be run in a shell, in this order; may be empty.
    """

    does: str
    why: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookWave:
    """The steps of a wave.

    Attributes:
        number: of the wave, from 1.
        kind: of the wave.
        partitions: how many it changes.
        throttle_bytes_per_second: for ``--throttle``, ``None`` where nothing is copied.
        files: name and sha256 of each file, by name.
        steps: forward.
        back: to go back, while it runs and once it is done.
    """

    number: int
    kind: str
    partitions: int
    throttle_bytes_per_second: int | None
    files: tuple[tuple[str, str], ...]
    steps: tuple[RunbookStep, ...]
    back: tuple[RunbookStep, ...]

    def as_dict(self) -> dict[str, Any]:
        """Give plain data for JSON and templates."""
        return asdict(self)


def runbook(schedule: Schedule) -> tuple[RunbookWave, ...]:
    """Write the runbook of a schedule, a page a wave."""
    return tuple(runbook_page(schedule, wave, wave_files(schedule, wave)) for wave in schedule.waves)


def runbook_page(schedule: Schedule, wave: Wave, files: WaveFiles) -> RunbookWave:
    """Write the page of one wave, whose files are at hand."""
    throttle = max(1, math.floor(wave.throttle_bytes_per_second)) if wave.copied_bytes else None
    limit = f" --throttle {throttle}" if throttle is not None else ""
    execute, rollback = (f"{_REASSIGN} {WAVES_FOLDER}{each.name}" for each in (files.execute, files.rollback))
    undone = files.rollback_election
    steps = [
        RunbookStep(
            does="check",
            why="The file is the one that was planned, and nothing else is being reassigned.",
            commands=(
                *(f'echo "{each.sha256}  {WAVES_FOLDER}{each.name}" | sha256sum --check' for each in files.listed()),
                f"kafka-reassign-partitions.sh {_SERVERS} --list",
            ),
        ),
        RunbookStep(does="execute", why=_what(wave), commands=(f"{execute} --execute{limit}",)),
        *_higher_throttles(schedule, wave, throttle),
        RunbookStep(does="watch", why=_watch(wave), commands=(f"kafka-reassign-partitions.sh {_SERVERS} --list",)),
        RunbookStep(
            does="verify",
            why="Until it says that every partition is completed; it lifts the throttles, which nothing else does.",
            commands=(f"{execute} --verify",),
        ),
    ]
    if files.election is not None:
        steps.append(
            RunbookStep(
                does="elect",
                why=f"{int(wave.elects.sum()):,} partitions have a new first replica while their leader stays another.",
                commands=(f"{_ELECT} {WAVES_FOLDER}{files.election.name}",),
            )
        )
    if _removes(wave) and wave.number < len(schedule.waves):
        seconds = schedule.problem.settings.pause_seconds
        steps.append(
            RunbookStep(does="wait", why=f"The disk space of removed replicas is free after {seconds:,.0f} s.")
        )
    back = [
        RunbookStep(
            does="cancel",
            why="While it runs: what is not done stays where it was, and the throttles are lifted; roll the rest back.",
            commands=(f"{execute} --cancel",),
        ),
        RunbookStep(
            does="roll back",
            why="Once it is done, and later waves are rolled back: every replica list as it was before this wave.",
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


def _what(wave: Wave) -> str:
    does = {
        WaveKind.LEADERSHIP: "get another preferred leader, so that drained brokers send less; nothing is copied",
        WaveKind.DROP: "lose replicas; nothing is copied",
        WaveKind.COPY: "move",
        WaveKind.DETOUR: "move; some go by way of a third broker, since full disks wait for each other",
        WaveKind.REORDER: "get another order of replicas; nothing is copied",
    }[wave.kind]
    amount = f": {wave.copied_bytes / 1e6:,.1f} MB to copy" if wave.copied_bytes else ""
    return f"{len(wave.rows):,} partitions {does}{amount}."


def _watch(wave: Wave) -> str:
    if not wave.copied_bytes:
        return "It is over within seconds."
    low, expected, high = (
        None if end is None or start is None else end - start
        for start, end in zip(wave.start_seconds, wave.end_seconds, strict=True)
    )
    smallest = wave.smallest_throttle_bytes_per_second
    if expected is None:
        time = f"It does not end with this throttle: it takes more than {smallest[1] / 1e6:,.1f} MB/s"
    else:
        late = "never at peak traffic" if high is None else f"{high:,.0f} s at peak traffic"
        time = f"Done after {expected:,.0f} s ({0.0 if low is None else low:,.0f} s if nobody writes, {late})"
    at = (
        f"; broker {wave.bottleneck_broker} decides ({wave.bottleneck_direction})"
        if wave.bottleneck_broker is not None
        else ""
    )
    fullest = int(np.argmax(wave.disk_peak_bytes))
    return (
        f"{time}{at}. Broker {int(wave.broker_ids[fullest])} holds up to {wave.disk_peak_bytes[fullest] / 1e6:,.1f} MB "
        "of replicas on the way. Watch UnderReplicatedPartitions, ReassigningPartitions and ReassignmentBytesInPerSec "
        "of kafka.server, and the disks. A wave that falls behind needs a larger throttle: run --execute again, with "
        "--additional and that."
    )


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
                f"kafka-configs.sh {_SERVERS} --entity-type brokers --entity-name {broker} --alter "
                f"--add-config {','.join(rates)}"
            )
    if not commands:
        return []
    why = "These brokers have more room than the slowest one, whose throttle all have now."
    return [RunbookStep(does="throttle", why=why, commands=tuple(commands))]
