"""The controllers of the metadata quorum: how many, and what fails together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_capacity.health.cluster_view import some_names
from kafka_capacity.health.problem import Code, Problem, Severity
from kafka_capacity.kafka.controller.quorum.voters import Voter, majority, tolerated_losses


def check_controllers(voters: Sequence[Voter]) -> Iterator[Problem]:
    """Look at the voters; without any nothing is known and nothing is said."""
    count = len(voters)
    if not count:
        return
    needed, spare = majority(count), tolerated_losses(count)
    ids = f"controller{'' if count == 1 else 's'} {some_names(voter.node_id for voter in voters)}"
    if count < 3:
        yield Problem(
            severity=Severity.SERIOUS,
            code=Code.FEW_CONTROLLERS,
            where=ids,
            message=(
                f"there {'is 1 voter' if count == 1 else f'are {count} voters'}: the loss of one stops every election "
                "and every change of metadata"
            ),
            remedy="run 3 controllers, or 5",
        )
    elif count % 2 == 0:
        yield Problem(
            severity=Severity.WARNING,
            code=Code.EVEN_CONTROLLERS,
            where=ids,
            message=(
                f"there are {count} voters, of which {spare} may be lost: as many as of {count - 1}, with one more to "
                "fail"
            ),
            remedy=f"run {count - 1} or {count + 1} controllers",
        )
    racks = Counter(voter.rack for voter in voters if voter.rack is not None)
    for rack, inside in sorted(racks.items()):
        if inside > spare and count >= 3:
            yield Problem(
                severity=Severity.SERIOUS,
                code=Code.CONTROLLERS_SHARE_RACK,
                where=f"rack {rack}",
                message=(
                    f"{inside} of {count} voters are in rack {rack}: its loss leaves {count - inside} where {needed} "
                    "are needed, and no leader is elected for any partition"
                ),
                remedy=f"keep at most {spare} of {count} voters in a rack",
            )
    unknown = [voter.node_id for voter in voters if voter.rack is None]
    if unknown and count > 1:
        one = len(unknown) == 1
        yield Problem(
            severity=Severity.INFO,
            code=Code.CONTROLLERS_WITHOUT_RACK,
            where=f"controller{'' if one else 's'} {some_names(unknown)}",
            message=(
                f"{len(unknown)} of {count} voters {'has' if one else 'have'} no rack: what fails together with "
                f"{'it' if one else 'them'} is not known"
            ),
            remedy="name the racks of all voters, such as 1:a",
        )
