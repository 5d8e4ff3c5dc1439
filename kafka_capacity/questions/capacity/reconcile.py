"""Why our count is another one than a calculator's: one assumption is changed after the other.

The steps go from the calculator's count to ours. Between them lie counts for a cluster whose load is even, the fiction
that calculators live by, by the same resources and limits as ours: with N brokers of which k are lost, the others carry
what clients send and read, an N - k-th each; replication shrinks with the followers that are gone, and stays an N-th
each. The last step is what the real placement, its skew and the counts that were tried make of
it. Each step's change is the difference of two counts, so that they add up whatever they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kafka_capacity.hardware.cpu import CpuCosts, cores, speed_factor
from kafka_capacity.hardware.flows import PEAKS, peaks
from kafka_capacity.hardware.limits import Condition, FailureTolerance, Limits, Resource
from kafka_capacity.hardware.plain import to_plain
from kafka_capacity.hardware.shapes import Shape, hardware
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.questions.capacity.added import added_bytes, added_totals
from kafka_capacity.questions.capacity.calculators import (
    SPACE_RATIO,
    STANDARD_RATIO,
    Totals,
    msk_answer,
    plain_answer,
    whole_racks,
)
from kafka_capacity.questions.capacity.options import SizingInputs
from kafka_capacity.questions.capacity.results import CapacityResult
from kafka_capacity.text import format_limit, whole_percent

MAX_BROKERS = 3_000  # beyond that the answer is of no use to anybody


@dataclass(frozen=True, slots=True, kw_only=True)
class EvenLoad:
    """What the whole cluster carries at peak, bytes per second (``copied`` to followers), and what it holds."""

    client_in: float
    client_out: float
    copied: float
    disk_bytes: float
    replicas: float
    cpu: CpuCosts


def _cluster_totals(inputs: SizingInputs, load: EvenLoad) -> Totals:
    """Return what calculators take of today's cluster; retention is what is stored over what comes in."""
    workload, weight = inputs.workload, inputs.workload.load.bytes_in_mean_bytes_per_second
    mean_in, mean_out = float(weight.sum()), float(workload.load.bytes_out_mean_bytes_per_second.sum())
    factors = replication_factors(inputs.snapshot.replicas)
    factor = float((weight * factors).sum() / mean_in) if mean_in else float(factors.mean()) if len(factors) else 1.0
    return Totals(
        mean_in_bytes_per_second=mean_in,
        peak_in_bytes_per_second=load.client_in,
        fan_out=mean_out / mean_in if mean_in else 0.0,
        replication_factor=factor,
        retention_seconds=float(workload.size_bytes.sum()) / mean_in if mean_in else 0.0,
        replicas=int(factors.sum()),
    )


def even_load(inputs: SizingInputs) -> list[EvenLoad]:
    """Return what the whole cluster carries, today and at its worst date, by the estimate that decides."""
    snapshot, workload, request = inputs.snapshot, inputs.workload, inputs.request
    factors = replication_factors(snapshot.replicas)
    copies = np.maximum(factors - 1, 0).astype(np.float32)
    classes, of_class = len(workload.outlook.classes), workload.outlook.class_of
    hours = workload.traffic.bytes_in.shape[1]
    flows = np.zeros((4, 1, classes, hours), dtype=np.float32)
    for c in range(classes):
        rows = of_class == c
        produced, read = workload.traffic.bytes_in[rows], workload.traffic.bytes_out[rows]
        sent = (produced * copies[rows, None]).sum(axis=0)
        flows[:, 0, c] = np.stack([produced.sum(axis=0), sent, read.sum(axis=0), sent])
    found = peaks(flows, workload.rate_ratios(), request.loads.cpu)
    only_copies = flows * np.array([0, 1, 0, 0], dtype=np.float32)[:, None, None, None]
    copied = peaks(only_copies, workload.rate_ratios(), request.loads.cpu)[PEAKS.index(Resource.NETWORK_IN)]
    e = request.estimate
    stored = (inputs.sizes[:, e] * factors[:, None]).sum(axis=0) + added_bytes(workload, is_every_replica=True)
    coming, going = (found[PEAKS.index(resource)] for resource in (Resource.CLIENT_IN, Resource.CLIENT_OUT))
    new = added_totals(
        workload,
        lambda topic: topic.bytes_in_peak_bytes_per_second,
        lambda topic: topic.bytes_out_peak_bytes_per_second,
        lambda topic: topic.bytes_in_peak_bytes_per_second * (topic.replication_factor - 1),
        lambda topic: topic.partitions * topic.replication_factor,
    )
    by_date = {
        "client_in": coming[e, :, 0] + new[0],
        "client_out": going[e, :, 0] + new[1],
        "copied": copied[e, :, 0] + new[2],
        "disk_bytes": stored,
        "replicas": factors.sum() + new[3],
    }
    today = {name: float(values[0]) for name, values in by_date.items()}
    worst = {name: float(values.max()) for name, values in by_date.items()}
    return [EvenLoad(**today, cpu=request.loads.cpu), EvenLoad(**worst, cpu=request.loads.cpu)]


