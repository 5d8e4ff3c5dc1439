"""What breaks when brokers, racks and controllers die: today, and after the change."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.failures.section.controllers import controllers
from kafka_capacity.questions.failures.section.details import groups_table, survivors_table
from kafka_capacity.questions.failures.section.matrix import matrices, overview, pair_map
from kafka_capacity.questions.failures.section.sentences import basis_notes, failures_line, loss_sentences
from kafka_capacity.questions.failures.section.view import SIDES, read_failures
from kafka_capacity.report.anchors import FAILURES
from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView


@section(FAILURES, title="What breaks", order=7, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the verdict, the matrix, who is affected, how much is wrong before, and the controllers."""
    failures = read_failures(view.inputs, view.focus_id)
    if failures is None:
        return None
    pairs = pair_map(failures)
    return {
        "line": failures_line(failures),
        "label": view.focus_label,
        "is_same": failures.is_then_same,
        "verdicts": [
            {"side": name, "sentences": loss_sentences(side)} for name, side in zip(SIDES, failures.sides, strict=False)
        ],
        "overview": overview(failures),
        "pairs": pairs,
        "matrices": matrices(failures, is_without_pairs=pairs is not None),
        "tables": [made for made in (survivors_table(failures), groups_table(failures)) if made is not None],
        "problem_count": len(failures.today.problems),
        "controllers": controllers(failures),
        "notes": basis_notes(failures),
    }
