"""How often all replicas of some partition are gone at once, from how the replicas are spread.

A *copyset* is a set of brokers that holds all replicas of at least one partition (Cidon et al., "Copysets: Reducing the
Frequency of Data Loss in Cloud Storage", USENIX ATC 2013). Data is lost when a whole copyset fails, so the fewer
distinct copysets an assignment has, the less often that happens, and the more partitions are hit when it does: what is
lost in the long run does not depend on them.

Each broker fails apart from the others, after ``mttf_seconds`` in the mean, and has its data back ``repair_seconds``
later; so it is without them a share ``q = repair / (mttf + repair)`` of the time. A copyset of r brokers is then lost

    r q^(r - 1) / (mttf + repair)    times a second

(one of the r fails while all the others are gone), whatever the distribution of repair times; this is r repair^(r - 1)
/ mttf^r where repairs are short. Rates of copysets are added up, which counts one event twice where it completes two.
A broker counts as failed when its *data* are gone: take the MTTF of disks, not of restarts, and as repair time the
bytes of a broker over what replication can bring. Racks that fail as a whole are not in it.

>>> import numpy as np
>>> frequency = loss_frequency(np.array([[0, 1, 2], [2, 1, 0], [3, 4, 5]]), mttf_seconds=100.0, repair_seconds=2.0)
>>> import numpy as np
>>> frequency.copysets, round(frequency.losses_per_second * 1e5, 3)
(2, 2.262)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.annual_losses import SECONDS_PER_YEAR, copysets_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LossFrequency:
    """How often data is lost.

    Attributes:
        copysets: how many distinct ones there are.
        losses_per_second: events in which at least one partition loses all replicas.
        partitions_lost_per_second: partitions that lose all replicas; the same for every spread of the same replicas.
    """

    copysets: int
    losses_per_second: float
    partitions_lost_per_second: float

    @property
    def losses_per_year(self) -> float:
        """Events in a year of 365 days."""
        return self.losses_per_second * SECONDS_PER_YEAR

    @property
    def partitions_lost_per_year(self) -> float:
        """Partitions in a year of 365 days."""
        return self.partitions_lost_per_second * SECONDS_PER_YEAR


def loss_frequency(replicas: NDArray[np.integer], *, mttf_seconds: float, repair_seconds: float) -> LossFrequency:
    """Return how often an assignment, or the part of one that a topic has, loses data.

    Args:
        replicas: int[P, W], broker ids, padded with -1.
        mttf_seconds: mean time of a broker from having its data to losing them.
        repair_seconds: mean time until it has them again.

    Raises:
        RequestError: a time is not above 0, or a partition has no replica.
    """
    rates = _rates(replicas.shape[1], mttf_seconds, repair_seconds)
    if len(replicas) == 0:
        return LossFrequency(copysets=0, losses_per_second=0.0, partitions_lost_per_second=0.0)
    sizes = (replicas >= 0).sum(axis=1)
    if sizes.min() < 1:
        raise RequestError(f"partition {int(sizes.argmin())} of the assignment has no replica; leave it out")
    distinct = copysets_of(replicas)
    return LossFrequency(
        copysets=len(distinct),
        losses_per_second=float(rates[(distinct >= 0).sum(axis=1)].sum()),
        partitions_lost_per_second=float(rates[sizes].sum()),
    )


def copyset_aware_copysets(brokers: int, replication_factor: int, scatter_width: int) -> int:
    """Return how many copysets a placement has that makes do with few (copyset replication, section 3 of the paper).

    Args:
        brokers: how many there are.
        replication_factor: above 1.
        scatter_width: over how many others the data of a broker are spread, which bounds how fast they are back.

    Raises:
        RequestError: a number is out of its range.
    """
    if not 2 <= replication_factor <= brokers:
        raise RequestError(f"replication_factor must be from 2 to the {brokers} brokers, not {replication_factor}")
    if not replication_factor - 1 <= scatter_width < brokers:
        raise RequestError(f"scatter_width must be from {replication_factor - 1} to {brokers - 1}, not {scatter_width}")
    return ceil(scatter_width / (replication_factor - 1)) * ceil(brokers / replication_factor)


def _rates(width: int, mttf_seconds: float, repair_seconds: float) -> NDArray[np.float64]:
    """Return how often copysets of 0 to ``width`` brokers are lost; that of none never."""
    for name, seconds in (("mttf_seconds", mttf_seconds), ("repair_seconds", repair_seconds)):
        if not 0 < seconds < inf:
            raise RequestError(f"{name} must be above 0 and finite, not {seconds}")
    sizes = np.arange(width + 1)
    gone = repair_seconds / (mttf_seconds + repair_seconds)
    rates: NDArray[np.float64] = sizes * gone ** np.maximum(sizes - 1, 0) / (mttf_seconds + repair_seconds)
    return rates
