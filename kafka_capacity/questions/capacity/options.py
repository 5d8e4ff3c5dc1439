"""Which options are tried: broker counts × shapes × racks × replication factors, and always the two that cost nothing.

Whatever is asked, two options are always there: to do nothing, and to scale in, by one broker of every rack. Where
today's volumes are larger than they must be, a third is to replace them by smaller ones.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.demand.workload import HIGH, Workload
from kafka_capacity.hardware.limits import Limits, Resource
from kafka_capacity.hardware.plain import known_median
from kafka_capacity.hardware.shapes import TODAY, Shape, hardware
from kafka_capacity.kafka.arrays import Flags, Floats
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.brokers import FIGURES, Brokers
from kafka_capacity.kafka.cluster.diff import bytes_per_broker
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.placement.problem import Balance, RackRule
from kafka_capacity.proposal.grid import DEFAULT_TOLERANCE_RATIO, BrokerChanges, proposed_brokers
from kafka_capacity.proposal.pins import Pin
from kafka_capacity.questions.capacity.added import added_bytes
from kafka_capacity.questions.capacity.loads import LoadSettings
from kafka_capacity.questions.capacity.results import (
    CapacityOption,
    MonthlyCost,
    OptionKind,
    PlacementKey,
)
from kafka_capacity.text import plural

MAX_DEFAULT_COUNTS = 8
_MOST_IDS = 6  # of brokers in the name of an option
_WEAKER_RATIO = 0.75  # of what brokers in the middle have: below it one is weaker than the others
_WEAKER_SHARE = 0.25  # of all brokers: more are no exceptions, but another generation of machines


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingRequest:
    """What is asked."""

    today: Shape  # the shape of the observed brokers
    estimates: tuple[Shape, ...] = ()  # today's brokers cost what the nearest of them does; empty for today's price
    shapes: tuple[Shape, ...] = ()  # to try, besides today's
    broker_counts: tuple[int, ...] = ()  # to try; empty for `default_counts`
    moved_broker_counts: tuple[int, ...] = ()  # those of the planned move, which are tried as well
    new_broker_racks: tuple[str, ...] = ()  # which its new brokers go to in turn; empty for the smallest of today's
    extra_racks: tuple[int, ...] = (0,)  # how many racks more than today, which new brokers go to
    replication_factors: tuple[int | None, ...] = (None,)  # to try, of all topics; `None` is each topic's own
    moved_replication_factor: int | None = None  # the one that the planned move gives all topics, likewise
    limits: Limits = field(default_factory=Limits)  # how far resources may be used
    loads: LoadSettings = field(default_factory=LoadSettings)  # what loads hang on
    estimate: int = HIGH  # of growth, that decides
    is_takeover_levelled: bool = True  # whether lists are put in the order that levels what is taken over after losses
    rack_rule: RackRule = RackRule.STRICT  # how far they must be spread
    balance: Balance = Balance.BYTES  # what is made even
    tolerance_ratio: float = DEFAULT_TOLERANCE_RATIO[Balance.BYTES]  # how far from its share a broker may be
    pins: tuple[Pin, ...] = ()  # which topics may be on some brokers only
    broker_maxima: tuple[tuple[str, int], ...] = ()  # pairs of a constraint and how many a broker may have
    seed: int = 0  # of every random draw
    budget_usd_per_month: float | None = None  # what an option may cost; `None` for as much as it does


def rack_step(brokers: Brokers) -> int:
    """Return how many brokers are one of every rack."""
    return max(1, len(brokers.rack_names()))


def useful_counts(observed: Brokers, most: int) -> list[int]:
    """Return the counts up to a number that are a multiple of the racks, or give the smallest rack one broker more.

    A broker more in another rack adds nothing where every rack has a replica of each partition. New ones go to the
    smallest.
    """
    step, now = rack_step(observed), len(observed)
    sizes = Counter(rack for rack in observed.racks if rack is not None).values()
    larger = range(min(sizes, default=0) + 1, max(sizes, default=0))
    uneven = [now + sum(max(0, least - size) for size in sizes) for least in larger]
    return sorted({*range(step, most + 1, step), *(count for count in uneven if count <= most)})


def default_counts(observed: Brokers, largest_factor: int) -> tuple[int, ...]:
    """Return the counts to try where none are asked for: the useful ones up to twice today's.

    They are at most :data:`MAX_DEFAULT_COUNTS`, evenly spread, today's among them, and none below the largest factor.
    """
    now = len(observed)
    counts = [count for count in useful_counts(observed, 2 * now) if count >= max(1, largest_factor)]
    while len(counts) > MAX_DEFAULT_COUNTS:
        place = next((index for index, count in enumerate(counts) if count >= now), 0)
        counts = counts[place % 2 :: 2]
    return tuple(sorted({*counts, now}))


def scale_in_count(observed: Brokers, largest_factor: int) -> int | None:
    """Return today's count less one broker of every rack; ``None`` where that is too few for the replicas."""
    fewer = len(observed) - rack_step(observed)
    return fewer if fewer >= max(1, largest_factor) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizingInputs:
    """What all options of a request are judged from."""

    snapshot: Snapshot  # the cluster as it is
    workload: Workload  # its partitions, in the same order
    request: SizingRequest  # what is asked
    sizes: Floats  # float64[P, 2, D], of one replica at every date, as `partition_sizes` gives them
    options: tuple[CapacityOption, ...] = ()  # all of them
    more_counts: tuple[int, ...] = ()  # to try as well, by what others came to
    today: MonthlyCost | None = None  # what doing nothing costs; `None` until that is known
    # what is there once named brokers have gone or been replaced, which options start from; `None` where none are named
    named: Brokers | None = None
    unknown_traffic: str | None = None  # that of which partitions is not known, where they may have much

    @classmethod
    def of(
        cls,
        snapshot: Snapshot,
        workload: Workload,
        request: SizingRequest,
        *,
        named: Brokers | None = None,
        unknown_traffic: str | None = None,
    ) -> SizingInputs:
        """Work out the sizes and list the options."""
        inputs = cls(
            snapshot=snapshot,
            workload=workload,
            request=request,
            sizes=partition_sizes(workload),
            named=named,
            unknown_traffic=unknown_traffic,
        )
        return dataclasses.replace(inputs, options=capacity_options(inputs))

    @property
    def unknown_load(self) -> str:
        """Which loads are not known that may take more brokers, as a clause; empty for none."""
        if self.unknown_traffic is not None:
            return f"{self.unknown_traffic} is unknown"
        unknown, whole = self.snapshot.unknown_size_partitions, plural(len(self.workload.partitions), "partition")
        return f"the size of {unknown:,} of {whole} is unknown" if unknown else ""

    @property
    def start(self) -> Brokers:
        """The brokers that options add to, or take away from."""
        return self.snapshot.brokers if self.named is None else self.named

    @property
    def removed(self) -> tuple[int, ...]:
        """The ids of today's brokers that are not among those."""
        return tuple(np.setdiff1d(self.snapshot.brokers.ids, self.start.ids).tolist())

    def request_facts(self) -> dict[str, Any]:
        """Return what the request makes of today's cluster, as the document of sizing says it."""
        factor = self.other_factor(self.request.moved_replication_factor)
        return {"removed_brokers": list(self.removed), "moved_replication_factor": factor}

    def other_factor(self, replication_factor: int | None) -> int | None:
        """Return a factor for all topics; ``None``, for each topic its own, where all have it, planned ones too."""
        is_todays = bool((replication_factors(self.snapshot.replicas) == replication_factor).all())
        is_planned = all(one.replication_factor == replication_factor for one in self.workload.outlook.added)
        return None if is_todays and is_planned else replication_factor

    def held_bytes(self, key: PlacementKey) -> Floats:
        """Return float64[D], what all replicas of a placement hold by the estimate that decides."""
        sizes, factor = self.sizes[:, self.request.estimate], key.replication_factor
        if factor is not None:
            once = sizes.sum(axis=0) + added_bytes(self.workload, is_every_replica=False)
            return np.asarray(factor * once, dtype=np.float64)
        stored = replication_factors(self.snapshot.replicas) @ sizes
        return np.asarray(stored + added_bytes(self.workload, is_every_replica=True), dtype=np.float64)

    def allowed_bytes(self, key: PlacementKey) -> float:
        """Return what all disks of a number of today's brokers may hold; NaN where the size of one is not known."""
        disks = hardware(self.request.today, brokers_of(self, key))[Resource.DISK]
        return float(disks.sum()) * self.request.limits.disk_ratio

    def has_room(self, key: PlacementKey, factor: float = 1.0) -> Flags:
        """Return bool[D], whether so many disks hold all, were it spread as evenly as can be; unknown ones do.

        ``factor`` is how many times what is held they are to hold.
        """
        return ~(self.held_bytes(key) * factor > self.allowed_bytes(key))


