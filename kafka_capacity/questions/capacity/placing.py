"""Place the replicas of an option, once for every shape, and sum up what brokers carry and what the change copies.

The placer is the one of every proposed placement (:mod:`kafka_capacity.proposal.placing`), but the placements are not
those of the question about the change, even for the same count of brokers. There the disks and networks of the observed
brokers bound where replicas go; here a placement stands for every shape, each with disks and networks of its own, so
brokers are placed without figures and log dirs, and each shape is judged on the loads afterwards. Where the disks of
today's brokers differ in size, their options are placed by them, as a move would: an equal share would be full on the
smallest.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from kafka_capacity.demand.workload import Workload
from kafka_capacity.hardware.plain import filled
from kafka_capacity.hardware.rack_traffic import rack_aware_of, spread_by_rack
from kafka_capacity.kafka.arrays import Flags, Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import bytes_per_broker, diff_assignments
from kafka_capacity.kafka.cluster.snapshot import LogDirs, Snapshot
from kafka_capacity.kafka.placement.registry import FEWEST_BYTES
from kafka_capacity.kafka.placement.takeover import level_takeovers
from kafka_capacity.kafka.reassignment.flow import MoveDuration
from kafka_capacity.proposal.constraints.brokers import DISK, DISK_ON_THE_WAY
from kafka_capacity.proposal.constraints.moves import THROTTLE
from kafka_capacity.proposal.constraints.partitions import IN_SYNC, LEADERS, size_excuses
from kafka_capacity.proposal.constraints.registry import ASKED
from kafka_capacity.proposal.evaluate import evaluate_placement, time_move
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.capacity.cost import TrafficBetweenRacks, moved_between_racks, traffic_between_racks
from kafka_capacity.questions.capacity.loads import PlacedLoads, placed_loads
from kafka_capacity.questions.capacity.options import SizingInputs, brokers_of, placed_brokers_of
from kafka_capacity.questions.capacity.redundancy import loss_excuses
from kafka_capacity.questions.capacity.results import Copying, PlacementKey


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedOption:
    """One placement, ready for every shape."""

    brokers: Brokers  # with the figures of the observed ones
    excuses: tuple[Excuse, ...]  # of the change itself, and of what cannot be lost; for every shape alike
    loads: PlacedLoads | None = None  # `None` where Kafka would refuse the placement
    traffic: TrafficBetweenRacks | None = None  # what leaves its rack, `None` likewise
    in_place: Copying = field(default_factory=Copying)  # what is copied when brokers keep their machines or disks
    everything: Copying = field(default_factory=Copying)  # all replicas, for brokers that cannot keep their disks


def place_option(inputs: SizingInputs, key: PlacementKey) -> PlacedOption:
    """Place the replicas of one option and sum up what the brokers carry."""
    snapshot, workload, request = inputs.snapshot, inputs.workload, inputs.request
    brokers, factor = brokers_of(inputs, key), key.replication_factor
    excuses: tuple[Excuse, ...] = ()
    after, in_place = snapshot.replicas, Copying()

    def between_racks(copied: Flags) -> float:
        return moved_between_racks(snapshot.brokers, brokers, snapshot.leader, after, copied, workload.size_bytes)

    if key.is_observed:
        excuses = _against_rules(inputs, key)
    else:
        scenario = _scenario(inputs, key, placed_brokers_of(inputs, key))
        result = evaluate_placement(_without_log_dirs(snapshot), workload.load, scenario, is_bound_solved=False)
        # How to get there is judged with the change: a throttle can be raised, and who is down or behind today does not
        # tell how many brokers are enough. Disks are judged at every date.
        passed = {THROTTLE, LEADERS.name, IN_SYNC.name, DISK.name, DISK_ON_THE_WAY.name}
        excuses = tuple(excuse for excuse in result.excuses if excuse.constraint not in passed)
        if result.diff is None or result.metrics is None:
            return PlacedOption(brokers=brokers, excuses=excuses)
        after = result.diff.after
        in_place = Copying(
            moved_bytes=float(result.metrics.moved_bytes),
            moved_between_racks_bytes=between_racks(result.diff.added),
            seconds=result.metrics.duration_seconds,
            least_throttle_bytes_per_second=result.metrics.smallest_throttle_bytes_per_second,
        )
        if request.is_takeover_levelled:
            after = _with_level_takeovers(brokers, after, workload)
    held, onto_others = bytes_per_broker(brokers, after, workload.size_bytes), _time_onto_others(inputs, brokers, after)
    sizes = inputs.sizes
    if request.loads.is_produced_in_rack:
        share = rack_aware_of(workload, brokers.index_of(after), brokers).share
        workload, sizes = spread_by_rack(workload, sizes, share)
    loads = placed_loads(
        workload,
        brokers,
        after,
        request.loads,
        replication_factor=factor,
        sizes=sizes,
        conditions=request.limits.conditions(),
    )
    return PlacedOption(
        brokers=brokers,
        excuses=(*size_excuses(snapshot), *excuses, *loss_excuses(inputs, loads, factor)),
        loads=loads,
        traffic=traffic_between_racks(loads, replication_factor=factor),
        in_place=in_place,
        everything=Copying(
            moved_bytes=float(held.sum()),
            moved_between_racks_bytes=between_racks(after >= 0),
            seconds=onto_others.seconds,
            least_throttle_bytes_per_second=onto_others.smallest_throttle_bytes_per_second,
        ),
    )


def _time_onto_others(inputs: SizingInputs, brokers: Brokers, after: Int32s) -> MoveDuration:
    """Time the copying of all replicas to as many other brokers, none of which has any, whatever their networks."""
    load, observed = inputs.workload.load, inputs.snapshot.brokers
    # All are numbered anew, today's first: ids may be as high as there are numbers.
    count = len(observed)
    today = Brokers.of(range(count), observed.racks, is_fenced=observed.is_fenced.tolist())
    snapshot = dataclasses.replace(
        inputs.snapshot,
        brokers=today,
        replicas=observed.index_of(inputs.snapshot.replicas),
        leader=observed.index_of(inputs.snapshot.leader),
    )
    place = brokers.index_of(after)
    return time_move(
        snapshot,
        load.bytes_in_mean_bytes_per_second,
        load.bytes_out_mean_bytes_per_second,
        throttle_bytes_per_second=inputs.request.loads.throttle_bytes_per_second,
        brokers=today.joined(Brokers.of(range(count, count + len(brokers)), brokers.racks)),
        diff=diff_assignments(snapshot.replicas, np.where(place >= 0, count + place, -1).astype(np.int32)),
        size_bytes=inputs.workload.size_bytes,
    )


def _against_rules(inputs: SizingInputs, key: PlacementKey) -> tuple[Excuse, ...]:
    """Return which of the rules that were asked for today's replica lists do not keep."""
    if not (inputs.request.broker_maxima or inputs.request.pins):
        return ()
    snapshot, load = _without_log_dirs(inputs.snapshot), inputs.workload.load
    scenario = _scenario(inputs, key, snapshot.brokers)
    found = evaluate_placement(snapshot, load, scenario, made=snapshot.replicas, is_bound_solved=False).excuses
    return tuple(excuse for excuse in found if excuse.constraint in ASKED)


