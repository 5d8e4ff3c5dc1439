"""Why our count is another one than a calculator's: one assumption is changed after the other.

The steps go from the calculator's count to ours. Between them lie counts for a cluster whose load is even, by the same
resources and limits as ours; the last step is what the real placement, its skew and the counts that were tried make of
it. Each step's change is the difference of two counts, so that they add up whatever they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.demand.workload import Workload
from kafka_capacity.hardware.flows import peaks
from kafka_capacity.hardware.limits import FailureTolerance, Limits, Resource
from kafka_capacity.hardware.shapes import Shape
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.questions.capacity.added import added_replica_bytes
from kafka_capacity.questions.capacity.calculators import (
    SPACE_RATIO,
    STANDARD_RATIO,
    CalculatorAnswer,
    Totals,
    msk_answer,
    plain_answer,
)
from kafka_capacity.questions.capacity.even import EvenLoad, even_count
from kafka_capacity.questions.capacity.options import SizingRequest
from kafka_capacity.questions.capacity.results import CapacityResult


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallStep:
    """One assumption that is changed."""

    name: str
    theirs: str
    ours: str
    before: int
    after: int

    @property
    def change(self) -> int:
        """How many brokers the assumption makes."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """From a calculator's count to ours, for one shape.

    Attributes:
        calculator: ``aws-msk`` or ``plain``.
        shape: the name of the shape.
        theirs: what the calculator says.
        steps: in order; their changes add up to the difference.
        ours: our count: the smallest one tried that fits, or, where none does, that of the even cluster.
        is_placed: whether our count is one that was placed and fits.
    """

    calculator: str
    shape: str
    theirs: CalculatorAnswer
    steps: tuple[WaterfallStep, ...]
    ours: int
    is_placed: bool


def cluster_totals(snapshot: Snapshot, workload: Workload, load: EvenLoad) -> Totals:
    """Return what calculators take of today's cluster; retention is what is stored over what comes in."""
    mean_in = float(workload.load.bytes_in_mean_bytes_per_second.sum())
    mean_out = float(workload.load.bytes_out_mean_bytes_per_second.sum())
    factors = replication_factors(snapshot.replicas)
    weight = workload.load.bytes_in_mean_bytes_per_second
    factor = float((weight * factors).sum() / mean_in) if mean_in else float(factors.mean()) if len(factors) else 1.0
    return Totals(
        mean_in_bytes_per_second=mean_in,
        peak_in_bytes_per_second=load.client_in,
        fan_out=mean_out / mean_in if mean_in else 0.0,
        replication_factor=factor,
        retention_seconds=float(workload.size_bytes.sum()) / mean_in if mean_in else 0.0,
        replicas=int(factors.sum()),
    )


def even_load(
    snapshot: Snapshot, workload: Workload, request: SizingRequest, sizes: NDArray[np.float64]
) -> list[EvenLoad]:
    """Return what the whole cluster carries, today and at its worst date, by the estimate that decides."""
    factors = replication_factors(snapshot.replicas)
    copies = np.maximum(factors - 1, 0).astype(np.float32)
    classes, of_class = len(workload.outlook.classes), workload.outlook.class_of
    hours = workload.traffic.bytes_in.shape[1]
    flows = np.zeros((4, 1, classes, hours), dtype=np.float32)
    for c in range(classes):
        rows = of_class == c
        coming, going = workload.traffic.bytes_in[rows], workload.traffic.bytes_out[rows]
        copied = (coming * copies[rows, None]).sum(axis=0)
        flows[:, 0, c] = np.stack([coming.sum(axis=0), copied, going.sum(axis=0), copied])
    found = peaks(flows, workload.rate_ratios(), request.loads.cpu)
    only_copies = flows * np.array([0, 1, 0, 0], dtype=np.float32)[:, None, None, None]
    copied_peaks = peaks(only_copies, workload.rate_ratios(), request.loads.cpu).network_in
    e = request.estimate
    stored = (sizes[:, e] * factors[:, None]).sum(axis=0) + added_replica_bytes(workload)
    new = _added_totals(workload)

    def at(pick: int | None) -> EvenLoad:
        def of(values: NDArray[np.float64]) -> float:
            return float(values[0] if pick == 0 else values.max())

        return EvenLoad(
            client_in=of(found.client_in[e, :, 0] + new[0]),
            client_out=of(found.client_out[e, :, 0] + new[1]),
            copied=of(copied_peaks[e, :, 0] + new[2]),
            disk_bytes=of(stored),
            replicas=of(factors.sum() + new[3]),
            cpu=request.loads.cpu,
        )

    return [at(0), at(None)]


