"""How much of the time a quorum has a majority, and which losses it survives.

A quorum of n voters works while more than half of them live: it survives (n - 1) // 2 losses, so an even voter adds
nothing but one more that can fail. With each voter up a share ``a`` of the time, apart from the others,

    unavailability = sum over k from 0 to n // 2 of C(n, k) a^k (1 - a)^(n - k)

Voters that share a rack fail together with it: the living voters of a rack are binomial while it is up and none while
it is down, and those of all racks add up (their distributions are convolved). Both are exact under their assumptions:
failures apart from each other but for the rack, and no time for an election; that comes on top, see
:mod:`~kafka_capacity.kafka.controller.quorum.failover`.

>>> [round(down_minutes_per_year(quorum_unavailability([0.999] * n)), 3) for n in (1, 3, 5)]
[525.6, 1.576, 0.005]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.voters import Voter, checked_voters

MINUTES_PER_YEAR = 365 * 24 * 60


def majority(voters: int) -> int:
    """Return how many of so many voters must live."""
    return voters // 2 + 1


def tolerated_losses(voters: int) -> int:
    """Return how many of so many voters may be lost.

    >>> [tolerated_losses(n) for n in (1, 2, 3, 4, 5)]
    [0, 0, 1, 1, 2]
    """
    return (voters - 1) // 2


def quorum_unavailability(voter_availability: Sequence[float]) -> float:
    """Return the share of time without a majority, of voters that fail apart from each other.

    Args:
        voter_availability: of each voter, the share of time that it is up.

    Raises:
        RequestError: there is no voter, or a share is not between 0 and 1.
    """
    alive = _living([(1.0, [share]) for share in voter_availability])
    return _without_majority(alive)


def rack_correlated_unavailability(
    voters: Sequence[Voter], voter_availability: float, rack_availability: float
) -> float:
    """Return the share of time without a majority, of voters that also fail with their rack.

    Args:
        voters: a voter without a rack stands alone and fails by itself only.
        voter_availability: share of time that a voter is up, while its rack is.
        rack_availability: share of time that a rack is up.

    Raises:
        RequestError: the voters are none, or a share is not between 0 and 1.
    """
    checked_voters(tuple(voters))
    groups = [(rack_availability, [voter_availability] * len(ids)) for ids in voters_by_rack(voters).values()]
    alone = [(1.0, [voter_availability]) for voter in voters if voter.rack is None]
    return _without_majority(_living(groups + alone))


def down_minutes_per_year(unavailability: float) -> float:
    """Turn a share of time into minutes of a year of 365 days."""
    return unavailability * MINUTES_PER_YEAR


class LossKind(StrEnum):
    """What is lost at once."""

    VOTER = "voter"
    PAIR = "pair"
    RACK = "rack"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumLoss:
    """What is left after a loss.

    Attributes:
        kind: what was lost.
        rack: its name, where a rack was lost.
        lost: node ids.
        living: how many voters are left.
        needed: how many must live.
    """

    kind: LossKind
    rack: str | None
    lost: tuple[int, ...]
    living: int
    needed: int

    @property
    def has_majority(self) -> bool:
        """Whether a controller can still be elected."""
        return self.living >= self.needed


def quorum_losses(voters: Sequence[Voter]) -> tuple[QuorumLoss, ...]:
    """Lose each voter, each pair and each rack."""
    checked_voters(tuple(voters))
    ids = sorted(voter.node_id for voter in voters)
    lost: list[tuple[LossKind, str | None, tuple[int, ...]]] = [(LossKind.VOTER, None, (node_id,)) for node_id in ids]
    lost += [(LossKind.PAIR, None, pair) for pair in combinations(ids, 2)]
    lost += [(LossKind.RACK, rack, members) for rack, members in voters_by_rack(voters).items()]
    return tuple(
        QuorumLoss(kind=kind, rack=rack, lost=gone, living=len(ids) - len(gone), needed=majority(len(ids)))
        for kind, rack, gone in lost
    )


def voters_by_rack(voters: Sequence[Voter]) -> Mapping[str, tuple[int, ...]]:
    """Return the node ids in each rack that is known, by name."""
    racks = sorted({voter.rack for voter in voters if voter.rack is not None})
    return {rack: tuple(sorted(v.node_id for v in voters if v.rack == rack)) for rack in racks}


def _living(groups: Sequence[tuple[float, Sequence[float]]]) -> NDArray[np.float64]:
    """Return the chance of each number of living voters: float64[n + 1]; a group is up or down as a whole as well."""
    chances = np.ones(1)
    for group_share, shares in groups:
        inside = np.ones(1)
        for share in shares:
            inside = np.convolve(inside, [1 - _checked(share), share])
        inside *= _checked(group_share)
        inside[0] += 1 - group_share
        chances = np.convolve(chances, inside)
    return chances


def _without_majority(chances: NDArray[np.float64]) -> float:
    voters = len(chances) - 1
    if voters < 1:
        raise RequestError("a quorum needs at least one voter")
    # Added up from below: 1 minus the availability would lose the digits that matter.
    return float(chances[: majority(voters)].sum())


def _checked(share: float) -> float:
    if not 0 <= share <= 1:
        raise RequestError(f"an availability must be from 0 to 1, not {share}")
    return share


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _listed(ids: Iterable[int]) -> str:
    return ", ".join(str(node_id) for node_id in ids)
