"""All clusters on one page: of each what its newest plan decided, its worst problem and the way to its report."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from kafka_capacity.demand.calendar_days import days_between
from kafka_capacity.demand.class_forecast import MAX_STALE_DAYS
from kafka_capacity.errors import MissingManifestError, StorageError
from kafka_capacity.objects.keys import (
    FLEET_PAGE,
    list_clusters,
    list_days,
    newest_plans,
    plan_prefix,
    report_prefix,
    request_key,
)
from kafka_capacity.objects.object_store import content_type_of
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.changes import is_judged, sizing_figure
from kafka_capacity.plan.lifecycle import followed, gravest, read_entries
from kafka_capacity.plan.plan_dataset import DECISION_FOLDER
from kafka_capacity.plan.publish import read_decision, read_request
from kafka_capacity.plan.section.request import is_default
from kafka_capacity.plan.states import with_states
from kafka_capacity.questions.answer import BADGES, Status
from kafka_capacity.report.render import render_page
from kafka_capacity.text import format_usd, plural
from kafka_capacity.text.names import clipped

log = logging.getLogger(__name__)

PROBLEM_LENGTH = 160  # a longer one is cut: the report has it whole
_STANDINGS = {
    "bad": "with too little capacity",
    "warn": "needing action before the horizon",
    "note": "no worse than today",
    "good": "with enough brokers",
}
_OTHER_STANDINGS = {"Over budget": "over budget", "Rebalance now": "to be rebalanced now"}
_RANK = {"bad": 0, "warn": 1, "note": 2, "good": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a cluster stands."""

    cluster: str  # its name
    ds: str = ""  # the day of the plan's inventory; of the newest inventory where there is no plan, empty without one
    plan_id: str = ""  # the plan's name; empty for none
    decision: Mapping[str, Any] | None = None  # what it decided, each problem with its state; `None` where none is read


def newest_standing(store: ObjectStore, cluster: str) -> Standing:
    """Return what the newest plan of a cluster that was decided about says.

    Of several of one day the one counts that was asked with the fewest parameters of its own, of these the last. One
    that cannot be read is not passed over for an older one: that would look as if nothing was new.
    """
    for ds, plans in newest_plans(store, cluster):
        for plan_id in usual_first(store, cluster, ds, plans):
            found = standing_of(store, cluster, ds, plan_id)
            if found is not None:
                return found
    return Standing(cluster=cluster, ds=next(reversed(list_days(store, cluster, "inventory")), ""))


def standing_of(store: ObjectStore, cluster: str, ds: str, plan_id: str) -> Standing | None:
    """Return what one plan says; ``None`` for one that is not there, or is under way."""
    try:
        decision = read_decision(store, plan_prefix(cluster, ds, plan_id))
        told = with_states(decision, read_entries(store, decision))
        return Standing(cluster=cluster, ds=ds, plan_id=plan_id, decision=told)
    except MissingManifestError:
        return None
    except (StorageError, ValueError, LookupError, TypeError) as error:
        log.warning("the decision for %s on %s cannot be read: %s", cluster, ds, error)
        return Standing(cluster=cluster, ds=ds, plan_id=plan_id)


def usual_first(store: ObjectStore, cluster: str, ds: str, plans: Sequence[str]) -> list[str]:
    """Sort the plans of a day: that with the fewest parameters of its own stands for the cluster, of these the last."""
    if len(plans) < 2:
        return list(plans)

    def rank(plan_id: str) -> tuple[int, float]:
        written = store.list_objects(plan_prefix(cluster, ds, plan_id) + DECISION_FOLDER)
        latest = max((one.written for one in written.values()), default=0.0)
        return own_parameters(store, cluster, ds, plan_id), -latest

    return sorted(plans, key=rank)


def own_parameters(store: ObjectStore, cluster: str, ds: str, plan_id: str) -> int:
    """Return how many parameters a plan was given."""
    request = read_request(store, request_key(cluster, ds, plan_id)) or {}
    return sum(not is_default(name, value) for name, value in request.items())


