"""The large example is decided alike by the DAG and the command line; tests/unit tries the small one."""

from __future__ import annotations

import json
import shutil

import pytest

from kafka_capacity.plan.plan_dataset import DECISION
from kafka_capacity.report.anchors import FINDINGS
from kafka_capacity.report.render import rerender
from tests.browser import FIRST_SCREENS, started_browser, violations
from tests.e2e.conftest import paths
from tests.unit.plan.test_decision import check_one_recommendation, check_shown, decided_by

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def scheduled(planned):
    """The report's folder of the plan that the DAG made."""
    _, done = planned
    (page,) = paths(done.stdout, "report")
    return page.parent


def read(folder, name):
    return json.loads((folder / name).read_text())


def test_the_dag_and_the_command_line_decide_the_same(scheduled, typed):
    ours, theirs = read(scheduled, DECISION), read(typed, DECISION)
    assert ours["plan_id"] == scheduled.name.removeprefix("plan=")
    assert json.dumps(decided_by(ours), indent=1) == json.dumps(decided_by(theirs), indent=1)


def test_the_page_shows_what_was_decided_with_one_recommendation_and_one_date(scheduled):
    report = read(scheduled, "report.json")
    check_shown(report, read(scheduled, DECISION))
    check_one_recommendation(report)


@pytest.fixture(scope="module")
def browser():
    with started_browser() as started:
        yield started


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), FIRST_SCREENS)
def test_what_to_approve_is_on_the_first_screen(browser, typed, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto((typed / "index.html").as_uri())
    box = read(typed, DECISION)["box"]
    assert box["approve"].startswith("Approve 3 more brokers now (+$")
    seen = page.evaluate(
        "[...document.querySelectorAll('.box h1, .box dd')]"
        ".filter(e => e.getBoundingClientRect().bottom <= innerHeight).map(e => e.innerText)"
    )
    facts = [box["approve"], *(line["text"] for line in box["lines"])]
    assert [text.replace("\u00a0", " ") for text in seen] == facts
    assert {line["name"] for line in box["lines"]} >= {"why", "otherwise", "cost", "confidence", "load", "move"}
    assert page.evaluate("document.querySelector('.changes p').getBoundingClientRect().bottom") <= height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


CHANGES = {
    "since": "2026-11-08",
    "lines": [
        {"label": "Verdict", "text": "too few brokers now, as before"},
        {"label": "Dates", "text": "18 brokers by 2027-03-28, before by 2027-04-11"},
        {"label": "Dollars", "text": "$28,006 per month on average, before $27,410"},
    ],
    "new": ["4 consumer groups are more than 1 h behind, the worst is clicks-pl-app-dashboards with 3 h 52 min."],
    "new_ids": ["groups-hours-behind"],
    "resolved": [],
    "followed": [],
    "method": "The method is the same: what differs is the cluster.",
}


@pytest.mark.browser
@pytest.mark.parametrize("changes", [None, CHANGES], ids=["first", "weekly"])
def test_the_e_mail_is_two_screens_of_a_phone_at_most(browser, typed, tmp_path, changes):
    width, height = FIRST_SCREENS[-1]
    report = {**read(typed, "report.json"), "changes": changes}
    (problems,) = [one["data"]["problems"] for one in report["sections"] if one["name"] == FINDINGS]
    for problem in problems if changes else []:
        problem["state"] = "new" if problem["id"] in changes["new_ids"] else "open for 4 weeks"
    rendered = rerender(json.dumps(report).encode())
    (tmp_path / "email.html").write_bytes(rendered.email_html)
    shutil.copytree(typed / "images", tmp_path / "images")
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto((tmp_path / "email.html").as_uri())
    assert page.evaluate("document.images[0].naturalWidth") > width
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * height
    assert page.evaluate("document.body.innerText").count("the worst is clicks-pl-app-dashboards") == 1
    page.close()


CUT_OFF = """
[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 4)
    .map(one => one.innerText.slice(0, 60))
"""


@pytest.mark.browser
def test_the_page_is_short(browser, typed):
    data = (typed / "index.html").read_bytes()
    assert len(data) <= 400_000
    assert len((typed / "email.html").read_bytes()) <= 102_000
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((typed / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") <= 8_000
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    # Captions of tables of which something is out of sight.
    assert page.evaluate(CUT_OFF) == []
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = false)")
    assert violations(page) == []
    assert (
        page.evaluate("[...document.querySelectorAll('.badge')].filter(e => /Recommended/.test(e.textContent)).length")
        == 1
    )
    page.close()
