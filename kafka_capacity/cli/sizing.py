"""From the options of ``size`` to what came of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.documents import document_head
from kafka_capacity.cli.plan_input import ask_snapshot, run_step_by_step
from kafka_capacity.cli.plan_options import request_of
from kafka_capacity.cli.size_files import read_size_files
from kafka_capacity.health.problem import Problems
from kafka_capacity.questions.capacity.found import FoundSizing, find_sizing
from kafka_capacity.questions.capacity.share import sized_document
from kafka_capacity.questions.capacity.simulate import Sized, placement_results, simulate_sizing

SCHEMA_VERSION = 1

_SIZED_FROM = ("metrics", "history")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizedCluster:
    """All that sizing found out.

    Attributes:
        found: what was sized, and what was asked.
        sized: what came of it.
        warnings: of the inventory, about what its sizes and rates lack.
    """

    found: FoundSizing
    sized: Sized
    warnings: tuple[str, ...]


def size_cluster(
    snapshot: str, given: Mapping[str, Any], shapes_file: Path | None, cpu_samples: Path | None, begin: Steps
) -> SizedCluster:
    """Read, size and choose.

    Args:
        snapshot: its folder or address.
        given: fields of the request that were given.
        shapes_file: shapes of the user's own.
        cpu_samples: what brokers used of their processors at which traffic.
        begin: told of each step.

    Raises:
        KafkaCapacityError: an option, the snapshot or the file is wrong.
    """
    # Wrong files, too, are told before a large snapshot is read.
    files = read_size_files(shapes_file, cpu_samples, request_of("not read yet", "2000-01-01", given))
    begin("reading the snapshot")
    asked = ask_snapshot(snapshot, given, **files.given)
    begin("looking ahead")
    found = find_sizing(asked)
    run = functools.partial(run_step_by_step(begin, begun=2), placement_results, what="sizes")
    sized = simulate_sizing(found.inputs, run)
    return SizedCluster(found=found, sized=sized, warnings=_warnings(asked.basis.findings))


def _warnings(findings: Problems) -> tuple[str, ...]:
    """Return what the inventory lacks of the figures that sizing rests on."""
    return tuple(
        f"inventory: {finding.message}"
        for finding in findings.warnings
        if finding.where.partition(".")[0] in _SIZED_FROM or finding.where == "replicas.size_bytes"
    )


def size_document(done: SizedCluster) -> dict[str, Any]:
    """Give ``size.json``: null where there is no figure, or none that ends."""
    snapshot = done.found.inputs.snapshot
    request = done.found.asked.parameters.model_dump(mode="json")
    return {
        **document_head(SCHEMA_VERSION, cluster=snapshot.cluster, ds=snapshot.ds),
        "request": request,
        **sized_document(done.found, done.sized, request),
        "warnings": list(done.warnings),
        "options": [result.as_dict() for result in done.sized.results],
    }
