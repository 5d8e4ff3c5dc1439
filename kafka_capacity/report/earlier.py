"""The ``report.json`` of the version before, as this one reads it."""

from __future__ import annotations

from typing import Any

_BADGES = {
    "fits": {"kind": "good", "text": "✓ Fits"},
    "unsound": {"kind": "bad", "text": "! Inventory unsound"},
    "no_fit": {"kind": "bad", "text": "✕ Does not fit"},
}


def from_version_1(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report of version 1, where the verdict was made while the page was, as one of version 2."""
    verdict, serious = report["verdict"], report["verdict"].get("serious")
    problems = {**serious, "problems": [{"text": text} for text in serious["texts"]]} if serious else None
    for section in report["sections"]:
        if section["name"] == "comparison":
            for row in section["data"]["table"]["rows"]:
                row["verdict"] = "does_not_fit" if row["verdict"] == "no_fit" else row["verdict"]
    new = {"badge": _BADGES[verdict["status"]], "serious": problems}
    return {**report, "version": 2, "verdict": {**verdict, **new}}
