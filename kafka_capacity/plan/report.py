"""The report as plain data: all that the page and the e-mail show, and nothing they would have to compute."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity import questions
from kafka_capacity.inventory.owners import Owners
from kafka_capacity.objects.dataset import canonical_json
from kafka_capacity.plan.changes import changes_since, gist
from kafka_capacity.plan.lifecycle import CLUSTER, Entry
from kafka_capacity.plan.owners import add_owners
from kafka_capacity.plan.section.findings import cluster_problems
from kafka_capacity.plan.states import followed_lines, resolved_lines, settled, with_states
from kafka_capacity.report.anchors import FINDINGS, OF_PROBLEMS
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.render import REPORT_KIND, REPORT_VERSION, RenderedReport, rerender
from kafka_capacity.report.sections import Section, registered_sections
from kafka_capacity.report.view import ReportView
from kafka_capacity.text.figures import steady

SERIOUS_NAMED = 3  # things that are seriously wrong with the cluster that stand at the top; the section lists them all
_ALARMING = frozenset({"fatal", "serious"})
_ELSEWHERE = frozenset({"kind", "version", "cluster", "ds", "plan_id", "figures"})  # what a report has at its top


def build_report(
    inputs: ReportInputs,
    decision: Mapping[str, Any],
    *,
    last: Mapping[str, Any] | None = None,
    entries: Mapping[str, Entry] | None = None,
    owners: Owners | None = None,
    topics: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the data of a report, and what changed since the last one's; the same inputs give the same data.

    ``last`` is the data of that, and ``entries`` what became of problems so far, each ``None`` where there is none;
    ``topics`` are those of the cluster, with partitions and bytes, for the pages of ``owners``.
    """
    if entries is not None:
        decision = with_states(decision, entries)
    view = ReportView(inputs=inputs, decision=decision)
    built = [(section, section.build(view)) for section in sections()]
    report: dict[str, Any] = {
        "kind": REPORT_KIND,
        "version": REPORT_VERSION,
        "cluster": inputs.cluster,
        "ds": inputs.ds,
        "plan_id": inputs.plan_id,
        "generated_at": inputs.generated_at,
        "links": dict(inputs.links),
        "provenance": dict(inputs.provenance),
        "verdict": _verdict(decision),
        "figures": _figures(decision["figures"]),
        "subject_label": view.focus_label,
        "sections": [
            {"name": section.name, "title": section.title, "is_closed": section.is_closed, "data": data}
            for section, data in built
            if data is not None
        ],
    }
    add_owners(report, owners or {}, topics)
    changes = changes_since(last, report)
    if changes is not None:
        changes = settled(entries or {}, decision, changes)
        report["verdict"]["subject"] += f": {gist(changes)}"
        changes["resolved"] = resolved_lines(entries or {}, decision, changes)
        changes["followed"] = followed_lines(entries or {}, decision, changes)
    return {**report, "changes": changes}


def sections() -> tuple[Section, ...]:
    """Return the sections of all questions, and of the plan itself, in the order in which they are shown."""
    rooms = [f"{questions.__name__}.{found.name}" for found in pkgutil.iter_modules(questions.__path__) if found.ispkg]
    for room in (*rooms, __package__):
        if importlib.util.find_spec(f"{room}.section") is not None:
            shown = importlib.import_module(f"{room}.section")
            for module in sorted(found.name for found in pkgutil.iter_modules(shown.__path__)):
                importlib.import_module(f"{shown.__name__}.{module}")
    return registered_sections()


def render_all(inputs: ReportInputs, decision: Mapping[str, Any], **known: Any) -> RenderedReport:
    """Return every file of a report with the data of :func:`build_report`; the same inputs give the same bytes.

    Raises RenderError where a template or chart is wrong.
    """
    return rerender(canonical_json(steady(build_report(inputs, decision, **known))))


def _verdict(decision: Mapping[str, Any]) -> dict[str, Any]:
    """Return a decision with what the page needs to show it: where each problem is described, and which come first."""
    problems = [{**problem, **_anchor(problem, decision["answers"])} for problem in decision["problems"]]
    standing = [one for one in problems if "is_dismissed" not in one]
    alarms = [one for one in cluster_problems({"problems": standing}) if one["severity"] in _ALARMING]
    shown = [one for one in standing if one["question"] != CLUSTER]
    sizing = decision["sizing"]
    return {
        **{name: decision[name] for name in decision if name not in _ELSEWHERE},
        "problems": problems,
        "sizing": sizing and {**sizing, "figures": _figures(sizing["figures"])},
        "caveats": shown,
        "serious": {"problems": alarms[:SERIOUS_NAMED], "more": len(alarms[SERIOUS_NAMED:]), "anchor": FINDINGS}
        if alarms
        else None,
    }


def _anchor(problem: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, str]:
    """Return the section that says more; that of a question that is answered in one go has its name."""
    question = str(problem["question"])
    anchor = question if question in answers else OF_PROBLEMS.get(str(problem["code"]))
    return {} if anchor is None else {"anchor": anchor}


def _figures(figures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**figure, "format": figure["unit"]} for figure in figures]
