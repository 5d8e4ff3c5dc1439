"""Tables as CSV beside the page: the page's columns, rows and words."""

from __future__ import annotations

import csv
import io
import re

import pytest
from bs4 import BeautifulSoup

from kafka_capacity.report.csv_tables import add_csv_files
from tests.report.decided import build_report, render_all
from tests.report.sized import sized_inputs


@pytest.fixture(scope="module")
def rendered():
    return render_all(sized_inputs())


@pytest.fixture(scope="module")
def soup(rendered):
    return BeautifulSoup(rendered.index_html.decode(), "html5lib")


def read(data):
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def of(report):
    return {"sections": [{"name": "any", "data": report}]}


def test_each_linked_file_has_the_columns_and_rows_of_its_table(rendered, soup):
    links = [link for link in soup.select("caption a")]
    assert len(links) > 20
    for link in links:
        table, rows = link.find_parent("table"), read(rendered.tables[link["href"]])
        shown = table.tbody.find_all("tr", recursive=False)
        assert len(rows) - 1 == len([row for row in shown if not {"note", "more"} & set(row.get("class", []))])
        if len(table.thead.find_all("tr")) == 1 and "heat" not in table.get("class", []):
            heads = [cell.get_text(strip=True) for cell in table.thead.find_all("th")]
            written = [re.sub(r" \((bytes|bytes/s|s|ratio|\$)\)$", "", head) for head in rows[0]]
            assert written in (heads, [*heads, "Note"])


def test_names_of_files_tell_what_is_in_them(rendered):
    wanted = {"by-when-steps", "by-when-outlook", "options-costs", "comparison", "brokers-heat", "change-brokers"}
    assert {f"tables/{name}.csv" for name in wanted} <= {*rendered.tables}
    assert all(re.fullmatch(r"tables/[a-z0-9-]+\.csv", name) for name in rendered.tables)


def test_figures_are_numbers_and_words_are_the_pages(rendered):
    first, *rows = read(rendered.tables["tables/by-when-steps.csv"])
    assert first[:2] == ["Needed by", "Brokers"]
    head, *rows = read(rendered.tables["tables/comparison.csv"])
    place, verdict = head.index("To copy (bytes)"), head.index("Verdict")
    assert all(float(row[place]) >= 0 for row in rows)
    assert {row[verdict] for row in rows} <= {"Recommended", "Fits", "Does not fit"}


def test_no_name_is_a_formula_and_equal_names_of_files_get_a_number():
    table = {"caption": "a", "columns": [{"key": "x", "label": "=x", "format": "name"}], "note": None}
    rows = [{"x": "=1+1", "note": "@now"}, {"x": "b", "note": None}]
    data = {"tables": [{**table, "rows": rows}, {**table, "rows": rows[1:]}], "table": {**table, "rows": rows}}
    files = add_csv_files(of(data))
    assert {name: read(one) for name, one in files.items()} == {
        "tables/any-a.csv": [["'=x", "Note"], ["'=1+1", "'@now"], ["b", ""]],
        "tables/any-a-2.csv": [["'=x"], ["b"]],
        "tables/any.csv": [["'=x", "Note"], ["'=1+1", "'@now"], ["b", ""]],
    }
    assert data["tables"][1]["csv"] == "tables/any-a-2.csv"


def test_the_data_of_the_report_does_not_name_files():
    assert '"csv"' not in str(build_report(sized_inputs()))
