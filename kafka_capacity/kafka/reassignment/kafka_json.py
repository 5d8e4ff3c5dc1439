"""Kafka's files: what ``kafka-reassign-partitions.sh --execute`` and ``kafka-leader-election.sh`` take.

Source: ``ReassignPartitionsCommand.formatAsReassignmentJson`` (Kafka 4.3.1): sorted by topic and partition, the first
replica is the preferred leader, one ``log_dirs`` entry a replica, ``any`` where the broker may choose; and
``LeaderElectionCommand.parseReplicaElectionData`` for ``--path-to-json-file``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Indices, Int32s
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.snapshot import LogDirs
from kafka_capacity.kafka.reassignment.json_lines import LineNames, partition_lines, replica_lines
from kafka_capacity.kafka.reassignment.schedule import Schedule, Wave

_NO_CHANGE = b'{"version":1,"partitions":[]}\n'


def reassignment_json(
    partitions: Partitions,
    matrix: Int32s,
    rows: Indices | None = None,
    *,
    log_dirs: Int32s | None = None,
    paths: Sequence[str] = (),
) -> bytes:
    """Write an assignment as Kafka's reassignment file, of all partitions or of some ``rows``.

    One partition is a line, so that two files can be compared by eye; the same assignment gives the same bytes.
    ``matrix`` is int32[P, W], replicas padded with -1; ``log_dirs`` int32[P, W], positions in ``paths``, -1 where the
    broker may choose, as it may everywhere without it.
    """
    chosen = np.arange(len(partitions)) if rows is None else rows
    replicas = matrix[chosen]
    places = np.full(replicas.shape, -1) if log_dirs is None else log_dirs[chosen]
    return _written(LineNames.of(partitions, chosen), replicas, places, paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveFile:
    """A file of a wave."""

    name: str  # of the file
    content: bytes  # its bytes
    sha256: str  # of the content, in hexadecimal


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveFiles:
    """What a wave takes."""

    execute: WaveFile  # the reassignment
    rollback: WaveFile  # the reassignment that undoes it
    election: WaveFile | None  # of preferred leaders once it is done, `None` where Kafka makes them leaders by itself
    rollback_election: WaveFile | None  # the same once the rollback is done

    def listed(self) -> tuple[WaveFile, ...]:
        """Return all that there are."""
        return tuple(
            each for each in (self.execute, self.election, self.rollback, self.rollback_election) if each is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WaveRows:
    """What the files of a wave say, n partitions."""

    stem: str  # what their names begin with, such as `01-copy`
    partitions: Partitions  # those that `rows` counts in
    rows: Indices  # intp[n]
    replicas_before: Int32s  # int32[n, W], padded with -1
    replicas_after: Int32s  # int32[n, W], padded with -1
    log_dirs_before: Int32s  # int32[n, W], positions in `paths`, -1 where the broker may choose
    log_dirs_after: Int32s  # int32[n, W], positions in `paths`, -1 where the broker may choose
    paths: tuple[str, ...]  # of directories
    elects: Flags  # bool[n], whether the preferred leader must be elected once it is done
    elects_back: Flags  # bool[n], the same once it is undone


def wave_rows(schedule: Schedule, wave: Wave) -> WaveRows:
    """Describe what the files of one wave hold.

    A joining replica goes to the log directory that was planned for it, where its broker has several; on the way back
    to the one it came from.
    """
    dirs = schedule.problem.log_dirs
    to, back = (wave.replicas_after, wave.log_dirs_after), (wave.replicas_before, wave.log_dirs_before)
    # Undone, a list has its old first replica first again; who leads by then, and stays, must be voted out.
    first = wave.replicas_before[:, 0] if wave.replicas_before.shape[1] else wave.leaders_before
    stays = (wave.replicas_before == wave.leaders_after[:, None]).any(axis=1) & (wave.leaders_after >= 0)
    return WaveRows(
        stem=wave_stem(wave.number, str(wave.kind), len(schedule.waves)),
        partitions=schedule.problem.partitions,
        rows=wave.rows,
        replicas_before=wave.replicas_before,
        replicas_after=wave.replicas_after,
        log_dirs_before=named_log_dirs(*back, wave.replicas_after, dirs),
        log_dirs_after=named_log_dirs(*to, wave.replicas_before, dirs),
        paths=dirs.path,
        elects=wave.elects,
        elects_back=stays & (wave.leaders_before == first) & (wave.leaders_after != first),
    )


def wave_stem(number: int, kind: str, wave_count: int) -> str:
    """Name a wave so that the names of a schedule sort as its waves do.

    >>> wave_stem(3, "copy", 12), wave_stem(3, "copy", 120)
    ('03-copy', '003-copy')
    """
    return f"{number:0{max(2, len(str(wave_count)))}d}-{kind}"


def files_of(wave: WaveRows) -> WaveFiles:
    """Write what a wave's rows say; the same rows give the same bytes."""
    names = LineNames.of(wave.partitions, wave.rows)
    execute = _written(names, wave.replicas_after, wave.log_dirs_after, wave.paths)
    rollback = _written(names, wave.replicas_before, wave.log_dirs_before, wave.paths)
    return WaveFiles(
        execute=_file(f"{wave.stem}.json", execute),
        rollback=_file(f"{wave.stem}-rollback.json", rollback),
        election=_election(f"{wave.stem}-election.json", names, wave.elects),
        rollback_election=_election(f"{wave.stem}-rollback-election.json", names, wave.elects_back),
    )


def _election(file: str, names: LineNames, elects: Flags) -> WaveFile | None:
    if not elects.any():
        return None
    return _file(file, b'{"partitions":[\n' + partition_lines(names.of_lines(elects)) + b"\n]}\n")


def _file(name: str, content: bytes) -> WaveFile:
    return WaveFile(name=name, content=content, sha256=hashlib.sha256(content).hexdigest())


def named_log_dirs(replicas: Int32s, log_dirs: Int32s, other: Int32s, dirs: LogDirs) -> Int32s:
    """Keep the directories of replicas that join, where their brokers have more than one; -1 for the others.

    ``replicas`` is int32[n, W], broker ids, padded with -1; ``log_dirs`` int32[n, W], positions in ``dirs``; ``other``
    int32[n, V], who holds the partitions on the other side of the change.
    """
    joins = (replicas >= 0) & ~(replicas[:, :, None] == other[:, None, :]).any(axis=2)
    return np.where(joins & has_several(dirs, replicas), log_dirs, -1).astype(np.int32)


def has_several(dirs: LogDirs, brokers: Int32s) -> Flags:
    """Return which brokers have directories on several volumes that are known: bool like ``brokers``."""
    owners, counts = np.unique(dirs.broker_id[dirs.is_first_of_volume], return_counts=True)
    return np.isin(brokers, owners[counts > 1])


def _written(names: LineNames, matrix: Int32s, log_dirs: Int32s, paths: Sequence[str]) -> bytes:
    """Write rows of a reassignment."""
    lines = replica_lines(names, matrix, log_dirs, paths)
    return b'{"version":1,"partitions":[\n' + lines + b"\n]}\n" if lines else _NO_CHANGE
