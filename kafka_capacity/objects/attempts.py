"""How often, and after which pauses, something is tried that may pass by itself."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

ATTEMPTS = 6
FIRST_PAUSE_SECONDS = 0.1
MAX_PAUSE_SECONDS = 1.6
"""Each pause is up to twice as long as the one before, up to this: six attempts wait 3 s in all at most."""


def attempts(limit: int | None = None) -> Iterator[bool]:
    """Yield once an attempt, after a pause from the second one on: whether it is the last."""
    count = ATTEMPTS if limit is None else limit
    pause = FIRST_PAUSE_SECONDS
    for number in range(count):
        if number:
            # Two that got into each other's way do not meet again.
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
        yield number == count - 1
