"""What may become of the move, and of single log directories."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kafka_capacity.hardware.limits import Resource, amounts_apart
from kafka_capacity.proposal.constraints.brokers import DISK_ON_THE_WAY
from kafka_capacity.proposal.constraints.kinds import Proposal, limit_share, other_data, where_of
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.log_dirs import held_today
from kafka_capacity.text import format_limit, format_throttle, format_throttle_above
from kafka_capacity.text.wording import few_names

THROTTLE = "throttle"
ALL_AT_ONCE = frozenset({DISK_ON_THE_WAY.name, THROTTLE})
"""What a move breaks when all of it starts at once; waves and another throttle may do."""
LOG_DIR = "log_dir"
PLACEMENT = "placement"  # where a placer finds no place for a replica
WINDOW = "window"  # of the day in which waves may copy: a wave that is longer breaks it


def no_throttle_helps(broker: int | None = None, direction: str | None = None) -> str:
    """Say why no throttle is large enough, a clause; of one broker where it is known, ``fetch`` for a fetcher.

    >>> no_throttle_helps(5, "out")
    'no throttle helps: the network of broker 5 has nothing left for the copies'
    """
    who = "a network or fetcher"
    if broker is not None:
        who = f"{'a fetcher' if direction == 'fetch' else 'the network'} of broker {broker}"
    return f"no throttle helps: {who} has nothing left for the copies"


def too_little_left(brokers: Sequence[int], throttle_bytes_per_second: float, headroom_ratio: float) -> str:
    """Say that the automatic throttle of some brokers is too small, and what would do, a clause.

    >>> too_little_left([2, 5], 0.0, 0.2).split("; ")[0]
    'the automatic throttle of brokers 2, 5 is 0 B/s, all that 20 % headroom leaves at peak'
    """
    who = f"{'broker' if len(brokers) == 1 else 'brokers'} {few_names(brokers, 5)}"
    return (
        f"the automatic throttle of {who} is {format_throttle(throttle_bytes_per_second)}, all that "
        f"{format_limit(headroom_ratio)} headroom leaves at peak; use a smaller headroom or a fixed throttle"
    )


def throttle(proposal: Proposal) -> list[Excuse]:
    """Refuse a move that never ends."""
    scenario, metrics = proposal.scenario, proposal.metrics
    if metrics.duration_seconds is not None:
        return []
    needed, available = metrics.smallest_throttle_bytes_per_second, scenario.throttle_bytes_per_second
    broker, direction = metrics.bottleneck_broker, metrics.bottleneck_direction
    does = "must send" if direction == "out" else "must receive"
    produced = f"{format_throttle_above(needed)} of what is produced to the moving partitions meanwhile"
    why = f" with a throttle of {format_throttle(available)}: broker {broker} {does} {produced}; use a larger throttle"
    if math.isinf(needed):
        why = f", and {no_throttle_helps(broker, direction)}"
    return [
        Excuse(
            constraint=THROTTLE,
            where=f"broker {broker}, {direction}",
            needed=needed,
            available=available,
            unit="bytes_per_second",
            reason=f"the move never finishes{why}",
        )
    ]


def log_dirs(proposal: Proposal) -> list[Excuse]:
    """List the log directories of the target that would hold more than they may, the worst first."""
    placed, room, target = proposal.in_dirs, proposal.problem.log_dirs, proposal.problem.target
    if placed is None or room is None:
        return []
    scenario, found = proposal.scenario, []
    before = held_today(proposal.start, proposal.dirs, dict(scenario.replaced))
    old_id = {new: old for old, new in scenario.replaced}
    for place in np.flatnonzero(placed.is_over & np.isin(room.broker_id, target.ids)).tolist():
        broker, path = int(room.broker_id[place]), proposal.dirs.path[place]
        held, limit = float(placed.bytes_after[place]), float(room.limit_bytes[place])
        siblings = (room.broker_id == broker) & ~placed.is_over & room.takes_replicas
        remedy = ""
        if (room.limit_bytes - placed.bytes_after)[siblings].sum() >= held - limit:
            remedy = (
                "; its other log dirs have room: move replicas between them first, which Kafka can do but this plan "
                "does not"
            )
        name = where_of(target, int(np.searchsorted(target.ids, broker)))
        written = amounts_apart(Resource.DISK, held, limit)
        other = other_data(written, float(proposal.dirs.known_other_bytes[place]))
        excuse = Excuse(
            constraint=LOG_DIR,
            where=f"{name}, log dir {path}",
            broker_id=broker,
            needed=held,
            available=limit,
            unit="bytes",
            reason=(
                f"log dir {path} of {name} would hold {written(held)} but may be filled to {written(limit)} "
                f"({limit_share(scenario, 'it', other)}){remedy}"
            ),
            before=float(before[place]) if scenario.is_judged_against_today else None,
            replaced_broker_id=old_id.get(broker),
        )
        found.append((-held / max(limit, 1.0), broker, path, excuse))
    return [excuse for *_, excuse in sorted(found, key=lambda one: one[:3])]
