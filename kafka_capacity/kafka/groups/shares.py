"""The shares of the members while the sticky assignors deal to equal subscriptions (4.3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True, kw_only=True, eq=False)
class Shares:
    """How far the members are."""

    smaller: int  # the share that each member gets
    larger: int  # the same, or one more where the partitions do not divide evenly
    larger_wanted: int  # how many members get the larger share, 0 where both are the same
    larger_given: int = 0  # how many have it
    count: NDArray[np.int64]  # int64[M], partitions of each member
    below: list[int] = field(default_factory=list)  # members with less than the smaller share
    at_smaller: list[int] = field(default_factory=list)  # members with exactly the smaller share that may get one more

    @property
    def wants_larger(self) -> bool:
        """Whether more members are to get the larger share."""
        return self.larger_given < self.larger_wanted

    def keep(self, member: int, had: int) -> int:
        """Return how many of its partitions a member keeps; puts it where it belongs."""
        if had < self.smaller:
            self.below.append(member)
            kept = had
        elif had >= self.larger and self.wants_larger:
            self.larger_given += 1
            if self.larger_given == self.larger_wanted:
                self.at_smaller.clear()
            kept = self.larger
        else:
            if self.wants_larger:
                self.at_smaller.append(member)
            kept = self.smaller
        self.count[member] = kept
        return kept
