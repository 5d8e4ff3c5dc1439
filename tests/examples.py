"""How many examples of a property are tried where each one takes long."""

from __future__ import annotations

from hypothesis import settings


def at_most(examples: int) -> settings:
    """Try so many, or as many as the profile says where that is fewer."""
    return settings(max_examples=min(examples, settings().max_examples))
