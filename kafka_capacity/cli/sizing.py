"""What ``size`` finds out and how it shows that, as the page does; and the files that it takes beside a snapshot."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kafka_capacity.cli.console import Steps, print_data, print_lines, print_rows
from kafka_capacity.cli.pieces import run_step_by_step
from kafka_capacity.cli.plan_input import ask_snapshot
from kafka_capacity.cli.plan_options import FieldOption, request_of
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.cpu import read_cpu_samples
from kafka_capacity.hardware.shape_catalogue import chosen_shapes, shapes_beside
from kafka_capacity.health.controllers import leaving_voters
from kafka_capacity.inventory.owners import read_owners
from kafka_capacity.inventory.snapshot import read_quorum
from kafka_capacity.questions.capacity.cost_words import estimate_sentence
from kafka_capacity.questions.capacity.found import SizingSetup, sizing_setup
from kafka_capacity.questions.capacity.option_words import move_parameters
from kafka_capacity.questions.capacity.options import brokers_of
from kafka_capacity.questions.capacity.results import OptionKind
from kafka_capacity.questions.capacity.section.by_when import exhaustion_table, steps_table
from kafka_capacity.questions.capacity.section.calculators import chosen_waterfalls
from kafka_capacity.questions.capacity.section.options_costs import first_options, lasts_until, terminal_columns
from kafka_capacity.questions.capacity.share import sized_document, sizing_tables
from kafka_capacity.questions.capacity.simulate import Sized, placement_results, simulate_sizing
from kafka_capacity.questions.capacity.sizing_steps import view_sizing
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView
from kafka_capacity.questions.capacity.sizing_words import not_judged_sentence
from kafka_capacity.questions.question import PlanContext
from kafka_capacity.report.tables import cells
from kafka_capacity.text import plural
from kafka_capacity.text.files import read_text_file

_SIZED_FROM = ("metrics", "history")
_MAX_TOPICS = 10


def size_cluster(
    snapshot: str, given: Mapping[str, Any], shapes_file: Path | None, cpu_samples: Path | None, begin: Steps
) -> tuple[SizingSetup, Sized]:
    """Read, size and choose."""
    asked = ask_sized(snapshot, given, begin, shapes_file, cpu_samples)
    begin("projecting demand")
    found = sizing_setup(asked)
    run = functools.partial(run_step_by_step(begin, begun=2), placement_results, what="cluster sizes")
    return found, simulate_sizing(found.inputs, run)


def view_sized(found: SizingSetup, sized: Sized) -> SizingView:
    """Return what sizing found; its document is what ``size.json`` holds, null where there is no figure that ends."""
    request, tables = found.asked.parameters.model_dump(mode="json"), sizing_tables(found, sized)
    document = {
        "request": request,
        **sized_document(found, sized, tables, request),
        "warnings": _leaving_voters(found, sized)
        + [
            f"inventory: {finding.message}"
            for finding in found.asked.basis.findings.warnings
            if finding.where.partition(".")[0] in _SIZED_FROM or finding.where == "replicas.size_bytes"
        ],
    }
    view = view_sizing(tables, document, request)
    status = {row["option_id"]: str(view.status(row)) for row in view.options}
    document["options"] = [{**result.as_dict(), "status": status[result.option_id]} for result in sized.results]
    return view


def _leaving_voters(found: SizingSetup, sized: Sized) -> list[str]:
    """Describe which of the brokers that the recommended option gives up vote as controllers."""
    options = {result.option.option_id: result.option for result in sized.results}
    if sized.advice.recommended is None:
        return []
    observed = found.inputs.snapshot.brokers
    kept = brokers_of(found.inputs, options[sized.advice.recommended].placement)
    leaving = np.setdiff1d(observed.ids, kept.ids).tolist()
    problems = leaving_voters(read_quorum(found.asked.basis.raw), leaving)
    return [f"{one.severity}: {one.message}; {one.remedy}" for one in problems]


def next_step(view: SizingView, snapshot: str) -> str:
    """Return what to type to see what the change takes that is due now."""
    option = view.steps[0].option if view.steps else view.today
    if option["kind"] in (OptionKind.DO_NOTHING, OptionKind.SHRINK_VOLUMES) or option["shape"] != view.today["shape"]:
        return ""
    options = " ".join(f"{FieldOption(name).names[0]} {value}" for name, value in move_parameters(option).items())
    return f"kafka-capacity plan {snapshot} {options} --out DIR, for what the move takes"


def print_size(found: SizingSetup, view: SizingView, *, is_everything: bool) -> None:
    """Print the recommendation, the options, when today's cluster runs out, and what others would say."""
    document = view.document
    snapshot, advice = found.inputs.snapshot, document["advice"]
    print_lines([*_recommended(view), f"why: {advice['reason']}", *_single_replicas(view), *_by_date(view)])
    rows = list(view.options) if is_everything else _worth_a_look(view)
    columns = terminal_columns(view.options)
    brokers, partitions = plural(len(snapshot.brokers), "broker"), plural(len(snapshot.partitions), "partition")
    title = f"{snapshot.cluster} on {snapshot.ds}: {brokers}, {partitions}, up to {view.horizon}"
    print_rows(title, columns, [cells(columns, row, view) for row in rows])
    more, cpu = len(view.options) - len(rows), document["cpu"]["reason"]
    print_lines([f"CPU: {cpu}"] if cpu else [])
    print_lines([f"{more:,} more options were tried; --all shows them"] if more else [])
    if (steps := steps_table(view)) is not None:
        print_data(steps)
    print_data(exhaustion_table(view, "doing nothing", view.today))
    for drawn in chosen_waterfalls(view):
        print_data({**drawn["table"], "note": drawn["note"]})
    print_lines(_notes(view))


