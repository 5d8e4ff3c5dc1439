"""The results of a plan as one: what it is decided from, and what its report is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka_capacity import MODEL_VERSION, __version__
from kafka_capacity.questions.capacity.document import SIZING_DOCUMENT
from kafka_capacity.questions.change.share import FACTS_DOCUMENT
from kafka_capacity.questions.consumers.share import GROUPS_DOCUMENT
from kafka_capacity.questions.failures.share import FAILURES_DOCUMENT
from kafka_capacity.report.inputs import ReportInputs

OWN_SHAPES_SHA256 = "own_shapes_sha256"  # of a deployment's own shapes and prices, where it has some


def plan_results(
    tables: Mapping[str, pa.Table],
    documents: Mapping[str, Mapping[str, Any]],
    cluster: str,
    ds: str,
    *,
    request: Mapping[str, Any],
    plan_id: str = "",
    rests_on: Mapping[str, str] | None = None,
    own_shapes: str = "",
    report_uri: str = "",
    more_facts: Mapping[str, Any] | None = None,
) -> ReportInputs:
    """Put together what the questions of a plan say; the document about the inventory is needed."""
    facts = documents[FACTS_DOCUMENT]
    return ReportInputs(
        tables=tables,
        sizing=documents.get(SIZING_DOCUMENT, {}),
        failures=documents.get(FAILURES_DOCUMENT, {}),
        cluster=cluster,
        ds=ds,
        plan_id=plan_id,
        request=request,
        snapshot_facts={
            **facts["snapshot"],
            "skipped_groups": documents.get(GROUPS_DOCUMENT, {}).get("skipped", []),
            "share_groups": documents.get(GROUPS_DOCUMENT, {}).get("shared", []),
            **(more_facts or {}),
        },
        findings=facts["findings"],
        proposed=facts.get("proposed", {}),
        provenance={
            "code_version": __version__,
            "model_version": MODEL_VERSION,
            **({OWN_SHAPES_SHA256: hashlib.sha256(own_shapes.encode()).hexdigest()} if own_shapes else {}),
            **(rests_on or {}),
        },
        links={"report_uri": report_uri},
        # The day of the inventory, not of the run: a report says nothing that is newer, and the bytes stay the same.
        generated_at=f"{ds}T00:00:00+00:00",
    )
