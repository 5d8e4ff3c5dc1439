"""What this report rests on, so that it can be made again."""

from __future__ import annotations

from typing import Any

from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView


@section("provenance", title="Basis of this report", order=60, is_closed=True)
def build(view: ReportView) -> dict[str, Any]:
    """Return the inputs' names and hashes, each once."""
    inputs = view.inputs
    known = {
        "cluster": inputs.cluster,
        "inventory_day": inputs.ds,
        "inventory_manifest_sha256": inputs.snapshot_facts.get("manifest_sha256"),
        **inputs.provenance,
        "plan_id": inputs.plan_id,
        "run": inputs.links.get("run_uri"),
        "generated_at": inputs.generated_at,
    }
    return {
        "entries": [
            {"label": name.replace("_", " "), "value": str(value)} for name, value in known.items() if value is not None
        ]
    }