def _with_level_takeovers(brokers: Brokers, after: Int32s, workload: Workload) -> Int32s:
    """Return the lists in the order that levels what is taken over after losses as far as it goes.

    No list of a placement that nobody has made yet costs more for another order, and which shapes it must fit is not
    known yet. A planned one has its lists reordered where networks ask for it.
    """
    held = brokers.index_of(after)
    levelled = level_takeovers(
        held,
        workload.load.bytes_in_peak_bytes_per_second,
        workload.load.bytes_out_peak_bytes_per_second,
        rack=brokers.rack_indexes(),
        usable=np.isin(np.arange(len(brokers)), held),
    )
    return np.where(levelled >= 0, brokers.ids[levelled], -1).astype(np.int32)


def _without_log_dirs(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot as if nobody had told its log dirs: brokers of other shapes have other disks."""
    nothing = np.empty(0, dtype=np.float64)
    none = LogDirs(broker_id=nothing.astype(np.int32), path=(), total_bytes=nothing, usable_bytes=nothing)
    return dataclasses.replace(snapshot, log_dirs=none, log_dir=np.full_like(snapshot.log_dir, -1))


def _scenario(inputs: SizingInputs, key: PlacementKey, target: Brokers) -> PlacementScenario:
    request = inputs.request
    # One placement is judged on every shape: the least limit that it can keep is that of all others, too.
    held, factor = inputs.snapshot.replicas, key.replication_factor
    least = (int((held >= 0).sum()) if factor is None else len(held) * factor) / max(1, len(target))
    limits = [shape.replica_limit for shape in (request.today, *request.shapes)]
    goal = min((one for one in limits if least <= one < np.inf), default=None)
    return filled(
        PlacementScenario,
        request,
        scenario_id=f"{key.broker_count:03d}-brokers",
        target=target,
        placer=FEWEST_BYTES,
        replication_factor=key.replication_factor,
        throttle_bytes_per_second=request.loads.throttle_bytes_per_second,
        disk_limit_ratio=request.limits.disk_ratio,
        replica_goal=None if goal is None else int(goal),
    )
