"""The page: well formed, self-contained, readable by everybody, and safe whatever names a cluster has."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import itertools
import json
import re

import html5lib
import pyarrow as pa
import pytest
from bs4 import BeautifulSoup

from kafka_capacity.errors import RenderError
from kafka_capacity.kafka.reassignment.problem import WaveSettings
from kafka_capacity.report.render import rerender
from kafka_capacity.text.names import visible
from tests.report.decided import build_report, render_all
from tests.report.group_plans import hostile_groups, named_groups
from tests.report.plans import GIB, ClusterSpec, large_inputs, make_inputs
from tests.report.sized import sized_inputs

SCRIPT = "<script>{{7*7}}</script>"
TURNED = "gpj\u202eexe"
ARABIC = "الطلبات"
LONG = "x" * 249
HOSTILE = (SCRIPT, TURNED, ARABIC, LONG, "a\r\nBcc: thief@example.com", "%s{0}${x}", '"><img src=x onerror=alert(1)>')

EVENTS = [
    {
        "kind": "new-topic", "name": "fraud.scores", "from_date": "2027-02-01",
        "partitions": 48, "replication_factor": 2,
        "bytes_in_mean_bytes_per_second": 2e6, "bytes_in_peak_bytes_per_second": 2**22,
        "bytes_out_mean_bytes_per_second": 4e6, "bytes_out_peak_bytes_per_second": 2**23, "retention_seconds": 604_800,
    },
    {
        "kind": "new-topic", "name": "audit", "from_date": "2027-03-01", "partitions": 6, "replication_factor": 3,
        "bytes_in_mean_bytes_per_second": 1e3, "bytes_in_peak_bytes_per_second": 1e4,
        "bytes_out_mean_bytes_per_second": 0.0, "bytes_out_peak_bytes_per_second": 0.0, "retention_seconds": None,
    },
    {"kind": "launch", "topics": "payments", "from_date": "2027-01-10", "factor": 1.5},
    {"kind": "launch", "topics": "orders", "from_date": "2026-01-01", "factor": 1.5},
]  # fmt: skip

SIZED = {
    "sized": {},
    "sized on machines that have prices": {"shapes": ["m7g.xlarge", "kafka.m5.large"], "current_shape": "m7g.xlarge"},
    "sized, nothing lasts": {"growth_high_per_year_ratio": 20.0, "sizing_broker_counts": [6, 7]},
    "sized, hostile": {
        "topics": HOSTILE,
        "racks": (SCRIPT, TURNED, LONG),
        "partition_in_bytes_per_second": 1e3,
        "topic_classes": [f"{ARABIC}={ARABIC}"],
        "controllers": [f"1:{SCRIPT}", f"2:{LONG}", "3"],
        "failover_runs": 10,
        "failure_sets": ["1,2,3"],
    },
    "sized, with planned events": {"planned_events": EVENTS},
}


def inputs_of(case):
    if case == "fits":
        return make_inputs(placers=("fewest-bytes", "generate", "zk"))
    if case == "nothing fits":
        return make_inputs(ClusterSpec(disk_capacity_bytes=50 * GIB), broker_counts=(7, 8))
    if case == "never finishes":
        return make_inputs(throttle=100_000.0)
    if case == "no rates, no racks":
        return make_inputs(ClusterSpec(hours=0, racks=None, disk_capacity_bytes=None, network_bytes_per_second=None))
    if case == "refused":
        return make_inputs(broker_counts=(2,))
    if case == "scale in":
        return make_inputs(broker_counts=(4,))
    if case == "groups":
        return make_inputs(groups=named_groups(), skipped_groups=({"group_id": "sink", "reason": "It is of Connect."},))
    if case == "waves":
        return make_inputs(broker_counts=(4,), waves=WaveSettings(max_concurrent_moves_per_broker=4))
    if case == "waves that never end":
        return make_inputs(throttle=100_000.0, waves=WaveSettings())
    if case in SIZED:
        return sized_inputs(**SIZED[case])
    finding = {"severity": "fatal", "code": SCRIPT, "where": TURNED, "message": f"topic {SCRIPT} is bad & worse"}
    return make_inputs(
        ClusterSpec(topics=HOSTILE, racks=(SCRIPT, TURNED, LONG), disk_capacity_bytes=390 * GIB),
        waves=WaveSettings(allows_detours=False),
        cluster=SCRIPT,
        findings=(finding,),
        groups=hostile_groups(HOSTILE),
        skipped_groups=({"group_id": SCRIPT, "reason": TURNED},),
        request={"cluster": SCRIPT, "placers": [SCRIPT], "racks": {"x": SCRIPT}, "is_on": True, "ratio": None},
    )


CASES = (
    "fits",
    "nothing fits",
    "never finishes",
    "no rates, no racks",
    "refused",
    "scale in",
    "groups",
    "waves",
    "waves that never end",
    "hostile",
    *SIZED,
)


@pytest.fixture(scope="module", params=CASES)
def rendered(request):
    return render_all(inputs_of(request.param))


@pytest.fixture(scope="module")
def page(rendered):
    return rendered.index_html.decode()


@pytest.fixture(scope="module")
def soup(page):
    return BeautifulSoup(page, "html5lib")


def test_it_is_well_formed(rendered):
    for text in (rendered.index_html, rendered.email_html):
        html5lib.HTMLParser(strict=True).parse(text.decode())


def test_it_needs_nothing_from_elsewhere(soup):
    for tag in soup.find_all(True):
        for attribute in ("src", "href", "xlink:href", "srcset", "action", "data"):
            assert not re.match(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", str(tag.get(attribute, "")), re.IGNORECASE), tag
    assert len(soup.find_all("script")) == 1
    assert not soup.find_all(["link", "iframe", "object", "embed", "base", "form", "img"])
    style = "".join(tag.string for tag in soup.find_all("style"))
    assert "url(" not in style
    assert "@import" not in style
    assert not [tag for tag in soup.find_all(True) if any(name.startswith("on") for name in tag.attrs)]


def test_it_allows_nothing_but_its_own_script_styles_and_drawings(soup):
    policy = soup.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    script = base64.b64encode(hashlib.sha256(soup.script.string.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert len(soup.script.string) < 8_000


def test_it_has_a_language_a_title_landmarks_and_a_way_past_the_head(soup):
    assert soup.html["lang"] == "en"
    assert soup.title.string.strip()
    assert [len(soup.find_all(name)) for name in ("h1", "header", "main", "footer", "nav")] == [1, 1, 1, 1, 1]
    skip = soup.body.find("a")
    assert soup.find(id=skip["href"][1:]).name == "main"


def test_the_answer_comes_first(soup, rendered):
    box = rendered.verdict["box"]
    assert soup.h1.get_text().replace("\u00a0", " ") == visible(box["approve"])
    assert [tag.get_text() for tag in soup.dl.find_all("dt")] == [line["label"] for line in box["lines"]]
    order = [tag.name for tag in soup.find_all(["h1", "dl", "nav", "table", "figure"])]
    assert order[:4] == ["h1", "dl", "dl", "nav"]


def test_headings_skip_no_level(soup):
    levels = [int(tag.name[1]) for tag in soup.find_all(re.compile(r"^h[1-6]$"))]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_every_table_has_a_caption_and_scopes(soup):
    for table in soup.find_all("table"):
        assert table.caption.get_text().strip()
        for row in table.thead.find_all("tr"):
            assert all(
                cell.name == "th" and cell["scope"] in {"col", "colgroup"} for cell in row.find_all(["th", "td"])
            )
        for row in table.tbody.find_all("tr", recursive=False):
            if not {"note", "more"} & set(row.get("class", [])):
                assert row.find(["th", "td"]).get("scope") == "row"


def test_every_figure_has_a_caption_a_text_and_its_data(soup):
    for figure in soup.find_all("figure"):
        assert figure.figcaption.get_text().strip()
        # Its figures are below it, or in the tables beside it.
        beside = figure if figure.details else figure.find_parent("tr") or figure.find_parent("section")
        assert beside.find("table").tbody.find_all("tr")
        for svg in figure.find_all("svg"):
            title, description = (svg.find(id=name) for name in svg["aria-labelledby"].split())
            assert title.get_text().strip()
            assert description.get_text().strip()


def test_ids_are_unique_and_links_lead_somewhere(soup, rendered):
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    for link in soup.find_all("a"):
        assert link["href"][1:] in ids or link["href"] in rendered.tables
    linked = {link["href"] for link in soup.find_all("a") if not link["href"].startswith("#")}
    assert linked == {*rendered.tables}
    for tag in soup.find_all(attrs={"aria-labelledby": True}):
        assert set(tag["aria-labelledby"].split()) <= set(ids)


def test_it_serves_dark_screens_and_paper(soup):
    style = soup.style.string
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    assert soup.find("meta", attrs={"name": "viewport"})["content"] == "width=device-width, initial-scale=1"


def test_colours_are_never_the_only_sign(soup):
    for badge in soup.find_all(class_="badge"):
        assert len(badge.get_text().strip()) > 2


def test_planned_events_are_told_as_they_are_and_count():
    inputs, without = inputs_of("sized, with planned events"), inputs_of("sized")
    soup = BeautifulSoup(render_all(inputs).index_html.decode(), "html5lib")

    def section_text(name):
        return " ".join(soup.find(id=name).get_text(" ").split())

    table = next(one for one in soup.find_all("table") if one.caption and "Planned topics" in one.caption.get_text())
    rows = [
        [cell.get_text(" ", strip=True) for cell in row.find_all(["th", "td"])] for row in table.tbody.find_all("tr")
    ]
    assert rows == [
        ["audit", "2027-03-01", "6", "3", "9.8 KiB/s", "0 B/s", "without limit"],
        ["fraud.scores", "2027-02-01", "48", "2", "4.0 MiB/s", "8.0 MiB/s", "7 d"],
    ]
    assert "planned topics count with their own peak" in soup.get_text()
    text = section_text("growth")
    assert "payments (launch ×1.5 from 2027-01-10)" in text
    notes = text.partition("Request Growth is as")[2]
    assert "planned_events.3 is left out: its first day, 2026-01-01" in notes
    assert "planned_events.0" not in text
    # What is told is what is reckoned with: from its day on each broker of six may lead 8 of the 48 partitions and hold
    # 16 of the 96 replicas; of the other topic one and three.
    held = {
        (row["date"], row["broker_id"]): row["load"]
        for row in inputs.tables["sizing_use"].to_pylist()
        if (row["option_id"], row["resource"], row["condition"]) == ("do-nothing", "network_in", "normal")
        and row["estimate"] == "middle"
    }
    came = {broker: held["2027-02-01", broker] - held["2027-01-31", broker] for broker in range(1, 7)}
    assert min(came.values()) > 2**22 / 48 * 16
    assert max(came.values()) < 2**22 / 48 * 16 * 1.1  # the rest grows within a day
    expected = dict(zip(inputs.sizing["dates"], inputs.sizing["traffic"]["middle"], strict=True))
    assert expected["2027-02-01"] - expected["2027-01-31"] == pytest.approx(2**22, rel=0.01)
    assert expected["2027-03-01"] - expected["2027-02-28"] > 1e4
    assert inputs.sizing["traffic"]["middle"][0] == without.sizing["traffic"]["middle"][0]
    assert inputs.sizing["stored"]["middle"][-1] - without.sizing["stored"]["middle"][-1] > 2 * 2e6 * 604_800


def test_hostile_names_are_shown_as_typed():
    rendered = render_all(inputs_of("hostile"))
    soup = BeautifulSoup(rendered.index_html.decode(), "html5lib")
    text = soup.get_text()
    assert len(soup.find_all("script")) == 1
    assert not soup.find("img")
    for name in (SCRIPT, ARABIC, LONG, "%s{0}${x}", '"><img src=x onerror=alert(1)>'):
        assert name in text
    assert "gpj\\u202eexe" in text
    assert "a\\r\\nBcc: thief@example.com" in text
    assert "49" not in soup.title.string
    assert SCRIPT in soup.title.string
    for part in (rendered.index_html.decode(), rendered.email_html.decode(), rendered.email_text):
        assert "\u202e" not in part


def test_hostile_names_are_exact_in_the_data():
    report = json.loads(render_all(inputs_of("hostile")).report_json)
    assert report["cluster"] == SCRIPT
    assert TURNED in json.dumps(report, ensure_ascii=False)


@pytest.mark.usefixtures("drawn_anew")
def test_the_same_inputs_give_the_same_bytes():
    assert render_all(inputs_of("hostile")) == render_all(inputs_of("hostile"))


def test_it_can_be_made_again_from_its_data():
    first = render_all(inputs_of("fits"))
    assert rerender(first.report_json) == first


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "this is not the report.json of a report"),
        (b"nonsense", "this is not the report.json of a report"),
        (b"[]", "this is not the report.json of a report"),
        (
            b'{"kind": "kafka-capacity-report", "version": 99}',
            "the file is 'kafka-capacity-report' version 99; this release reads a report.json, "
            "'kafka-capacity-report' version 2",
        ),
    ],
)
def test_other_data_is_refused(data, message):
    with pytest.raises(RenderError, match=re.escape(message)):
        rerender(data)


def test_a_section_without_a_template_is_an_error():
    report = json.loads(render_all(inputs_of("fits")).report_json)
    report["sections"].append({"name": "nowhere", "title": "Nowhere", "data": {}})
    with pytest.raises(RenderError, match="nowhere"):
        rerender(json.dumps(report).encode())


def test_warnings_are_serious_first_and_each_once():
    found = [
        {"severity": severity, "code": code, "where": "here", "message": f"{code} happened"}
        for severity, code in (("info", "a"), ("warning", "c"), ("fatal", "d"), ("warning", "b"), ("warning", "b"))
    ]
    report = build_report(make_inputs(findings=found))
    section = next(one for one in report["sections"] if one["name"] == "findings")
    assert [one["code"] for one in section["data"]["problems"]] == ["d", "b", "c", "a"]


def test_the_figures_of_a_broker_add_up():
    report = build_report(inputs_of("fits"))
    change = next(one["data"] for one in report["sections"] if one["name"] == "change")
    moved = next(figure["value"] for figure in report["figures"] if figure["label"] == "To copy")
    brokers = change["tables"]["brokers"]["rows"]
    assert sum(row["move_in_bytes"] for row in brokers) == moved
    assert sum(row["move_out_bytes"] for row in brokers) == moved
    assert sum(row["bytes_after"] for row in brokers) == sum(row["bytes_before"] for row in brokers)
    assert sum(row["move_in_bytes"] for row in change["tables"]["racks"]["rows"]) == moved
    assert sum(row["moved_bytes"] for row in change["tables"]["topics"]["rows"]) == moved


def test_other_data_fills_brokers_and_racks():
    def tables(**more):
        inputs = inputs_of("fits")
        loads = inputs.tables["broker_load"]
        other = pa.array([more.get("other_bytes", 0.0)] * len(loads), pa.float64())
        at = loads.schema.get_field_index("other_bytes")
        changed = {**inputs.tables, "broker_load": loads.set_column(at, loads.schema.field(at), other)}
        sections = build_report(dataclasses.replace(inputs, tables=changed))["sections"]
        return next(one["data"]["tables"] for one in sections if one["name"] == "change")

    without, filled = tables(), tables(other_bytes=2.0**33)
    assert "Other data" not in json.dumps(without)
    assert "Other data is what disks have in use beside replicas" in filled["brokers"]["note"]
    (disk,) = set(inputs_of("fits").tables["broker_load"]["disk_capacity_bytes"].to_pylist())
    for before, row in zip(without["brokers"]["rows"], filled["brokers"]["rows"], strict=True):
        for name in ("fill_before", "fill_after"):
            assert row[name] == pytest.approx(before[name] + 2.0**33 / disk)
    for before, row in zip(without["racks"]["rows"], filled["racks"]["rows"], strict=True):
        assert row["fill_after"] == pytest.approx(before["fill_after"] + 2.0**33 / disk)


def test_a_realistic_report_stays_light():
    rendered = render_all(large_inputs())
    assert len(rendered.index_html) < 900_000
    assert len(rendered.email_html) < 100_000
    assert sum(map(len, rendered.images.values())) < 400_000


def earlier_report(inputs, *, diagnoses=(), findings=()):
    """Return a report as version 1 had it, with its two lists of problems."""
    report = json.loads(render_all(inputs).report_json)
    sections = {one["name"]: one["data"] for one in report["sections"]}
    sections["findings"].clear()
    sections["findings"]["findings"] = list(findings)
    if "failures" in sections:
        del sections["failures"]["problem_count"]
        sections["failures"]["diagnoses"] = {"findings": list(diagnoses), "left_out": 0}
    report["verdict"] |= {"status": "fits", "serious": None}
    return {**report, "version": 1}


def test_a_report_of_the_version_before_is_drawn_again():
    report = earlier_report(inputs_of("fits"))
    verdict = report["verdict"]
    verdict |= {"status": "fits", "serious": {"texts": ["Broker 1 is full."], "more": 0, "anchor": "failures"}}
    del verdict["badge"]
    verdict["caveats"] = [{"severity": "note", "text": "Sizes are those of one day."}]
    comparison = next(one for one in report["sections"] if one["name"] == "comparison")
    comparison["data"]["table"]["rows"][-1] |= {"verdict": "no_fit", "note": "Too much (and 2 more)."}
    page = rerender(json.dumps(report).encode())
    assert "Broker 1 is full." in page.index_html.decode()
    assert "does not fit: Too much" in page.email_text


def test_what_the_change_resolves_is_said_where_it_alarms():
    report = json.loads(render_all(sized_inputs()).report_json)
    problem = {"text": "Broker 1 is full.", "then": "The change resolves this."}
    report["verdict"]["serious"] = {"problems": [problem], "more": 0, "anchor": "findings"}
    page = rerender(json.dumps(report).encode()).index_html.decode()
    assert "Broker 1 is full. <b>The change resolves this.</b>" in page


def test_the_problems_of_a_report_of_the_version_before_are_listed_once():
    row = {"severity": "warning", "code": "uneven-racks", "where": "11 brokers", "message": "racks are uneven"}
    lone = {"severity": "serious", "code": "single-replica", "where": "audit", "message": "1 partition has one replica"}
    report = earlier_report(
        sized_inputs(),
        diagnoses=[{**lone, "mend": "add replicas", "then": ""}],
        findings=[row, {**row, "code": "uneven_racks", "message": "racks of unequal size"}],
    )
    page = rerender(json.dumps(report).encode()).index_html.decode()
    assert "1 partition has one replica. Remedy: add replicas." in page
    assert "Racks are uneven." in page
    assert "Racks of unequal size" not in page
    assert "1 problem with the cluster as it is" in page
