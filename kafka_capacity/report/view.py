"""What the sections of a report are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kafka_capacity.report.inputs import ReportInputs

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportView:
    """A plan's results and what was decided about them, as ``decision.json`` has it."""

    inputs: ReportInputs
    decision: Mapping[str, Any]
    _read: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False)

    def of(self, read: Callable[[ReportView], T]) -> T:
        """Return what a question reads of the results, read once however many sections ask for it."""
        if read not in self._read:
            self._read[read] = read(self)
        found: T = self._read[read]
        return found

    @property
    def focus_id(self) -> str:
        """The scenario that is described in detail: the recommended one, else the nearest to fitting."""
        return str(self.decision["nearest_scenario_id"])

    @property
    def focus_label(self) -> str:
        """What people call that scenario."""
        decided: list[Mapping[str, Any]] = self.decision["options"]
        return next(str(one["label"]) for one in decided if one["scenario_id"] == self.focus_id)
