"""Kafka's own topics and what hangs on each.

By default they have three replicas, two of which must be in sync (``offsets.topic.*``, ``transaction.state.log.*``,
``share.coordinator.state.topic.*``).
"""

from __future__ import annotations

OFFSETS_TOPIC = "__consumer_offsets"

INTERNAL_TOPICS = {
    OFFSETS_TOPIC: "where groups commit their offsets",
    "__transaction_state": "where transactions are kept",
    "__share_group_state": "where share groups are kept",
}

USUAL_FACTOR = 3
USUAL_MIN_ISR = 2
