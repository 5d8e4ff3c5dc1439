"""What an option must not break. All constraints are looked at; each that breaks gives one excuse with figures."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.placement.relaxing import LimitState
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.log_dirs import FullLogDir
from kafka_capacity.proposal.scenario import BrokerLoads, PlacementMetrics, PlacementScenario
from kafka_capacity.text.wording import shown_throttle

MOST_UNKNOWN_SIZES_RATIO = 0.1
"""Above this share of partitions without a size no option is judged to fit."""
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


def _relaxed(
    excuses: list[Excuse], limits: tuple[LimitState, ...], constraint: str, ratio: float | None = None
) -> list[Excuse]:
    """Add to the excuse of the worst broker what would do: brokers, or a higher limit."""
    state = next((one for one in limits if one.constraint == constraint and one.is_passed), None)
    if state is None or not excuses:
        return excuses
    text = state.relaxation()
    if ratio is not None:
        # Rounded up: what is named must do.
        needed = float(np.ceil(ratio * state.highest_ratio * 100 - 1e-9) / 100)
        higher = f"a disk limit of {needed:.2f} instead of {ratio:.2f}"
        larger = f"disks {state.rounded_ratio:.2f} times as large"
        text = text.replace(f"a limit {state.rounded_ratio:.2f} times as high", higher if needed <= 1.0 else larger)
    return [dataclasses.replace(excuses[0], reason=f"{excuses[0].reason}; {text}"), *excuses[1:]]


def _disk(scenario: PlacementScenario, loads: BrokerLoads, limits: tuple[LimitState, ...]) -> list[Excuse]:
    capacity = loads.brokers.disk_capacity_bytes * scenario.disk_limit_ratio
    found = [
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
    return _relaxed(found, limits, "disk", scenario.disk_limit_ratio)


def _disk_later(
    scenario: PlacementScenario, loads: BrokerLoads, later_bytes: NDArray[np.float64] | None
) -> list[Excuse]:
    if later_bytes is None:
        return []
    capacity = loads.brokers.disk_capacity_bytes * scenario.disk_limit_ratio
    return [
        Excuse(
            constraint="disk_later",
            where=f"broker {broker} (rack {rack})",
            needed=needed,
            available=available,
            unit="bytes",
            reason=(
                f"broker {broker} (rack {rack}) would hold {needed / _GIB:,.0f} GiB once the records of the topics "
                f"with new partitions have been replaced, but may be filled to {available / _GIB:,.0f} GiB "
                f"({scenario.disk_limit_ratio:.0%} of its disk)"
            ),
        )
        for broker, rack, needed, available in _over(loads, later_bytes, capacity)
        if needed > float(loads.bytes_after[loads.brokers.ids == broker].sum())
    ]


def _log_dirs(scenario: PlacementScenario, full: tuple[FullLogDir, ...]) -> list[Excuse]:
    found = []
    for one in full:
        mend = (
            "; its other log dirs have room: move replicas between them first, which Kafka can and this plan does not"
            if one.is_elsewhere_room
            else ""
        )
        found.append(
            Excuse(
                constraint="log_dir",
                where=f"broker {one.broker_id} (rack {one.rack or 'none'}), log dir {one.path}",
                needed=one.held_bytes,
                available=one.limit_bytes,
                unit="bytes",
                reason=(
                    f"log dir {one.path} of broker {one.broker_id} (rack {one.rack or 'none'}) would hold "
                    f"{one.held_bytes / _GIB:,.0f} GiB but may be filled to {one.limit_bytes / _GIB:,.0f} GiB "
                    f"({scenario.disk_limit_ratio:.0%} of it){mend}"
                ),
            )
        )
    return found


def _replica_count(loads: BrokerLoads, most: int | None, limits: tuple[LimitState, ...]) -> list[Excuse]:
    if most is None:
        return []
    available = np.full(len(loads.brokers), float(most))
    found = [
        Excuse(
            constraint="replica_count",
            where=f"broker {broker} (rack {rack})",
            needed=needed,
            available=float(most),
            unit="replicas",
            reason=f"broker {broker} (rack {rack}) would hold {needed:,.0f} replicas but may hold {most:,}",
        )
        for broker, rack, needed, _ in _over(loads, loads.replicas_after.astype(np.float64), available)
    ]
    state = next((one for one in limits if one.constraint == "replica_count" and one.is_passed), None)
    if state is None or not found:
        return found
    higher = f"a limit of {found[0].needed:,.0f}"
    text = state.relaxation().replace(f"a limit {state.rounded_ratio:.2f} times as high", higher)
    return [dataclasses.replace(found[0], reason=f"{found[0].reason}; {text}"), *found[1:]]


def _pins(off_pins: int) -> list[Excuse]:
    if not off_pins:
        return []
    return [
        Excuse(
            constraint="pin",
            where="the pinned topics",
            needed=float(off_pins),
            available=0.0,
            unit="partitions",
            reason=(
                f"{off_pins:,} partition{' of a pinned topic' if off_pins == 1 else 's of pinned topics'} would be on "
                "brokers that they may not be on; choose a placer that looks at pins, such as fewest-bytes"
            ),
        )
    ]


def _network(loads: BrokerLoads, limits: tuple[LimitState, ...]) -> list[Excuse]:
    every: list[Excuse] = []
    for direction, needed_by, limit in (
        ("in", loads.peak_in_after, loads.brokers.network_in_bytes_per_second),
        ("out", loads.peak_out_after, loads.brokers.network_out_bytes_per_second),
    ):
        found = []
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
        every += _relaxed(found, limits, f"network_{direction}")
    return every


def _throttle(scenario: PlacementScenario, metrics: PlacementMetrics) -> list[Excuse]:
    if metrics.duration_seconds is not None:
        return []
    needed, available = metrics.smallest_throttle_bytes_per_second, scenario.throttle_bytes_per_second
    does = "must send" if metrics.bottleneck_direction == "out" else "must receive"
    produced = f"{shown_throttle(needed)} of what is produced to the moving partitions meanwhile"
    return [
        Excuse(
            constraint="throttle",
            where=f"broker {metrics.bottleneck_broker}, {metrics.bottleneck_direction}",
            needed=needed,
            available=available,
            unit="bytes_per_second",
            reason=(
                f"the move never ends with a throttle of {shown_throttle(available)}: broker "
                f"{metrics.bottleneck_broker} {does} {produced}; "
                + ("use a larger throttle" if needed >= available else "its network has no room for the copies")
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
    mend = "choose a placer that looks at racks, or another rule"
    if scenario.pins:
        mend = "pin topics to brokers of more racks, choose a placer that looks at racks, or another rule"
    return [
        Excuse(
            constraint="rack_rule",
            where="the whole cluster",
            needed=float(narrow_partitions),
            available=0.0,
            unit="partitions",
            reason=(
                f"{narrow_partitions:,} partition{'' if one else 's'} would be on fewer racks than the rack rule "
                f"{scenario.rack_rule} asks for; {mend}"
            ),
        )
    ]


def _disk_on_the_way(loads: BrokerLoads) -> list[Excuse]:
    """The old copy stays until the new one is in sync, so while everything moves at once a disk holds both."""
    together = np.where(loads.move_in_bytes > 0, loads.bytes_before + loads.move_in_bytes, 0).astype(np.float64)
    return [
        Excuse(
            constraint="disk_on_the_way",
            where=f"broker {broker} (rack {rack})",
            needed=needed,
            available=available,
            unit="bytes",
            reason=(
                f"broker {broker} (rack {rack}) would hold {needed / _GIB:,.0f} GiB while old and new copies stand "
                f"side by side, but its disk has {available / _GIB:,.0f} GiB"
            ),
        )
        for broker, rack, needed, available in _over(loads, together, loads.brokers.disk_capacity_bytes)
    ]


def _in_sync(stale_partitions: int) -> list[Excuse]:
    if not stale_partitions:
        return []
    one = stale_partitions == 1
    return [
        Excuse(
            constraint="in_sync",
            where="partitions with replicas out of sync",
            needed=float(stale_partitions),
            available=0.0,
            unit="partitions",
            reason=(
                f"{stale_partitions:,} partition{' would give up its' if one else 's would give up their'} only "
                "in-sync replicas and keep others that are behind; let those catch up first"
            ),
        )
    ]


def size_excuses(unknown_size_ratio: float) -> list[Excuse]:
    """Refuse to judge where the sizes of more than :data:`MOST_UNKNOWN_SIZES_RATIO` of the partitions are not known."""
    if unknown_size_ratio <= MOST_UNKNOWN_SIZES_RATIO:
        return []
    return [
        Excuse(
            constraint="sizes",
            where="the inventory",
            needed=1.0 - MOST_UNKNOWN_SIZES_RATIO,
            available=1.0 - unknown_size_ratio,
            unit="ratio",
            reason=(
                f"the sizes of {unknown_size_ratio:.0%} of the partitions are not known, so neither bytes nor disks "
                "nor times can be judged; stage an inventory with log dirs"
            ),
        )
    ]


def placement_excuses(
    scenario: PlacementScenario,
    loads: BrokerLoads,
    metrics: PlacementMetrics,
    *,
    narrow_partitions: int,
    off_pins: int = 0,
    full_dirs: tuple[FullLogDir, ...] = (),
    later_bytes: NDArray[np.float64] | None = None,
    limits: tuple[LimitState, ...] = (),
    stale_partitions: int = 0,
    unknown_size_ratio: float = 0.0,
) -> tuple[Excuse, ...]:
    """List every constraint that a placement breaks, the same order for the same input.

    Args:
        scenario: what is asked.
        loads: each broker before and after.
        metrics: the figures of the scenario.
        narrow_partitions: how many partitions would be on fewer racks than the rack rule asks for.
        off_pins: how many would be on brokers that their topics may not be on.
        full_dirs: log directories that would hold too much.
        later_bytes: float64[B], what brokers hold once topics with new partitions are even; ``None`` without such.
        limits: how the brokers stand to their hard limits, for what it would take to keep them.
        stale_partitions: how many would give up their only in-sync replicas.
        unknown_size_ratio: of how many partitions the size is not known, as a share of all.
    """
    return (
        *size_excuses(unknown_size_ratio),
        *_racks(scenario, narrow_partitions),
        *_pins(off_pins),
        *_disk(scenario, loads, limits),
        *_log_dirs(scenario, full_dirs),
        *_disk_later(scenario, loads, later_bytes),
        *_disk_on_the_way(loads),
        *_replica_count(loads, scenario.most_replicas_per_broker, limits),
        *_network(loads, limits),
        *_throttle(scenario, metrics),
        *_leaderless(metrics),
        *_in_sync(stale_partitions),
    )
