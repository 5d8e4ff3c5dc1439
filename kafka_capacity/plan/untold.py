"""Notes of who was not told of a report, for the next one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafka_capacity.objects.dataset import canonical_json
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.pinned import PinnedPlan


def read_untold(store: ObjectStore, key: str) -> dict[str, Any]:
    """Read a note of who could not be told about a report: ``plan``, ``untold`` and what its writer needs besides."""
    return dict(json.loads(store.read_bytes(key)))


def keep_untold(store: ObjectStore, key: str, plan: PinnedPlan, untold: Mapping[str, str], **more: Any) -> None:
    """Write such a note, with who could not be told and why; where all were, the note is taken away."""
    if untold:
        note = canonical_json({"plan": plan.as_dict(), "untold": dict(untold), **more})
        store.write_bytes(key, note, content_type="application/json")
    else:
        store.delete(key)


def untold_text(untold: Mapping[str, str]) -> str:
    """Name who could not be told, each with why."""
    return ", ".join(f"{address} ({why})" for address, why in untold.items())
