"""Who owns which topics and groups, and what each owner has to do by a report.

Owners are a deployment's: they stand beside what was decided, in the table of groups, on a page of their own and in a
mail each. Only what they pay is of a plan, which pins them (:mod:`kafka_capacity.questions.chargeback`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kafka_capacity.health.problem import Severity
from kafka_capacity.inventory.owners import Owners, owner_of
from kafka_capacity.questions.consumers.choice import RISKS
from kafka_capacity.report import anchors
from kafka_capacity.report.tables import NOTE, column, table
from kafka_capacity.text.names import slug
from kafka_capacity.text.wording import few_names

OWNER = column("owner", "Owner", "name")
MAX_LISTED = 500  # topics on the page of an owner, the largest
_TOPICS = (
    column("topic", "Topic", "name"),
    column("partitions", "Partitions", "count"),
    column("bytes", "All replicas", "bytes"),
)
_IDLE, _SAVINGS = "idle", "savings"  # the sections
_OWNERS_NAMED = 3  # of an action
_NAMES = 5  # topics of an owner among those that something is about


def topic_rows(replicas: pa.Table) -> list[dict[str, Any]]:
    """Return each topic of an inventory's table of replicas with its partitions and the bytes of all replicas."""
    found = replicas.group_by("topic").aggregate([("partition", "count_distinct"), ("size_bytes", "sum")])
    named = found.select(["topic", "partition_count_distinct", "size_bytes_sum"])
    return list(named.rename_columns(["topic", "partitions", "bytes"]).sort_by("topic").to_pylist())


def page_name(owner: str) -> str:
    """Return the file of an owner's page beside the report: safe and its own, whatever the owner is called.

    >>> page_name("../Payments Team")
    'owners/payments-team-518dd69e.html'
    """
    return f"owners/{slug(owner).lower()[:40].strip('-')}-{hashlib.sha256(owner.encode()).hexdigest()[:8]}.html"


def add_owners(report: dict[str, Any], owners: Owners, topics: Sequence[Mapping[str, Any]] = ()) -> None:
    """Add a column to the table of groups, and under ``owners`` what each owns and has to do; nothing without owners.

    The report's data is changed; topics are those of :func:`topic_rows`.
    """
    if not owners:
        return
    sections = {one["name"]: one["data"] for one in report["sections"]}
    overview = sections.get(anchors.GROUPS, {}).get("overview")
    if overview:
        overview["columns"].insert(1, {"key": OWNER.key, "label": OWNER.label, "format": OWNER.kind})
        for row in overview["rows"]:
            row[OWNER.key] = owner_of(owners, row["group"])
    _add_to_savings(sections.get(_SAVINGS), owners)
    rows = (overview or {"rows": ()})["rows"]
    problems = report.get("verdict", {}).get("problems", ())
    owned: dict[str, dict[str, list[Any]]] = {}
    for what, found in (
        ("items", (*_of_topics(problems), *_items(sections))),
        ("topics", (([row["topic"]], row) for row in topics)),
        ("groups", (([row["group"]], row) for row in rows)),
    ):
        for names, one in found:
            for owner, theirs in _names_by_owner(owners, names).items():
                mine = one
                if len(theirs) < len(names):
                    mine = {**one, "text": f"{one['text']} Yours: {few_names(theirs, _NAMES)}."}
                owned.setdefault(owner, {"items": [], "topics": [], "groups": []})[what].append(mine)
    report["owners"] = [
        {
            "owner": owner,
            "page": page_name(owner),
            "items": of["items"],
            "tables": [one for one in (_topics_table(of["topics"]), _groups_table(overview, of["groups"])) if one],
        }
        for owner, of in sorted(owned.items())
    ]


def _topics_table(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    listed = sorted(rows, key=lambda row: (-(row["bytes"] or 0), row["topic"]))[:MAX_LISTED]
    note = f"The {len(listed):,} largest of {len(rows):,}." if len(listed) < len(rows) else None
    return table("Topics", _TOPICS, listed, note=note) if listed else None


def _groups_table(overview: Mapping[str, Any] | None, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the rows of the table of groups that are an owner's, each without what stands behind it on the page."""
    if overview is None or not rows:
        return None
    columns = [one for one in overview["columns"] if one["key"] != OWNER.key]
    kept = [{name: row.get(name) for name in (*(one["key"] for one in columns), NOTE)} for row in rows]
    return {"caption": "Consumer groups", "columns": columns, "rows": kept, "note": None}


def _add_to_savings(data: dict[str, Any] | None, owners: Owners) -> None:
    """Add a column to the tables of actions: who owns a topic that the action is about."""
    topics = {} if data is None else data["topics"]
    for listed in () if data is None else (*data["tables"], *data["data"]):
        if any(row["text"] in topics for row in listed["rows"]):
            listed["columns"].insert(1, {"key": OWNER.key, "label": OWNER.label, "format": OWNER.kind})
            for row in listed["rows"]:
                found = {owner_of(owners, name) for name in topics.get(row["text"], ())} - {None}
                row[OWNER.key] = few_names(sorted(map(str, found)), _OWNERS_NAMED) or None


def _names_by_owner(owners: Owners, names: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        if (owner := owner_of(owners, name)) is not None:
            found.setdefault(owner, []).append(name)
    return found


_Item = tuple[Sequence[str], dict[str, str]]
"""The topics or groups that something is about, what is to be done as ``text``, and the ``anchor`` that says more."""


def _of_topics(problems: Sequence[Mapping[str, Any]]) -> Iterator[_Item]:
    """Yield what is wrong with topics and was not dismissed, the worst first."""
    for one in problems:
        if one.get("topics") and one["severity"] != Severity.INFO and "is_dismissed" not in one:
            yield one["topics"], {"text": one["text"], "anchor": anchors.FINDINGS}


def _items(sections: Mapping[str, Any]) -> Iterator[_Item]:
    """Yield what sections find to be done: groups at risk, idle topics, and what is offered instead of buying."""
    groups = sections.get(anchors.GROUPS, {})
    reasons = {one["anchor"]: one["reason"] for one in [*groups.get("full", ()), *groups.get("folded", ())]}
    for row in (groups.get("overview") or {"rows": ()})["rows"]:
        if row["verdict"] in RISKS:
            text = reasons.get(row.get("anchor"), f"Consumer group {row['group']} is at risk")
            yield [row["group"]], {"text": f"{text.rstrip('.')}.", "anchor": row.get("anchor", anchors.GROUPS)}
    for idle in sections.get(_IDLE, {}).get("tables", ()):
        for row in idle["rows"]:
            if "topic" in row:
                text = f"Topic {row['topic']} is idle: remove it, or explain what it is for."
                yield [row["topic"]], {"text": text, "anchor": _IDLE}
    savings = sections.get(_SAVINGS, {})
    for text in savings.get("offered", ()):
        what = f"Instead of buying: {text}."
        yield savings["topics"][text], {"text": what, "anchor": _SAVINGS}
