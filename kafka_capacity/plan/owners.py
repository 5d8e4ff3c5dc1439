"""Who owns which topics and groups, and what each owner has to do by a report.

Owners are a deployment's, not a plan's: they stand beside what was decided, in the table of groups and in a mail each.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_capacity.errors import RequestError
from kafka_capacity.report import anchors
from kafka_capacity.report.tables import column

Owners = Mapping[str, str]  # pattern of names of topics and groups to whoever owns them; the first that matches counts

OWNER = column("owner", "Owner", "name")
_IDLE = "idle"  # the section


def parse_owners(text: str, *, source: str) -> Owners:
    """Read ``{"payments-*": "payments@example.com", …}``; nothing is nobody.

    Raises:
        RequestError: it is no object of names.
    """
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{source}: is not JSON ({error}); fix it") from None
    if not isinstance(found, dict) or not all(isinstance(one, str) and one.strip() for one in found.values()):
        raise RequestError(f'{source}: write patterns and who owns what matches: {{"payments-*": "team@example.com"}}')
    return found


def owner_of(owners: Owners, name: str) -> str | None:
    """Return who owns a topic or group; ``None`` where nobody is known to."""
    return next((owner for pattern, owner in owners.items() if fnmatch.fnmatchcase(name, pattern)), None)


def add_owners(report: dict[str, Any], owners: Owners) -> None:
    """Add a column to the table of groups, and under ``owners`` what each has to do; nothing without owners."""
    if not owners:
        return
    sections = {one["name"]: one["data"] for one in report["sections"]}
    overview = sections.get(anchors.GROUPS, {}).get("overview")
    if overview:
        overview["columns"].insert(1, {"key": OWNER.key, "label": OWNER.label, "format": OWNER.kind})
        for row in overview["rows"]:
            row[OWNER.key] = owner_of(owners, row["group"])
    to_do: dict[str, list[dict[str, str]]] = {}
    for name, item in _items(sections):
        if (owner := owner_of(owners, name)) is not None:
            to_do.setdefault(owner, []).append(item)
    report["owners"] = [{"owner": owner, "items": to_do[owner]} for owner in sorted(to_do)]


def _items(sections: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what somebody has to do: the topic or group that it is about, its text, and where the page says more."""
    groups = sections.get(anchors.GROUPS, {})
    reasons = {one["anchor"]: one["reason"] for one in [*groups.get("full", ()), *groups.get("folded", ())]}
    for row in (groups.get("overview") or {"rows": ()})["rows"]:
        if row["verdict"] == "at_risk":
            text = reasons.get(row.get("anchor"), f"Consumer group {row['group']} is at risk")
            yield row["group"], {"text": f"{text.rstrip('.')}.", "anchor": row.get("anchor", anchors.GROUPS)}
    for table in sections.get(_IDLE, {}).get("tables", ()):
        for row in table["rows"]:
            if "topic" in row:
                text = f"Topic {row['topic']} is idle: remove it, or say what it is for."
                yield row["topic"], {"text": text, "anchor": _IDLE}
