"""What changed since the last report of a cluster: the answer, its dates, dollars and problems, and the method."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from kafka_capacity.health.check import NEW
from kafka_capacity.health.problem import OVER_LIMIT, Code, Severity
from kafka_capacity.plan.growth import has_grown, has_spread
from kafka_capacity.plan.lifecycle import CLUSTER, followed, gravest, id_of
from kafka_capacity.plan.plan_dataset import PLAN_SHA256
from kafka_capacity.plan.results import OWN_SHAPES_SHA256
from kafka_capacity.plan.states import stated
from kafka_capacity.questions.answer import BADGES, Status
from kafka_capacity.report.render import REPORT_KIND, REPORT_VERSION
from kafka_capacity.text import format_usd, plural, uncapitalised

Report = Mapping[str, Any]

METHOD_IS_SAME = "Same request and same method: differences come from the cluster."
_METHOD = {"code_version": "version", "model_version": "model", OWN_SHAPES_SHA256: "own shapes and prices"}
_OF_SIZES = frozenset({Code.DISK_OVER_LIMIT, Code.LOG_DIR_OVER_LIMIT, Code.LOG_DIRS_UNEVEN})
_OF_TRAFFIC = (OVER_LIMIT - _OF_SIZES) | {Code.HOT_PARTITIONS}
_LIMITED = {
    "disk_limit_ratio": _OF_SIZES,
    "network_limit_ratio": frozenset({Code.NETWORK_IN_OVER_LIMIT, Code.NETWORK_OUT_OVER_LIMIT}),
    "cpu_limit_ratio": frozenset({Code.CPU_OVER_LIMIT}),
    "disk_io_limit_ratio": frozenset({Code.DISK_IO_OVER_LIMIT}),
}
"""By the parameters that say so: the problems of the cluster that are judged by the request's limits."""
_OF_LAGS = frozenset({Code.GROUPS_HOURS_BEHIND, Code.GROUPS_BEHIND, Code.RECORDS_LOST})
_UNJUDGED = {
    **dict.fromkeys(("missing_sizes", "size-not-known", "disk-not-known"), _OF_SIZES),
    **dict.fromkeys(("missing_rates", "all_rates_zero", "traffic-not-known", "network-not-known"), _OF_TRAFFIC),
    "lag_unknown": _OF_LAGS,
}
"""By what is unknown: the problems of the cluster that cannot be told then, or not all of them."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d|[A-Z][a-z]+ \d{4}")  # as badges name days, near and far ones


def is_comparable(report: Report) -> bool:
    """Return whether a report says what this version compares."""
    is_of_now = (report.get("kind"), report.get("version")) == (REPORT_KIND, REPORT_VERSION)
    return is_of_now and "problems" in report["verdict"]


def changes_since(earlier: Report | None, now: Report) -> dict[str, Any] | None:
    """Return what changed from one report to the next; ``None`` where there is no earlier one.

    Returns:
        ``since``, the day of the earlier inventory; ``lines`` of ``label`` and ``text``; ``new``, ``worse`` and
        ``resolved``, the problems, and their ``new_ids``, ``worse_ids`` and ``resolved_ids``; ``asked_ids``, the
        actions of the earlier one, none where this one cannot judge what they are about; ``passed``, which steps were
        due since; ``was_grave``, whether a serious problem stood that nobody had dismissed; ``is_alike``, whether both
        were asked the same of the same kind of data; ``other_limits``, the codes of problems that are judged by other
        limits than before, ``unjudged`` those that cannot be told now; ``method``, a sentence on who changed: the
        cluster, or the way it is looked at.
    """
    if earlier is None or not is_comparable(earlier):
        return None
    before, after = earlier["verdict"], now["verdict"]
    is_alike = _request(earlier) == _request(now) and _data(earlier) == _data(now)
    # What another request brings about, or no longer does, is neither new nor resolved.
    asked = {label for label, _ in _request(earlier) ^ _request(now)}
    other_limits = frozenset().union(*(_LIMITED.get(label, frozenset()) for label in asked))
    old, new = (_problems(one, is_of_cluster=not is_alike, without=other_limits) for one in (before, after))
    lines = [{"label": label, "text": text} for label, text in _lines(earlier, now)]
    come, gone = ([key for key in one if key not in other] for one, other in ((new, old), (old, new)))
    was, is_now = ({id_of(one): one for one in verdict["problems"]} for verdict in (before, after))
    # What cannot be seen any more is not over, and what is seen again is not new.
    was_hidden, is_hidden = _unjudged(before), _unjudged(after)
    unseen, seen = is_hidden - was_hidden, was_hidden - is_hidden
    come = [key for key in come if is_now[key]["code"] not in seen or is_now[key].get("state", "new")[:3] == "new"]
    unjudged = [key for key in gone if was[key]["code"] in unseen]
    gone = [key for key in gone if key not in unjudged]
    if unjudged:
        what = f"{plural(len(unjudged), 'earlier problem')}, for want of data"
        lines.append({"label": "Not judged now", "text": what})
    worse = [key for key in new if key in old and _is_worse(is_now[key], was[key])]
    return {
        "since": earlier["ds"],
        "lines": lines,
        "new": [new[key] for key in come],
        "new_ids": come,
        "worse": [new[key] for key in worse],
        "worse_ids": worse,
        "resolved": [old[key] for key in gone],
        "resolved_ids": gone,
        "asked_ids": [] if unseen & (_OF_SIZES | _OF_TRAFFIC) else [id_of(one) for one in before.get("actions", ())],
        "passed": _passed(earlier, now),
        "is_alike": is_alike,
        "was_grave": gravest(before) is not None,
        "other_limits": sorted(other_limits),
        "unjudged": sorted(is_hidden),
        "method": _method(earlier, now),
    }


def _unjudged(verdict: Mapping[str, Any]) -> frozenset[str]:
    """Return which problems a report may not have seen, by their code."""
    return frozenset().union(*(_UNJUDGED.get(one["code"], frozenset()) for one in verdict["problems"]))


def gist(changes: Mapping[str, Any] | None) -> str:
    """Return the changes in a few words, for a subject; empty where there is nothing to compare with."""
    if changes is None:
        return ""
    counts = [
        f"{changes['lines'][0]['label'].lower()} {changes['lines'][0]['text']}" if changes["lines"] else "",
        f"{plural(len(changes['new']), 'new problem')}" if changes["new"] else "",
        f"{len(changes['worse']):,} worse" if changes["worse"] else "",
        f"{len(changes['resolved']):,} resolved" if changes["resolved"] else "",
    ]
    return ", ".join(filter(None, counts)) or f"as on {changes['since']}"


def _lines(earlier: Report, now: Report) -> Iterator[tuple[str, str]]:
    before, after = earlier["verdict"], now["verdict"]
    pairs = (
        ("Brokers now", *(_count_now(one) for one in (before, after))),
        ("Verdict", *(_verdict(one) for one in (before, after))),
        ("Today’s brokers run out on", *(sizing_figure(one, "runs_out") for one in (before, after))),
        ("Full disk", *(_date(one, "disk_full") for one in (earlier, now))),
        ("At the middle estimate", *(_date(one, "runs_out_middle") for one in (earlier, now))),
        (_price_label(after), *(sizing_figure(one, "usd_per_month") for one in (before, after))),
    )
    for label, old, new in pairs:
        # Another day is no other verdict: the lines of dates say it.
        if old != new and (label != "Verdict" or _DAY.sub("", old) != _DAY.sub("", new)):
            yield label, f"{old} → {new}"
    for count in sorted({*_later(before), *_later(after)}):
        was, is_now = (_needed(one, count) for one in (before, after))
        if was != is_now:
            yield f"{count:,} brokers", f"{was} → {is_now}"


def _count_now(verdict: Mapping[str, Any]) -> str:
    count = (verdict.get("recommendation") or {}).get("broker_count_now")
    if not is_judged(verdict):
        return "not known"
    return "none fits" if count is None else f"{count:,}"


def _verdict(verdict: Mapping[str, Any]) -> str:
    badges = [verdict["badge"], *([verdict["sizing"]["badge"]] if verdict.get("sizing") else [])]
    words = (str(one["text"]).split(" ", 1)[-1] for one in reversed(badges))
    return ", ".join(uncapitalised(one) for one in words)


def is_judged(verdict: Mapping[str, Any]) -> bool:
    """Return whether it is known how many brokers a cluster needs.

    Too few are too few, whatever else is unknown; enough are not.
    """
    _, text = BADGES[Status.NOT_JUDGED]
    badge = (verdict.get("sizing") or verdict)["badge"]
    return badge["text"] != text and (badge["kind"] != "good" or verdict.get("status") != Status.NOT_JUDGED)


def _price_label(verdict: Mapping[str, Any]) -> str:
    figure = _figure_of(verdict, "usd_per_month")
    return "Per month, estimated" if figure and figure["label"].endswith(", estimated") else "Per month"


def _figure_of(verdict: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    figures = (verdict.get("sizing") or {}).get("figures", ())
    return next((one for one in figures if one["name"] == name), None)


def sizing_figure(verdict: Mapping[str, Any], name: str) -> str:
    """Return one of the key figures of sizing in words."""
    found = _figure_of(verdict, name)
    if found is None or not is_judged(verdict):
        return "not known"
    return format_usd(found["value"]) if found["unit"] == "usd" else str(found["value"])


def _date(report: Report, name: str) -> str:
    """Return one of the days that the box names."""
    dates = (report["verdict"].get("sizing") or {}).get("dates")
    if not dates or not is_judged(report["verdict"]):
        return "not known"
    return "already" if dates[name] == report["ds"] else dates[name] or "not before the horizon"


def _needed(verdict: Mapping[str, Any], count: int) -> str:
    """Return when so many brokers are needed at least."""
    steps = (verdict.get("recommendation") or {}).get("steps", ())
    if not steps:
        return "no date"
    if count <= int(steps[0]["broker_count"]):
        return "in place" if count <= verdict.get("today", {}).get("broker_count", 0) else "now"
    day = next((one["from_day"] for one in steps if count <= int(one["broker_count"])), None)
    if day is not None:
        return f"by {day}"
    until = steps[-1].get("until")
    return "not before the horizon" if until is None else f"not known: what was tried lasts until {until}"


def _due(verdict: Mapping[str, Any]) -> int:
    """Return how many brokers are needed now at least; 0 for no more than there are."""
    steps = (verdict.get("recommendation") or {}).get("steps", ())
    return int(steps[0]["broker_count"]) if steps else 0


def _later(verdict: Mapping[str, Any]) -> dict[int, str]:
    steps = (verdict.get("recommendation") or {}).get("steps", ())
    return {int(one["broker_count"]): str(one["from_day"]) for one in steps[1:]}


def _passed(earlier: Report, now: Report) -> list[str]:
    """Return the steps of the earlier report whose day has come since, and that were neither taken nor put off."""
    count, later = now["verdict"].get("today", {}).get("broker_count", 0), _later(now["verdict"])
    due = _due(now["verdict"])
    return [
        f"{wanted:,} brokers were needed by {day}; there are {count:,}."
        for wanted, day in _later(earlier["verdict"]).items()
        if earlier["ds"] < day <= now["ds"] and count < wanted and not due < wanted <= max(later, default=0)
    ]


def _problems(verdict: Mapping[str, Any], *, is_of_cluster: bool, without: Collection[str]) -> dict[str, str]:
    """Return the problems that matter by their id, which stays when the figures in their sentences change.

    Either all of them, or those alone that the cluster has whatever is asked; ``without`` those of some codes.
    """
    problems = followed({"problems": [one for one in verdict["problems"] if one["code"] not in without]})
    if is_of_cluster:
        own = [key for key, one in problems.items() if one.get("question") == CLUSTER and one.get("then") != NEW]
        problems = {key: problems[key] for key in own}
    return {key: stated(one) for key, one in problems.items()}


def _is_worse(now: Mapping[str, Any], then: Mapping[str, Any]) -> bool:
    """Return whether a problem is more severe than it was, has spread or grown, or is dismissed no longer."""
    counts_again = "is_again" in now and "is_again" not in then
    is_more = has_spread(now, then) or counts_again or has_grown(now, then)
    return Severity(now["severity"]).rank < Severity(then["severity"]).rank or is_more


def _method(earlier: Report, now: Report) -> str:
    old, new = earlier["provenance"], now["provenance"]
    shown = {name: 12 if name == OWN_SHAPES_SHA256 else None for name in _METHOD}  # so many characters; all of versions
    changed = [
        f"{label} {str(old.get(name, 'none'))[: shown[name]]} → {str(new.get(name, 'none'))[: shown[name]]}"
        for name, label in _METHOD.items()
        if old.get(name) != new.get(name)
    ]
    changed += [f"{_data(earlier)} → {_data(now)}"] if _data(earlier) != _data(now) else []
    asked = sorted({label.replace("_", " ") for label, value in _request(earlier) ^ _request(now)})
    found = [f"The method changed ({'; '.join(changed)})"] if changed else []
    found += [f"{'so did the request' if found else 'The request changed'} ({', '.join(asked)})"] if asked else []
    if found:
        return f"{', and '.join(found)}: differences may come from that, not from the cluster."
    return METHOD_IS_SAME


def _data(report: Report) -> str:
    """Return what a report rests on beside its inventory, in words."""
    return "history and scores" if PLAN_SHA256 in report["provenance"] else "snapshot alone"


def _request(report: Report) -> set[tuple[str, str]]:
    data: Mapping[str, Any] = next((one["data"] for one in report["sections"] if one["name"] == "request"), {})
    return {(str(one["label"]), json.dumps(one["value"])) for one in data.get("parameters", ())}
