"""What an option must not break. All constraints are looked at; each that breaks gives one excuse with figures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.sizing.excuse import Excuse
from kafka_capacity.sizing.scenario import BrokerLoads, PlacementMetrics, PlacementScenario

_GIB = 1024.0**3
_MIB = 1024.0**2


def _over(
    loads: BrokerLoads, needed: NDArray[np.float64], available: NDArray[np.float64]
) -> list[tuple[int, str, float, float]]:
    """List the target brokers that need more than they have: (id, rack, needed, available), the worst first."""
    is_over = ~loads.is_removed & np.isfinite(available) & (needed > available)
    positions = np.nonzero(is_over)[0]
    order = np.argsort(-(needed[positions] / np.maximum(available[positions], 1.0)), kind="stable")
    return [
        (
            int(loads.brokers.ids[i]),
            loads.brokers.racks[i] or "none",
            float(needed[i]),
            float(available[i]),
        )
        for i in positions[order].tolist()
    ]


def _disk(scenario: PlacementScenario, loads: BrokerLoads) -> list[Excuse]:
    capacity = loads.brokers.disk_capacity_bytes * scenario.disk_limit_ratio
    return [
        Excuse(
            constraint="disk",
            where=f"broker {broker} (rack {rack})",
            needed=needed,
            available=available,
            unit="bytes",
            reason=(
                f"broker {broker} (rack {rack}) would hold {needed / _GIB:,.0f} GiB but may be filled to "
                f"{available / _GIB:,.0f} GiB ({scenario.disk_limit_ratio:.0%} of its disk): "
                f"{(needed - available) / _GIB:,.0f} GiB too much"
            ),
        )
        for broker, rack, needed, available in _over(loads, loads.bytes_after.astype(np.float64), capacity)
    ]


def _network(loads: BrokerLoads) -> list[Excuse]:
    found = []
    for direction, needed_by, limit in (
        ("in", loads.peak_in_after, loads.brokers.network_in_bytes_per_second),
        ("out", loads.peak_out_after, loads.brokers.network_out_bytes_per_second),
    ):
        for broker, rack, needed, available in _over(loads, needed_by, limit):
            found.append(
                Excuse(
                    constraint=f"network_{direction}",
                    where=f"broker {broker} (rack {rack})",
                    needed=needed,
                    available=available,
                    unit="bytes_per_second",
                    reason=(
                        f"broker {broker} (rack {rack}) would carry {needed / _MIB:,.1f} MiB/s {direction} at peak "
                        f"but its network takes {available / _MIB:,.1f} MiB/s"
                    ),
                )
            )
    return found


def _throttle(scenario: PlacementScenario, metrics: PlacementMetrics) -> list[Excuse]:
    if metrics.duration_seconds is not None:
        return []
    needed, available = metrics.smallest_throttle_bytes_per_second, scenario.throttle_bytes_per_second
    does = "must send" if metrics.bottleneck_direction == "out" else "must receive"
    return [
        Excuse(
            constraint="throttle",
            where=f"broker {metrics.bottleneck_broker}, {metrics.bottleneck_direction}",
            needed=needed,
            available=available,
            unit="bytes_per_second",
            reason=(
                f"the move never ends with a throttle of {available / 1e6:,.1f} MB/s: broker "
                f"{metrics.bottleneck_broker} {does} {needed / 1e6:,.1f} MB/s of what is produced to the moving "
                "partitions meanwhile; use a larger throttle"
            ),
        )
    ]


def _leaderless(metrics: PlacementMetrics) -> list[Excuse]:
    count = metrics.unreachable_partitions
    if not count:
        return []
    return [
        Excuse(
            constraint="leader",
            where="offline partitions",
            needed=float(count),
            available=0.0,
            unit="partitions",
            reason=(
                f"{count} partition{'' if count == 1 else 's'} to be copied "
                f"{'has' if count == 1 else 'have'} no leader to copy from; bring a replica back first"
            ),
        )
    ]


def _racks(scenario: PlacementScenario, narrow_partitions: int) -> list[Excuse]:
    if not narrow_partitions:
        return []
    one = narrow_partitions == 1
    return [
        Excuse(
            constraint="rack_rule",
            where="the whole cluster",
            needed=float(narrow_partitions),
            available=0.0,
            unit="partitions",
            reason=(
                f"{narrow_partitions:,} partition{'' if one else 's'} would be on fewer racks than the rack rule "
                f"{scenario.rack_rule} asks for; choose a placer that looks at racks, or another rule"
            ),
        )
    ]


def placement_excuses(
    scenario: PlacementScenario, loads: BrokerLoads, metrics: PlacementMetrics, *, narrow_partitions: int
) -> tuple[Excuse, ...]:
    """List every constraint that a placement breaks, the same order for the same input.

    Args:
        scenario: what was asked.
        loads: of the brokers.
        metrics: of the change.
        narrow_partitions: how many partitions would be on fewer racks than the rack rule asks for.
    """
    return (
        *_racks(scenario, narrow_partitions),
        *_disk(scenario, loads),
        *_network(loads),
        *_throttle(scenario, metrics),
        *_leaderless(metrics),
    )
