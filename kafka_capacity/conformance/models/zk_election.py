"""How the ZooKeeper-era controller elects the leader of a partition (3.9.2).

Algorithm:
    The order of the replicas decides, never their ids or their load. Everywhere the first replica wins that is alive
    and in the ISR; the elections differ in which replicas they ask (``PartitionLeaderElectionAlgorithms``):

    * *offline* asks all; if nobody will do and unclean elections are allowed, the first that is merely alive.
    * *reassign* asks the target of the reassignment.
    * *preferred* asks the first replica alone.
    * *controlled shutdown* asks those that do not shut down, but counts brokers that do as alive.

    ``kafka.controller.Election`` makes a leader and ISR of it. The offline election drops dead replicas from the ISR,
    the controlled shutdown those that shut down (alive or not), the other two leave it alone. An unclean leader is
    an ISR of one, and recovering if the cluster's version knows of recovery.

>>> brokers = BrokerView(live=frozenset({2, 3}))
>>> before = LeaderAndIsr(leader=1, isr=(1, 3))
>>> elect(Strategy.OFFLINE, ReplicaAssignment(replicas=(1, 2, 3)), before, brokers).leader_and_isr
LeaderAndIsr(leader=3, leader_epoch=1, isr=(3,), recovery=<RecoveryState.RECOVERED: 'RECOVERED'>, partition_epoch=0)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kafka_capacity.conformance.models.leadership import LeaderAndIsr, RecoveryState, ReplicaAssignment


class Strategy(StrEnum):
    """Why a leader is elected (``PartitionLeaderElectionStrategy``)."""

    OFFLINE = "offline"
    REASSIGN = "reassign"
    PREFERRED = "preferred"
    CONTROLLED_SHUTDOWN = "controlled_shutdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerView:
    """What the controller knows of the brokers, for one partition."""

    live: frozenset[int] = frozenset()  # registered brokers, those that shut down in order among them
    shutting_down: frozenset[int] = frozenset()  # brokers that shut down in order; they need not be registered any more
    offline_dirs: frozenset[int] = frozenset()  # brokers whose log directory of this partition failed

    def is_online(self, replica: int) -> bool:
        """Return whether a replica can lead: a broker that shuts down counts as dead."""
        return replica not in self.shutting_down and self.is_online_or_shutting_down(replica)

    def is_online_or_shutting_down(self, replica: int) -> bool:
        """Return whether a replica still answers."""
        return replica in self.live and replica not in self.offline_dirs


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionResult:
    """What came of an election (``kafka.controller.ElectionResult``)."""

    leader_and_isr: LeaderAndIsr | None  # the new one, `None` if nobody can lead
    # brokers to be told. Kafka calls them live replicas, but where the strategy is to reassign or to elect the
    # preferred leader they are all replicas asked, dead ones too.
    recipients: tuple[int, ...]


def offline_leader(
    assignment: Sequence[int], isr: Collection[int], live: Collection[int], *, is_unclean_allowed: bool
) -> int | None:
    """Return the first live replica in the ISR, else, if that is allowed, the first live one."""
    clean = first_in_sync(assignment, isr, live)
    if clean is not None or not is_unclean_allowed:
        return clean
    return next((replica for replica in assignment if replica in live), None)


def first_in_sync(assignment: Sequence[int], isr: Collection[int], live: Collection[int]) -> int | None:
    """Return the first live replica in the ISR; of the target of a reassignment, this is its new leader."""
    return next((replica for replica in assignment if replica in live and replica in isr), None)


def preferred_leader(assignment: Sequence[int], isr: Collection[int], live: Collection[int]) -> int | None:
    """Return the first replica if it is alive and in the ISR."""
    return first_in_sync(assignment[:1], isr, live)


def controlled_shutdown_leader(
    assignment: Sequence[int], isr: Collection[int], live: Collection[int], shutting_down: Collection[int]
) -> int | None:
    """Return the first live replica in the ISR that does not shut down."""
    return first_in_sync([replica for replica in assignment if replica not in shutting_down], isr, live)


def elect(
    strategy: Strategy,
    assignment: ReplicaAssignment,
    before: LeaderAndIsr | None,
    brokers: BrokerView,
    *,
    is_unclean_allowed: bool = False,
    is_recovery_supported: bool = True,
) -> ElectionResult:
    """Elect the leader of one partition.

    Only for an offline election leader and ISR ``before`` may not be known, and then nobody is elected. Where it
    ``is_unclean_allowed``, that may choose a leader out of sync, which is marked as recovering where that
    ``is_recovery_supported`` (``inter.broker.protocol.version`` 3.2).
    """
    if strategy is Strategy.OFFLINE:
        return _elect_offline(assignment.replicas, before, brokers, is_unclean_allowed, is_recovery_supported)
    if before is None:
        raise ValueError(f"an election of kind {strategy} needs to know leader and ISR")
    if strategy is Strategy.CONTROLLED_SHUTDOWN:
        return _elect_for_shutdown(assignment.replicas, before, brokers)
    asked = assignment.target if strategy is Strategy.REASSIGN else assignment.replicas
    live = [replica for replica in asked if brokers.is_online(replica)]
    choose = first_in_sync if strategy is Strategy.REASSIGN else preferred_leader
    leader = choose(asked, before.isr, live)
    return ElectionResult(leader_and_isr=None if leader is None else before.led_by(leader), recipients=asked)


def _elect_offline(
    replicas: tuple[int, ...],
    before: LeaderAndIsr | None,
    brokers: BrokerView,
    is_unclean_allowed: bool,
    is_recovery_supported: bool,
) -> ElectionResult:
    live = tuple(replica for replica in replicas if brokers.is_online(replica))
    if before is None:
        return ElectionResult(leader_and_isr=None, recipients=live)
    leader = offline_leader(replicas, before.isr, live, is_unclean_allowed=is_unclean_allowed)
    if leader is None:
        return ElectionResult(leader_and_isr=None, recipients=live)
    if leader in before.isr:
        after = before.led_by(leader, [replica for replica in before.isr if brokers.is_online(replica)])
    else:
        after = before.led_by(leader, [leader], RecoveryState.RECOVERING if is_recovery_supported else None)
    return ElectionResult(leader_and_isr=after, recipients=live)


def _elect_for_shutdown(replicas: tuple[int, ...], before: LeaderAndIsr, brokers: BrokerView) -> ElectionResult:
    answering = tuple(replica for replica in replicas if brokers.is_online_or_shutting_down(replica))
    leader = controlled_shutdown_leader(replicas, before.isr, answering, brokers.shutting_down)
    isr = [replica for replica in before.isr if replica not in brokers.shutting_down]
    return ElectionResult(leader_and_isr=None if leader is None else before.led_by(leader, isr), recipients=answering)
