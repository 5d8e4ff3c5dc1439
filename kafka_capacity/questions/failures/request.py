"""What a plan asks of failures, whatever placement they happen to; and of its controllers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KafkaRelease
from kafka_capacity.kafka.controller.quorum.change import VoterStep, voter_steps
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts
from kafka_capacity.kafka.controller.quorum.voters import Quorum, Voter, majority, racks_of
from kafka_capacity.proposal.pins import RACK_PREFIX
from kafka_capacity.questions.failures.scenario import FailureScenario, FailureSet, SetKind
from kafka_capacity.text.wording import few_names

_MAX_NAMED = 8


@dataclass(frozen=True, slots=True)
class LostTogether:
    """What is lost at once; which brokers are in a rack hangs on the placement."""

    brokers: tuple[int, ...]
    racks: tuple[str, ...]

    @property
    def name(self) -> str:
        """Describe it for people."""
        shown = few_names(self.brokers, _MAX_NAMED)
        lost = [f"broker{'s' if len(self.brokers) > 1 else ''} {shown}"] if self.brokers else []
        return " + ".join([*lost, *(f"rack {rack}" for rack in self.racks)])

    def members(self, brokers: Brokers) -> tuple[int, ...]:
        """Return those of them that are in a list of brokers, ascending."""
        by_rack = brokers.brokers_by_rack()
        named = {*self.brokers, *(one for rack in self.racks for one in by_rack.get(rack, ()))}
        return tuple(sorted(named & set(brokers.ids.tolist())))

    def unknown(self, brokers: Brokers, voter_racks: Collection[str] = ()) -> list[str]:
        """Name the brokers and racks that are not in a list of brokers, nor in racks that controllers are in."""
        ids, racks = set(brokers.ids.tolist()), {*brokers.rack_names(), *voter_racks}
        missing = [f"broker {one}" for one in self.brokers if one not in ids]
        return missing + [f"rack {one}" for one in self.racks if one not in racks]


def lost_together(text: str) -> LostTogether:
    """Read ``1,2,rack:a``.

    Raises:
        RequestError: a part is neither, or there is none.
    """
    brokers: set[int] = set()
    racks: set[str] = set()
    for part in filter(None, (one.strip() for one in text.split(","))):
        rack = part.removeprefix(RACK_PREFIX)
        if part.startswith(RACK_PREFIX) and rack:
            racks.add(rack)
        elif part.isascii() and part.isdecimal():
            brokers.add(int(part))
        else:
            raise RequestError(f"{part!r} is neither a broker nor a rack: write ids and racks, such as 1,2 or 7,rack:a")
    if not brokers and not racks:
        raise RequestError("a set of lost brokers is empty; name at least one")
    return LostTogether(tuple(sorted(brokers)), tuple(sorted(racks)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRequest:
    """Who votes, and what is assumed of them."""

    voters: tuple[Voter, ...] = ()  # of the metadata quorum; none where they are not known
    wanted: tuple[Voter, ...] = ()  # that shall vote; none where the voters stay
    quorum: Quorum = field(default_factory=Quorum)  # what the inventory tells of them
    release: KafkaRelease | None = None  # that the nodes run; `None` where it is not known
    brokers: tuple[int, ...] = ()  # ids of the brokers, of which some may be controllers as well
    timeouts: QuorumTimeouts = field(default_factory=QuorumTimeouts)  # theirs
    up_ratio: float = 0.999  # share of time that a voter is up while its rack is
    rack_up_ratio: float = 0.9999  # share of time that a rack is up
    runs: int = 100  # how often each way to lose the active controller is simulated
    seed: int = 0  # of these

    @property
    def steps(self) -> tuple[VoterStep, ...]:
        """The steps to the voters that are wanted; none where they vote already, each with the disk that it has.

        Raises:
            RequestError: there would be too many voters on the way.
        """
        if not self.wanted:
            return ()
        return voter_steps(
            [voter.node_id for voter in self.voters],
            [voter.node_id for voter in self.wanted],
            down=self.quorum.down,
            active=self.quorum.active,
            renewed=self.quorum.renewed.intersection(voter.node_id for voter in self.wanted),
            racks={voter.node_id: voter.rack for voter in (*self.voters, *self.wanted)},
        )

    @property
    def racks(self) -> tuple[str, ...]:
        """The racks that voters are known to be in, sorted."""
        return racks_of(self.voters)

    def has_majority_without(self, brokers: Collection[int], racks: Collection[str]) -> bool | None:
        """Return whether a majority is up without brokers, and all that is in some racks; ``None`` if not known.

        A voter of which nobody knows the rack may be in one that is lost.
        """
        if not self.voters:
            return None
        left = [one for one in self.voters if one.node_id not in brokers and one.node_id not in self.quorum.down]
        elsewhere = sum(one.rack is not None and one.rack not in racks for one in left)
        anywhere = sum(one.rack is None for one in left)
        needed = majority(len(self.voters))
        if elsewhere + anywhere < needed or (not racks or elsewhere >= needed):
            return elsewhere + anywhere >= needed
        return None

    @property
    def returning(self) -> tuple[int, ...]:
        """The controllers that observe, are not wanted, and make themselves voters all the same."""
        wanted = {voter.node_id for voter in self.wanted}
        return tuple(one.node_id for one in self.quorum.observers if one.auto_joins and one.node_id not in wanted)

    def check(self, racks: Mapping[int, str | None]) -> None:
        """Refuse voters that cannot be; ``racks`` are those that are known, by node id.

        Raises:
            RequestError: naming the field, the controller, and how to fix it.
        """
        today = {voter.node_id for voter in self.voters}
        has_both_roles = not today.isdisjoint(self.brokers)
        complaints = []
        for voter in self.wanted:
            rack = racks.get(voter.node_id)
            if rack is not None and voter.rack is not None and voter.rack != rack:
                complaints.append(
                    f"{voter.node_id}:{voter.rack} is invalid: it is in rack {rack} today; leave the rack out, or "
                    "correct it in controllers"
                )
            if voter.node_id in self.brokers and voter.node_id not in today and not has_both_roles:
                complaints.append(
                    f"{voter.node_id} is invalid: a broker has this id, and no controller of this cluster is a broker; "
                    "give an id that is free"
                )
        if complaints:
            raise RequestError("\n".join(f"wanted_controllers: {one}" for one in complaints))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRequest:
    """What is lost of every placement."""

    asked: FailureScenario  # of each; without sets that are given, whose brokers hang on the placement
    given: tuple[LostTogether, ...] = ()  # these, by the names that people gave them
    controllers: ControllerRequest = field(default_factory=ControllerRequest)  # of the quorum

    def scenario(
        self, placement_id: str, brokers: Brokers, kinds: Sequence[SetKind], voter_racks: Collection[str] = ()
    ) -> FailureScenario:
        """Ask some kinds of it, given sets among them, of one placement; what the placement lacks cannot be lost.

        ``voter_racks`` are the racks that its controllers are in.
        """
        given = zip(self._names(), self.given, strict=True) if SetKind.GIVEN in kinds else ()
        there = tuple(
            FailureSet(kind=SetKind.GIVEN, name=name, brokers=members, racks=one.racks)
            for name, one in given
            if (members := one.members(brokers)) or not set(one.racks).isdisjoint(voter_racks)
        )
        own = tuple(kind for kind in self.asked.kinds if kind in kinds)
        return replace(self.asked, kinds=own, given=there, placement_id=placement_id)

    def _names(self) -> list[str]:
        """Name the given sets; of many brokers a name shows some, so that two may share it."""
        names: list[str] = []
        for number, one in enumerate(self.given, start=1):
            names.append(one.name if one.name not in names else f"{one.name} (set {number})")
        return names

    def check(self, lists: Sequence[Brokers]) -> None:
        """Refuse brokers and racks that are in none of some lists of brokers, racks where no controller is either.

        Raises:
            RequestError: naming the field and each of them.
        """
        complaints = []
        racks = racks_of((*self.controllers.voters, *self.controllers.wanted))
        for one in self.given:
            missing = set.intersection(*(set(one.unknown(brokers, racks)) for brokers in lists))
            if missing:
                complaints.append(
                    f"failure_sets: {', '.join(sorted(missing))} in {one.name!r} is invalid: it exists neither today "
                    "nor in any option; fix the set"
                )
        if complaints:
            raise RequestError("\n".join(complaints))
