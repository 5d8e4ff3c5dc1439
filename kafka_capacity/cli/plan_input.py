"""What a plan starts from: the snapshot as arrays, and the brokers that are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kafka_capacity.cli.plan_options import request_of
from kafka_capacity.errors import DamagedInputError
from kafka_capacity.hardware.plain import known_median
from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.brokers_file import brokers_of, listed_brokers_table, parse_brokers_file
from kafka_capacity.inventory.checks.brokers import check_brokers
from kafka_capacity.inventory.files import read_snapshot_files
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.staging import with_chosen_hours
from kafka_capacity.inventory.validation import validate
from kafka_capacity.kafka.cluster.brokers import FIGURES, Brokers
from kafka_capacity.questions.question import Basis, PlanContext
from kafka_capacity.text import plural
from kafka_capacity.text.files import read_text_file

_WARNINGS_SHOWN = 3


def ask_snapshot(place: str, given: Mapping[str, Any], **more: Any) -> PlanContext:
    """Read a snapshot and put to it what was typed; wrong options are told before a large snapshot is read.

    Raises:
        KafkaCapacityError: an option or the snapshot is wrong.
    """
    request_of("not read yet", "2000-01-01", given)
    basis = read_plan_input(place)
    return PlanContext(basis=basis, parameters=request_of(basis.snapshot.cluster, basis.snapshot.ds, given), **more)


def read_plan_input(place: str) -> Basis:
    """Read a snapshot whole; raises InventoryError where it cannot be read, or has fatal findings."""
    raw = read_snapshot_files(place)
    findings = validate(raw)
    findings.raise_if_fatal()
    raw = with_chosen_hours(raw)
    snapshot = build_snapshot(raw)
    return Basis(raw=raw, findings=findings, snapshot=snapshot, load=partition_load(raw, snapshot))


def snapshot_warnings(findings: Problems) -> list[str]:
    """Return the worst of what is wrong with a snapshot, a line each, and how to see the others."""
    lines = [f"{one.severity}, {one.where}: {one.message}" for one in findings.warnings[:_WARNINGS_SHOWN]]
    more = len(findings.warnings) - len(lines)
    if more:
        lines.append(f"{plural(more, 'more warning')} about the snapshot: run inventory check to list them")
    return lines


def read_wanted_brokers(file: Path, observed: Brokers) -> Brokers:
    """Read the whole list of brokers that a plan shall use; raises DamagedInputError where it is wrong.

    What the list leaves out about a broker of the snapshot, its rack too, stays as observed. A new broker has the
    median capacities of the observed ones, as far as its own are not given.
    """
    content = parse_brokers_file(read_text_file(file), str(file))
    table = listed_brokers_table(content, str(file), observed.ids.tolist())
    fatal = Problems.of(check_brokers(table)).fatal
    if fatal:
        raise DamagedInputError("\n".join(f"{file}: {finding.message}" for finding in fatal))
    has_own_rack = {entry.id for entry in content.entries if "rack" in entry.model_fields_set}
    return completed(brokers_of(table), observed, has_own_rack=has_own_rack)


def completed(wanted: Brokers, observed: Brokers, *, has_own_rack: set[int]) -> Brokers:
    """Fill in what is not said about the wanted brokers; see :func:`read_wanted_brokers`."""
    place = observed.index_of(wanted.ids)
    is_observed = place >= 0
    racks = [
        observed.racks[i] if i >= 0 and broker not in has_own_rack else rack
        for broker, i, rack in zip(wanted.ids.tolist(), place.tolist(), wanted.racks, strict=True)
    ]
    figures = {}
    for name in FIGURES:
        own, seen = getattr(wanted, name), getattr(observed, name)
        usual = known_median(seen)
        standing_in = np.where(is_observed, seen[place], usual) if len(seen) else np.full(len(own), usual)
        figures[name] = np.where(np.isfinite(own), own, standing_in).tolist()
    return Brokers.of(
        wanted.ids.tolist(),
        racks,
        is_fenced=(wanted.is_fenced | (is_observed & np.append(observed.is_fenced, False)[place])).tolist(),
        is_cordoned=[i >= 0 and bool(observed.is_cordoned[i]) for i in place.tolist()],
        is_voter=[i >= 0 and bool(observed.is_voter[i]) for i in place.tolist()],
        **figures,
    )
