"""Where a decision is stored: a document with a manifest of its own, in the plan's folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECISION = "decision.json"
DECISION_FOLDER = "decision/"
DECISION_DATASET_KIND = "decision"


def serious_texts(decision: Mapping[str, Any]) -> list[str]:
    """Return what is serious about the move that is decided on, as sentences."""
    return [
        str(one["text"]) for one in decision["problems"] if one["question"] == "change" and one["severity"] == "serious"
    ]