def capacity_options(inputs: SizingInputs) -> tuple[CapacityOption, ...]:
    """List the options of a request in a fixed order, doing nothing first."""
    snapshot, request = inputs.snapshot, inputs.request
    start, now = inputs.start, len(snapshot.brokers)
    largest = int(replication_factors(snapshot.replicas).max(initial=1))
    options = [as_placed(inputs, OptionKind.DO_NOTHING)]
    if request.today.volume is not None and _has_spare_space(inputs):
        options.append(as_placed(inputs, OptionKind.SHRINK_VOLUMES))
    is_other, weaker = _has_other_hardware(inputs), _weaker_brokers(inputs)
    # Where named brokers go, others may take their places: as many as today and more are tried too.
    more = [] if inputs.named is None else [one for one in default_counts(snapshot.brokers, largest) if one >= now]
    usual = {*default_counts(start, largest), *more}
    factors = tuple(dict.fromkeys(map(inputs.other_factor, request.replication_factors)))
    # Brokers that are named without a count are one.
    moved = {*request.moved_broker_counts} or ({len(start)} if inputs.named is not None else set())
    counts = {*request.broker_counts} or {*usual, *moved, *inputs.more_counts}
    fewer = scale_in_count(start, largest)
    keys = [
        PlacementKey(broker_count=count, extra_racks=racks, replication_factor=factor, removed_brokers=inputs.removed)
        for count in sorted(counts)
        for racks in request.extra_racks
        for factor in factors
        if not racks or count > now
    ]
    own = inputs.other_factor(request.moved_replication_factor)
    keys += [PlacementKey(broker_count=one, replication_factor=own, removed_brokers=inputs.removed) for one in moved]
    if fewer is not None and keys:
        keys.append(dataclasses.replace(keys[0], broker_count=fewer, extra_racks=0, replication_factor=factors[0]))
    without = tuple(sorted({*inputs.removed, *weaker}))
    keys += [dataclasses.replace(key, removed_brokers=without) for key in keys if weaker and not key.extra_racks]
    shapes = {shape.name: shape for shape in (request.today, *request.shapes)}

    def in_order(key: PlacementKey) -> tuple[Any, ...]:
        return key.broker_count, key.extra_racks, key.replication_factor or 0, key.removed_brokers

    for key in sorted(set(keys), key=in_order):
        for shape in shapes.values():
            is_own = shape.name == request.today.name
            if is_own or (key.broker_count in counts and key.removed_brokers == inputs.removed):
                placement = dataclasses.replace(key, is_by_disk=is_own and are_disks_uneven(inputs, key))
                options.append(_option(placement, shape, now, is_other_hardware=is_other or not is_own))
    return tuple(options)


