"""What a process on another machine refuses, told through the store: the same sentence and class at both ends."""

from __future__ import annotations

import json
from typing import Any

from kafka_capacity import errors
from kafka_capacity.errors import KafkaCapacityError, StorageError
from kafka_capacity.objects.store import ObjectStore


def tell_refusal(store: ObjectStore, key: str, error: KafkaCapacityError) -> None:
    """Write down an error for whoever waits for this process."""
    document = {"type": type(error).__name__, "message": str(error), "kafka_type": getattr(error, "kafka_type", None)}
    store.write_bytes(key, json.dumps(document).encode(), content_type="application/json")


def take_refusal(store: ObjectStore, key: str) -> KafkaCapacityError | None:
    """Return what was written down, and take it away; ``None`` where nothing was, or the store cannot be read."""
    try:
        document = json.loads(store.read_bytes(key))
        store.delete(key)
        kind, message, kafka_type = (document[name] for name in ("type", "message", "kafka_type"))
    except (StorageError, ValueError, KeyError, TypeError):
        return None
    found: Any = getattr(errors, str(kind), None)
    if not (isinstance(found, type) and issubclass(found, KafkaCapacityError)):
        return None
    more = {} if kafka_type is None else {"kafka_type": kafka_type}
    refused: KafkaCapacityError = found(message, **more)
    return refused
