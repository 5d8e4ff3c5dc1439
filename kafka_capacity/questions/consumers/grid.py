"""Which scenarios of consumer groups a request stands for: groups × variants × member counts.

A variant is a protocol with an assignor and with static members or without. Where no assignors and protocols are
asked for, a group is tried as it is today, with classic ``cooperative-sticky`` and with the consumer protocol's
``uniform``. Where no counts are asked for, each variant is tried with today's count and with the smallest that will
do, which is found where the variant is evaluated. Every group is tried as it is today in any case, unless its
assignor is not known here: all else is compared with that.

The unit of work is a group with a variant: what is the same for all its counts is worked out once, and there are many
of them, so that they spread evenly whatever the groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.groups.registry import GroupProtocol, assignor_names
from kafka_capacity.kafka.groups.share import ShareSettings
from kafka_capacity.kafka.rebalance.model import Event, GroupFacts, GroupScenario, GroupSettings
from kafka_capacity.questions.consumers.scenario import SmallestCounts

USUAL_ASSIGNORS = {GroupProtocol.CLASSIC: "cooperative-sticky", GroupProtocol.CONSUMER: "uniform"}
"""What each protocol is tried with where no assignor is asked for."""


class StaticMembership(StrEnum):
    """Whether members are tried with a ``group.instance.id``."""

    AS_IS = "as-is"
    STATIC = "static"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGridRequest:
    """What spans the grid; the meaning of each field is that of :class:`GroupScenario`."""

    groups: tuple[str, ...]  # names of groups; empty means all
    member_counts: tuple[int, ...]  # empty means today's, and the smallest that will do
    assignors: tuple[str, ...]  # names of assignors; empty means today's and the usual ones
    protocols: tuple[GroupProtocol, ...]  # empty means today's and both
    static_membership: StaticMembership  # as it is today, static, or each of them
    events: tuple[Event, ...]
    lag_slo_seconds: float
    catch_up_limit_seconds: float
    failure_count: int
    member_capacity_bytes_per_second: float | None
    partitions_factor: int
    broker_heap_bytes: float  # of a broker's Java process; what else it has of memory is page cache
    settings: GroupSettings
    seed: int
    standby_replicas: int | None = None  # of streams groups, beside what each has; `None` means that alone
    share: ShareSettings = field(default_factory=ShareSettings)  # of share groups
    record_processing_seconds: float | None = None  # of a record, by a member of a share group


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVariant:
    """How the members of a group agree on who reads what."""

    protocol: GroupProtocol
    assignor: str
    is_static: bool
    standby_replicas: int | None = None  # of each stateful task of a streams group, `None` for any other


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupUnit:
    """One piece of work: a group by position, a variant, and counts; none are today's and the smallest that will do."""

    position: int
    variant: GroupVariant
    member_counts: tuple[int, ...]


def todays_variant(facts: GroupFacts) -> GroupVariant:
    """Return the group as it is; a group counts as static when all its members are."""
    return GroupVariant(
        protocol=facts.protocol,
        assignor=facts.assignor,
        is_static=facts.is_static,
        standby_replicas=None if facts.streams is None else facts.streams.standby_replicas,
    )


def has_known_assignor(facts: GroupFacts) -> bool:
    """Return whether the group can be tried as it is: a group may use an assignor of its users' own."""
    return facts.assignor in assignor_names(facts.protocol)


def group_variants(facts: GroupFacts, request: GroupGridRequest) -> tuple[GroupVariant, ...]:
    """List what to try a group with, today's own first where it is among them; a streams group has one assignor."""
    today = todays_variant(facts)
    if facts.streams is not None:
        asked = today.standby_replicas if request.standby_replicas is None else request.standby_replicas
        return tuple(dict.fromkeys((today, replace(today, standby_replicas=asked))))
    is_tried = (
        has_known_assignor(facts) and not request.assignors and today.protocol in (request.protocols or GroupProtocol)
    )
    kinds = [(today.protocol, today.assignor)] if is_tried else []
    for protocol in request.protocols or tuple(USUAL_ASSIGNORS):
        valid = assignor_names(protocol)
        kinds += [(protocol, name) for name in request.assignors or (USUAL_ASSIGNORS[protocol],) if name in valid]
    memberships = {
        StaticMembership.AS_IS: (today.is_static,),
        StaticMembership.STATIC: (True,),
        StaticMembership.BOTH: (today.is_static, True),
    }[request.static_membership]
    return tuple(
        GroupVariant(protocol=protocol, assignor=name, is_static=is_static)
        for protocol, name in dict.fromkeys(kinds)
        for is_static in dict.fromkeys(memberships)
    )


