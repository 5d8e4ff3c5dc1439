"""The ``report.json`` of the version before, as this one reads it."""

from __future__ import annotations

from typing import Any

from kafka_capacity.health.problem import RETIRED_CODES, Problem, Problems
from kafka_capacity.report.heat import heat, share_cell
from kafka_capacity.report.tables import NOTE, REASON, plain_badge


def completed(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report of this version with what those lack that were made before there was a decision box."""
    verdict = report["verdict"]
    headline = (verdict.get("sizing") or verdict)["headline"]
    box = {"approve": headline, "lines": [{"name": "move", "label": "The move", "text": verdict["headline"]}]}
    for one in report["sections"]:
        if one["name"] == "broker_use":
            one["data"]["tables"] = [_as_heat(table) for table in one["data"]["tables"]]
        if one["name"] == "comparison":
            for row in one["data"]["table"]["rows"]:
                if row["verdict"] == "does_not_fit":  # its note gives the first reason, which had no place of its own
                    row.setdefault(REASON, (row[NOTE] or "").removesuffix("."))
    return {"changes": None, **report, "verdict": {"box": box, **verdict}}


def _as_heat(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table of brokers as a heat map, which it was not always."""
    if "resources" not in table:
        return table
    rows = [
        (f"{row['broker']} {row['rack'] or ''}".strip(), [share_cell(cell["value"], "") for cell in row["cells"]])
        for row in table["rows"]
    ]
    return heat(table["caption"], "Broker", table["resources"], rows)


def from_version_1(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report of version 1, where the verdict was made while the page was, as one of version 2."""
    verdict, serious = report["verdict"], report["verdict"].get("serious")
    sections = {section["name"]: section["data"] for section in report["sections"]}
    if "findings" in sections:
        badge = (verdict.get("sizing") or {}).get("badge") or {}
        sections["findings"] |= {
            "problems": _problems(sections["findings"]["findings"], sections.get("failures")),
            "lacks_room": badge.get("kind") == "bad",
        }
    if "failures" in sections:
        sections["failures"]["problem_count"] = len(sections["failures"]["diagnoses"]["findings"])
    problems = {**serious, "problems": [{"text": text} for text in serious["texts"]]} if serious else None
    for section in report["sections"]:
        if section["name"] == "comparison":
            for row in section["data"]["table"]["rows"]:
                row["verdict"] = "does_not_fit" if row["verdict"] == "no_fit" else row["verdict"]
    kind, text = plain_badge(verdict["status"])
    new = {"badge": {"kind": kind, "text": text}, "serious": problems}
    return {**report, "version": 2, "verdict": {**verdict, **new}}


def _problems(findings: list[dict[str, Any]], failures: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return one list of what stood in two: what was found in the inventory, and in the cluster as it ran."""
    then: dict[Problem, str] = {}
    for row in [*(failures["diagnoses"]["findings"] if failures is not None else ()), *findings]:
        if failures is None or row["code"] not in RETIRED_CODES:
            then.setdefault(Problem.from_dict(row), row.get("then", ""))
    return [
        {**one.as_dict(), "message": one.sentence, "remedy": one.remedy, "text": one.text, "then": then[one]}
        for one in Problems.of(then)
    ]
