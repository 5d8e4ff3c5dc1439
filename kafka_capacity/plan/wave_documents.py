"""The waves of one option as files: Kafka's, by wave, and the runbook that names them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.kafka.reassignment.kafka_json import WaveFiles
from kafka_capacity.kafka.reassignment.runbook import WAVES_FOLDER
from kafka_capacity.plan.runbook_page import RUNBOOK, runbook_markdown
from kafka_capacity.questions.change.move_view import read_schedule
from kafka_capacity.questions.change.stored_waves import stored_wave_files

RELEASED_TABLES = ("schedules", "waves", "wave_moves")
"""What the documents of waves are made of."""
NEW_PARTITIONS_TABLE = "new_partitions"
"""What else the runbook tells of; an older plan has no such table."""


def wave_documents(
    tables: Mapping[str, pa.Table],
    scenario_id: str,
    warnings: Sequence[str] = (),
    *,
    released: Mapping[str, bytes] = MappingProxyType({}),
) -> dict[str, bytes]:
    """Return the files of all waves and the runbook by name; nothing where the scenario was not scheduled.

    The runbook holds the serious problems, and the hashes of what is released with it.

    Raises:
        StorageError: the tables are not of one schedule.
    """
    asked = (*RELEASED_TABLES, NEW_PARTITIONS_TABLE)
    own = {name: tables[name].filter(pc.field("scenario_id") == scenario_id) for name in asked if name in tables}
    if not len(own["schedules"]):
        return {}
    return {
        **wave_file_documents(stored_wave_files(own["waves"], own["wave_moves"])),
        RUNBOOK: runbook_document(own["schedules"], own["waves"], own.get(NEW_PARTITIONS_TABLE), warnings, released),
    }


def wave_file_documents(waves: Iterable[WaveFiles]) -> dict[str, bytes]:
    """Return the files of waves by name."""
    return {WAVES_FOLDER + each.name: each.content for files in waves for each in files.listed()}


def runbook_document(
    schedules: pa.Table,
    waves: pa.Table,
    new_partitions: pa.Table | None = None,
    warnings: Sequence[str] = (),
    released: Mapping[str, bytes] = MappingProxyType({}),
) -> bytes:
    """Write ``runbook.md`` of one scenario."""
    added = [] if new_partitions is None else new_partitions.to_pylist()
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in released.items()}
    return runbook_markdown(schedule_facts(schedules), waves.to_pylist(), added, warnings, hashes)


def schedule_facts(schedules: pa.Table) -> dict[str, Any]:
    """Return the one row of ``schedules`` as plain data."""
    (row,) = schedules.to_pylist()
    return dict(read_schedule(row))