def even_count(load: EvenLoad, shape: Shape, limits: Limits, racks: int) -> int:
    """Return the smallest number of brokers that stays within the limits, the same number in every rack.

    Where more would be needed it is :data:`MAX_BROKERS` in whole racks.
    """
    low, high = 1, whole_racks(MAX_BROKERS, racks) // racks
    while low < high:  # more brokers never carry more each
        middle = (low + high) // 2
        if fits_evenly(load, shape, limits, middle * racks, racks):
            high = middle
        else:
            low = middle + 1
    return low * racks


def fits_evenly(load: EvenLoad, shape: Shape, limits: Limits, brokers: int, racks: int) -> bool:
    """Return whether so many brokers would do."""
    capacity = hardware(shape, Brokers.of([0]))
    lost = {FailureTolerance.NONE: 0, FailureTolerance.ONE_BROKER: 1, FailureTolerance.ONE_RACK: brokers // racks}
    for gone in (0, lost[limits.tolerance]):
        if gone >= brokers:
            return False
        condition = Condition.BROKER_LOST if gone else Condition.NORMAL
        for resource, needed in _each(load, shape, brokers, gone).items():
            allowed = float(capacity[resource][0]) * limits.ratio(resource, condition)
            if needed > allowed * (1 + 1e-12):  # what is not known is no limit
                return False
    return True


def _each(load: EvenLoad, shape: Shape, brokers: int, gone: int) -> dict[Resource, float]:
    left = brokers - gone
    produced, read, copied = load.client_in / left, load.client_out / left, load.copied / brokers
    written = (load.client_in + load.copied) / brokers  # who holds a replica writes it, whoever leads
    busy = float(cores(load.cpu, produced, max(0.0, written - produced), read + copied))
    return {
        Resource.NETWORK_IN: written,
        Resource.NETWORK_OUT: read + copied,
        Resource.CLIENT_IN: produced,
        Resource.CLIENT_OUT: read,
        Resource.CPU: busy * speed_factor(load.cpu, shape.core_speed_ratio),
        Resource.DISK: load.disk_bytes / brokers,
        Resource.DISK_IO: written,
        Resource.REPLICAS: load.replicas / brokers,
    }


_THEIR_LIMITS = {
    "aws-msk": (STANDARD_RATIO, SPACE_RATIO, "half of the throughput, constants for replication"),
    "plain": (1 / 1.4, 1.0, "only 40 % headroom on the network"),
}
_FAILURES = {
    FailureTolerance.NONE: "no failure tolerated",
    FailureTolerance.ONE_BROKER: "one broker may fail",
    FailureTolerance.ONE_RACK: "one rack may fail",
}


def waterfalls(inputs: SizingInputs, results: Sequence[CapacityResult], shape: Shape) -> Iterator[dict[str, Any]]:
    """Reconcile our count for one shape with those of the calculators that know such a shape, as plain data.

    Our count is the smallest one tried that fits, or, where none does, that of the even cluster.
    """
    today, later = even_load(inputs)
    totals, limits = _cluster_totals(inputs, today), inputs.request.limits
    racks = max(1, len(inputs.snapshot.brokers.rack_names()))
    alike = [result for result in results if result.fits and result.option.shape.name == shape.name]
    fitting = [result.option.placement.broker_count for result in alike]
    last = "the smallest count tried that fits" if fitting else "no count tried is known to fit: assumed even"
    none, without_cpu = replace(limits, tolerance=FailureTolerance.NONE), replace(shape, vcpu=math.nan)
    ours = (
        f"{format_limit(limits.network_ratio)} of the network, {format_limit(limits.disk_io_ratio)} of disks, "
        f"{format_limit(limits.disk_ratio)} of space"
    )
    processors = f"up to {format_limit(limits.cpu_ratio)}"
    own_terms = "each resource separately, with the real replication factor and fan-out"
    placed_evenly = even_count(later, shape, limits, racks)
    end = min(fitting, default=placed_evenly)
    for name, answer in (("aws-msk", msk_answer(shape, totals)), ("plain", plain_answer(shape, totals))):
        if answer is None:
            continue
        throughput, space, takes = _THEIR_LIMITS[name]
        theirs = replace(none, network_ratio=throughput, disk_io_ratio=throughput, disk_ratio=space)
        limited = f"{whole_percent(throughput)} of throughput, {whole_percent(space)} of space"
        counts = (
            ("capacity of a broker", takes, own_terms, even_count(today, without_cpu, theirs, racks)),
            ("limits", limited, ours, even_count(today, without_cpu, none, racks)),
            ("processors", "not considered", processors, even_count(today, shape, none, racks)),
            ("growth", "today", "the horizon", even_count(later, shape, none, racks)),
            ("failures", "none", _FAILURES[limits.tolerance], placed_evenly),
            ("real placement", "the same on every broker", f"replicas as placed; {last}", end),
        )
        before = (answer.brokers, *(brokers for *_, brokers in counts))
        steps = [
            {"name": step, "theirs": they, "ours": we, "before": was, "after": brokers, "change": brokers - was}
            for was, (step, they, we, brokers) in zip(before, counts, strict=False)
        ]
        found = {"calculator": name, "shape": shape.name, "theirs": to_plain(answer), "steps": steps, "ours": end}
        yield {**found, "is_placed": bool(fitting)}