def _weaker_brokers(inputs: SizingInputs) -> tuple[int, ...]:
    """Return the ids of the few brokers that have far fewer cores, or far less network, than those in the middle.

    As all leaders and their traffic are spread evenly, one that can do little binds all the others. How much a disk
    holds is no such matter: replicas are spread by it.
    """
    start = inputs.start
    has = hardware(inputs.request.today, start)
    is_weaker = np.zeros(len(start), dtype=np.bool_)
    for resource in (Resource.CPU, Resource.NETWORK_IN, Resource.NETWORK_OUT):
        is_weaker |= has[resource] < _WEAKER_RATIO * known_median(has[resource])
    few = is_weaker.sum() <= max(1, int(_WEAKER_SHARE * len(start))) and len(start) > 1
    return tuple(start.ids[is_weaker].tolist()) if few else ()


def are_disks_uneven(inputs: SizingInputs, key: PlacementKey) -> bool:
    """Return whether today's brokers are to hold by the size of their disks, as in a planned move: all are known."""
    start = _start_of(inputs, key).with_other_data_of(inputs.snapshot.brokers)
    rooms = start.replica_room_bytes(inputs.request.limits.disk_ratio)
    return inputs.request.today.name == TODAY and bool(np.isfinite(rooms).all() and len(np.unique(rooms)) > 1)


