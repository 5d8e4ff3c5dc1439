"""What may become of the move, and of single log directories."""

from __future__ import annotations

from kafka_capacity.proposal.constraints.brokers import DISK_ON_THE_WAY
from kafka_capacity.proposal.constraints.kinds import Proposal
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.log_dirs import full_log_dirs, held_today
from kafka_capacity.text import whole_percent
from kafka_capacity.text.wording import shown_throttle

_GIB = 1024.0**3
THROTTLE = "throttle"
ALL_AT_ONCE = frozenset({DISK_ON_THE_WAY.name, THROTTLE})
"""What a move breaks when all of it starts at once; waves and another throttle may do."""
LOG_DIR = "log_dir"
WINDOW = "window"  # of the day in which waves may copy: a wave that is longer breaks it


def throttle(proposal: Proposal) -> list[Excuse]:
    """Refuse a move that never ends."""
    scenario, metrics = proposal.scenario, proposal.metrics
    if metrics.duration_seconds is not None:
        return []
    needed, available = metrics.smallest_throttle_bytes_per_second, scenario.throttle_bytes_per_second
    does = "must send" if metrics.bottleneck_direction == "out" else "must receive"
    produced = f"{shown_throttle(needed)} of what is produced to the moving partitions meanwhile"
    return [
        Excuse(
            constraint=THROTTLE,
            where=f"broker {metrics.bottleneck_broker}, {metrics.bottleneck_direction}",
            needed=needed,
            available=available,
            unit="bytes_per_second",
            reason=(
                f"the move never finishes with a throttle of {shown_throttle(available)}: broker "
                f"{metrics.bottleneck_broker} {does} {produced}; "
                + ("use a larger throttle" if needed >= available else "its network has no capacity for the copies")
            ),
        )
    ]


def log_dirs(proposal: Proposal) -> list[Excuse]:
    """List the log directories that would hold too much."""
    if proposal.in_dirs is None:
        return []
    scenario, found = proposal.scenario, []
    before = held_today(proposal.start, proposal.dirs, dict(scenario.replaced))
    old_id = {new: old for old, new in scenario.replaced}
    for one in full_log_dirs(proposal.problem, proposal.dirs, proposal.in_dirs, before):
        remedy = (
            "; its other log dirs have room: move replicas between them first, which Kafka can do but this plan "
            "does not"
            if one.is_elsewhere_room
            else ""
        )
        name = f"broker {one.broker_id} (rack {one.rack or 'none'})"
        found.append(
            Excuse(
                constraint=LOG_DIR,
                where=f"{name}, log dir {one.path}",
                broker_id=one.broker_id,
                needed=one.held_bytes,
                available=one.limit_bytes,
                unit="bytes",
                reason=(
                    f"log dir {one.path} of {name} would hold {one.held_bytes / _GIB:,.0f} GiB but may be filled to "
                    f"{one.limit_bytes / _GIB:,.0f} GiB ({whole_percent(scenario.disk_limit_ratio)} of it){remedy}"
                ),
                before=one.held_before_bytes if scenario.is_judged_against_today else None,
                replaced_broker_id=old_id.get(one.broker_id),
            )
        )
    return found
