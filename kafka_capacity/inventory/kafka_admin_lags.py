"""How far the groups of a live cluster are behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from kafka import TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError

from kafka_capacity.health.problem import Problem, problem_of, warning
from kafka_capacity.inventory.kafka_admin_session import AdminSession
from kafka_capacity.inventory.kafka_admin_topics import leaders_of
from kafka_capacity.inventory.tables import TABLES

_GROUPS_AT_ONCE = 50
_PARTITIONS_AT_ONCE = 5000  # the client describes their topics first, so that a request costs what it asks for

Committed = dict[str, dict[TopicPartition, int]]


def lags_table(
    session: AdminSession, group_ids: Sequence[str], topics: Sequence[dict[str, Any]], remarks: list[Problem]
) -> pa.Table:
    """Build the table ``lags``: one row for each partition that a group has committed an offset of."""
    committed = _read_committed(session, group_ids, remarks)
    leaders = leaders_of(topics)
    wanted = sorted({partition for offsets in committed.values() for partition in offsets} & leaders.keys())
    ends, without_end = _read_offsets(session, OffsetSpec.LATEST, wanted, leaders)
    _remark_on_unknown(without_end, "end", remarks)
    # Who did not tell the end is not asked again; starts come last, so that ends are close to the committed offsets.
    starts, without_start = _read_offsets(session, OffsetSpec.EARLIEST, sorted(ends), leaders)
    _remark_on_unknown(without_start, "start", remarks)
    columns: dict[str, list[Any]] = {name: [] for name in TABLES["lags"].schema.names}
    for group_id in sorted(committed):
        for partition, offset in sorted(committed[group_id].items()):
            end = ends.get(partition)
            columns["group_id"].append(group_id)
            columns["topic"].append(partition.topic)
            columns["partition"].append(partition.partition)
            columns["committed_offset"].append(offset)
            columns["log_end_offset"].append(end)
            # Below zero when records were lost, or written between the two questions: nothing is waiting then.
            columns["lag_records"].append(None if end is None else max(end - offset, 0))
            columns["log_start_offset"].append(starts.get(partition))
    return pa.table(columns, schema=TABLES["lags"].schema)


def _read_committed(session: AdminSession, group_ids: Sequence[str], remarks: list[Problem]) -> Committed:
    failed: list[str] = []
    answers = session.ask_of_groups(session.client.list_group_offsets, group_ids, _GROUPS_AT_ONCE, failed)
    message = "committed offsets of {count} are unknown: {names}"
    remarks += problem_of(failed, "group", warning, "offsets_unknown", "lags.committed_offset", message)
    return {
        group_id: {partition: each.offset for partition, each in offsets.items() if each.offset >= 0}
        for group_id, offsets in answers.items()
    }


def _read_offsets(
    session: AdminSession, spec: OffsetSpec, wanted: list[TopicPartition], leaders: dict[TopicPartition, int]
) -> tuple[dict[TopicPartition, int], list[TopicPartition]]:
    """Ask leaders for the first or the last offset of partitions; returns also those of which it is not known."""
    found: dict[TopicPartition, int] = {}
    failed: list[TopicPartition] = []
    for start in range(0, len(wanted), _PARTITIONS_AT_ONCE):
        chunk = wanted[start : start + _PARTITIONS_AT_ONCE]
        try:
            found |= _offsets_of(session, spec, chunk)
        except KafkaError:
            # One partition spoils the whole answer: at least those of the other leaders are saved.
            by_leader: dict[int, list[TopicPartition]] = {}
            for partition in chunk:
                by_leader.setdefault(leaders[partition], []).append(partition)
            for part in by_leader.values():
                try:
                    found |= _offsets_of(session, spec, part)
                except KafkaError:
                    failed += part
    return found, sorted(failed)


def _offsets_of(session: AdminSession, spec: OffsetSpec, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
    answers = session.try_to_ask(session.client.list_partition_offsets, dict.fromkeys(partitions, spec))
    return {partition: each.offset for partition, each in answers.items()}


def _remark_on_unknown(failed: list[TopicPartition], which: str, remarks: list[Problem]) -> None:
    names = [f"{partition.topic}-{partition.partition}" for partition in failed]
    message = f"the {which}s of {{count}} are unknown: {{names}}"
    code, where = f"log_{which}s_unknown", f"lags.log_{which}_offset"
    remarks += problem_of(names, "partition", warning, code, where, message)
