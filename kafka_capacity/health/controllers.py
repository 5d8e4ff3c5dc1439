"""The controllers of the metadata quorum: how many, and what fails together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from kafka_capacity.errors import RequestError
from kafka_capacity.health.cluster_view import called
from kafka_capacity.health.problem import Code, Problem, info, serious, warning
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.controller.quorum.change import spare_voters
from kafka_capacity.kafka.controller.quorum.voters import (
    Quorum,
    QuorumReplica,
    Voter,
    majority,
    racks_of,
    tolerated_losses,
)


def check_controllers(voters: Sequence[Voter]) -> Iterator[Problem]:
    """Look at the voters; without any nothing is known and nothing is said."""
    count = len(voters)
    if not count:
        return
    needed, spare = majority(count), tolerated_losses(count)
    ids = called("controller", (voter.node_id for voter in voters))
    if count < 3:
        message = (
            f"there {'is 1 voter' if count == 1 else f'are {count} voters'}: losing one stops all leader elections and "
            "metadata changes"
        )
        yield serious(Code.FEW_CONTROLLERS, ids, message, "run 3 or 5 controllers")
    elif count % 2 == 0:
        message = f"of {count} voters {spare} may be lost: no more than of {count - 1}, with one more that can fail"
        yield warning(Code.EVEN_CONTROLLERS, ids, message, f"run {count - 1} or {count + 1} controllers")
    racks = Counter(voter.rack for voter in voters if voter.rack is not None)
    for rack, inside in sorted(racks.items()):
        if inside > spare and count >= 3:
            message = (
                f"{inside} of {count} voters are in rack {rack}: losing it leaves {count - inside} where {needed} are "
                "needed, and no partition can elect a leader"
            )
            yield serious(Code.CONTROLLERS_SHARE_RACK, f"rack {rack}", message, controllers_remedy(voters))
    unknown = [voter.node_id for voter in voters if voter.rack is None]
    if unknown and count > 1:
        one = len(unknown) == 1
        message = (
            f"{len(unknown)} of {count} voters {'has' if one else 'have'} no rack: what fails together with "
            f"{'it' if one else 'them'} is not known"
        )
        remedy = "name the racks of all voters, such as 1:a"
        yield info(Code.CONTROLLERS_WITHOUT_RACK, called("controller", unknown), message, remedy)


def check_voter_racks(voters: Sequence[Voter], brokers: Brokers) -> None:
    """Check racks that are given of voters against those of the brokers that they also are: a node has one place.

    Raises:
        RequestError: a voter is said to be in another rack than its broker.
    """
    racks = dict(zip(brokers.ids.tolist(), brokers.racks, strict=True))
    for one in voters:
        rack = racks.get(one.node_id)
        if rack is not None and one.rack not in (None, rack):
            raise RequestError(
                f"voter {one.node_id} is broker {one.node_id}, which is in rack {rack}, not {one.rack}; leave its rack "
                "out, or correct one of them"
            )


def controllers_remedy(voters: Sequence[Voter]) -> str:
    """Return which controllers survive any rack: as many as there are, where the racks that have some allow it."""
    count, racks = len(voters), len(racks_of(voters))
    spare = tolerated_losses(count)
    if spare and count <= spare * racks:
        return f"keep at most {spare} of {count} voters in any one rack"
    return "run 3 controllers in three racks, or 5 with at most 2 in any one rack"


def check_quorum(quorum: Quorum) -> Iterator[Problem]:
    """Look at what an inventory tells of voters and observers; where it tells nothing, nothing is said."""
    yield from _check_down(quorum)
    behind = [one for one in quorum.observers if quorum.is_behind(one) and one.node_id not in quorum.renewed]
    if behind:
        message = (
            f"{_controllers(behind)} {'observes' if len(behind) == 1 else 'observe'} the metadata log, up to "
            f"{max(one.lag_records or 0 for one in behind):,} records behind: Kafka would accept any observer that has "
            "fetched within an hour as a voter, and a majority that needs it waits until it has caught up"
        )
        remedy = "add it once describe --replication shows a lag of 0"
        yield warning(Code.OBSERVER_BEHIND, _controllers(behind), message, remedy)
    yield from _check_returns(quorum)
    if quorum.kraft_version == 0:
        message = (
            "kraft.version is 0: the voters are fixed by controller.quorum.voters on every node, and none can be "
            "added, removed or moved to another disk while the cluster runs"
        )
        remedy = "from Kafka 4.1 on, upgrade the feature: kafka-features.sh upgrade --feature kraft.version=1"
        yield info(Code.STATIC_QUORUM, "kraft.version", message, remedy)


VOTERS_LEAVE = "voters-leave"
"""The code of a move that shuts down brokers which vote as controllers."""

NO_MAJORITY = "bring back enough for a majority, with their old disks: until then no voter can be added or removed"


def _check_down(quorum: Quorum) -> Iterator[Problem]:
    spare = spare_voters([one.node_id for one in quorum.voters], quorum.down)
    left = f"{spare} more may be lost" if spare > 0 else "no more may be lost" if spare == 0 else "no majority is left"
    renewed = [one for one in quorum.voters if one.node_id in quorum.renewed]
    silent = [one for one in quorum.voters if one.node_id in quorum.down - quorum.renewed]
    if renewed:
        one = len(renewed) == 1
        message = (
            f"{_controllers(renewed)} {'has' if one else 'have'} a different disk from the one that votes, and only "
            f"{'observes' if one else 'observe'}: {'it counts' if one else 'they count'} toward the majority but "
            f"cannot vote; {left}"
        )
        remedy = "remove it by the id of its old directory, then add it again" if spare >= 0 else NO_MAJORITY
        yield serious(Code.VOTER_RENEWED, _controllers(renewed), message, remedy)
    if silent:
        message = (
            f"{_controllers(silent)} of {len(quorum.voters)} voters {'is' if len(silent) == 1 else 'are'} down or "
            f"behind: {left}"
        )
        remedy = "bring it back, or replace it with a controller that has caught up" if spare >= 0 else NO_MAJORITY
        yield serious(Code.VOTERS_BEHIND, _controllers(silent), message, remedy)


def leaving_voters(
    quorum: Quorum, leaving: Collection[int], *, named: Sequence[Voter] = (), wanted: Sequence[Voter] = ()
) -> tuple[Problem, ...]:
    """Name the brokers that vote as controllers and are to be shut down: their votes have to go first.

    ``named`` are the voters of today where somebody names them, in place of those of the inventory; ``wanted`` those
    that shall vote, where a change of voters is planned.
    """
    voting = [one.node_id for one in named or quorum.voters]
    found = [one for one in voting if one in leaving]
    if not found:
        return ()
    is_one, left = len(found) == 1, len(set(voting) - {*leaving, *quorum.down})
    where = called("controller", found)
    message = (
        f"{where} {'votes' if is_one else 'vote'} in the metadata quorum and {'is' if is_one else 'are'} to be shut "
        f"down as {'a broker' if is_one else 'brokers'}: "
    )
    if wanted and not set(found) & {one.node_id for one in wanted}:
        message += f"{'its vote goes' if is_one else 'their votes go'} with the change of voters that is planned"
        return (warning(VOTERS_LEAVE, where, message, "change the voters first, while they run"),)
    is_lost = left < majority(len(voting))
    message += "no controller can be elected any more" if is_lost else f"{left} of {len(voting)} voters are left"
    remedy = (
        f"change the voters first, while {'it runs' if is_one else 'they run'}: `wanted_controllers` of a plan, or "
        "`kafka-capacity failures --wanted-controllers`, gives the steps"
    )
    return (serious(VOTERS_LEAVE, where, message, remedy),)


def _check_returns(quorum: Quorum) -> Iterator[Problem]:
    """Look for controllers that vote no more, or not yet, and will by themselves."""
    if not quorum.kraft_version:
        return
    voting = {one.node_id for one in quorum.voters}
    for name, then, remedy, found in (
        (
            "controller.quorum.voters names",
            "a node that starts with an empty directory uses that list and may take part in elections with it",
            "remove controller.quorum.voters, and name the voters in controller.quorum.bootstrap.servers",
            [one for one in quorum.replicas if one.is_named and one.node_id not in voting],
        ),
        (
            "controller.quorum.auto.join.enable is true on",
            "as soon as it runs it makes itself a voter again",
            "set it to false there before its vote is removed, or stop it first, which costs one tolerated loss",
            [one for one in quorum.replicas if one.auto_joins and one.node_id not in voting],
        ),
    ):
        if found:
            message = f"{name} {_controllers(found)}, which {'does' if len(found) == 1 else 'do'} not vote: {then}"
            yield warning(Code.REMOVED_VOTER_RETURNS, _controllers(found), message, remedy)


def _controllers(found: Sequence[QuorumReplica]) -> str:
    return called("controller", (one.node_id for one in found))
