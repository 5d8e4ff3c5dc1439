"""What a plan asks of failures, whatever placement they happen to; and of its controllers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts
from kafka_capacity.kafka.controller.quorum.voters import LARGEST_NODE_ID, Voter
from kafka_capacity.questions.failures.given import LostTogether
from kafka_capacity.questions.failures.scenario import FailureScenario, SetKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRequest:
    """Who votes, and what is assumed of them.

    Attributes:
        voters: of the metadata quorum; none where they are not known.
        timeouts: theirs.
        up_ratio: share of time that a voter is up while its rack is.
        rack_up_ratio: share of time that a rack is up.
        runs: how often each way to lose the active controller is simulated.
        seed: of these.
    """

    voters: tuple[Voter, ...] = ()
    timeouts: QuorumTimeouts = field(default_factory=QuorumTimeouts)
    up_ratio: float = 0.999
    rack_up_ratio: float = 0.9999
    runs: int = 100
    seed: int = 0

    @staticmethod
    def parse(texts: Sequence[str]) -> tuple[Voter, ...]:
        """Read ``1:a``, the node id and the rack of each voter.

        Raises:
            RequestError: an id is no number, or comes twice.
        """
        voters: list[Voter] = []
        for text in texts:
            node, colon, rack = (part.strip() for part in text.partition(":"))
            if not (node.isascii() and node.isdecimal()) or (colon and not rack):
                raise RequestError(f"{text!r} is no voter: write node id and rack, such as 1:a")
            if int(node) > LARGEST_NODE_ID:
                raise RequestError(f"{node} is above the largest node id, {LARGEST_NODE_ID}")
            if any(voter.node_id == int(node) for voter in voters):
                raise RequestError(f"{node} is given more than once; name each voter once")
            voters.append(Voter(node_id=int(node), rack=rack or None))
        return tuple(voters)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRequest:
    """What is lost of every placement; the meaning of each field is that of :class:`FailureScenario`.

    Attributes:
        given: further sets, by the names that people gave them.
        controllers: of the quorum.
    """

    kinds: tuple[SetKind, ...]
    given: tuple[LostTogether, ...]
    rules: ElectionRules
    max_sets: int
    throttle_bytes_per_second: float
    seed: int
    controllers: ControllerRequest = field(default_factory=ControllerRequest)

    def scenario(self, placement_id: str, brokers: Brokers, kinds: Sequence[SetKind]) -> FailureScenario:
        """Ask some of it of one placement; what the placement lacks cannot be lost.

        Args:
            placement_id: its name.
            brokers: of the placement.
            kinds: those of interest, :attr:`SetKind.GIVEN` among them.
        """
        given = zip(self._names(), self.given, strict=True) if SetKind.GIVEN in kinds else ()
        there = [(name, members) for name, one in given if (members := one.members(brokers))]
        return FailureScenario(
            scenario_id=f"{placement_id}.{'.'.join(kinds)}",
            kinds=tuple(kind for kind in self.kinds if kind in kinds),
            given=tuple(members for _, members in there),
            given_names=tuple(name for name, _ in there),
            placement_id=placement_id,
            rules=self.rules,
            max_sets=self.max_sets,
            throttle_bytes_per_second=self.throttle_bytes_per_second,
            seed=self.seed,
        )

    def _names(self) -> list[str]:
        """Name the given sets; of many brokers a name shows some, so that two may share it."""
        names: list[str] = []
        for number, one in enumerate(self.given, start=1):
            names.append(one.name if one.name not in names else f"{one.name} (set {number})")
        return names

    def check(self, lists: Sequence[Brokers]) -> None:
        """Refuse brokers and racks that are in none of some lists of brokers.

        Raises:
            RequestError: naming the field and each of them.
        """
        complaints = []
        for one in self.given:
            missing = set(one.unknown(lists[0])).intersection(*(one.unknown(brokers) for brokers in lists[1:]))
            if missing:
                complaints.append(
                    f"failure_sets: {', '.join(sorted(missing))} in {one.name!r} is refused: neither today nor in any "
                    "option is there such a one; fix the set"
                )
        if complaints:
            raise RequestError("\n".join(complaints))
