"""Notes of who was not told of a report, for the next one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafka_capacity.objects.store import ObjectStore


def read_untold(store: ObjectStore, key: str) -> dict[str, Any]:
    """Read a note of who could not be told about a report: ``plan``, ``untold`` and what its writer needs besides."""
    return dict(json.loads(store.read_bytes(key)))


def untold_text(untold: Mapping[str, str]) -> str:
    """Name who could not be told, each with why."""
    return ", ".join(f"{address} ({why})" for address, why in untold.items())
