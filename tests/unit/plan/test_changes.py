"""What a report says changed since the last one."""

from __future__ import annotations

import copy
import dataclasses
import json

import pytest

from kafka_capacity.plan.changes import changes_since, gist
from tests.report.decided import build_report, decision_of, render_all
from tests.report.sized import sized_inputs


@pytest.fixture(scope="module")
def now():
    return json.loads(render_all(sized_inputs()).report_json)


@pytest.fixture
def before(now):
    found = copy.deepcopy(now)
    found["ds"] = "2026-11-13"
    return found


def test_without_an_earlier_report_nothing_is_said(now):
    assert now["changes"] is None
    assert gist(None) == ""
    assert changes_since({**now, "version": 1}, now) is None


def test_where_nothing_changed_it_says_so(before, now):
    changes = changes_since(before, now)
    assert (changes["since"], changes["lines"], changes["new"], changes["resolved"]) == ("2026-11-13", [], [], [])
    assert changes["method"] == "Same request and same method: differences come from the cluster."
    assert gist(changes) == "as on 2026-11-13"


def test_verdict_counts_dates_and_dollars_are_compared(before, now):
    then = before["verdict"]
    then["recommendation"]["broker_count_now"] = 5
    then["recommendation"]["steps"].append({"broker_count": 99, "from_day": "2027-03-01", "until": None})
    then["badge"] = {"kind": "bad", "text": "✕ Does not fit"}
    price = next(one for one in then["sizing"]["figures"] if one["name"] == "usd_per_month")
    price |= {"value": 1234.5, "unit": "usd"}
    lines = {one["label"]: one["text"] for one in changes_since(before, now)["lines"]}
    assert lines["Brokers now"] == "5 → 6"
    assert "does not fit → " in lines["Verdict"]
    assert lines["Per month, estimated"].startswith("$1,234 → $")
    assert lines["99 brokers"] == "by 2027-03-01 → not before the horizon"
    assert gist(changes_since(before, now)) == "brokers now 5 → 6"
    now["verdict"]["recommendation"]["steps"][-1]["until"] = "2027-09-30"
    lines = {one["label"]: one["text"] for one in changes_since(before, now)["lines"]}
    assert lines["99 brokers"] == "by 2027-03-01 → not known: what was tried lasts until 2027-09-30"


def test_problems_are_new_and_resolved_by_their_code_whatever_their_figures(before, now):
    problem = {"question": "cluster", "severity": "serious", "where": "brokers", "text": ""}
    then, after = before["verdict"]["problems"], copy.deepcopy(now)
    then += [{**problem, "code": "a", "message": "3 of a."}, {**problem, "code": "b", "message": "1 b"}]
    after["verdict"]["problems"] += [
        {**problem, "code": "a", "message": "7 of a"},
        {**problem, "code": "c", "message": "2 c"},
        {**problem, "code": "d", "message": "4 d", "severity": "info"},
    ]
    changes = changes_since(before, after)
    assert (changes["new"], changes["resolved"]) == (["2 c."], ["1 b."])
    assert gist(changes) == "1 new problem, 1 resolved"


def test_a_change_of_the_method_is_told_from_one_of_the_cluster(before, now):
    before["provenance"]["model_version"] = "0"
    asked = dataclasses.replace(sized_inputs(), request={**sized_inputs().request, "horizon_months": 9})
    changes = changes_since(before, build_report(asked))
    why = "The method changed (model 0 → 1), and so did the request (horizon months): differences may come from that"
    assert changes["method"].startswith(why)


def test_another_request_is_no_other_method_and_brings_no_new_problems(before, now):
    problem = {"question": "change", "severity": "warning", "where": "brokers", "text": "", "code": "a", "message": "a"}
    alone = {**problem, "question": "cluster", "then": "New with the change.", "code": "b", "message": "b"}
    real = {**problem, "question": "cluster", "then": "", "code": "c", "message": "c"}
    inputs = sized_inputs()
    after = build_report(dataclasses.replace(inputs, request={**inputs.request, "horizon_months": 9}))
    after["verdict"]["problems"] += [problem, alone, real]
    before["verdict"]["problems"].append({**problem, "code": "d", "message": "d"})
    changes = changes_since(before, after)
    assert (changes["new"], changes["resolved"]) == (["C."], [])
    assert changes["method"].startswith("The request changed (horizon months): differences may come from that")


