"""An inventory from what Kafka's own tools print, for those who cannot let a program near their cluster.

    kafka-reassign-partitions.sh --bootstrap-server … --topics-to-move-json-file all.json --broker-list 1,2,3 --generate
    kafka-log-dirs.sh --bootstrap-server … --describe

These tell who holds which replica and how large it is. They do not tell leaders, in-sync replicas, topic settings,
groups or rates: the first replica is taken for the leader, and the rest stays unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from kafka_capacity.errors import DamagedInputError
from kafka_capacity.health.problem import Problem, fatal, info, problem_of, serious, some, warning
from kafka_capacity.inventory.brokers_file import listed_brokers_table, parse_brokers_file
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import TABLES, StoredReplica, table_of
from kafka_capacity.kafka.cluster.snapshot import INTERNAL_TOPICS
from kafka_capacity.text import plural
from kafka_capacity.text.files import read_text_file
from kafka_capacity.text.validation_errors import Text, naming_mistakes

ANY_LOG_DIR = "any"
CURRENT_HEADING = "Current partition replica assignment"
PROPOSED_HEADING = "Proposed partition reassignment configuration"
_DOCUMENT_START = re.compile(r"^[ \t]*\{", re.MULTILINE)

_Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]
_Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


class _Printed(BaseModel):
    """What a tool prints; it is Kafka's format and not ours, so fields that a later version adds are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class _Partition(_Printed):
    topic: Text
    partition: _Int32
    replicas: list[_Int32]
    log_dirs: list[Text] | None = None


class _Assignment(_Printed):
    version: Literal[1]
    partitions: list[_Partition]


class _LogPartition(_Printed):
    partition: Text
    size: _Int64
    offsetLag: _Int64
    isFuture: bool


class _LogDir(_Printed):
    logDir: Text
    error: Text | None
    partitions: list[_LogPartition]


class _LogBroker(_Printed):
    broker: _Int32
    logDirs: list[_LogDir]


class _LogDirs(_Printed):
    version: Literal[1]
    brokers: list[_LogBroker]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Disks:
    """What the log dirs hold, by topic, partition and broker."""

    dirs: list[dict[str, Any]] = field(default_factory=list)
    logs: dict[tuple[str, int, int], StoredReplica] = field(default_factory=dict)
    remarks: list[Problem] = field(default_factory=list)


def read_kafka_tools(
    *, cluster: str, ds: str, assignment: Path, brokers: Path, log_dirs: Path | None = None
) -> RawInventory:
    """Read the files that people saved, for the day ``ds``.

    ``assignment`` is what ``kafka-reassign-partitions`` printed, or a reassignment file; ``brokers`` the list of
    brokers, or Cruise Control's ``capacity.json``; ``log_dirs`` what ``kafka-log-dirs`` printed, without which no size
    is known.

    Raises:
        DamagedInputError: a file cannot be read as what it should be. What is odd about the cluster itself is for
            ``validate`` to say.
    """
    texts = {file: read_text_file(file) for file in (assignment, brokers, log_dirs) if file is not None}
    partitions = _parse_assignment(texts[assignment], str(assignment))
    disks = _parse_log_dirs(texts[log_dirs], str(log_dirs)) if log_dirs is not None else _Disks()
    listed = parse_brokers_file(texts[brokers], str(brokers))
    seen = {broker for partition in partitions for broker in partition.replicas}
    seen |= {row["broker_id"] for row in disks.dirs}
    topics = sorted({entry.topic for entry in partitions})
    log_dirs_table = pa.Table.from_pylist(disks.dirs, schema=TABLES["log_dirs"].schema)
    if listed.capacities is not None:
        log_dirs_table = listed.capacities.merge_into_dirs(log_dirs_table)
        disks.remarks.extend(listed.capacities.check_dirs(log_dirs_table))
    brokers_table = listed_brokers_table(listed, str(brokers), sorted(seen))
    silent = _silent_brokers(brokers_table, disks) if log_dirs is not None else ()
    return RawInventory(
        cluster=cluster,
        ds=ds,
        source="kafka_tools",
        tables={
            "brokers": brokers_table,
            "log_dirs": log_dirs_table,
            "topics": table_of("topics", {"topic": topics, "is_internal": [one in INTERNAL_TOPICS for one in topics]}),
            "replicas": _replicas_table(partitions, disks.logs),
        },
        remarks=(*disks.remarks, *silent, *_assignment_remarks(partitions, disks)),
    )


