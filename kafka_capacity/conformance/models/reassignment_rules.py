"""What Kafka makes of a reassignment: its moves, its throttles, and when the controller calls it done (4.3.1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from kafka_capacity.errors import PlacementError

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMove:
    """Where a partition comes from and where it goes."""

    sources: tuple[int, ...]  # broker ids, ascending; the replicas before the reassignment
    destinations: tuple[int, ...]  # broker ids, ascending; the replicas to be added


def proposed_moves(
    ongoing: Mapping[TopicPartition, ReassignmentReplicas],
    current: Mapping[TopicPartition, Sequence[int]],
    proposed: Mapping[TopicPartition, Sequence[int]],
) -> dict[TopicPartition, PartitionMove]:
    """Work out the moves that ``--execute`` throttles (``ReassignPartitionsCommand.calculateProposedMoveMap``).

    Reassignments under way count as moves too. Where one is replaced by a proposal, the sources stay those of the
    one under way.

    Returns:
        The moves, sorted by topic and partition.

    Raises:
        PlacementError: a proposed partition has no replicas now (Java: ``RuntimeException``).

    >>> proposed_moves({}, {("orders", 0): [1, 2, 3]}, {("orders", 0): [4, 2, 3]})
    {('orders', 0): PartitionMove(sources=(1, 2, 3), destinations=(4,))}
    """
    moves = {
        key: PartitionMove(
            sources=_ascending(set(under_way.replicas) - set(under_way.adding)),
            destinations=_ascending(under_way.adding),
        )
        for key, under_way in ongoing.items()
    }
    for key, replicas in proposed.items():
        if key not in moves and key not in current:
            raise PlacementError(
                f"partition {key[0]}-{key[1]} is proposed to move to {list(replicas)} but has no replicas now",
                kafka_type="java.lang.RuntimeException",
            )
        sources = moves[key].sources if key in moves else _ascending(current[key])
        moves[key] = PartitionMove(sources=sources, destinations=_ascending(set(replicas) - set(sources)))
    return dict(sorted(moves.items()))


def leader_throttles(moves: Mapping[TopicPartition, PartitionMove]) -> dict[str, str]:
    """Write ``leader.replication.throttled.replicas`` of each topic: all sources of its moves.

    >>> leader_throttles({("orders", 0): PartitionMove(sources=(1, 10, 2), destinations=(4,))})
    {'orders': '0:1,0:10,0:2'}
    """
    return _throttled(moves, lambda move: move.sources)


def follower_throttles(moves: Mapping[TopicPartition, PartitionMove]) -> dict[str, str]:
    """Write ``follower.replication.throttled.replicas`` of each topic: the destinations that are no sources."""
    return _throttled(moves, lambda move: tuple(d for d in move.destinations if d not in move.sources))


def reassigning_brokers(moves: Mapping[TopicPartition, PartitionMove]) -> list[int]:
    """List the brokers that take part, ascending: those whose throttle rate is set."""
    return sorted({broker for move in moves.values() for broker in (*move.sources, *move.destinations)})


def _throttled(
    moves: Mapping[TopicPartition, PartitionMove], chosen: Callable[[PartitionMove], tuple[int, ...]]
) -> dict[str, str]:
    entries: dict[str, set[str]] = {}
    for (topic, partition), move in moves.items():
        entries.setdefault(topic, set()).update(f"{partition}:{broker}" for broker in chosen(move))
    # Kafka sorts the entries as strings: broker 10 comes before broker 2.
    return {topic: ",".join(sorted(listed)) for topic, listed in entries.items()}


def _ascending(brokers: Collection[int]) -> tuple[int, ...]:
    return tuple(sorted(set(brokers)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedReassignment:
    """What a partition has once its reassignment is over."""

    replicas: tuple[int, ...]  # in the order of the target
    isr: tuple[int, ...]  # in the order of the ISR that completed it


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignmentReplicas:
    """The replicas of a partition that is being reassigned (``PartitionReassignmentReplicas`` of the controller)."""

    removing: tuple[int, ...]  # to be removed, ascending
    adding: tuple[int, ...]  # to be added, ascending
    replicas: tuple[int, ...]  # the target, then those to be removed

    @classmethod
    def between(cls, current: Sequence[int], target: Sequence[int]) -> ReassignmentReplicas:
        """Start a reassignment from the replicas now to a target.

        >>> ReassignmentReplicas.between([3, 1], [1, 2])
        ReassignmentReplicas(removing=(3,), adding=(2,), replicas=(1, 2, 3))
        """
        removing = _ascending(set(current) - set(target))
        adding = _ascending(set(target) - set(current))
        return cls(removing=removing, adding=adding, replicas=(*target, *removing))

    def completed_by(self, isr: Sequence[int]) -> CompletedReassignment | None:
        """Return what an ISR makes of it, ``None`` while it goes on (or nothing is to be added or removed).

        It is over as soon as all added replicas are in sync and any replica of the target is. When it removes more
        replicas than it adds, all of the target must be in sync: otherwise the ISR could shrink. (Until 4.2 the whole
        target always had to be.)
        """
        if not self.removing and not self.adding:
            return None
        in_sync = tuple(broker for broker in isr if broker not in self.removing)
        target = tuple(broker for broker in self.replicas if broker not in self.removing)
        if not target:
            return None
        must_be_in_sync = target if len(self.adding) < len(self.removing) else self.adding
        if not {*self.adding, *must_be_in_sync} <= set(in_sync):
            return None
        return CompletedReassignment(replicas=target, isr=in_sync)
