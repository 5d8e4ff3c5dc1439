"""Ids of topics, as Kafka writes them."""

from __future__ import annotations

import base64
import hashlib


def made_up_topic_id(name: str) -> str:
    """Return the id that stands for a topic whose id is not known: 22 characters of base64url, the same for a name.

    >>> made_up_topic_id("orders")
    'HBaK2wDSCOQvkzFFKfH6nA'
    """
    return base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()[:16]).decode().rstrip("=")
