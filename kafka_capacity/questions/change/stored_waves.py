"""The files of waves, and the whole target, from the stored tables: what was approved is what is released."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.errors import StorageError
from kafka_capacity.inventory.column_values import partition_of_rows
from kafka_capacity.kafka.arrays import Flags, Int32s
from kafka_capacity.kafka.cluster.assignment import NO_BROKER, Partitions, replica_matrix, widened
from kafka_capacity.kafka.reassignment.kafka_json import WaveFiles, WaveRows, files_of, wave_stem


def stored_wave_files(waves: pa.Table, wave_moves: pa.Table) -> list[WaveFiles]:
    """Write the files of every wave of one scenario from its sorted rows of ``waves`` and ``wave_moves``.

    Raises:
        StorageError: a file is not the one whose hash was planned, so that the tables are not of one schedule.
    """
    planned = waves.to_pylist()
    numbers = wave_moves.column("wave").to_numpy()
    made = []
    for row in planned:
        start, end = np.searchsorted(numbers, [row["wave"], row["wave"] + 1]).tolist()
        stem = wave_stem(row["wave"], row["kind"], len(planned))
        files = files_of(_wave_rows(stem, wave_moves.slice(start, end - start)))
        found = {each.name: each.sha256 for each in files.listed()}
        wanted = json.loads(row["files"])
        wrong = sorted(name for name in {**found, **wanted} if found.get(name) != wanted.get(name))
        if wrong:
            raise StorageError(
                f"{wrong[0]} of scenario {row['scenario_id']!r} would differ from the planned file (expected sha256 "
                f"{wanted.get(wrong[0], 'none')}, got {found.get(wrong[0], 'none')}); simulate the plan again"
            )
        made.append(files)
    return made


def _wave_rows(stem: str, rows: pa.Table) -> WaveRows:
    before, after = (replicas_of(rows.column(f"replicas_{side}")) for side in ("before", "after"))
    (dirs_before, dirs_after), paths = log_dirs_of(rows, before, after)
    return WaveRows(
        stem=stem,
        partitions=partitions_of(rows.column("topic"), rows.column("partition")),
        rows=np.arange(len(rows)),
        replicas_before=before,
        replicas_after=after,
        log_dirs_before=dirs_before,
        log_dirs_after=dirs_after,
        paths=paths,
        elects=rows.column("elects").to_numpy(),
        elects_back=rows.column("elects_back").to_numpy(),
    )


def partitions_of(topics: pa.ChunkedArray, numbers: pa.ChunkedArray) -> Partitions:
    """Return partitions of the columns that name them, in the order given."""
    found = topics.combine_chunks().dictionary_encode()
    names = found.dictionary.to_pylist()
    order = np.argsort(np.array(names, dtype=object))
    return Partitions(
        topics=tuple(names[index] for index in order.tolist()),
        topic=np.argsort(order)[found.indices.to_numpy()].astype(np.int32),
        partition=numbers.to_numpy().astype(np.int32),
    )


def replicas_of(lists: pa.ChunkedArray) -> Int32s:
    """Return a column of replica lists as int32[P, longest list], padded with -1."""
    values, is_held = _spread(lists.combine_chunks())
    matrix = np.full(is_held.shape, NO_BROKER, dtype=np.int32)
    matrix[is_held] = values.to_numpy()
    return matrix


def log_dirs_of(rows: pa.Table, before: Int32s, after: Int32s) -> tuple[tuple[Int32s, Int32s], tuple[str, ...]]:
    """Read ``log_dirs_before`` and ``log_dirs_after`` as positions in the paths that they name, -1 for none.

    ``before`` is int32[P, W] and ``after`` int32[P, V], the replicas of the same rows of ``moves`` or ``wave_moves``.
    """
    sides = [rows.column(f"log_dirs_{side}").combine_chunks() for side in ("before", "after")]
    paths = sorted(pa.concat_arrays([side.flatten() for side in sides]).unique().drop_null().to_pylist())
    return (_places(sides[0], paths, before.shape), _places(sides[1], paths, after.shape)), tuple(paths)


def _places(lists: pa.ListArray, paths: Sequence[str], shape: tuple[int, ...]) -> Int32s:
    """Return the position of each path of the lists in ``paths``, -1 for null and padding."""
    values, is_held = _spread(lists)
    known = pc.index_in(values, value_set=pa.array(paths, pa.string()), skip_nulls=True)
    matrix = np.full(shape, -1, dtype=np.int32)
    matrix[:, : is_held.shape[1]][is_held] = pc.fill_null(known, -1).to_numpy()
    return matrix


def _spread(lists: pa.ListArray) -> tuple[pa.Array, Flags]:
    """Return the values of all lists, joined, and bool[P, longest list], the cells that they fill row by row."""
    lengths = pc.list_value_length(lists).to_numpy()
    return lists.flatten(), np.arange(lengths.max(initial=0)) < lengths[:, None]


Target = tuple[Partitions, Int32s, Int32s, tuple[str, ...]]


def stored_target(
    partitions: Partitions, replicas: Int32s, moves: pa.Table, added: Sequence[Mapping[str, Any]] = ()
) -> Target | None:
    """Return the whole target: its partitions, int32[P, W] who holds them, int32[P, W] and paths of log dirs.

    It follows from who holds the partitions today, and from one scenario's rows of ``moves`` and ``new_partitions``. A
    directory is -1 where the broker may choose; all is ``None`` where an older plan does not tell who holds new
    partitions.
    """
    if any(row.get("replicas") is None for row in added):
        return None
    if added:
        partitions, replicas = _expanded(partitions, replicas, added)
    before, after = replicas_of(moves.column("replicas_before")), replicas_of(moves.column("replicas_after"))
    dirs, paths = np.full_like(after, -1), tuple[str, ...]()
    if "log_dirs_after" in moves.column_names:
        (_, dirs), paths = log_dirs_of(moves, before, after)
    rows = partition_of_rows(partitions, moves)
    target = widened(replicas, max(replicas.shape[1], after.shape[1]))
    places = np.full_like(target, -1)
    target[rows] = NO_BROKER
    target[rows, : after.shape[1]], places[rows, : dirs.shape[1]] = after, dirs
    return partitions, target, places, paths


def _expanded(
    partitions: Partitions, replicas: Int32s, added: Sequence[Mapping[str, Any]]
) -> tuple[Partitions, Int32s]:
    """Return the assignment with the partitions that are made before anything moves."""
    place = {name: number for number, name in enumerate(partitions.topics)}
    made = replica_matrix([brokers for row in added for brokers in row["replicas"]])
    counts = [len(row["replicas"]) for row in added]
    numbers = [number for row in added for number in range(row["count_before"], row["count_after"])]
    topic = np.concatenate([partitions.topic, np.repeat([place[row["topic"]] for row in added], counts)])
    number = np.concatenate([partitions.partition, np.array(numbers, dtype=np.int32)])
    width = max(made.shape[1], replicas.shape[1])
    matrix = np.concatenate([widened(replicas, width), widened(made, width)])
    order = np.lexsort((number, topic))
    expanded = Partitions(
        topics=partitions.topics, topic=topic[order].astype(np.int32), partition=number[order].astype(np.int32)
    )
    return expanded, matrix[order]
