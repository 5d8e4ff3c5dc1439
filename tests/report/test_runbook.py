"""The page and ``runbook.md`` tell a team the same, command by command and word by word."""

from __future__ import annotations

import re

import pyarrow.compute as pc
import pytest
from bs4 import BeautifulSoup

from kafka_capacity.kafka.reassignment.problem import WaveSettings
from kafka_capacity.plan.released_files import RELEASED_TABLES, RUNBOOK, wave_documents
from kafka_capacity.questions.change.wave_runbook import MAX_PAGES
from tests.report.decided import render_all
from tests.report.plans import make_inputs


def on_the_page(html):
    """List the steps of all waves: what is done, why, and the commands."""
    steps = []
    for item in BeautifulSoup(html, "html5lib").select("details.wave li"):
        commands = item.pre.extract() if item.pre else None
        does = item.b.extract().text
        lines = [] if commands is None else list(commands.code.stripped_strings)
        steps.append((does, " ".join(item.text.split()), lines))
    return steps


def in_markdown(text):
    """List the same from the document."""
    steps, after = [], text.partition("## Wave 1 ")[2]
    for item in re.split(r"\n(?=(?:\d+\.|-) \*\*)", after)[1:]:
        head, _, code = item.partition("```sh\n")
        does, why = re.fullmatch(r"(?:\d+\.|-) \*\*(.+?\.)\*\* (.+)", head.split("\n\n")[0].strip()).groups()
        lines = [line.strip() for line in code.partition("```")[0].splitlines() if line.strip()]
        steps.append((does, re.sub(r"\\(.)", r"\1", why), lines))
    return steps


@pytest.fixture(scope="module")
def told():
    """A drain in several waves, leaders first: as the page has it, and as the document."""
    inputs = make_inputs(broker_counts=(4,), waves=WaveSettings(max_concurrent_moves_per_broker=20))
    tables = {name: inputs.tables[name] for name in RELEASED_TABLES}
    (scenario,) = set(tables["schedules"]["scenario_id"].to_pylist())
    own = {name: table.filter(pc.field("scenario_id") == scenario) for name, table in tables.items()}
    markdown = wave_documents(own)[RUNBOOK].decode()
    assert 1 < len(own["waves"]) <= MAX_PAGES
    return on_the_page(render_all(inputs).index_html.decode()), in_markdown(markdown)


def test_both_have_the_same_steps_and_commands(told):
    page, document = told
    assert [(does, lines) for does, _, lines in page] == [(does, lines) for does, _, lines in document]


def test_both_say_why_in_the_same_words(told):
    # Spaces that must not break are the page's own.
    page, document = ([why.replace("\N{NO-BREAK SPACE}", " ") for _, why, _ in each] for each in told)
    assert page == document


def test_there_is_something_to_compare(told):
    kinds = {does for does, _, _ in told[0]}
    assert {"Check.", "Execute.", "Watch.", "Verify.", "Wait.", "Cancel.", "Roll back."} <= kinds
    assert sum(len(lines) for _, _, lines in told[0]) > 35


def test_a_wave_says_when_to_cancel_it(told):
    # Half as long again as at peak rates, more on the fullest disk than was planned, or partitions under min ISR.
    stops = [why.replace("\N{NO-BREAK SPACE}", " ") for _, why, _ in told[0] if "Cancel it" in why]
    assert stops
    for text in stops:
        assert re.search(r"UnderMinIsrPartitionCount is above what it was before.* or it takes more than \d", text), (
            text
        )
