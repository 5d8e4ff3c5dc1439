"""The files of waves from the stored tables: what was approved is what is released, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.cluster.assignment import Partitions, replica_matrix
from kafka_capacity.errors import StorageError
from kafka_capacity.reassignment.kafka_json import WaveFiles, WaveRows, files_of, wave_stem


def stored_wave_files(waves: pa.Table, wave_moves: pa.Table) -> list[WaveFiles]:
    """Write the files of every wave of one scenario.

    Args:
        waves: rows of ``waves``, sorted by wave.
        wave_moves: rows of ``wave_moves``, sorted by wave, topic and partition.

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
            msg = (
                f"{wrong[0]} of scenario {row['scenario_id']!r} would not be the file that was planned (sha256 "
                f"{wanted.get(wrong[0], 'none')}, made {found.get(wrong[0], 'none')}); simulate the plan again"
            )
            raise StorageError(msg)
        made.append(files)
    return made


def _wave_rows(stem: str, rows: pa.Table) -> WaveRows:
    columns = {name: rows.column(name).to_pylist() for name in rows.schema.names}
    before, after = (replica_matrix(columns[f"replicas_{side}"]) for side in ("before", "after"))
    sides = [columns["log_dirs_before"], columns["log_dirs_after"]]
    paths = sorted({path for side in sides for row in side for path in row if path is not None})
    place: dict[str | None, int] = {None: -1, **{path: at for at, path in enumerate(paths)}}
    return WaveRows(
        stem=stem,
        partitions=partitions_of(columns["topic"], columns["partition"]),
        rows=np.arange(len(rows)),
        replicas_before=before,
        replicas_after=after,
        log_dirs_before=_places(sides[0], place, before.shape),
        log_dirs_after=_places(sides[1], place, after.shape),
        paths=tuple(paths),
        elects=np.array(columns["elects"], dtype=np.bool_),
        elects_back=np.array(columns["elects_back"], dtype=np.bool_),
    )


def partitions_of(topics: Sequence[str], numbers: Sequence[int]) -> Partitions:
    """Give partitions of their names, in the order given."""
    names = sorted(set(topics))
    place = {name: index for index, name in enumerate(names)}
    return Partitions(
        topics=tuple(names),
        topic=np.array([place[topic] for topic in topics], dtype=np.int32),
        partition=np.array(numbers, dtype=np.int32),
    )


def _places(lists: Sequence[Sequence[str | None]], place: dict[str | None, int], shape: tuple[int, ...]) -> Any:
    matrix = np.full(shape, -1, dtype=np.int32)
    for at, paths in enumerate(lists):
        matrix[at, : len(paths)] = [place[path] for path in paths]
    return matrix
