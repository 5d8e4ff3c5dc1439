"""What people see of savings: the section and its files, owners, the decision box, and the command."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest

from kafka_capacity.plan.owners import add_owners
from kafka_capacity.questions.savings.decide import decide_savings, offered, read_savings
from kafka_capacity.questions.savings.section.savings import build
from kafka_capacity.report.csv_tables import FILE, add_csv_files
from tests.report.decided import decision_of, render_all
from tests.report.sized import sized_inputs
from tests.unit.questions.savings.small import idle, inventory, logs, savings_of


@pytest.fixture(scope="module")
def tables():
    return savings_of(inventory(logs(), idle()))


def section_of(tables):
    answer = decide_savings(tables)
    answers = {"savings": {"headline": answer.headline, "reasons": list(answer.reasons)}}
    return build(SimpleNamespace(decision={"answers": answers}, inputs=SimpleNamespace(tables=tables)))


def test_the_page_has_the_best_sets_and_the_files_have_all(tables):
    data = section_of(tables)
    files = add_csv_files({"sections": [{"name": "savings", "data": data}]})
    (best,), (whole, by_date) = data["tables"], data["data"]
    assert [row["text"] for row in best["rows"]] == [
        "cut the retention of logs to 1 day",
        "cut the retention of logs to 1 day and remove old, which nobody uses",
    ]
    lines = files[whole[FILE]].decode().splitlines()
    assert lines[0] == (
        "Action,Frees (bytes),Brokers saved,Saved per month ($),Binds next,Effort,Restarts,Reversible,Risk,Topics"
    )
    assert lines[1].startswith("cut the retention of logs to 1 day,")
    assert len(lines) == 1 + 3
    dates = files[by_date[FILE]].decode().splitlines()
    assert len(dates) == 1 + 8 * 3  # eight sets, none of them among these, on three dates
    assert data["line"].startswith("Cut the retention of logs to 1 day: that saves up to 3 brokers")


def test_where_nothing_lasts_no_set_is_said_to_need_no_purchase(tables):
    view = read_savings(tables)
    assert offered(view)["first_purchase"] is None  # with it, today's brokers last
    lost = [{**row, "broker_count_at_horizon": None} for row in view.sets]
    assert offered(dataclasses.replace(view, sets=lost)) is None


def test_there_is_no_section_without_an_answer():
    assert build(SimpleNamespace(decision={"answers": {}})) is None


def test_owners_of_topics_stand_beside_the_actions(tables):
    report = {"sections": [{"name": "savings", "data": section_of(tables)}]}
    add_owners(report, {"lo*": "logs@example.net"})
    rows = {row["text"]: row["owner"] for row in report["sections"][0]["data"]["data"][0]["rows"]}
    assert rows["cut the retention of logs to 1 day"] == "logs@example.net"
    assert rows["remove old, which nobody uses"] is None


def test_the_decision_box_and_the_page_offer_it(tables):
    inputs = sized_inputs()
    assert "instead" not in {line["name"] for line in decision_of(inputs)["box"]["lines"]}
    assert "Instead of buying" not in render_all(inputs).index_html.decode()
    offered = dataclasses.replace(inputs, tables={**inputs.tables, **tables})
    (line,) = [line for line in decision_of(offered)["box"]["lines"] if line["name"] == "instead"]
    assert (line["label"], line["text"]) == ("Or", decide_savings(tables).details)
    rendered = render_all(offered)
    page = rendered.index_html.decode()
    assert '<summary><h2 id="savings-heading">Instead of buying</h2> <span>Cut the retention of' in page
    assert "tables/savings-of-single-actions.csv" in page
    assert "1 of 3 actions" not in page  # none of them saves nothing
