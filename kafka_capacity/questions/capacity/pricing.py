"""What today's cluster costs, as sizing prices it, for questions that ask what parts of it cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from kafka_capacity.demand.changed import ClusterChange
from kafka_capacity.hardware.bill import Bill, ResourceUse, SmallestSize
from kafka_capacity.hardware.limits import CONDITIONS, RECOVERIES, RESOURCES, Condition, Limits, Resource
from kafka_capacity.hardware.rack_traffic import leaving_ratios
from kafka_capacity.questions.capacity.cost import billed_disk_bytes
from kafka_capacity.questions.capacity.found import SizingSetup
from kafka_capacity.questions.capacity.judging import used_ratios
from kafka_capacity.questions.capacity.options import SizingInputs, as_placed
from kafka_capacity.questions.capacity.placing import place_option
from kafka_capacity.questions.capacity.results import CapacityUse, OptionKind
from kafka_capacity.questions.capacity.simulate import judged_option, provisioned_bytes, unpacked
from kafka_capacity.questions.capacity.smallest import smallest_after
from kafka_capacity.questions.question import RunPieces

_NORMAL = CONDITIONS.index(Condition.NORMAL)


class TodaysPricing:
    """Prices the cluster of a plan as it is today; nothing is worked out before it is asked for."""

    def __init__(self, setup: Callable[[], SizingSetup]) -> None:
        self._setup = setup

    @cached_property
    def inputs(self) -> SizingInputs:
        """What sizing is asked, of today alone."""
        inputs = self._setup().inputs
        outlook = inputs.workload.outlook
        by_date = {name: getattr(outlook, name)[:, :1] for name in ("rate_ratio", "rate_ratio_high", "retention_ratio")}
        outlook = dataclasses.replace(outlook, dates=outlook.dates[:1], **by_date)
        workload = dataclasses.replace(inputs.workload, outlook=outlook)
        return SizingInputs.of(inputs.snapshot, workload, inputs.request)

    @cached_property
    def today(self) -> Bill:
        """What the cluster costs as it is, and what it is used for."""
        inputs, request = self.inputs, self.inputs.request
        option = as_placed(inputs, OptionKind.DO_NOTHING)
        placed = place_option(inputs, option.placement)
        result = judged_option(inputs, option, placed, is_use_kept=True)
        if placed.loads is None or result.use is None:
            raise TypeError("an existing placement is never rejected")
        held = result.use.load[_NORMAL, RESOURCES.index(Resource.DISK), request.estimate, 0]
        billed = billed_disk_bytes(
            request.today,
            result.use,
            placed.loads,
            request,
            provisioned_bytes(inputs.snapshot.brokers, placed.brokers),
            is_replaced=False,
        )
        loads = placed.loads
        return Bill(
            shape=request.today,
            usd={part: getattr(result.cost, part) for part in ("brokers", "disks", "between_racks", "ingest")},
            uses=_uses(result.use, request.limits),
            held_bytes=float(held.sum()),
            needed_disk_bytes=float(held.sum()) / request.limits.disk_ratio,
            billed_disk_bytes=float(billed[0]),
            brokers=placed.brokers,
            workload=inputs.workload,
            replicas=loads.replicas,
            stored_bytes=loads.sizes[:, request.estimate, 0],
            leaving=leaving_ratios(loads.replicas, loads.brokers, is_read_in_rack=request.loads.is_read_in_rack),
            is_read_in_rack=request.loads.is_read_in_rack,
            cpu=request.loads.cpu,
        )

    def smallest(self, changes: Sequence[ClusterChange], run: RunPieces) -> tuple[SmallestSize, ...]:
        """Return the smallest size of the whole cluster, and of what is left after each change."""
        inputs = self.inputs

        def after(pieces: Sequence[ClusterChange], start: int) -> list[SmallestSize]:
            return list(unpacked(run(smallest_after, (inputs, start), pieces, what="marginal costs")))

        now = len(inputs.snapshot.brokers)
        (whole,) = after([ClusterChange.nothing(len(inputs.workload.partitions))], now)
        return (whole, *after(changes, now if whole.broker_count is None else whole.broker_count))


def _uses(use: CapacityUse, limits: Limits) -> tuple[ResourceUse, ...]:
    ratios = used_ratios(use, limits)[:, :, 0, 0]
    found = []
    for q, resource in enumerate(RESOURCES):
        capacity = use.capacity[q]
        if resource in RECOVERIES or not len(capacity) or not (np.isfinite(capacity) & (capacity > 0)).all():
            continue
        found.append(
            ResourceUse(
                resource=resource,
                load=float(use.load[_NORMAL, q, 0, 0].sum()),
                capacity=float(capacity.sum()),
                allowed=float(capacity.sum()) * limits.ratio(resource, Condition.NORMAL),
                needed_ratio=float(np.nanmax(ratios[:, q])),
            )
        )
    return tuple(found)