def test_a_step_that_is_due_or_taken_says_so(before, now):
    then, after = before["verdict"], copy.deepcopy(now)
    then["recommendation"]["steps"] = [
        {"broker_count": 6, "from_day": "2026-11-13", "until": "2027-03-01"},
        {"broker_count": 8, "from_day": "2027-03-01", "until": "2027-06-01"},
        {"broker_count": 9, "from_day": "2027-06-01", "until": None},
    ]
    steps = after["verdict"]["recommendation"]["steps"] = [{"broker_count": 9, "from_day": "2026-11-20", "until": None}]
    after["verdict"]["today"]["broker_count"] = 8
    assert counts(before, after) == {"8 brokers": "by 2027-03-01 → in place", "9 brokers": "by 2027-06-01 → now"}
    # What is not a step any more is needed as soon as more than that is.
    steps[:] = [{**steps[0], "broker_count": 6}, {"broker_count": 9, "from_day": "2027-02-01", "until": None}]
    after["verdict"]["today"]["broker_count"] = 6
    assert counts(before, after) == {
        "8 brokers": "by 2027-03-01 → by 2027-02-01",
        "9 brokers": "by 2027-06-01 → by 2027-02-01",
    }


def counts(before, after):
    lines = changes_since(before, after)["lines"]
    return {one["label"]: one["text"] for one in lines if one["label"].endswith("brokers")}


def test_what_has_run_out_does_not_move_from_week_to_week(before, now):
    after = copy.deepcopy(now)
    for report in (before, after):
        report["verdict"]["sizing"]["dates"] = {"disk_full": report["ds"], "runs_out_middle": report["ds"]}
    assert before["ds"] != after["ds"]
    assert changes_since(before, after)["lines"] == []
    before["verdict"]["sizing"]["dates"]["disk_full"] = "2027-01-01"
    (line,) = changes_since(before, after)["lines"]
    assert line == {"label": "Full disk", "text": "2027-01-01 → already"}


def test_other_prices_are_another_method(before, now):
    after = copy.deepcopy(now)
    after["provenance"]["own_shapes_sha256"] = "0123456789abcdef"
    changes = changes_since(before, after)
    assert changes["method"].startswith("The method changed (own shapes and prices none → 0123456789ab): differences")


@pytest.mark.parametrize(
    ("change", "is_worse"),
    [
        ({}, False),
        ({"severity": "fatal"}, True),
        ({"severity": "warning"}, False),
        ({"partitions": 7}, True),
        ({"partitions": 7, "code": "disk-over-limit"}, False),
        ({"partitions": 4, "code": "under-replicated-now"}, True),
        ({"partitions": 7, "code": "single-replica", "figure": None}, True),
        ({"partitions": 2}, False),
        ({"is_again": True}, True),
        ({"figure": {"needed": 90.0, "available": 85.0, "unit": "bytes"}}, False),
        ({"figure": {"needed": 99.0, "available": 85.0, "unit": "bytes"}}, True),
    ],
)
def test_problems_that_were_there_may_be_worse(before, now, change, is_worse):
    problem = {"question": "cluster", "severity": "serious", "where": "brokers", "text": "", "message": "3 down"}
    then = {**problem, "code": change.get("code", "fenced-brokers"), "partitions": 3}
    then["figure"] = {"needed": 88.0, "available": 85.0, "unit": "bytes"}
    after = copy.deepcopy(now)
    before["verdict"]["problems"].append(then)
    after["verdict"]["problems"].append({**then, **change})
    changes = changes_since(before, after)
    assert (changes["new"], changes["worse"]) == ([], ["3 down."] if is_worse else [])
    assert gist(changes) == ("1 worse" if is_worse else "as on 2026-11-13")


@pytest.mark.parametrize(
    ("code", "unknown", "is_resolved"),
    [
        ("disk-over-limit", "size-not-known", False),
        ("cpu-over-limit", "traffic-not-known", False),
        ("groups-behind", "lag_unknown", False),
        ("rack-loss", "size-not-known", True),
        ("disk-over-limit", "traffic-not-known", True),
    ],
)
def test_what_cannot_be_seen_any_more_is_not_resolved(before, now, code, unknown, is_resolved):
    problem = {"question": "cluster", "severity": "serious", "where": "", "text": "", "message": "wrong"}
    before["verdict"]["problems"].append({**problem, "code": code})
    before["verdict"]["actions"] = [{"id": "move-to-9-brokers", "code": "move"}]
    after = copy.deepcopy(now)
    after["verdict"]["problems"].append({**problem, "code": unknown})
    changes = changes_since(before, after)
    assert changes["resolved_ids"] == ([code] if is_resolved else [])
    told = {"label": "Not judged now", "text": "1 earlier problem, for want of data"}
    assert (told in changes["lines"]) is not is_resolved
    assert changes["asked_ids"] == (["move-to-9-brokers"] if unknown == "lag_unknown" else [])
    # A month later it is unknown still: nothing more is to say. When it is known again, it goes on.
    assert changes_since(after, after)["lines"] == []
    back = copy.deepcopy(now)
    back["verdict"]["problems"].append({**problem, "code": code, "state": "open for 4 weeks"})
    assert changes_since(after, back)["new_ids"] == ([code] if is_resolved else [])


