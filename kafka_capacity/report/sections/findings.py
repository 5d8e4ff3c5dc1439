"""What was found in the inventory and in the proposed layouts, serious first."""

from __future__ import annotations

from typing import Any

from kafka_capacity.report.options import PlanView
from kafka_capacity.report.sections import section

_RANK = {"fatal": 0, "warning": 1, "info": 2}


@section("findings", title="Warnings", order=40)
def build(view: PlanView) -> dict[str, Any]:
    """Give the findings, each once."""
    found = {(one["severity"], one["code"], one["where"], one["message"]): dict(one) for one in view.inputs.findings}
    keys = sorted(found, key=lambda key: (_RANK.get(key[0], len(_RANK)), *key[1:]))
    return {"findings": [found[key] for key in keys]}
