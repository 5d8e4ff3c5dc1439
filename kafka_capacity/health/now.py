"""What is down, or about to be, and which groups are far behind, at the moment of the snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kafka_capacity.health.cluster_view import ClusterView, called
from kafka_capacity.health.problem import Code, Figure, Problem, serious, warning
from kafka_capacity.text import format_duration, plural


def check_now(view: ClusterView) -> Iterator[Problem]:
    """Look for partitions that are offline, refuse writes or lack replicas, and for brokers that are fenced."""
    states = view.states
    size = states.isr_size()
    offline = states.is_offline
    refused = ~offline & (size < states.min_isr)
    behind = ~offline & ~refused & (size < view.factor)
    what = "have no leader: nothing is written or read there"
    remedy = "bring back the brokers that were last in sync; an unclean election loses records"
    yield from view.problems(serious, Code.OFFLINE, offline, what, remedy)
    what = "have fewer replicas in sync than min.insync.replicas: writes with acks=all are rejected"
    remedy = "bring the missing replicas back in sync; do not lower min.insync.replicas to hide the problem"
    yield from view.problems(serious, Code.UNDER_MIN_ISR, refused, what, remedy)
    what, make = "have replicas out of sync", warning
    if one_left := int((behind & (size == 1)).sum()):
        who = "with" if one_left == behind.sum() else f"{one_left:,} of these partitions with"
        what, make = f"{what}, {who} only one left in sync", serious
    remedy = "find out which brokers lag before anything is moved or restarted"
    yield from view.problems(make, Code.UNDER_REPLICATED, behind, what, remedy)
    yield from _fenced(view)


def _fenced(view: ClusterView) -> Iterator[Problem]:
    brokers = view.snapshot.brokers
    fenced = brokers.ids[brokers.is_fenced]
    held = np.asarray(np.isin(view.snapshot.replicas, fenced).any(axis=1), dtype=np.bool_)
    if len(fenced) and held.any():
        one = len(fenced) == 1
        message = (
            f"{called('broker', fenced.tolist())} {'is' if one else 'are'} fenced and "
            f"{'holds' if one else 'hold'} replicas of {plural(int(held.sum()), 'partition')}"
        )
        remedy = "start it, or move its replicas away" if one else "start them, or move their replicas away"
        more = {"partitions": int(held.sum()), "bytes_per_second": view.rate(held)}
        yield serious(Code.FENCED, called("broker", fenced), message, remedy, **more)


SERIOUS_SECONDS = 3600.0
WARNING_SECONDS = 600.0
"""A rolling restart or a deployment may leave a group behind for minutes; what is more has another cause."""


def check_lags(view: ClusterView) -> Iterator[Problem]:
    """Look for groups that read what was produced long ago, by lag over produce rate, or did not read it at all."""
    if view.lags is None or not view.lags.groups:
        return
    yield from _lost(view.lags.lost_records)
    behind = np.zeros(len(view.lags.groups))
    np.maximum.at(behind, view.lags.group, view.lags.seconds)
    hours = behind >= SERIOUS_SECONDS
    for make, code, rows, limit_seconds in (
        (serious, Code.GROUPS_HOURS_BEHIND, hours, SERIOUS_SECONDS),
        (warning, Code.GROUPS_BEHIND, ~hours & (behind >= WARNING_SECONDS), WARNING_SECONDS),
    ):
        order = [place for place in np.argsort(-behind, kind="stable").tolist() if rows[place]]
        if not order:
            continue
        names = [view.lags.groups[place] for place in order]
        worst = float(behind[order[0]])
        message, whose = f"consumer group {names[0]} is {format_duration(worst)} behind", "its"
        if len(names) > 1:
            many = f"{len(names):,} consumer groups are more than {format_duration(limit_seconds)} behind"
            message, whose = f"{many}, the worst is {names[0]} with {format_duration(worst)}", "their"
        remedy = f"find out whether {whose} members are stopped, slow or too few before anything moves"
        figure = Figure(worst, limit_seconds, "seconds")
        yield make(code, called("group", names), message, remedy, figure=figure)


def _lost(records: Mapping[str, float]) -> Iterator[Problem]:
    if not records:
        return
    names = sorted(records, key=lambda name: (-records[name], name))
    total = sum(records.values())
    was, them = ("was", "it") if total == 1 else ("were", "them")
    who, whose = f"consumer group {names[0]}", "its"
    if len(names) > 1:
        who, whose = f"{len(names):,} consumer groups", "their"
        them += f", the worst is {names[0]} with {round(records[names[0]]):,}"
    message = f"{plural(round(total), 'record')} {was} deleted before {who} had read {them}"
    remedy = f"keep records longer than {whose} longest outage, or find out why {whose} members fall so far behind"
    yield serious(Code.RECORDS_LOST, called("group", names), message, remedy, figure=Figure(total, 0.0, "records"))