def test_figures_of_what_is_not_judged_are_not_known(before, now):
    after = copy.deepcopy(now)
    after["verdict"]["status"] = "not_judged"
    after["verdict"]["sizing"]["badge"] = {"kind": "bad", "text": "↑ Too few brokers now"}
    assert "Brokers now" not in {one["label"] for one in changes_since(before, after)["lines"]}
    after["verdict"]["sizing"]["badge"] = {"kind": "good", "text": "✓ Enough brokers"}
    lines = {one["label"]: one["text"] for one in changes_since(before, after)["lines"]}
    assert lines["Brokers now"] == "6 → not known"
    assert lines["Per month, estimated"].endswith(" → not known")


def test_other_limits_resolve_and_bring_no_problems_of_resources(before, now):
    problem = {"question": "cluster", "severity": "serious", "where": "", "text": "", "message": "wrong"}
    before["verdict"]["problems"] += [{**problem, "code": code} for code in ("disk-over-limit", "rack-loss")]
    (asked,) = [one for one in before["sections"] if one["name"] == "request"]
    asked["data"]["parameters"].append({"label": "disk_limit_ratio", "value": 0.7})
    changes = changes_since(before, now)
    assert changes["resolved_ids"] == ["rack-loss"]
    assert "disk-over-limit" in changes["other_limits"]
    asked["data"]["parameters"][-1] = {"label": "catch_up_limit_seconds", "value": 60}
    assert changes_since(before, now)["resolved_ids"] == ["disk-over-limit", "rack-loss"]


def test_a_step_that_was_put_off_has_not_passed(before, now):
    steps = before["verdict"]["recommendation"]["steps"]
    steps.append({"broker_count": 9, "from_day": now["ds"], "until": None})
    after = copy.deepcopy(now)
    after["verdict"]["recommendation"]["steps"] = [
        steps[0],
        {"broker_count": 12, "from_day": "2027-03-01", "until": None},
    ]
    assert changes_since(before, after)["passed"] == []
    after["verdict"]["recommendation"]["steps"] = [{"broker_count": 9, "from_day": now["ds"], "until": None}]
    assert changes_since(before, after)["passed"] == [f"9 brokers were needed by {now['ds']}; there are 6."]


@pytest.mark.parametrize("then", ["↑ More brokers by 2026-11-23", "↑ More brokers by March 2027"])
def test_another_day_is_no_other_verdict(before, now, then):
    before["verdict"]["sizing"]["badge"]["text"] = then
    now = copy.deepcopy(now)
    now["verdict"]["sizing"]["badge"]["text"] = "↑ More brokers by 2026-11-30"
    assert changes_since(before, now)["lines"] == []
    before["verdict"]["sizing"]["badge"]["text"] = "! Too few brokers now"
    (line,) = changes_since(before, now)["lines"]
    assert line["label"] == "Verdict"


def test_page_and_mail_tell_that_nothing_changed(before):
    rendered = render_all(sized_inputs(), last=before)
    for text in (rendered.index_html.decode(), rendered.email_html.decode(), rendered.email_text):
        assert "the same verdict, dates and dollars" in text


def test_page_mail_and_subject_tell(before):
    before["verdict"]["recommendation"]["broker_count_now"] = 5
    inputs = sized_inputs()
    rendered = render_all(inputs, last=before)
    assert rendered.subject == f"{decision_of(inputs)['subject']}: brokers now 5 → 6"
    for text in (rendered.index_html.decode(), rendered.email_html.decode(), rendered.email_text):
        assert "Changed since 2026-11-13" in text
        assert "5 → 6" in text


def test_a_report_of_a_snapshot_alone_resolves_nothing_that_only_history_shows(before, now):
    drift = {"question": "capacity", "severity": "warning", "where": "the plan", "text": "", "code": "drift"}
    full = {**drift, "question": "cluster", "code": "a"}
    before["verdict"]["problems"] += [{**drift, "message": "1 drift"}, {**full, "message": "1 a"}]
    before["provenance"]["plan_manifest_sha256"] = "ab"
    changes = changes_since(before, now)
    assert (changes["resolved"], changes["is_alike"]) == (["1 a."], False)
    assert changes["method"].startswith("The method changed (history and scores → snapshot alone): differences may")