def _parse_assignment(text: str, file: str) -> list[_Partition]:
    with naming_mistakes(file):
        partitions = _Assignment.model_validate(current_assignment(text, file)).partitions
    for entry in partitions:
        if entry.log_dirs is not None and len(entry.log_dirs) != len(entry.replicas):
            raise DamagedInputError(
                f"{file}: {entry.topic}-{entry.partition} has {len(entry.replicas)} replicas and "
                f"{len(entry.log_dirs)} log_dirs; give one log dir per replica, or none at all"
            )
    return partitions


def _parse_log_dirs(text: str, file: str) -> _Disks:
    with naming_mistakes(file):
        brokers = _LogDirs.model_validate(log_dirs_document(text, file)).brokers
    disks = _Disks()
    futures, unreadable = [], []
    for broker in brokers:
        for log_dir in broker.logDirs:
            disks.dirs.append({"broker_id": broker.broker, "path": log_dir.logDir, "error": log_dir.error})
            for entry in log_dir.partitions:
                topic, _, number = entry.partition.rpartition("-")
                if not (topic and number.isascii() and number.isdecimal()):
                    unreadable.append(entry.partition)
                elif entry.isFuture:
                    futures.append(f"{entry.partition} on broker {broker.broker}")
                else:
                    key = topic, int(number), broker.broker
                    disks.logs[key] = StoredReplica(log_dir.logDir, entry.size, entry.offsetLag)
    message = "{count} moving between log dirs ({names}); the new copies are left out, wait until the move is done"
    disks.remarks.extend(problem_of(sorted(futures), "replica", warning, "future_replica", "log_dirs", message))
    message = "{count} whose name is not topic-partition ({names}); they are left out"
    shown = [repr(name) for name in sorted(unreadable)]
    disks.remarks.extend(problem_of(shown, "log", warning, "unreadable_log", "log_dirs", message))
    return disks


def _silent_brokers(brokers: pa.Table, disks: _Disks) -> Iterator[Problem]:
    """Remark on listed brokers without log dirs: one that is down has none, and nothing else tells that it is."""
    told = {row["broker_id"] for row in disks.dirs}
    silent = [row["broker_id"] for row in brokers.to_pylist() if not row["is_fenced"] and row["broker_id"] not in told]
    message = (
        "kafka-log-dirs tells nothing of {count} ({names}), taken as up and in sync: where it is down, set is_fenced "
        "true in the list of brokers; else run kafka-log-dirs again, for all brokers"
    )
    yield from problem_of(silent, "broker", serious, "log_dirs_unknown", "log_dirs", message)


def _assignment_remarks(partitions: list[_Partition], disks: _Disks) -> Iterator[Problem]:
    empty = sorted(f"{entry.topic}-{entry.partition}" for entry in partitions if not entry.replicas)
    message = (
        "the assignment names no broker for {count} ({names}), which is impossible in Kafka; save the tool's output "
        "again"
    )
    yield from problem_of(empty, "partition", fatal, "partition_without_replicas", "replicas", message)
    yield from _check_loose_logs(partitions, disks)
    count = plural(len(partitions), "partition")
    message = f"the tools do not show the leader of {count}; the first replica is assumed to lead"
    yield info("leader_assumed", "replicas.is_leader", message)


