"""Reach a balanced, rack-aware assignment from the one there is, and copy little on the way.

Goals (ordered)
    1. Every partition has its replication factor, on distinct brokers of the target.
    2. Every partition is spread over the racks that the rack rule asks for.
    3. Every broker is within the tolerance of its fair share (:mod:`kafka_capacity.placement.shares`), where the
       replicas' sizes and the rack rule allow it.
    4. The fewest bytes are copied.
    5. The leaders are even by bytes produced (by count where no rates are known), within a tenth of the mean; this
       costs no bytes, since only the order of replica lists changes.

Constraints (mandatory)
    1 and 2. Load does not come into it: an option that overfills a disk is placed all the same and judged afterwards.

Algorithm
    Keep every replica whose broker stays, unless the rack rule or a lower replication factor forbids it; then the one
    on the fullest broker goes. Make the missing replicas, the largest first, on the broker furthest below its share.
    Level what is left (:mod:`kafka_capacity.placement.levelling`), with partitions from all topics alike and one new
    replica a partition where that will do. Then level the leaders.
    A replica that is made anew takes the place in the list of the one it stands for. Nothing is drawn at random.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import PlacementError
from kafka_capacity.placement.filling import give_up_surplus, make_missing
from kafka_capacity.placement.homing import level_between_homes
from kafka_capacity.placement.layout import Layout
from kafka_capacity.placement.leading import LeaderLevelling
from kafka_capacity.placement.levelling import Levelling
from kafka_capacity.placement.problem import Balance, PlacementProblem, RackRule
from kafka_capacity.placement.refining import refine
from kafka_capacity.placement.registry import register


@register("fewest-bytes")
class FewestBytesPlacer:
    """The placer of that name."""

    name: str

    def place(self, problem: PlacementProblem) -> NDArray[np.int32]:
        """Place all partitions.

        Returns:
            int32[P, W], broker ids, the preferred leader first, padded with -1.

        Raises:
            PlacementError: the target has fewer brokers than a replication factor asks for, or only some have a rack.
        """
        _check_enough_brokers(problem)
        _check_racks(problem)
        layout = Layout(problem)
        give_up_surplus(layout)
        level_between_homes(layout)
        make_missing(layout)
        _level(layout)
        refine(layout)
        LeaderLevelling(layout).run()
        return layout.broker_ids()


def _level(layout: Layout) -> None:
    """Bring every broker within the limits of the balance."""
    limits = layout.limits
    Levelling(
        layout,
        unit=limits.unit,
        load=layout.load,
        fair=limits.fair,
        lower=limits.lower,
        upper=limits.upper,
        price=None if layout.problem.balance is Balance.BYTES else layout.problem.size_bytes.astype(np.float64),
    ).run()


def _check_enough_brokers(problem: PlacementProblem) -> None:
    usable = int((~problem.target.is_fenced).sum())
    most = int(problem.replication_factor.max(initial=0))
    if most > usable:
        row = int(np.argmax(problem.replication_factor))
        topic = problem.partitions.topics[int(problem.partitions.topic[row])]
        raise PlacementError(
            f"topic {topic!r} needs replication factor {most} but the target has only {usable} unfenced broker"
            f"{'' if usable == 1 else 's'}; lower the factor or add brokers",
            kafka_type="org.apache.kafka.common.errors.InvalidReplicationFactorException",
        )


def _check_racks(problem: PlacementProblem) -> None:
    """Refuse what Kafka's own rack-aware placement refuses: a broker whose rack was forgotten breaks rack safety."""
    racks = problem.target.racks
    lacking = [int(b) for b, rack in zip(problem.target.ids, racks, strict=True) if rack is None]
    if problem.rack_rule is not RackRule.OFF and 0 < len(lacking) < len(racks):
        raise PlacementError(
            f"broker{'s' if len(lacking) > 1 else ''} {', '.join(map(str, lacking[:5]))} of the target "
            f"{'have' if len(lacking) > 1 else 'has'} no rack while others have one; give the rack, or set the rack "
            "rule to off",
            kafka_type="org.apache.kafka.common.errors.InvalidReplicationFactorException",
        )
