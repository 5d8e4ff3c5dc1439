"""A change of the voters, one at a time (KIP-853), and what may fail meanwhile.

The active controller writes the new voters to its log and goes by them from then on, before they are committed; a
replica that has not read them yet goes by the old ones. So what a step tolerates is what both sets of voters do. A
voter that joins has caught up before, as an observer.

>>> [(step.does, step.node_id, step.majority, step.tolerated) for step in voter_steps((1, 2, 3), (1, 2, 4))]
[('add', 4, 3, 1), ('remove', 3, 2, 1)]
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
from typing import Literal

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.voters import MAX_VOTERS, Voter, majority, racks_of

Does = Literal["add", "remove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterStep:
    """One voter that joins or leaves."""

    does: Does  # what happens to it
    node_id: int  # its id
    before: tuple[int, ...]  # the voters until then
    after: tuple[int, ...]  # the voters from then on
    majority: int  # how many of the latter must live
    # how many more voters, any of both sets, may be lost while the step goes on; negative where there is no majority,
    # and the step is never agreed upon
    tolerated: int
    down: tuple[int, ...] = ()  # voters of before that do not live
    is_renewal: bool = False  # whether the controller stays, and votes with another disk afterwards

    @property
    def lacking(self) -> tuple[int, ...]:
        """The voters, before or after, of which too few live; none where the step can be agreed upon."""
        return next((some for some in (self.before, self.after) if spare_voters(some, self.down) < 0), ())


def voter_steps(
    today: Sequence[int],
    wanted: Sequence[int],
    *,
    down: Collection[int] = (),
    active: int | None = None,
    renewed: Collection[int] = (),
    racks: Mapping[int, str | None] = MappingProxyType({}),
) -> tuple[VoterStep, ...]:
    """Return the steps from the voters of today to those that are wanted: add one, remove one, and so on.

    Adding first keeps as many voters as both sets have. Of those that leave, those that are down go first, since each
    counts in the majority; the active controller goes last, so that there is one election. A voter that joins comes
    just before one of its rack leaves, where there is one, so that no rack holds more of them between steps.

    Args:
        today: node ids of the voters.
        wanted: those that shall vote.
        down: voters that do not live.
        active: the active controller.
        renewed: voters that stay, on another disk: an id votes once, so each is removed before it is added.
        racks: of the voters, by id, where they are known.

    Raises:
        RequestError: nobody shall vote, or there would be more than :data:`MAX_VOTERS` on the way.
    """
    leaving = sorted(
        (node_id for node_id in today if node_id not in wanted),
        key=lambda node_id: (node_id not in down, node_id == active),
    )
    joining = _beside([node_id for node_id in wanted if node_id not in today], leaving, racks)
    renewals = [(does, node_id) for node_id in today if node_id in renewed for does in ("remove", "add")]
    pairs = zip_longest((("add", one) for one in joining), (("remove", one) for one in leaving))
    changes = [*renewals, *(one for pair in pairs for one in pair if one is not None)]
    steps = tuple(_applied(changes, tuple(today), {*down}, {*renewed}))
    largest = max((len(step.after) for step in steps), default=0)
    if not wanted or largest > MAX_VOTERS:
        raise RequestError(f"from 1 to {MAX_VOTERS} controllers can vote, on the way too, not {largest}")
    return steps


def _beside(joining: Sequence[int], leaving: Sequence[int], racks: Mapping[int, str | None]) -> list[int]:
    """Return those that join in the order in which those of their racks leave; others keep their order."""
    left = list(joining)
    placed: list[int | None] = []
    for leaver in leaving:
        rack = racks.get(leaver)
        same = next((one for one in left if rack is not None and racks.get(one) == rack), None)
        placed.append(same)
        if same is not None:
            left.remove(same)
    others = iter(left)
    return [
        *(one for one in (next(others, None) if one is None else one for one in placed) if one is not None),
        *others,
    ]


def _applied(
    changes: Sequence[tuple[str, int]], voters: tuple[int, ...], down: set[int], renewed: set[int]
) -> Iterator[VoterStep]:
    for does, node_id in changes:
        before, lost = voters, tuple(sorted(down & {*voters}))
        left = tuple(voter for voter in voters if voter != node_id)
        spare = spare_voters(before, down)
        voters, down = (left, down) if does == "remove" else ((*left, node_id), down - {node_id})
        yield VoterStep(
            does="add" if does == "add" else "remove",
            node_id=node_id,
            before=before,
            after=voters,
            majority=majority(len(voters)),
            tolerated=min(spare, spare_voters(voters, down)),
            down=lost,
            is_renewal=node_id in renewed,
        )


def spare_voters(voters: Collection[int], down: Collection[int] = ()) -> int:
    """Return how many more voters may be lost; negative where too few live already."""
    return sum(voter not in down for voter in voters) - majority(len(voters))


def fatal_racks(step: VoterStep, voters: Sequence[Voter], down: Collection[int] = ()) -> tuple[str, ...]:
    """Return the racks that may not be lost while a step goes on, by name; voters of both sets are among ``voters``."""
    racks = racks_of(voters)
    inside = {rack: {voter.node_id for voter in voters if voter.rack == rack} for rack in racks}
    return tuple(
        rack
        for rack in racks
        if min(spare_voters(side, inside[rack] | {*down}) for side in (step.before, step.after)) < 0
    )
