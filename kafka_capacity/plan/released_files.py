"""The files of one option: the same names, meaning and bytes wherever they are written.

    moves.json           what is to be executed, all of it at once: the partitions that change, as they shall be
    rollback.json        the way back: the same partitions as they are today
    target.json          the whole target, the partitions that stay among it
    reassignment.json    the same bytes as target.json, for scripts that look for this name
    waves/NN-KIND….json  the moves wave by wave: to execute, to elect, to go back
    runbook.md           what to do in which order, with the exact commands

The first four are what ``kafka-reassign-partitions.sh`` reads. The time of a plan is that of its waves, and of copying
alone that of ``moves.json``: with ``target.json`` Kafka's tool would throttle the partitions that stay, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.reassignment.kafka_json import reassignment_json
from kafka_capacity.kafka.reassignment.runbook import WAVES_FOLDER
from kafka_capacity.plan.runbook_page import RUNBOOK, runbook_markdown
from kafka_capacity.questions.change.move_view import read_schedule
from kafka_capacity.questions.change.stored_waves import (
    log_dirs_of,
    partitions_of,
    replicas_of,
    stored_target,
    stored_wave_files,
)

MOVES, ROLLBACK, TARGET, REASSIGNMENT = "moves.json", "rollback.json", "target.json", "reassignment.json"
FILES = (MOVES, ROLLBACK, TARGET, REASSIGNMENT, RUNBOOK)
"""All but the files of waves, in the order in which they are written."""


def option_files(
    tables: Mapping[str, pa.Table],
    scenario_id: str,
    today: tuple[Partitions, Int32s] | None,
    warnings: Sequence[str] = (),
) -> dict[str, bytes]:
    """Return the files of one option by name.

    Args:
        tables: ``moves``, and of a plan that has them ``schedules``, ``waves``, ``wave_moves`` and ``new_partitions``.
        scenario_id: of an option that Kafka would not refuse, and whose moves are listed.
        today: the partitions and int32[P, W], who holds them; ``None`` where that is not known any more, so that the
            files of the whole target are left out.
        warnings: the serious problems of the plan, for the runbook.

    Raises:
        StorageError: the tables are not of one schedule.
    """
    asked = ("moves", NEW_PARTITIONS_TABLE, *RELEASED_TABLES)
    own = {name: tables[name].filter(pc.field("scenario_id") == scenario_id) for name in asked if name in tables}
    moves, added = own["moves"], own.get(NEW_PARTITIONS_TABLE)
    files = move_files(moves)
    target = None if today is None else stored_target(*today, moves, [] if added is None else added.to_pylist())
    if target is not None:
        partitions, replicas, log_dirs, paths = target
        files[TARGET] = reassignment_json(partitions, replicas, log_dirs=log_dirs, paths=paths)
        files[REASSIGNMENT] = files[TARGET]
    # A plan that was made before there were waves has none.
    if (len(moves) or added) and set(RELEASED_TABLES) <= set(own):
        files |= wave_documents(own, warnings, released=files)
    return files


def move_files(moves: pa.Table) -> dict[str, bytes]:
    """Return what to execute, and the way back, of the sorted rows of ``moves`` of one scenario."""
    partitions = partitions_of(moves.column("topic"), moves.column("partition"))
    before, after = (replicas_of(moves.column(f"replicas_{side}")) for side in ("before", "after"))
    if "log_dirs_after" in moves.column_names:
        (back, to), paths = log_dirs_of(moves, before, after)
    else:  # a plan that was made before directories were chosen leaves them to the brokers
        back, to, paths = None, None, ()
    return {
        MOVES: reassignment_json(partitions, after, log_dirs=to, paths=paths),
        ROLLBACK: reassignment_json(partitions, before, log_dirs=back, paths=paths),
    }


RELEASED_TABLES = ("schedules", "waves", "wave_moves")  # what the documents of waves are made of
NEW_PARTITIONS_TABLE = "new_partitions"  # what else the runbook tells of; an older plan has no such table


def wave_documents(
    own: Mapping[str, pa.Table], warnings: Sequence[str] = (), *, released: Mapping[str, bytes] = MappingProxyType({})
) -> dict[str, bytes]:
    """Return the files of all waves and the runbook, by tables of one scenario; nothing where it was not scheduled.

    The runbook holds the serious problems, and the hashes of what is released with it.

    Raises:
        StorageError: the tables are not of one schedule.
    """
    if not len(own["schedules"]):
        return {}
    waves = stored_wave_files(own["waves"], own["wave_moves"])
    added = own[NEW_PARTITIONS_TABLE].to_pylist() if NEW_PARTITIONS_TABLE in own else ()
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in released.items()}
    schedule = schedule_facts(own["schedules"])
    return {
        **{WAVES_FOLDER + each.name: each.content for files in waves for each in files.listed()},
        RUNBOOK: runbook_markdown(schedule, own["waves"].to_pylist(), added, warnings, hashes),
    }


def schedule_facts(schedules: pa.Table) -> dict[str, Any]:
    """Return the one row of ``schedules`` as plain data."""
    (row,) = schedules.to_pylist()
    return dict(read_schedule(row))