def _added_totals(workload: Workload) -> NDArray[np.float64]:
    """Return float64[4, D]: what added topics get, are read, copy to followers, and their replicas."""
    dates = workload.outlook.dates
    found = np.zeros((4, len(dates)))
    for topic in workload.outlook.added:
        peak = topic.bytes_in_peak_bytes_per_second
        figures = (
            peak,
            topic.bytes_out_peak_bytes_per_second,
            peak * (topic.replication_factor - 1),
            topic.partitions * topic.replication_factor,
        )
        found += np.outer(figures, [date >= topic.from_date for date in dates])
    return found


def waterfalls(
    snapshot: Snapshot,
    workload: Workload,
    request: SizingRequest,
    results: Sequence[CapacityResult],
    shape: Shape,
    *,
    sizes: NDArray[np.float64] | None = None,
) -> tuple[Waterfall, ...]:
    """Reconcile our count for one shape with those of the calculators that know such a shape.

    Args:
        snapshot: the cluster as it is.
        workload: its partitions.
        request: what was asked.
        results: of all options.
        shape: whose count.
        sizes: what :func:`partition_sizes` gives, where the caller has it already.
    """
    sizes = partition_sizes(workload) if sizes is None else sizes
    today, later = even_load(snapshot, workload, request, sizes)
    totals = cluster_totals(snapshot, workload, today)
    racks = max(1, len(snapshot.brokers.rack_names()))
    fitting = [
        result.option.placement.broker_count
        for result in results
        if result.fits and result.option.shape.name == shape.name
    ]
    found = []
    for name, answer in (("aws-msk", msk_answer(shape, totals)), ("plain", plain_answer(shape, totals))):
        if answer is not None:
            found.append(_waterfall(name, answer, shape, request.limits, today, later, racks, fitting))
    return tuple(found)


_THEIR_LIMITS = {
    "aws-msk": (STANDARD_RATIO, SPACE_RATIO, "half of the throughput, constants for replication"),
    "plain": (1 / 1.4, 1.0, "40 % headroom on the network, and nothing else"),
}


_FAILURES = {
    FailureTolerance.NONE: "nothing may fail",
    FailureTolerance.ONE_BROKER: "one broker may fail",
    FailureTolerance.ONE_RACK: "one rack may fail",
}


def _waterfall(
    name: str,
    answer: CalculatorAnswer,
    shape: Shape,
    limits: Limits,
    today: EvenLoad,
    later: EvenLoad,
    racks: int,
    fitting: Sequence[int],
) -> Waterfall:
    throughput, space, takes = _THEIR_LIMITS[name]
    none = replace(limits, tolerance=FailureTolerance.NONE)
    theirs = replace(
        none,
        network_ratio=throughput,
        disk_io_ratio=throughput,
        disk_ratio=space,
        client_ratio=limits.client_ratio,
    )
    without_cpu = tuple(resource for resource in Resource if resource is not Resource.CPU)
    every = tuple(Resource)
    ours = (
        f"{limits.network_ratio:.0%} of the network, {limits.disk_io_ratio:.0%} of disks, "
        f"{limits.disk_ratio:.0%} of space"
    )
    own_terms = "each resource by itself, with the real replication factor and fan-out"

    def count(load: EvenLoad, within: Limits, resources: tuple[Resource, ...]) -> int:
        return even_count(load, shape, within, racks, resources)

    counts = (
        ("what a broker does", takes, own_terms, count(today, theirs, without_cpu)),
        (
            "limits",
            f"{throughput:.0%} of throughput, {space:.0%} of space",
            ours,
            count(today, none, without_cpu),
        ),
        ("processors", "not looked at", f"up to {limits.cpu_ratio:.0%}", count(today, none, every)),
        ("growth", "today", "the horizon", count(later, none, every)),
        ("failures", "none on top", _FAILURES[limits.tolerance], count(later, limits, every)),
    )
    steps, before = [], answer.brokers
    for step, they_take, we_take, brokers in counts:
        steps.append(WaterfallStep(name=step, theirs=they_take, ours=we_take, before=before, after=brokers))
        before = brokers
    end = min(fitting) if fitting else before
    last = "the smallest count tried that fits" if fitting else "no count tried fits: left as even"
    steps.append(
        WaterfallStep(
            name="real placement", theirs="the same on every broker", ours=f"replicas as placed; {last}",
            before=before, after=end,
        )
    )  # fmt: skip
    return Waterfall(
        calculator=name, shape=shape.name, theirs=answer, steps=tuple(steps), ours=end, is_placed=bool(fitting)
    )