def group_units(groups: Sequence[GroupFacts], request: GroupGridRequest) -> tuple[GroupUnit, ...]:
    """List the pieces of work of a request, groups with many partitions first: they take longest."""
    asked = frozenset(request.member_counts)
    units = []
    for position in sorted(range(len(groups)), key=lambda i: (-len(groups[i]), groups[i].group_id)):
        facts = groups[position]
        today, now = todays_variant(facts), frozenset({len(facts.members)} - {0})
        variants = group_variants(facts, request)
        if now and today not in variants and has_known_assignor(facts):
            units.append(GroupUnit(position=position, variant=today, member_counts=tuple(now)))
        for variant in variants:
            counts = sorted(asked | now if asked and variant == today else asked)
            units.append(GroupUnit(position=position, variant=variant, member_counts=tuple(counts)))
    return tuple(units)


def wanted_groups(groups: Iterable[GroupFacts], request: GroupGridRequest) -> tuple[GroupFacts, ...]:
    """Keep the groups that were asked for, by name."""
    wanted = frozenset(request.groups)
    return tuple(
        sorted((facts for facts in groups if not wanted or facts.group_id in wanted), key=lambda facts: facts.group_id)
    )


def group_scenario(
    facts: GroupFacts, variant: GroupVariant, member_count: int, request: GroupGridRequest
) -> GroupScenario:
    """Put a group, a variant and a count together with the rest of a request."""
    return filled(
        GroupScenario,
        request,
        scenario_id=scenario_id(facts.group_id, variant, member_count),
        group_id=facts.group_id,
        member_count=member_count,
        **asdict(variant),
        # Where nobody asks what a crash does, nobody is lost for good either: else the advice would be for more members
        # than the verdict.
        failure_count=request.failure_count if Event.CRASH in request.events else 0,
    )


def scenario_id(group_id: str, variant: GroupVariant, member_count: int) -> str:
    """Name a scenario so that no other has the same name.

    A group may have any name: read from the right, where dots in an assignor's name are encoded, it stays unique.

    >>> variant = GroupVariant(protocol=GroupProtocol.CLASSIC, assignor="range", is_static=False)
    >>> scenario_id("orders-etl", variant, 6)
    'orders-etl.006.classic-range.dynamic'
    """
    assignor = variant.assignor.replace("%", "%25").replace(".", "%2E")
    membership = "static" if variant.is_static else "dynamic"
    membership += "" if variant.standby_replicas is None else f".standbys-{variant.standby_replicas}"
    return f"{group_id}.{member_count:03d}.{variant.protocol}-{assignor}.{membership}"


def variant_scenarios(
    facts: GroupFacts,
    variant: GroupVariant,
    request: GroupGridRequest,
    *,
    member_counts: Sequence[int] = (),
    smallest: SmallestCounts | None = None,
) -> tuple[GroupScenario, ...]:
    """List the scenarios of a variant: the counts given, or today's and the smallest that will do, where one does.

    Where none does or it is not known, that is the first of which somebody is left when members fail.
    """
    fewest = smallest.for_all if smallest is not None else None
    now, lost = len(facts.members), request.failure_count if Event.CRASH in request.events else 0
    if fewest is None and 0 < now <= lost:
        fewest = lost + 1
    # A group without members for which no count will do still shows why: with one member.
    counts = sorted(set(member_counts)) or sorted({n for n in (now, fewest) if n}) or [1]
    return tuple(group_scenario(facts, variant, count, request) for count in counts)
