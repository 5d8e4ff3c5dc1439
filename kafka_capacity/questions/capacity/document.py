"""What sizing found out that its tables do not say, as plain data: for a plan's document, and for ``size.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.demand.workload import ESTIMATES, MIDDLE
from kafka_capacity.hardware.limits import Resource
from kafka_capacity.hardware.overhead import topic_overheads
from kafka_capacity.hardware.plain import to_plain
from kafka_capacity.hardware.shapes import Shape, hardware
from kafka_capacity.health.groups import stopped_applications
from kafka_capacity.health.problem import some
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.questions.capacity.added import added_bytes, added_totals
from kafka_capacity.questions.capacity.found import SizingSetup
from kafka_capacity.questions.capacity.options import SizingInputs
from kafka_capacity.questions.capacity.partition_advice import PartitionAdvice, advise_partitions
from kafka_capacity.questions.capacity.reconcile import waterfalls
from kafka_capacity.questions.capacity.redundancy import single_replicas
from kafka_capacity.questions.capacity.simulate import Sized
from kafka_capacity.text.wording import few_names

SIZING_DOCUMENT = "sizing.json"
OVERHEADS = "stored_per_produced"
LARGEST_ADVICE = 50  # so many topics are advised on at most, the ones that lack most partitions first
MAX_TOPICS = 50  # so many topics with a single replica are named at most


def sizing_document(found: SizingSetup, sized: Sized) -> dict[str, Any]:
    """Describe in plain data what the tables do not: the advice, what is expected, and what it rests on."""
    inputs, outlook = found.inputs, found.expectation.outlook
    request, workload = inputs.request, inputs.workload
    wanted, single = _wanting_topics(found), single_replicas(inputs)
    expected, by_class = _expected(found)
    return {
        "advice": to_plain(sized.advice),
        "dates": list(outlook.dates),
        "high_quantile": outlook.high_quantile,
        "classes": [
            {
                **to_plain(basis),
                "partitions": int((outlook.class_of == number).sum()),
                "rate_ratio": to_plain(outlook.rate_ratio[number]),
                "rate_ratio_high": to_plain(outlook.rate_ratio_high[number]),
                "retention_ratio": to_plain(outlook.retention_ratio[number]),
                **{figure: to_plain(values[number]) for figure, values in by_class.items()},
            }
            for number, basis in enumerate(outlook.classes)
        ],
        "added_topics": [to_plain(topic) for topic in outlook.added],
        **found.asked.basis.unknown_traffic,
        "notes": [*_fenced_note(inputs.snapshot.brokers), *found.expectation.notes],
        "silent_since": found.expectation.silent_since,
        "risen": to_plain(found.expectation.risen),
        **expected,
        "limits": to_plain(request.limits),
        "single_replicas": single
        and {
            "partitions": single.partitions,
            "topic_count": len(single.topics),
            "topics": list(single.topics[:MAX_TOPICS]),
            "reason": single.reason,
        },
        "conditions": [str(condition) for condition in request.limits.conditions()],
        "cpu": {
            **to_plain(request.loads.cpu),
            "samples": None if found.cpu is None else found.cpu.samples,
            "reason": None if found.cpu is None else found.cpu.reason,
            "covariance": to_plain(found.cpu.covariance) if found.cpu is not None and found.cpu.is_used else [],
        },
        OVERHEADS: [
            to_plain(one)
            for one in topic_overheads(workload.partitions, workload.traffic, workload.size_bytes, workload.limits)
        ],
        "peak_basis": str(workload.traffic.basis),
        "today": to_plain(request.today),
        "uneven": _uneven(inputs),
        **inputs.request_facts(),
        "shapes": [to_plain(shape) for shape in request.shapes],
        "waterfalls": [one for shape in _reconciled_shapes(sized) for one in waterfalls(inputs, sized.results, shape)],
        "partitions": [to_plain(one) for one in wanted[:LARGEST_ADVICE]],
        "partitions_advised": len(wanted),
        "groups_beyond_page_cache_today": [
            {"group_id": group, "from_date": date}
            for result in sized.results[:1]
            if result.use is not None
            for group, date in result.use.fallen_out
        ],
    }


def _fenced_note(brokers: Brokers) -> list[str]:
    """Say that brokers which are down count: an option is judged as if they were back."""
    fenced = brokers.ids[brokers.is_fenced].tolist()
    if not fenced:
        return []
    one = len(fenced) == 1
    names = f"Broker {fenced[0]} is" if one else f"Brokers {few_names(fenced, 6)} are"
    return [
        f"{names} fenced, and every count is judged as if {'it were' if one else 'they were'} back: until then the "
        "others carry more, and one more loss is not what is judged here."
    ]


def _wanting_topics(found: SizingSetup) -> list[PartitionAdvice]:
    """Return the topics of which a partition gets more than is allowed, those that lack most partitions first."""
    inputs, asked = found.inputs, found.asked.parameters
    factors = replication_factors(inputs.snapshot.replicas)
    limit = asked.partition_limit_bytes_per_second
    advised = advise_partitions(inputs.workload, factors, limit, estimate=inputs.request.estimate)
    wanting = [one for one in advised if one.is_wanting]
    stopped = stopped_applications(inputs.snapshot, {one.topic: one.needed for one in wanting})
    warned = [replace(one, reason=one.reason + _stopping(stopped.get(one.topic, {}))) for one in wanting]
    return sorted(warned, key=lambda one: (one.partitions - one.needed, one.topic))


def _stopping(applications: Mapping[str, bool]) -> str:
    if not applications:
        return ""
    plural, read = ("", "reads") if len(applications) == 1 else ("s", "read")
    verb = "stop" if all(applications.values()) else "may stop"
    return f"; more {verb} the Kafka Streams application{plural} {some(applications)}, which {read} it, until a reset"


def _reconciled_shapes(sized: Sized) -> list[Shape]:
    """Return the recommended shape, today's, and the cheapest that fits of Amazon's MSK."""
    today = sized.results[0]
    chosen = next((one for one in sized.results if one.option_id == sized.advice.recommended), today)
    known = [one for one in sized.results if one.fits and one.option.shape.provider.startswith("aws-msk")]
    cheapest = min(known, key=lambda one: (one.cost.total, one.option_id), default=today)
    return list({one.option.shape.name: one.option.shape for one in (chosen, today, cheapest)}.values())


def _expected(found: SizingSetup) -> tuple[dict[str, dict[str, list[float | None]]], dict[str, Floats]]:
    """Return what is expected at each date to be produced at peak, and to be on disk with today's replication factors.

    That is of the whole cluster by estimate, added topics as well, and float64[C, D], the middle estimate of each class
    of topics: its own peak, and its bytes.
    """
    inputs, workload, outlook = found.inputs, found.inputs.workload, found.inputs.workload.outlook
    hours, ratios = workload.traffic.bytes_in, workload.rate_ratios()
    factors = replication_factors(inputs.snapshot.replicas).astype(np.float64)
    by_class = np.zeros((len(outlook.classes), hours.shape[1]))
    for number in range(len(by_class)):
        by_class[number] = hours[outlook.class_of == number].sum(axis=0, dtype=np.float64)
    added = added_totals(workload, lambda topic: topic.bytes_in_peak_bytes_per_second)
    peak = np.percentile(np.einsum("ced,ch->edh", ratios, by_class), 99, axis=2) + added
    held = np.einsum("p,ped->ed", factors, inputs.sizes) + added_bytes(workload, is_every_replica=True)
    own_held = np.zeros((len(outlook.classes), len(outlook.dates)))
    np.add.at(own_held, outlook.class_of, factors[:, None] * inputs.sizes[:, MIDDLE])
    own_peak = np.percentile(by_class, 99, axis=1)[:, None] * ratios[:, MIDDLE]
    whole = {TRAFFIC: peak, STORED: held}
    by_estimate = {name: dict(zip(ESTIMATES, to_plain(figure), strict=True)) for name, figure in whole.items()}
    return by_estimate, {TRAFFIC: own_peak, STORED: own_held}


def _uneven(inputs: SizingInputs) -> dict[str, tuple[float, float]]:
    """Return the least and the most that one of today's brokers has, by resource, where they are known and differ."""
    has = hardware(inputs.request.today, inputs.snapshot.brokers)
    observed = (Resource.CPU, Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.DISK)
    own = {one: has[one][np.isfinite(has[one])] for one in observed}
    return {str(one): (float(each.min()), float(each.max())) for one, each in own.items() if len(np.unique(each)) > 1}