def fleet(store: ObjectStore) -> dict[str, Any]:
    """Return all clusters as rows, the worst verdict first, and how many there are of each in a sentence."""
    clusters = list_clusters(store)
    newest = max((days[-1] for name in clusters if (days := list_days(store, name, "inventory"))), default="")
    rows = sorted((_dated(_row(newest_standing(store, name)), newest) for name in clusters), key=_rank)
    counts = Counter(row["standing"] for row in rows)  # in their order, the worst first
    said = [f"{count:,} {standing}" for standing, count in counts.items()]
    return {"rows": rows, "summary": f"{plural(len(rows), 'cluster')}: {', '.join(said)}." if rows else "No clusters."}


def _rank(row: Mapping[str, Any]) -> tuple[int, str, str]:
    """Return the place of a cluster: the worst verdict first, then whose brokers run out first."""
    day = row["runs_out"]
    soonest = "" if day in ("", "already") else day if day[:1].isdecimal() else "9"
    return _RANK[row["kind"]], soonest, row["cluster"]


def _row(standing: Standing) -> dict[str, str]:
    cells = dict.fromkeys(("approve", "runs_out", "usd", "problem", "state"), "")
    row = {"cluster": standing.cluster, "ds": standing.ds, "report": _link(standing), **cells}
    decision = standing.decision
    if decision is None and standing.plan_id:
        again = {"standing": "whose plan cannot be read", "approve": "Run its newest plan again."}
        return {**row, "kind": "bad", "verdict": "Cannot be read", **again}
    if decision is None:
        return {**row, "kind": "note", "verdict": "Never planned", "standing": "never planned"}
    worst = next((one for one in followed(decision).values() if "severity" in one and "is_dismissed" not in one), {})
    shown = (decision.get("sizing") or decision)["badge"]
    kind, verdict, words = shown["kind"], shown["text"], _STANDINGS[shown["kind"]]
    if not is_judged(decision):
        (kind, verdict), words = BADGES[Status.NOT_JUDGED], "not judged"
    words = _OTHER_STANDINGS.get(verdict.split(" ", 1)[-1], words)
    if kind in ("good", "note") and gravest(decision) is not None:
        # Enough brokers is not all there is to say of a cluster where something is down.
        kind, words = "warn", f"{words} and a serious problem"
    return {
        **row,
        "kind": kind,
        "verdict": verdict,
        "standing": words,
        "approve": decision["box"]["approve"],
        "runs_out": sizing_figure(decision, "runs_out"),
        "usd": _usd(decision),
        "problem": clipped(worst.get("message", ""), PROBLEM_LENGTH),
        "state": worst.get("state", ""),
    }


def _dated(row: Mapping[str, str], newest: str) -> Mapping[str, str]:
    """Return a row that says so where a plan is too old beside ``newest``, the day of the newest inventory of all."""
    days = days_between(row["ds"], newest) if row["report"] and newest else 0
    if days <= MAX_STALE_DAYS:
        return row
    again = f"Stage and plan it again: its plan is of an inventory {days:,} days older than the newest"
    return {
        **row,
        "kind": "bad" if row["kind"] == "bad" else "warn",
        "verdict": "Out of date",
        "standing": "whose plan is out of date",
        "approve": f"{again} (it said: {row['verdict']}).",
        "runs_out": "",
    }


def _usd(decision: Mapping[str, Any]) -> str:
    """Return what a month costs as it is, and with what is needed now."""
    now, today = sizing_figure(decision, "usd_per_month"), decision.get("today", {}).get("usd_per_month")
    if not is_judged(decision):
        return "" if today is None else format_usd(today)
    return now if today is None or format_usd(today) == now else f"{format_usd(today)} → {now}"


def _link(standing: Standing) -> str:
    """Return the address of a report beside the page; what is encoded in a key is encoded once more, as in any URL."""
    if not standing.plan_id:
        return ""
    key = report_prefix(standing.cluster, standing.ds, standing.plan_id) + "index.html"
    return quote(key.removeprefix(FLEET_PAGE.rpartition("/")[0] + "/"), safe="/=")


def write_fleet_page(store: ObjectStore) -> str:
    """Write the page over all clusters beside their reports; returns its key."""
    page = render_page("fleet.html", fleet=fleet(store))
    store.write_bytes(FLEET_PAGE, page.encode(), content_type=content_type_of(FLEET_PAGE))
    return FLEET_PAGE
