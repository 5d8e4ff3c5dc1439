"""Experiments that show something only where the machine keeps up with them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

EXPERIMENTS = 4
Found = TypeVar("Found")


class Mistimed(Exception):
    """An experiment shows nothing, for its timing did not hold; the message says how."""


def again_where_mistimed(experiment: Callable[[], Found], recover: Callable[[], object]) -> Found:
    """Make an experiment until its timing held, a few times.

    Args:
        experiment: raises :class:`Mistimed` where the machine was too busy for it to show anything.
        recover: puts all back as it was before.
    """
    reasons = []
    for _ in range(EXPERIMENTS):
        try:
            return experiment()
        except Mistimed as reason:
            reasons.append(str(reason))
            sys.stderr.write(f"once more: {reason}\n")
        recover()
    raise AssertionError(f"made {EXPERIMENTS} times, and each time {'; '.join(reasons)}")
