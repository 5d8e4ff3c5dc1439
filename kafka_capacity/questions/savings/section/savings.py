"""Instead of buying: the best sets of actions, and what each action saves alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.hardware.limits import RESOURCES, resource_name
from kafka_capacity.questions.savings.decide import SavingsView, because, by_effort, offered, read_savings
from kafka_capacity.questions.savings.share import SAVINGS
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import NOTE, cells, chosen, column, table
from kafka_capacity.report.view import ReportView


def _binds(row: Mapping[str, Any]) -> str | None:
    binds = row["binds"]
    return resource_name(binds) if binds in RESOURCES else binds


SETS = (
    column("text", "What to do", "name"),
    column(
        "effort", "Effort", "count", None, "Effort is in points: 1 is a setting that one person changes in an hour."
    ),
    column("saved_brokers", "Brokers saved", "count"),
    column("saved_usd_per_month", "Saved per month", "usd"),
    column("first_purchase", "First purchase", "day", lambda row: row["first_purchase"] or "none"),
)
"""One row a set: made of a row of ``savings_sets`` with its ``text``."""
ACTIONS = (
    column("text", "Action"),
    column("freed_bytes", "Frees", "bytes"),
    column("saved_brokers", "Brokers saved", "count"),
    column("saved_usd_per_month", "Saved per month", "usd"),
    column("binds", "Binds next", "text", _binds),
    column("effort", "Effort", "count"),
    column("needs_restart", "Restarts"),
    column("is_reversible", "Reversible", "yes"),
    column("risk", "Risk"),
    column("topics", "Topics", "text", lambda row: ", ".join(row["topics"])),
)
"""One row an action: made of a row of ``savings_actions``."""
DATES = (
    column("set_id", "Set", "id"),
    column("text", "What to do"),
    column("date", "Date", "day"),
    column("broker_count", "Brokers", "count"),
    column("usd_per_month", "Dollars per month", "usd"),
    column("saved_brokers", "Brokers saved", "count"),
    column("saved_usd_per_month", "Saved per month", "usd"),
    column("remote_bytes", "In the object store", "bytes"),
)
"""One row a set and date: made of a row of ``savings_dates`` with the ``text`` of its set."""


def sets_table(view: SavingsView) -> dict[str, Any]:
    """Return the best sets, and the one that is offered."""
    best = offered(view)
    sets = by_effort(row for row in view.sets if row["is_on_front"] or row is best)
    rows = [cells(SETS, {**row, "text": view.clause(row, len(row["actions"]))}) for row in sets]
    return table("Best sets of actions, by effort", SETS, rows)


def actions_table(view: SavingsView, *keys: str) -> dict[str, Any]:
    """Return the actions, with why it saves nothing below those that do not; with keys, those columns of the judged."""
    columns = chosen(ACTIONS, *keys) if keys else ACTIONS
    every = view.judged if keys else list(view.actions.values())
    rows = [{**cells(columns, row), NOTE: because(row) if row["saves_nothing"] else None} for row in every]
    return table("Savings of single actions", columns, rows)


def dates_table(view: SavingsView, sets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return some sets date by date."""
    named = {row["set_id"]: view.clause(row) for row in sets}
    rows = [cells(DATES, {**row, "text": named[row["set_id"]]}) for row in view.dates if row["set_id"] in named]
    return table("Brokers and dollars by date", DATES, rows)


@section(SAVINGS.name, title="Instead of buying", order=12, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the answer, the best sets for the page, and under ``data`` tables that are files beside it alone.

    ``offered`` are the actions of the set that the decision box offers, for those who own their topics.
    """
    answer = view.decision["answers"].get(SAVINGS.name)
    if answer is None:
        return None
    savings = read_savings(view.inputs.tables)
    best = offered(savings)
    return {
        "line": answer["headline"],
        "sentences": answer["reasons"],
        "tables": [sets_table(savings)] if savings.front else [],
        "data": [actions_table(savings), dates_table(savings, savings.sets)] if savings.actions else [],
        "offered": [savings.actions[one]["text"] for one in (best["actions"] if best is not None else ())],
        "topics": {row["text"]: row["topics"] for row in savings.actions.values()},
    }
