"""How the KRaft controller changes a partition: elections, eligible leaders, reassignments (4.3.1).

Goals (ordered):
    Keep the partition led; never by a replica that may have lost committed records, unless that is asked for; change
    as little as will do.

Algorithm:
    1. A reassignment whose replicas are ready is completed.
    2. Eligible leader replicas (ELR, KIP-966), if the cluster has them: what leaves an ISR that falls below
       ``min.insync.replicas`` stays eligible, because nothing can have been committed without it; what shut down
       uncleanly does not. An ISR of at least the minimum clears them.
    3. The leader is elected (below). One from the ELR becomes the ISR by itself, as does an unclean one, and that one
       is marked as recovering.
    4. The leader epoch grows if the leader changes or a replica is dropped; before 3.6 also if the ISR shrinks
       (KAFKA-15021).
    5. Whoever led last is remembered when the partition loses its leader, forgotten when it has one again.
    What comes out as it was is left out of the record; nothing left means no record.

Elections:
    A replica is *valid* if it may lead (alive, not fenced) and is in the ISR, or in the ELR while the ISR is empty.
    *Preferred* takes the first replica if it is valid; otherwise and for the others the present leader stays if it is
    valid, else the first valid replica leads. If there is none and ISR and ELR are empty, the last known leader may
    come back (uncleanly). Only an *unclean* election then takes the first replica that may lead at all.

Kept as Kafka has it:
    The ELR counts in elections even where the cluster does not have the feature, until the same change clears it.
    A partition without a leader that gets a new leader epoch remembers :data:`NO_LEADER` as its last leader.

>>> before = PartitionRegistration(replicas=(1, 2, 3), isr=(1, 2), leader=1)
>>> rules = ChangeRules(version=MetadataVersion.parse("4.3"), min_isr=2, has_elr=True)
>>> change = partition_change(before, PartitionTarget(isr=(2,)), rules, acceptable=frozenset({2, 3}).__contains__)
>>> change.leader, change.isr, change.elr, change.replicas
(2, (2,), (1,), None)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import NamedTuple, TypeVar

from kafka_capacity.conformance.models.leadership import NO_LEADER, RecoveryState
from kafka_capacity.conformance.models.reassignment_rules import ReassignmentReplicas
from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.java.hash_map import JavaHashSet
from kafka_capacity.kafka.java.hashing import integer_hash

_LATEST = 1 << 16  # the last of a release's versions, whatever its number


class Election(StrEnum):
    """What kind of leader is wanted (``PartitionChangeBuilder.Election``)."""

    PREFERRED = "PREFERRED"
    ONLINE = "ONLINE"
    UNCLEAN = "UNCLEAN"


class MetadataVersion(NamedTuple):
    """A ``metadata.version``, such as 3.7-IV4; versions compare as they follow one another."""

    major: int
    minor: int
    internal: int

    @classmethod
    def parse(cls, text: str) -> MetadataVersion:
        """Read a version; one without an internal version is the last of its release.

        Raises:
            RequestError: it does not look like a version.

        >>> MetadataVersion.parse("3.7-IV4") < MetadataVersion.parse("3.7") < MetadataVersion.parse("4.0-IV0")
        True
        """
        found = re.fullmatch(r"(\d+)\.(\d+)(?:-IV(\d+))?(?:\..*)?", text)
        if found is None:
            raise RequestError(f"metadata version {text!r} is not like '4.3' or '3.7-IV4'")
        major, minor, internal = found.groups()
        return cls(int(major), int(minor), _LATEST if internal is None else int(internal))

    @property
    def bumps_leader_epoch_on_isr_shrink(self) -> bool:
        """Whether the leader epoch grows when the ISR shrinks."""
        return self < (3, 6, 0)

    @property
    def has_directories(self) -> bool:
        """Whether log directories are assigned by the controller (KIP-858)."""
        return self >= (3, 7, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRegistration:
    """A partition in the metadata log (``org.apache.kafka.metadata.PartitionRegistration``)."""

    replicas: tuple[int, ...]  # all replicas, the preferred leader first
    isr: tuple[int, ...]  # in-sync replicas; may be empty where the cluster has eligible leader replicas
    removing: tuple[int, ...] = ()  # replicas that a reassignment removes
    adding: tuple[int, ...] = ()  # replicas that a reassignment adds
    elr: tuple[int, ...] = ()  # eligible leader replicas, in Kafka's order
    last_known_elr: tuple[int, ...] = ()  # the last known leader, or, where that is not used, former eligible leaders
    leader: int = NO_LEADER  # a broker id, or `NO_LEADER`
    recovery: RecoveryState = RecoveryState.RECOVERED  # whether the leader is recovering from an unclean election
    leader_epoch: int = 0  # grows with each change that names a leader
    partition_epoch: int = 0  # grows with each change
    directories: tuple[str, ...] = ()  # the log directory of each replica, empty where they are not known

    def merge(self, change: PartitionChange) -> PartitionRegistration:
        """Apply a change. New replicas that come without log directories leave these unknown."""
        merged = replace(
            self,
            leader_epoch=self.leader_epoch + (change.leader is not None),
            partition_epoch=self.partition_epoch + 1,
            directories=self.directories if change.replicas is None else (),
        )
        return merged.with_what_is_named(change, *(one.name for one in fields(change)))

    def with_what_is_named(self, change: PartitionChange | PartitionTarget, *names: str) -> PartitionRegistration:
        """Take over those of the named fields of a change that are not ``None``."""
        return replace(self, **{name: new for name in names if (new := getattr(change, name)) is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """What changes about a partition (``PartitionChangeRecord``); ``None`` where nothing does."""

    leader: int | None = None  # a broker id, or `NO_LEADER`. The present leader, if only its epoch grows.
    isr: tuple[int, ...] | None = None  # the new ISR
    replicas: tuple[int, ...] | None = None  # the new replicas
    removing: tuple[int, ...] | None = None  # replicas still to be removed
    adding: tuple[int, ...] | None = None  # replicas still to be added
    elr: tuple[int, ...] | None = None  # the new eligible leader replicas
    last_known_elr: tuple[int, ...] | None = None  # the new last known leader, or former eligible leaders
    recovery: RecoveryState | None = None  # the new recovery state
    directories: tuple[str, ...] | None = None  # the log directory of each new replica


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRules:
    """What the cluster and the topic lay down."""

    version: MetadataVersion  # the cluster's `metadata.version`
    min_isr: int  # the topic's `min.insync.replicas`
    has_elr: bool  # whether eligible leader replicas are kept
    uses_last_known_leader: bool = True  # whether the last known leader is remembered and may come back
    # where a replica goes that is assigned again, by broker id
    default_directory: Callable[[int], str] = lambda _: "unassigned"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTarget:
    """What is asked of a partition; ``None`` where it may stay as it is."""

    election: Election = Election.ONLINE  # what kind of leader is wanted
    isr: tuple[int, ...] | None = None  # the ISR, of brokers that are alive
    replicas: tuple[int, ...] | None = None  # the replicas
    removing: tuple[int, ...] | None = None  # replicas to be removed
    adding: tuple[int, ...] | None = None  # replicas to be added
    recovery: RecoveryState | None = None  # the recovery state
    unclean_shutdown: frozenset[int] = frozenset()  # brokers that shut down uncleanly and may have lost records


def partition_change(
    before: PartitionRegistration, target: PartitionTarget, rules: ChangeRules, acceptable: Callable[[int], bool]
) -> PartitionChange | None:
    """Work out what changes about a partition (``PartitionChangeBuilder.build``); ``None`` if nothing does.

    Only an ``acceptable`` broker, alive and not fenced, may lead.
    """
    asked = before.with_what_is_named(target, "replicas", "isr", "removing", "adding", "recovery")
    draft = _complete_reassignment(asked)
    if rules.has_elr:
        draft = _with_eligible(draft, before, target.unclean_shutdown, rules.min_isr)
    leader, is_unclean = _elect(draft, before, target.election, rules, acceptable)
    has_new_leader = leader != before.leader
    if has_new_leader and leader in draft.elr:
        draft = replace(draft, isr=(leader,), elr=tuple(broker for broker in draft.elr if broker != leader))
    isr, recovery = draft.isr if draft.isr or rules.has_elr else before.isr, draft.recovery
    is_unclean &= has_new_leader
    if is_unclean:
        isr = (leader,)
        if recovery is before.recovery:
            recovery = RecoveryState.RECOVERING
    has_new_epoch = has_new_leader or not set(before.replicas) <= set(draft.replicas)
    if rules.version.bumps_leader_epoch_on_isr_shrink:
        has_new_epoch |= not set(before.isr) <= set(isr)
    # An unclean leader, or a cluster without eligible leaders, has none.
    keeps_elr = rules.has_elr and not is_unclean
    named_leader = leader if has_new_epoch else None
    change = PartitionChange(
        leader=named_leader,
        isr=isr if is_unclean else _if_new(isr, before.isr),
        replicas=_if_new(draft.replicas, before.replicas),
        removing=_if_new(draft.removing, before.removing),
        adding=_if_new(draft.adding, before.adding),
        elr=_if_new(draft.elr if keeps_elr else (), before.elr),
        last_known_elr=_last_known(draft if keeps_elr else None, before, rules, named_leader),
        recovery=None if recovery is before.recovery else recovery,
        directories=_directories(draft, before, rules),
    )
    return None if change == PartitionChange() else change


def _complete_reassignment(draft: PartitionRegistration) -> PartitionRegistration:
    under_way = ReassignmentReplicas(removing=draft.removing, adding=draft.adding, replicas=draft.replicas)
    completed = under_way.completed_by(draft.isr)
    if completed is None:
        return draft
    return replace(draft, replicas=completed.replicas, isr=completed.isr, removing=(), adding=())


def _with_eligible(
    draft: PartitionRegistration, before: PartitionRegistration, unclean_shutdown: Collection[int], min_isr: int
) -> PartitionRegistration:
    """Work out who stays eligible, in the order of the hash set that Kafka gathers them in."""
    if len(draft.isr) >= min_isr:
        return replace(draft, elr=(), last_known_elr=())
    candidates = JavaHashSet(integer_hash, draft.elr)
    for broker in before.isr:
        candidates.add(broker)
    elr = tuple(broker for broker in candidates if broker not in draft.isr and broker not in unclean_shutdown)
    for broker in draft.last_known_elr:
        candidates.add(broker)
    last_known = tuple(broker for broker in candidates if broker not in draft.isr and broker not in elr)
    return replace(draft, elr=elr, last_known_elr=last_known)


def _elect(
    draft: PartitionRegistration,
    before: PartitionRegistration,
    election: Election,
    rules: ChangeRules,
    acceptable: Callable[[int], bool],
) -> tuple[int, bool]:
    """Return who leads, and whether that is unclean."""
    eligible = draft.isr or draft.elr
    first_choice = draft.replicas[:1] if election is Election.PREFERRED else ()
    for broker in (*first_choice, before.leader, *draft.replicas):
        if broker in eligible and acceptable(broker):
            return broker, False
    uses_last = rules.has_elr and rules.uses_last_known_leader and not eligible and len(before.last_known_elr) == 1
    anybody = draft.replicas if election is Election.UNCLEAN else ()
    for broker in (*(before.last_known_elr if uses_last else ()), *anybody):
        if acceptable(broker):
            return broker, True
    return NO_LEADER, False


def _last_known(
    draft: PartitionRegistration | None, before: PartitionRegistration, rules: ChangeRules, leader: int | None
) -> tuple[int, ...] | None:
    """Return who is remembered to have led, or been eligible, ``None`` for no change; without a draft nobody was.

    ``leader`` is the one that is named, as it is whenever the leader epoch grows.
    """
    if not rules.uses_last_known_leader:
        return _if_new(() if draft is None else draft.last_known_elr, before.last_known_elr)
    if leader is None or not rules.has_elr:
        return None
    if leader == NO_LEADER:
        return None if before.last_known_elr else (before.leader,)
    return () if before.last_known_elr else None


def _directories(
    draft: PartitionRegistration, before: PartitionRegistration, rules: ChangeRules
) -> tuple[str, ...] | None:
    if not rules.version.has_directories or not before.directories:
        return None
    known = dict(zip(before.replicas, before.directories, strict=True))
    placed = (known[broker] if broker in known else rules.default_directory(broker) for broker in draft.replicas)
    return _if_new(tuple(placed), before.directories)


_Items = TypeVar("_Items", tuple[int, ...], tuple[str, ...])


def _if_new(new: _Items, old: _Items) -> _Items | None:
    return None if new == old else new
