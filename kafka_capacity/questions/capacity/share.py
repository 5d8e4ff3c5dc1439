"""How many brokers, of what kind, by when: the share of a plan, and what is decided from it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.capacity.decide import decide_capacity
from kafka_capacity.questions.capacity.document import SIZING_DOCUMENT, sizing_document
from kafka_capacity.questions.capacity.found import SizingSetup, sizing_setup
from kafka_capacity.questions.capacity.simulate import Sized, placement_results, simulate_sizing
from kafka_capacity.questions.capacity.sizing_steps import outlook_costs, read_sizing, view_sizing
from kafka_capacity.questions.capacity.tables import (
    SIZING_TABLES,
    sizing_exhaustion_table,
    sizing_options_table,
    sizing_use_table,
)
from kafka_capacity.questions.question import Handed, PlanContext, Question, RunPieces, Share
from kafka_capacity.report.inputs import ReportInputs


def _simulate(asked: PlanContext, _: Handed, run: RunPieces) -> Share:
    found = sizing_setup(asked)
    sized = simulate_sizing(found.inputs, functools.partial(run, placement_results, what="cluster sizes"))
    tables = sizing_tables(found, sized)
    return Share(
        tables=tables,
        documents={SIZING_DOCUMENT: {**sized_document(found, sized, tables, asked.request), "scores": asked.scores}},
        scenario_count=len(tables["sizing_options"]),
    )


def sizing_tables(found: SizingSetup, sized: Sized) -> dict[str, pa.Table]:
    """Return the tables about sizing."""
    advice = sized.advice
    return {
        "sizing_options": sizing_options_table(sized.results, recommended=advice.recommended, front=advice.front),
        "sizing_exhaustion": sizing_exhaustion_table(sized.results),
        "sizing_use": sizing_use_table(sized.results, found.inputs.request.limits),
    }


def sized_document(
    found: SizingSetup, sized: Sized, tables: Mapping[str, pa.Table], request: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the tables do not say, and what the steps to the horizon cost."""
    document = sizing_document(found, sized)
    view = view_sizing(tables, document, request)
    return {**document, "outlook": outlook_costs(view)}


def _decide(results: ReportInputs, _: Handed) -> Answer | None:
    view = read_sizing(results.tables, results.sizing, results.request)
    answer = decide_capacity(view, results.sizing)
    return None if answer is None else dataclasses.replace(answer, details=view)


CAPACITY = Question(name="capacity", share="sizing", tables=SIZING_TABLES, simulate=_simulate, decide=_decide)
