"""Who votes for the controller, which losses that survives, and how much of the time there is a majority.

A quorum of n voters works while more than half of them live, so an even voter adds nothing but one more that can fail.
With each voter up a share ``a`` of the time, apart from the others,

    unavailability = sum over k from 0 to n // 2 of C(n, k) a^k (1 - a)^(n - k)

Voters that share a rack fail together with it: the living voters of a rack are binomial while it is up and none while
it is down, and those of all racks add up (their distributions are convolved). Both are exact under their assumptions:
failures apart from each other but for the rack, and no time for an election; that comes on top, see
:mod:`~kafka_capacity.kafka.controller.quorum.failover`.

>>> [round(down_minutes_per_year(quorum_unavailability([0.999] * n)), 3) for n in (1, 3, 5)]
[525.6, 1.576, 0.005]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.errors import RequestError

MAX_VOTERS = 9  # more voters than anybody runs: every write waits for a majority of them

LAGGING_SECONDS = 10.0  # a voter or observer that was not caught up for so long lags: five fetch timeouts

LARGEST_NODE_ID = 2**31 - 1  # `node.id` is a Java int


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """One controller that votes."""

    node_id: int  # its `node.id`
    rack: str | None = None  # what fails together, such as an availability zone; `None` where it is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumReplica:
    """A voter or an observer, as the active controller describes it; ``None`` for what is not known."""

    node_id: int  # its `node.id`
    is_voter: bool  # whether it votes; else it observes
    is_broker: bool = False  # whether there is a broker of that id
    rack: str | None = None  # of the voter
    directory_id: str | None = None  # of the directory that holds its log: an id votes with one only
    is_active: bool = False  # whether it is the active controller
    lag_records: int | None = None  # what it lacks of the active controller's log
    behind_seconds: float | None = None  # since when it has not been caught up
    is_named: bool | None = None  # whether `controller.quorum.voters` names it
    auto_joins: bool | None = None  # whether it makes itself a voter (`controller.quorum.auto.join.enable`)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """Who votes and who observes, where an inventory tells."""

    replicas: tuple[QuorumReplica, ...] = ()  # by id, none where nothing is known
    kraft_version: int | None = None  # 0 for voters that are configured, 1 for those that can be changed (KIP-853)
    fenced: frozenset[int] = frozenset()  # ids of brokers that are fenced, of which some may be controllers as well

    @property
    def voters(self) -> tuple[QuorumReplica, ...]:
        """Those that vote."""
        return tuple(one for one in self.replicas if one.is_voter)

    @property
    def observers(self) -> tuple[QuorumReplica, ...]:
        """Controllers that observe, as every broker does too; among them those that vote with another disk.

        A broker that is a controller as well is told apart only where it votes, or makes itself a voter.
        """
        return tuple(
            one
            for one in self.replicas
            if not one.is_voter and (not one.is_broker or one.node_id in self._voting or one.auto_joins)
        )

    @property
    def active(self) -> int | None:
        """The active controller."""
        return next((one.node_id for one in self.voters if one.is_active), None)

    @property
    def renewed(self) -> frozenset[int]:
        """Voters that came back with another disk, and so observe: they vote under a directory that is gone."""
        return frozenset(one.node_id for one in self.observers) & self._voting

    @property
    def down(self) -> frozenset[int]:
        """Nodes that do not help to commit: far behind, with another disk, or fenced, where no more is told of them."""
        told = frozenset(one.node_id for one in self.replicas)
        return self.renewed | frozenset(one.node_id for one in self.voters if self.is_behind(one)) | self.fenced - told

    def is_behind(self, one: QuorumReplica) -> bool:
        """Return whether one has not been caught up for longer than anything ordinary takes, or not at all.

        Kafka tells since when from 3.3 on, and of whoever has not been caught up since the election nothing.
        """
        if one.behind_seconds is not None:
            return one.behind_seconds > LAGGING_SECONDS
        is_told = any(voter.is_active and voter.behind_seconds is not None for voter in self.voters)
        return is_told and (one.is_voter or bool(one.lag_records))

    @property
    def _voting(self) -> frozenset[int]:
        return frozenset(one.node_id for one in self.voters)


def parse_voters(texts: Sequence[str]) -> tuple[Voter, ...]:
    """Read ``1:a``, the node id and the rack of each voter; RequestError where an id is no number, or comes twice."""
    voters: list[Voter] = []
    for text in texts:
        node, colon, rack = (part.strip() for part in text.partition(":"))
        if not (node.isascii() and node.isdecimal()) or (colon and not rack):
            raise RequestError(f"{text!r} is not a voter: write node id and rack, such as 1:a")
        if int(node) > LARGEST_NODE_ID:
            raise RequestError(f"{node} is above the largest node id, {LARGEST_NODE_ID}")
        if any(voter.node_id == int(node) for voter in voters):
            raise RequestError(f"{node} is given more than once; name each voter once")
        voters.append(Voter(node_id=int(node), rack=rack or None))
    return tuple(voters)


def majority(voters: int) -> int:
    """Return how many of so many voters must live."""
    return voters // 2 + 1


def tolerated_losses(voters: int) -> int:
    """Return how many of so many voters may be lost.

    >>> [tolerated_losses(n) for n in (1, 2, 3, 4, 5)]
    [0, 0, 1, 1, 2]
    """
    return (voters - 1) // 2


def quorum_unavailability(up_ratios: Sequence[float]) -> float:
    """Return the share of time without a majority, of voters that are each up a share of it, apart from each other.

    Raises:
        RequestError: there is no voter, or a share is not between 0 and 1.
    """
    return _without_majority([(1.0, [ratio]) for ratio in up_ratios])


def racks_of(voters: Sequence[Voter]) -> tuple[str, ...]:
    """Return the racks that voters are known to be in, each once, sorted."""
    return tuple(sorted({voter.rack for voter in voters if voter.rack is not None}))


def rack_correlated_unavailability(
    voters: Sequence[Voter], up_ratio: float, rack_up_ratio: float, *, down: int = 0
) -> float:
    """Return the share of time without a majority, likewise, of voters that also fail with their rack, if any.

    ``up_ratio`` is the share of time that a voter is up while its rack is, and ``down`` how many more voters are down;
    errors are those without racks.
    """
    racks = [voter.rack for voter in voters]
    together = [(rack_up_ratio, [up_ratio] * racks.count(rack)) for rack in sorted({*racks} - {None}, key=str)]
    return _without_majority([*together, *[(1.0, [up_ratio])] * racks.count(None), *[(1.0, [0.0])] * down])


def down_minutes_per_year(unavailability: float) -> float:
    """Turn a share of time into minutes of a year of 365 days."""
    return unavailability * 365 * 24 * 60


def _without_majority(groups: Sequence[tuple[float, Sequence[float]]]) -> float:
    """Return the chance that too few live; a group of voters is up or down as a whole as well."""
    chances = np.ones(1)  # of each number of living voters
    for group_ratio, ratios in groups:
        inside = np.ones(1)
        for ratio in ratios:
            inside = np.convolve(inside, [1 - _checked(ratio), ratio])
        inside *= _checked(group_ratio)
        inside[0] += 1 - group_ratio
        chances = np.convolve(chances, inside)
    if len(chances) < 2:
        raise RequestError("a quorum needs at least one voter")
    # Added up from below: 1 minus the availability would lose the digits that matter.
    return float(chances[: majority(len(chances) - 1)].sum())


def _checked(ratio: float) -> float:
    if not 0 <= ratio <= 1:
        raise RequestError(f"an availability must be from 0 to 1, not {ratio}")
    return ratio
