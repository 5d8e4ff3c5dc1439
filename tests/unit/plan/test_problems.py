"""One list of what is wrong: on the page, at its top and in the mail."""

import dataclasses
import json
from html import unescape

import pyarrow as pa
import pytest

from kafka_capacity.health.problem import Problem
from kafka_capacity.plan.decision import decide
from tests.report.decided import render_all
from tests.report.sized import sized_inputs


@pytest.fixture(scope="module")
def full():
    """Inputs of a plan for a cluster whose disks are over their limit today."""
    return sized_inputs(disk_limit_ratio=0.7)


def without_problems(inputs):
    tables = {**inputs.tables, "diagnoses": inputs.tables["diagnoses"].slice(0, 0)}
    return dataclasses.replace(inputs, tables=tables, findings=())


def test_disks_over_their_limit_are_listed_on_the_page_at_its_top_and_in_the_mail(full):
    rendered = render_all(full)
    page, mail = (unescape(one.decode()).replace("\u00a0", " ") for one in (rendered.index_html, rendered.email_html))
    report = json.loads(rendered.report_json)
    assert report["verdict"]["sizing"]["badge"]["text"] == "! Too few brokers now"
    assert "othing was found" not in page
    message = "6 brokers are over the limit of 70 % of disk space"
    assert any(message in one["text"] for one in report["verdict"]["serious"]["problems"])
    (listed,) = [one for one in report["sections"] if one["name"] == "findings"]
    assert [one["code"] for one in listed["data"]["problems"]].count("disk-over-limit") == 1
    assert message in page[page.index('id="findings"') :]
    assert message in rendered.email_text
    assert message in mail
    others = len(listed["data"]["problems"]) - 1
    if others:
        assert f"{others} more problem" in rendered.email_text


def test_the_list_is_what_was_found_today_and_what_the_change_brings(full):
    today = [Problem.from_dict(row) for row in full.tables["diagnoses"].to_pylist() if row["placement_id"] == "today"]
    listed = [one.problem for question, one in decide(full).problems if question == "cluster"]
    assert [one for one in listed if one in today] == today
    assert len(set(listed)) == len(listed)


def codes(inputs):
    return [one.problem.code for _, one in decide(inputs).problems]


def test_single_replicas_are_a_problem_once_unless_planned_topics_have_some():
    inputs = sized_inputs()
    base = inputs.tables["diagnoses"]
    row = {name: None for name in base.schema.names} | {
        "placement_id": "today",
        "position": 0,
        "severity": "serious",
        "code": "single-replica",
        "where": "trace",
        "message": "4 partitions of 1 topic have one replica",
        "remedy": "raise the replication factor to 3",
        "partitions": 4,
        "bytes_per_second": 0.0,
    }
    tables = {**inputs.tables, "diagnoses": pa.Table.from_pylist([row], schema=base.schema)}

    def with_singles(partitions):
        single = {"partitions": partitions, "topics": ["trace"], "reason": f"{partitions} partitions have one replica"}
        return dataclasses.replace(inputs, tables=tables, sizing={**inputs.sizing, "single_replicas": single})

    assert [code for code in codes(with_singles(4)) if code.startswith("single")] == ["single-replica"]
    assert {"single-replica", "single-replicas"} <= set(codes(with_singles(5)))


def test_traffic_that_ended_everywhere_at_once_is_a_problem_and_stands_with_the_growth():
    inputs = sized_inputs()
    assert "no-traffic" not in codes(inputs)
    silent = dataclasses.replace(inputs, sizing={**inputs.sizing, "silent_since": "2026-11-06"})
    assert "no-traffic" in codes(silent)
    page = render_all(silent).index_html.decode()
    assert page.count("There has been hardly any traffic since") == 2  # among the problems, and where growth is


def test_traffic_that_rose_of_late_is_a_problem_and_stands_with_the_growth():
    inputs = sized_inputs()
    assert "traffic-risen" not in codes(inputs)
    risen = dataclasses.replace(inputs, sizing={**inputs.sizing, "risen": {"since": "2026-11-17", "ratio": 3.04}})
    assert "traffic-risen" in codes(risen)
    page = render_all(risen).index_html.decode()
    assert page.count("times the traffic of the two weeks before") == 2


def test_what_an_inventory_lacks_is_a_problem_once():
    inputs = sized_inputs()
    lacking = {"severity": "warning", "code": "missing_sizes", "where": "replicas", "message": "3 sizes are unknown"}
    found = dataclasses.replace(inputs, findings=(lacking,))
    assert "missing_sizes" in codes(found)
    facts = {**inputs.snapshot_facts, "unknown_size_partitions": 3}
    said = codes(dataclasses.replace(found, snapshot_facts=facts))
    assert "size-not-known" in said
    assert "missing_sizes" not in said


def test_nothing_was_found_is_said_where_nothing_was_and_never_of_a_cluster_without_room(full):
    enough = render_all(without_problems(sized_inputs())).index_html.decode()
    assert "Nothing was found: neither in the inventory" in enough
    lacking = render_all(without_problems(full)).index_html.decode()
    assert "Too few brokers now" in lacking
    assert "othing was found" not in lacking
