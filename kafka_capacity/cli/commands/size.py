"""``kafka-capacity size``: how many brokers, of what kind, by when, for how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from kafka_capacity.cli.app import EXIT_NOTHING_FITS
from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import CpuSamples, HasToFit, ShapesFile, option
from kafka_capacity.cli.plan_options import fields_of
from kafka_capacity.questions.capacity.demand_parameters import DemandParameters
from kafka_capacity.questions.capacity.parameters import SizingParameters

OF_OTHER_SECTIONS = (
    "disk_limit_ratio",
    "throttle_bytes_per_second",
    "broker_heap_bytes",
    "rack_rule",
    "balance",
    "tolerance_ratio",
    "seed",
)
"""What sizing hangs on beside its own sections of the form."""

SIZED_BY = (*fields_of(DemandParameters, SizingParameters), *OF_OTHER_SECTIONS)
"""All parameters that sizing hangs on."""

NAMED_OTHERWISE = {"planned_events": "--events", "sizing_broker_counts": "--broker-counts"}
"""Shorter names of options, where sizing alone is asked."""


@asks("size", *SIZED_BY, version=1, also=NAMED_OTHERWISE)
def size(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    shapes_file: ShapesFile = None,
    cpu_samples: CpuSamples = None,
    is_everything: Annotated[bool, option("--all", "List every option that was evaluated.")] = False,
    has_to_fit: HasToFit = False,
) -> Found:
    """Show how many brokers of which type the cluster needs up to a horizon, and what they cost.

    Reads a native snapshot, projects its traffic, places its real partitions on every candidate number of brokers, and
    judges each shape on that: network, CPU, disk space and disk throughput of every broker at peak, each month, also
    after losses. An option that does not fit says which limit it exceeds, on which broker and day, and by how much.
    Doing nothing and scaling in are always among the options. docs/sizing.md describes the model and its assumptions.

    Prints the options worth considering, the recommendation, when today's cluster runs out of which resource, and why
    calculators give different counts. With --out it writes size.json with everything into DIR.

    Sizes and amounts are bytes, rates bytes per second, ratios 0 to 1, prices US dollars.
    """
    from kafka_capacity.cli.sizing import next_step, print_size, size_cluster, view_sized
    from kafka_capacity.questions.answer import Status
    from kafka_capacity.questions.capacity.sizing_words import growth_sentence, headline

    found, sized = size_cluster(snapshot, given, shapes_file, cpu_samples, begin)
    view = view_sized(found, sized)
    is_known_to_fit = view.recommended is not None and view.status(view.recommended) is Status.FITS
    return Found(
        of=found.inputs.snapshot,
        answer=lambda: f"{headline(view)} {growth_sentence(view, view.document['request'])}".strip(),
        hint=next_step(view, snapshot),
        document=lambda: {**view.document},
        show=lambda: print_size(found, view, is_everything=is_everything),
        exit_status=EXIT_NOTHING_FITS if has_to_fit and not is_known_to_fit else 0,
    )
