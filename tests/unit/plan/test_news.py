"""What is worth a message, and what is not."""

from __future__ import annotations

import copy
import json

import pytest

from kafka_capacity.plan.changes import changes_since
from kafka_capacity.plan.news import message, reasons
from tests.report.decided import render_all
from tests.report.sized import sized_inputs

PROBLEM = {
    "id": "offline-now",
    "code": "offline-now",
    "question": "cluster",
    "severity": "serious",
    "where": "topic a",
    "message": "a is offline",
    "text": "A is offline.",
}


@pytest.fixture(scope="module")
def report():
    return json.loads(render_all(sized_inputs()).report_json)


@pytest.fixture
def before(report):
    found = copy.deepcopy(report)
    found["ds"] = "2026-11-13"
    return found


def after(before, report):
    return {**report, "changes": changes_since(before, report)}


def with_problem(report, **changed):
    found = copy.deepcopy(report)
    found["verdict"]["problems"].append({**PROBLEM, **changed})
    return found


def test_the_first_report_and_one_like_the_last_are_no_news(before, report):
    assert reasons(report) == []
    assert message(after(before, report)) == []


def test_another_verdict_is_news_of_five_lines(before, report):
    before["verdict"]["recommendation"]["broker_count_now"] = 5
    before["verdict"]["badge"] = {"kind": "bad", "text": "✕ Does not fit"}
    lines = message(after(before, report))
    assert len(lines) == 5
    assert lines[0] == report["verdict"]["subject"].removeprefix("[kafka-capacity] ")
    assert lines[1].startswith("Brokers now: 5 → 6. Verdict: ")
    assert lines[2] == report["verdict"]["box"]["approve"]
    assert lines[3].startswith("If not: ")
    assert lines[4] == "Nothing was resolved."


def test_a_verdict_that_only_names_another_day_is_no_news(before, report):
    badge = copy.deepcopy(report)
    for one, day in ((before, "2026-12-01"), (badge, "2027-01-01")):
        one["verdict"]["sizing"]["badge"] = {"kind": "warn", "text": f"↑ More brokers by {day}"}
    changed = after(before, badge)
    assert changed["changes"]["lines"] == []
    assert reasons(changed) == []


def test_a_date_that_moved_is_no_news_and_one_that_passed_is(before, report):
    steps = before["verdict"]["recommendation"]["steps"]
    steps.append({"broker_count": 99, "from_day": "2027-03-01", "until": None})
    assert reasons(after(before, report)) == []
    steps[-1]["from_day"] = report["ds"]
    assert reasons(after(before, report)) == [f"99 brokers were needed by {report['ds']}; there are 6."]
    put_off = copy.deepcopy(report)
    put_off["verdict"]["recommendation"]["steps"].append({"broker_count": 99, "from_day": "2027-04-01", "until": None})
    assert reasons(after(before, put_off)) == []
    steps[-1]["broker_count"] = 6  # there are as many by now
    assert reasons(after(before, report)) == []


@pytest.mark.parametrize(
    ("problem", "is_news"),
    [
        ({}, True),
        ({"severity": "fatal"}, True),
        ({"severity": "warning"}, False),
        ({"severity": "warning", "code": "prediction-drift"}, True),
        ({"is_dismissed": True}, False),
    ],
)
def test_of_new_problems_serious_ones_and_drift_are_news(before, report, problem, is_news):
    now = with_problem(report, **problem)
    assert reasons(after(before, now)) == (["New: A is offline."] if is_news else [])
    assert reasons(after(with_problem(before, **problem), now)) == []


def test_every_sentence_about_what_was_resolved_begins_as_one(before, report):
    fenced, lost = {**PROBLEM, "message": "broker 7 is fenced"}, {**PROBLEM, "id": "rack", "message": "losing rack F"}
    for one in (fenced, lost):
        before = with_problem(before, **one)
    assert after(before, report)["changes"]["resolved"] == ["Broker 7 is fenced.", "Losing rack F."]


def test_that_no_serious_problem_is_left_is_news(before, report):
    before = with_problem(before)
    after_all = {**after(before, report)}
    none_left = [one for one in report["verdict"]["problems"] if one["severity"] not in ("serious", "fatal")]
    after_all["verdict"] = {**after_all["verdict"], "problems": none_left}
    assert "No serious problem is left." in reasons(after_all)
    after_all["changes"] = {**after_all["changes"], "unjudged": ["disk-over-limit"]}
    assert "No serious problem is left." not in reasons(after_all)


def test_a_serious_problem_that_got_worse_is_news(before, report):
    then = with_problem(before, code="fenced-brokers", partitions=3)
    now = with_problem(report, code="fenced-brokers", partitions=9)
    assert reasons(after(then, now)) == ["Worse: A is offline."]
    assert reasons(after(now, then)) == []


def test_a_plan_that_was_asked_otherwise_is_news_only_for_what_is_wrong_with_the_cluster(before, report):
    (asked,) = [one["data"] for one in before["sections"] if one["name"] == "request"]
    asked["parameters"] = [{"label": "horizon_months", "value": "6", "format": "text"}]
    before["verdict"]["recommendation"]["broker_count_now"] = 5
    assert reasons(after(before, with_problem(report, question="consumers"))) == []
    now = after(before, with_problem(report))
    assert reasons(now) == ["New: A is offline."]
    assert message(now)[4].startswith("The request changed (")


def test_no_line_is_long_or_steers_anything(before, report):
    lines = message(after(before, with_problem(report, text="x" * 999 + "\u202e\n")))
    assert max(map(len, lines)) == 400
    assert all(line.isprintable() for line in lines)