def _recommended(view: SizingView) -> list[str]:
    """Return the option of each step, and by when."""
    if not view.steps:
        return ["recommended: nothing"]
    first, *later = view.steps
    found = [f"recommended{' now' if later else ''}: {first.option['option_id']}"]
    return found + [f"recommended by {step.from_day}: {step.option['option_id']}" for step in later]


def _single_replicas(view: SizingView) -> list[str]:
    """Describe what the answer leaves with a single replica."""
    answer, found = view.recommended or view.options[0], view.document["single_replicas"]
    return [f"serious: {found['reason']}"] if found and answer["replication_factor"] in (None, 1) else []


def _by_date(view: SizingView) -> list[str]:
    """Return what would do if it had to last a shorter time, where that is no step, and until which day."""
    advice, steps = view.document["advice"], {step.option["option_id"] for step in view.steps}
    said = {None, advice["recommended"], *steps}
    # What would do today alone is no answer: it would be missed tomorrow.
    shorter = dict.fromkeys(option for _, option in advice["by_date"][1:] if option not in said)
    found = [row for row in map(view.by_id, shorter) if row is not None]
    return [f"{row['option_id']}: only until {lasts_until(row, view)}" for row in found]


def _worth_a_look(view: SizingView) -> list[Row]:
    """Choose what the page shows first, and all of today's hardware."""
    shown = first_options(view)
    return [row for row in view.options if row in shown or row["shape"] == view.today["shape"]]


def _notes(view: SizingView) -> list[str]:
    shown, document = view.nearest, view.document
    lines = [f"do-nothing: {excuse['reason']}" for excuse in view.today["excuses"]]
    lines += [
        f"group {one['group_id']} reads from disk from {one['from_date']} on, because the page cache no longer "
        "reaches back far enough"
        for one in document["groups_beyond_page_cache_today"][:_MAX_TOPICS]
    ]
    unknown = not_judged_sentence(shown)
    lines += [f"{shown['option_id']}: {unknown}"] if unknown else []
    if document["peak_basis"] == PeakBasis.SUM_OF_PEAKS:
        lines.append("there is less than a day of rates: all partitions are assumed to peak at once, an upper estimate")
    lines += [f"topic {one['topic']}: {one['reason']}" for one in document["partitions"][:_MAX_TOPICS]]
    if document["partitions_advised"] > _MAX_TOPICS:
        lines.append(f"{document['partitions_advised'] - _MAX_TOPICS:,} more topics need attention: --json lists them")
    if (estimate := estimate_sentence(view)) is not None:
        lines.append(estimate)
    elif shown["priced_on"]:
        lines.append(f"prices of {shown['shape']} are as of {shown['priced_on']}; check them")
    return [*lines, *document["notes"], *document["warnings"]]


def ask_sized(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    shapes_file: Path | None,
    cpu_samples: Path | None,
    owners: Path | None = None,
) -> PlanContext:
    """Read the files and a snapshot, and put to it what was typed."""
    files, known_owners = read_size_files(shapes_file, cpu_samples, given), read_owners(owners)
    begin("reading the snapshot")
    return ask_snapshot(snapshot, given, owners=known_owners, **files)


def read_size_files(shapes_file: Path | None, cpu_samples: Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Read the files, so that what is wrong with them is told before a large snapshot is read.

    Returns:
        What :class:`kafka_capacity.questions.question.PlanContext` has of them.

    Raises:
        KafkaCapacityError: a file is wrong, or a shape that is asked for is neither shipped nor in the file.
    """
    own = "" if shapes_file is None else read_text_file(shapes_file)
    name = f"--shapes-file {shapes_file}"
    chosen_shapes(shapes_beside(own, name), request_of("not read yet", "2000-01-01", given).shapes)
    cpu = None if cpu_samples is None else read_cpu_samples(cpu_samples)
    return {"own_shapes": own, "own_shapes_name": name, "cpu": cpu}
