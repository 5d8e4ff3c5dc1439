"""Failure results as plain data, one row a set: for JSON, and for tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_capacity.hardware.limits import UNITS
from kafka_capacity.hardware.plain import plain_number
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.controller.failing import ElectionRules, fail_brokers
from kafka_capacity.kafka.controller.partition_states import states_of
from kafka_capacity.questions.failures.scenario import CoordinatorState, FailureResult, FailureSet

_COUNTS = ("offline", "offline_topics", "under_min_isr", "at_min_isr", "new_leaders", "unclean_leaders")
_FIGURES = ("stopped_bytes_per_second", "refused_bytes_per_second", "rebuild_bytes", "rebuild_seconds")


def set_row(result: FailureResult, number: int) -> dict[str, Any]:
    """Return one set and what it does: partitions, the brokers it overloads, the groups it affects.

    ``rebuild_seconds`` is ``None`` where the copy never ends.
    """
    one = result.sets[number]
    return {
        "kind": str(one.kind),
        "name": one.name,
        "brokers": list(one.brokers),
        **{name: int(getattr(result, name)[number]) for name in _COUNTS},
        **{name: plain_number(float(getattr(result, name)[number])) for name in _FIGURES},
        "overloads": overloads(result, number),
        "groups": affected_groups(result, number),
    }


def overloads(result: FailureResult, number: int) -> list[dict[str, Any]]:
    """List the survivors whose peak is above what they can do, the worst first."""
    peaks, today = result.peaks(), result.peaks_today()
    found = [
        (
            float(ratio[number, place]),
            {
                "broker": int(result.brokers.ids[place]),
                "resource": str(resource),
                "peak": float(peaks[resource][number, place]),
                "peak_today": float(today[resource][place]),
                "capacity": float(there[place]),
                "unit": UNITS[resource],
            },
        )
        for (resource, there), ratio in zip(result.capacity.items(), result.used_ratios(), strict=True)
        for place in np.flatnonzero(np.nan_to_num(ratio[number], nan=0.0) > 1.0)
    ]
    return [row for _, row in sorted(found, key=lambda one: (-one[0], one[1]["broker"]))]


def affected_groups(result: FailureResult, number: int) -> list[dict[str, Any]]:
    """List the groups that lose partitions, commits or their coordinator, the worst first."""
    lost, states = result.group_offline[number], result.coordinator[number]
    affected = np.flatnonzero((lost > 0) | (states >= CoordinatorState.REFUSES))
    order = sorted(affected.tolist(), key=lambda place: (-int(states[place]), -int(lost[place]), result.groups[place]))
    return [
        {
            "group_id": result.groups[place],
            "offline_partitions": int(lost[place]),
            "partitions": int(result.group_partitions[place]),
            "coordinator": CoordinatorState(int(states[place])).name.lower(),
        }
        for place in order
    ]


def survivor_rows(result: FailureResult, number: int) -> list[dict[str, Any]]:
    """Return what every broker leads and carries after one set; peaks of the dead are ``None``."""
    brokers = result.brokers
    return [
        {
            "broker": int(brokers.ids[place]),
            "rack": brokers.racks[place],
            "leaders": int(result.leaders[number, place]),
            "peak_in_bytes_per_second": plain_number(float(result.peak_in_bytes_per_second[number, place])),
            "peak_out_bytes_per_second": plain_number(float(result.peak_out_bytes_per_second[number, place])),
            "peak_cores": plain_number(float(result.peak_cores[number, place])),
        }
        for place in range(len(brokers))
    ]


def topic_rows(snapshot: Snapshot, lost: FailureSet, rules: ElectionRules) -> list[dict[str, Any]]:
    """List the topics with partitions that are offline or refuse ``acks=all`` after a loss, the worst first."""
    states, topics = states_of(snapshot), snapshot.partitions.topics
    for part in (lost.first, tuple(broker for broker in lost.brokers if broker not in lost.first)):
        states = fail_brokers(states, snapshot.brokers.index_of(np.array(part, dtype=np.int32)).tolist(), rules)
    offline = states.is_offline
    refused = ~offline & (states.isr_size() < states.min_isr)
    counts = [np.bincount(snapshot.partitions.topic[rows], minlength=len(topics)) for rows in (offline, refused)]
    size = np.bincount(snapshot.partitions.topic, minlength=len(topics))
    order = np.lexsort((-counts[1], -counts[0]))
    return [
        {
            "topic": topics[place],
            "offline": int(counts[0][place]),
            "under_min_isr": int(counts[1][place]),
            "partitions": int(size[place]),
        }
        for place in order.tolist()
        if counts[0][place] or counts[1][place]
    ]