def _has_other_hardware(inputs: SizingInputs) -> bool:
    """Return whether a broker that was named has other figures than today's, and than a new one like them."""
    observed = inputs.snapshot.brokers
    alike = proposed_brokers(observed, len(observed) + 1)
    return not _machines(inputs.start) <= _machines(alike)


def _machines(brokers: Brokers) -> set[tuple[float, ...]]:
    figures = np.stack([getattr(brokers, name) for name in FIGURES], axis=1)
    return set(map(tuple, np.nan_to_num(figures, nan=-1.0).tolist()))


def as_placed(inputs: SizingInputs, kind: OptionKind) -> CapacityOption:
    """Return an option that leaves every replica on the broker where it is, of today's shape."""
    still = PlacementKey(broker_count=len(inputs.snapshot.brokers), is_observed=True)
    return CapacityOption(option_id=str(kind), kind=kind, placement=still, shape=inputs.request.today)


def _has_spare_space(inputs: SizingInputs) -> bool:
    """Return whether some broker's disk is larger than what it holds asks for, today or on a later date."""
    brokers, request = inputs.snapshot.brokers, inputs.request
    least = inputs.sizes[:, request.estimate].min(axis=1).astype(np.int64)
    held = bytes_per_broker(brokers, inputs.snapshot.replicas, least)
    return bool((brokers.replica_room_bytes(request.limits.disk_ratio) > held).any())


def _option(key: PlacementKey, shape: Shape, now: int, *, is_other_hardware: bool) -> CapacityOption:
    parts = [f"{key.broker_count:03d}-brokers", shape.name]
    if key.extra_racks:
        parts.append(f"{key.extra_racks}-more-racks")
    if key.replication_factor is not None:
        parts.append(f"rf{key.replication_factor}")
    if key.removed_brokers:
        some = key.removed_brokers
        parts.append(f"without-{'-'.join(map(str, some)) if len(some) <= _MOST_IDS else f'{len(some)}-brokers'}")
    kind = OptionKind.REBALANCE
    if is_other_hardware:
        kind = OptionKind.OTHER_HARDWARE
    elif key.removed_brokers:
        kind = OptionKind.WITHOUT_SOME
    elif key.broker_count != now:
        kind = OptionKind.SCALE_IN if key.broker_count < now else OptionKind.SCALE_OUT
    return CapacityOption(option_id=".".join(parts), kind=kind, placement=key, shape=shape)


def placement_keys(options: Iterable[CapacityOption]) -> tuple[PlacementKey, ...]:
    """Return each placement once, in the order of the options: the units of work, as every shape is judged on it."""
    return tuple(dict.fromkeys(option.placement for option in options))


def brokers_of(inputs: SizingInputs, key: PlacementKey) -> Brokers:
    """Return the brokers of a placement, idle ones as well; those in new racks take turns."""
    start, taken = _start_of(inputs, key), inputs.snapshot.brokers.ids.tolist()
    named = inputs.request.new_broker_racks
    names = {*start.rack_names(), *named}
    free = (name for name in (f"new-rack-{number}" for number in itertools.count(1)) if name not in names)
    racks = list(itertools.islice(free, key.extra_racks))
    found = proposed_brokers(start, key.broker_count, racks or named, ids_taken=taken)
    return found.with_other_data_of(inputs.snapshot.brokers)


def _start_of(inputs: SizingInputs, key: PlacementKey) -> Brokers:
    """Return the brokers that those of a placement are counted from."""
    if key.is_observed:
        return inputs.snapshot.brokers
    return BrokerChanges(removed=key.removed_brokers).apply(inputs.start)


def placed_brokers_of(inputs: SizingInputs, key: PlacementKey) -> Brokers:
    """Return the brokers that replicas are placed on, without what they can do: so a placement hangs on no shape.

    They are all but those that stay idle, and those that are down now as if they were back: that a snapshot was taken
    during a restart does not change how many to buy. Where they hold by the size of their disks, that is known.
    """
    brokers = brokers_of(inputs, dataclasses.replace(key, broker_count=key.broker_count - key.idle_brokers))
    placed = Brokers.of(
        brokers.ids.tolist(),
        brokers.racks,
        is_cordoned=brokers.is_cordoned.tolist(),
        disk_capacity_bytes=brokers.disk_capacity_bytes.tolist() if key.is_by_disk else None,
    )
    return placed.with_other_data_of(brokers)
