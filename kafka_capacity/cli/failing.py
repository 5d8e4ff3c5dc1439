"""What ``failures`` finds out of brokers that are lost, and how it shows that: the worst sets of each kind first."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.cli.console import Steps, print_lines, print_rows
from kafka_capacity.cli.one_question import Found
from kafka_capacity.cli.plan_input import ask_snapshot, snapshot_warnings
from kafka_capacity.cli.plan_options import named_as_options, split_names
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.limits import RESOURCE_NAMES, UNITS
from kafka_capacity.hardware.plain import plain_number, to_plain
from kafka_capacity.health.problem import counted
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.controller.failing import ElectionRules, fail_brokers
from kafka_capacity.kafka.controller.partition_states import states_of
from kafka_capacity.plan.handing import failures_today
from kafka_capacity.proposal.pins import RACK_PREFIX
from kafka_capacity.questions.answer import NO_RATES
from kafka_capacity.questions.failures.evaluate import SURVIVOR_RESOURCES
from kafka_capacity.questions.failures.request import lost_together
from kafka_capacity.questions.failures.scenario import (
    CoordinatorState,
    FailureResult,
    FailureSet,
    SetKind,
)
from kafka_capacity.questions.failures.section.controllers import STEPS, change_sentences, runbook, step_rows
from kafka_capacity.questions.failures.section.details import COORDINATORS
from kafka_capacity.questions.failures.section.matrix import LOSSES, rank
from kafka_capacity.questions.failures.section.sentences import KIND_NAMES, loss_sentences
from kafka_capacity.questions.failures.section.view import placement_failures
from kafka_capacity.questions.failures.sets import rack_members
from kafka_capacity.questions.failures.share import asked_losses, controllers_document
from kafka_capacity.questions.failures.simulate import simulate_failovers
from kafka_capacity.questions.failures.tables import failure_tables, known_traffic
from kafka_capacity.questions.question import Basis
from kafka_capacity.report.tables import cells, column
from kafka_capacity.text import plural

_TOPICS = (
    column("topic", "Topic", "name"),
    column("partitions", "Partitions", "count"),
    column("offline", "Partitions offline", "count"),
    column("under_min_isr", "Under min ISR", "count"),
)
_GROUPS = (
    column("group_id", "Consumer group", "name"),
    column("partitions", "Partitions", "count"),
    column("offline_partitions", "Partitions offline", "count"),
    column("coordinator", "Coordinator", "text", lambda row: COORDINATORS.get(row["coordinator"], row["coordinator"])),
)
_TITLES = {
    SetKind.GIVEN: "lost together",
    SetKind.BROKER: "one broker lost",
    SetKind.RACK: "a rack lost",
    SetKind.RACK_AND_BROKER: "a rack and one more broker lost",
    SetKind.PAIR: "two brokers lost",
}
_MAX_DETAILS = 20
_COUNTS = (
    "offline",
    "offline_topics",
    "under_min_isr",
    "newly_under_min_isr",
    "at_min_isr",
    "new_leaders",
    "unclean_leaders",
)
_TRAFFIC = ("stopped_bytes_per_second", "refused_bytes_per_second")
_FIGURES = ("rebuild_bytes", "rebuild_seconds")
_DRAWN = ": half are those that share the most partitions, the rest are drawn at random"


def lose_brokers(
    snapshot: str, given: Mapping[str, Any], racks: Sequence[str], begin: Steps, *, has_pairs: bool, max_rows: int
) -> Found:
    """Read and lose; ``racks`` are further sets, ``a,b`` each, beside which every pair may be lost."""
    begin("reading the snapshot", steps=4 if given.get("wanted_controllers") else 3)
    # Sets are read where the brokers are known.
    asked = ask_snapshot(snapshot, {name: value for name, value in given.items() if name != "failure_sets"})
    losses = asked_losses(asked)
    sets = _given_sets(asked.basis.snapshot.brokers, given.get("failure_sets", ()), racks, losses.controllers.racks)
    pairs = (SetKind.PAIR,) * has_pairs
    kinds = pairs if sets and "failure_kinds" not in given else losses.asked.kinds
    scenario = dataclasses.replace(losses.asked, kinds=kinds, given=sets)
    begin("aggregating hourly traffic")
    inputs = failures_today(asked)
    begin("simulating broker losses")
    with named_as_options({"brokers": "--lost-together"}):
        result = inputs.lose(scenario, inputs.today)
    tables = failure_tables(result)
    rows = tables["failures"].to_pylist()
    worst_first = sorted(range(len(rows)), key=lambda number: rank([rows[number]]))
    basis, controllers = asked.basis, controllers_document(inputs.request.controllers)
    steps = []
    if controllers is not None and "change" in controllers:
        begin("simulating controller elections")
        steps = step_rows(controllers["change"], simulate_failovers(inputs).to_pylist())
    return Found(
        of=basis.snapshot,
        answer=lambda: _answer(result, tables, are_voters_known=bool(inputs.request.controllers.voters)),
        hint="" if sets else "--lost-together ID,… lists every topic and group that losing these together affects",
        document=lambda: {**_document(result, basis.snapshot, worst_first), "controllers": controllers},
        show=lambda: _print(result, basis, max_rows, controllers or {}, steps, rows, worst_first),
    )


def _given_sets(
    brokers: Brokers, sets: Sequence[str], racks: Sequence[str], voter_racks: Collection[str]
) -> tuple[FailureSet, ...]:
    """Return sets of brokers and racks, ``1,2,rack:a`` each, and sets of racks, ``a,b`` each, with their brokers."""
    of_racks = [",".join(f"{RACK_PREFIX}{rack}" for rack in split_names(text)) for text in racks]
    given = [("--lost-together", text) for text in sets] + [("--racks", text) for text in of_racks]
    return tuple(_given_set(brokers, option, text, voter_racks) for option, text in given)


def _given_set(brokers: Brokers, option: str, text: str, voter_racks: Collection[str]) -> FailureSet:
    try:
        one = lost_together(text)
    except RequestError as error:
        raise RequestError(f"{option}: {error}") from None
    with named_as_options({"racks": option}):  # also where a rack stands among brokers
        of_racks = [broker for rack in one.racks for broker in rack_members(brokers, rack, voter_racks)]
    lost = tuple(sorted({*one.brokers, *of_racks}))
    return FailureSet(kind=SetKind.GIVEN, name=one.name, brokers=lost, racks=one.racks)


def _document(result: FailureResult, snapshot: Snapshot, worst_first: Sequence[int]) -> dict[str, Any]:
    scenario, brokers = result.scenario, result.brokers
    return {
        "scenario": {
            "rules": str(scenario.rules),
            "max_sets": scenario.max_sets,
            "throttle_bytes_per_second": scenario.throttle_bytes_per_second,
            "seed": scenario.seed,
        },
        "partitions": result.partition_count,
        "offline_today": result.offline_today,
        "under_min_isr_today": result.under_min_isr_today,
        "peaks": str(result.peak_basis),
        "unknown_traffic": result.unknown_traffic,
        "brokers": [
            {
                "broker": int(brokers.ids[place]),
                "rack": brokers.racks[place],
                "peaks": {str(name): float(peak[place]) for name, peak in result.peaks_today().items()},
                "capacities": {str(name): plain_number(float(have[place])) for name, have in result.capacity.items()},
            }
            for place in range(len(brokers))
        ],
        "sets": [_set(result, snapshot, number) for number in worst_first],
        "left_out": [to_plain(one) for one in result.left_out],
    }


def _set(result: FailureResult, snapshot: Snapshot, number: int) -> dict[str, Any]:
    """Return a set and what it does: partitions, brokers it overloads, groups; of a given one each survivor and topic.

    ``rebuild_seconds`` is ``None`` where the copy never ends.
    """
    one = result.sets[number]
    row: dict[str, Any] = {
        "kind": str(one.kind),
        "name": one.name,
        "brokers": list(one.brokers),
        **{name: int(getattr(result, name)[number]) for name in _COUNTS},
        **{name: known_traffic(result, name)[number].as_py() for name in _TRAFFIC},
        **{name: plain_number(float(getattr(result, name)[number])) for name in _FIGURES},
        "has_majority": result.has_majority[number],
        "overloads": _overloads(result, number),
        "groups": _groups(result, number),
    }
    if one.kind is SetKind.GIVEN:
        row["survivors"] = _survivors(result, number)
        row["topics"] = _topics(snapshot, one, _rules(result, number))
    return row


def _overloads(result: FailureResult, number: int) -> list[dict[str, Any]]:
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


def _groups(result: FailureResult, number: int) -> list[dict[str, Any]]:
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


def _survivors(result: FailureResult, number: int) -> list[dict[str, Any]]:
    """Return what each survivor leads and carries after one set."""
    brokers, dead = result.brokers, result.sets[number].brokers
    return [
        {
            "broker": int(brokers.ids[place]),
            "rack": brokers.racks[place],
            "leaders": int(result.leaders[number, place]),
            "peak_in_bytes_per_second": plain_number(float(result.peak_in_bytes_per_second[number, place])),
            "peak_out_bytes_per_second": plain_number(float(result.peak_out_bytes_per_second[number, place])),
            "peak_cores": plain_number(float(result.peak_cores[number, place])),
        }
        for place in np.flatnonzero(~(brokers.is_fenced | np.isin(brokers.ids, dead))).tolist()
    ]


def _rules(result: FailureResult, number: int) -> ElectionRules | None:
    """Return by whose rules leaders are elected after a set; ``None`` where no controller is left to do it."""
    return None if result.has_majority[number] is False else result.scenario.rules


def _topics(snapshot: Snapshot, lost: FailureSet, rules: ElectionRules | None) -> list[dict[str, Any]]:
    """List the topics with partitions that are offline or refuse ``acks=all`` after a loss, the worst first."""
    states, topics = states_of(snapshot), snapshot.partitions.topics
    for part in (lost.first, tuple(broker for broker in lost.brokers if broker not in lost.first)):
        states = fail_brokers(states, snapshot.brokers.index_of(np.array(part, dtype=np.int32)).tolist(), rules)
    offline = states.is_offline
    refused = states.refuses(states.live_replicas())
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


def _answer(result: FailureResult, tables: Mapping[str, pa.Table], *, are_voters_known: bool) -> str:
    today = placement_failures(tables, result.scenario.placement_id, are_voters_known=are_voters_known)
    said = loss_sentences(today, KIND_NAMES)
    return " ".join([f"today: {result.offline_today:,} offline, {result.under_min_isr_today:,} under min ISR.", *said])


def _print(
    result: FailureResult,
    basis: Basis,
    max_rows: int,
    controllers: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    worst_first: Sequence[int],
) -> None:
    """Print a table for each kind of set, the worst sets first, then everything about those that were named."""
    for kind, title in _TITLES.items():
        mine = [number for number in worst_first if result.sets[number].kind is kind]
        if not mine:
            continue
        shown = [cells(LOSSES, rows[number]) for number in mine[:max_rows]]
        more = f", the worst {max_rows:,} of {len(mine):,}" if len(mine) > max_rows else ""
        print_rows(f"{title}{more}", LOSSES, shown)
    for number in worst_first:
        if result.sets[number].kind is SetKind.GIVEN:
            _print_details(result, basis.snapshot, number)
    _print_change(controllers, steps)
    print_lines(_notes(result, basis))


def _print_change(controllers: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> None:
    """Print the steps to the controllers that are wanted, and their commands."""
    if "change" not in controllers:
        return
    print_lines(change_sentences(controllers))
    if steps:
        print_rows("controllers: steps to the target voters", STEPS, [cells(STEPS, row) for row in steps])
        pages = runbook(controllers["change"])
        print_lines([line for one in pages for line in (f"{one['does']}: {one['text']}", *one["commands"])])


def _print_details(result: FailureResult, snapshot: Snapshot, number: int) -> None:
    one = result.sets[number]
    topics, groups = _topics(snapshot, one, _rules(result, number)), _groups(result, number)
    for columns, what, found in ((_TOPICS, "topic", topics), (_GROUPS, "group", groups)):
        if found:
            title = f"without {one.name}: {plural(len(found), what)} affected"
            title += f", the worst {_MAX_DETAILS} of them" if len(found) > _MAX_DETAILS else ""
            print_rows(title, columns, [cells(columns, row) for row in found[:_MAX_DETAILS]])


def _notes(result: FailureResult, basis: Basis) -> list[str]:
    """Describe what the figures rest on, and what was not looked at."""
    lines = [
        f"{left.chosen:,} of {left.possible:,} sets of the kind {left.kind} were evaluated"
        f"{_DRAWN if left.kind is SetKind.PAIR else ''} (seed {result.scenario.seed}); --max-losses raises the limit"
        for left in result.left_out
    ]
    if result.peak_basis is PeakBasis.UNKNOWN:
        lines.append(f"warning: {NO_RATES}, so the load of survivors is unknown")
    elif result.peak_basis is PeakBasis.SUM_OF_PEAKS:
        lines.append(
            "broker peaks are upper estimates: with too few hours of history, all partitions are assumed "
            "to peak at once"
        )
    lines += [f"warning: {one.message}" for one in basis.findings.warnings if one.code == "missing_sizes"]
    for resource in SURVIVOR_RESOURCES:
        there = result.capacity.get(resource)
        unknown = np.isnan(there) if there is not None else np.ones(len(result.brokers), dtype=np.bool_)
        if unknown.any():
            ids = result.brokers.ids[unknown].tolist()
            who = "all brokers" if unknown.all() else counted(ids, "broker")
            lines.append(f"{RESOURCE_NAMES[resource]} is not judged on {who}: the capacity is unknown")
    return lines + snapshot_warnings(basis.findings)