def _check_loose_logs(partitions: list[_Partition], disks: _Disks) -> Iterator[Problem]:
    """Find logs that nobody is assigned: of topics that were not asked for, or strays of those that were."""
    held = {(entry.topic, entry.partition, broker) for entry in partitions for broker in entry.replicas}
    asked = {entry.topic for entry in partitions}
    loose = {key: max(log.size_bytes, 0) for key, log in disks.logs.items() if key not in held}
    unasked = {key: size for key, size in loose.items() if key[0] not in asked}
    if unasked:
        topics = sorted({topic for topic, _, _ in unasked})
        message = (
            f"{plural(len(unasked), 'replica')} of {plural(len(topics), 'topic')} on disk missing from the assignment "
            f"({some(topics)}), {sum(unasked.values())} bytes in total; they are left out, name every topic in "
            "--topics-to-move-json-file"
        )
        yield warning("unassigned_log", "log_dirs", message)
    strays = sorted(loose.keys() - unasked.keys())
    message = (
        f"{{count}} on disks of brokers that are not assigned them ({{names}}), {sum(loose[key] for key in strays)} "
        "bytes in total; they are left out: run the tools again when no reassignment is under way, and look for logs "
        "to delete if they are still there"
    )
    names = [f"{topic}-{partition} on broker {broker}" for topic, partition, broker in strays]
    yield from problem_of(names, "replica", warning, "stray_log", "log_dirs", message)


def _replicas_table(partitions: list[_Partition], logs: Mapping[tuple[str, int, int], StoredReplica]) -> pa.Table:
    keys = [(entry.topic, entry.partition, broker) for entry in partitions for broker in entry.replicas]
    found = [logs.get(key) for key in keys]
    named = list(chain.from_iterable(entry.log_dirs or [ANY_LOG_DIR] * len(entry.replicas) for entry in partitions))
    position = list(chain.from_iterable(range(len(entry.replicas)) for entry in partitions))
    dirs = [
        log.log_dir if log is not None else (None if name == ANY_LOG_DIR else name)
        for log, name in zip(found, named, strict=True)
    ]
    return table_of(
        "replicas",
        {
            "topic": [topic for topic, _, _ in keys],
            "partition": [partition for _, partition, _ in keys],
            "position": position,
            "broker_id": [broker for _, _, broker in keys],
            "is_leader": [place == 0 for place in position],
            "log_dir": dirs,
            "size_bytes": [None if log is None else log.size_bytes for log in found],
            "offset_lag": [None if log is None else log.offset_lag for log in found],
        },
    )


def _documents(text: str, file: str) -> list[tuple[str, dict[str, Any]]]:
    """Find the JSON objects among prose and a logger's warnings that start a line, with the last line before each."""
    found = []
    place = 0
    while match := _DOCUMENT_START.search(text, place):
        start = match.end() - 1
        heading = next((line.strip() for line in reversed(text[place:start].splitlines()) if line.strip()), "")
        try:
            content, place = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, start) + 1
            msg = f"{file}: the JSON that starts on line {line} cannot be read ({error}); save the tool's whole output"
            raise DamagedInputError(msg) from error
        found.append((heading, content))
    if not found:
        raise DamagedInputError(f"{file}: has no JSON object; save the whole output of the tool")
    return found


def current_assignment(text: str, file: str) -> dict[str, Any]:
    """Return the assignment that stands now, of a reassignment file or what ``kafka-reassign-partitions`` printed.

    Of what it prints with ``--generate`` or ``--execute`` the current assignment counts, and not the proposed one.

    Raises:
        DamagedInputError: there is none, or nobody can tell which one is current.
    """
    documents = [(heading, content) for heading, content in _documents(text, file) if "partitions" in content]
    current = [content for heading, content in documents if heading.startswith(CURRENT_HEADING)]
    candidates = current or [content for heading, content in documents if not heading.startswith(PROPOSED_HEADING)]
    if not candidates:
        raise DamagedInputError(
            f"{file}: has no current assignment, a JSON object with 'partitions'; give the output of "
            "kafka-reassign-partitions --generate"
        )
    if len(candidates) > 1:
        msg = f"{file}: has {len(candidates)} assignments and nothing says which one is current; keep only that one"
        raise DamagedInputError(msg)
    return candidates[0]


def log_dirs_document(text: str, file: str) -> dict[str, Any]:
    """Return the document in what ``kafka-log-dirs --describe`` printed.

    Raises:
        DamagedInputError: there is none, or more than one.
    """
    documents = [content for _, content in _documents(text, file) if "brokers" in content]
    if len(documents) != 1:
        many = "no JSON object" if not documents else f"{len(documents)} JSON objects"
        msg = f"{file}: has {many} with 'brokers'; give the output of a single run of kafka-log-dirs --describe"
        raise DamagedInputError(msg)
    return documents[0]
