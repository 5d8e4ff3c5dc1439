"""What the report reads of sizing."""

from __future__ import annotations

from kafka_capacity.questions.capacity.sizing_view import SizingView, read_sizing
from kafka_capacity.report.view import ReportView


def sizing_of(view: ReportView) -> SizingView | None:
    """Return what a plan says of sizing; ``None`` where it says nothing."""
    return read_sizing(view.inputs.tables, view.inputs.sizing, view.inputs.request)
