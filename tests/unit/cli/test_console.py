"""Tables in the terminal: no word is broken, however narrow it is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.cli.console import column_widths, print_data, print_table, stacked_lines
from kafka_capacity.report.tables import NOTE, column, table
from tests.properties.strategies import repeatable

COLUMNS = [("brokers", "right"), ("placer", "left"), ("replicas moved", "right"), ("in waves: mean – peak", "right")]
ROWS = [["12", "fewest-bytes", "57 of 1,162", "1 h 22 min – 1 h 28 min"], ["15", "kraft-striped", "590", ""]]


@pytest.mark.parametrize("width", [30, 60, 70, 80, 200])
def test_every_word_is_whole_at_any_width(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    print_table("9 brokers, 396 partitions of a cluster", COLUMNS, ROWS)
    out = capsys.readouterr().out

    words = {word for texts in (*ROWS, [heading for heading, _ in COLUMNS]) for text in texts for word in text.split()}
    assert words <= set(out.split())
    assert " ".join(out.split()).startswith("9 brokers, 396 partitions of a cluster ")


@repeatable(100)
@given(st.lists(st.lists(st.text("ab ", max_size=12), min_size=2, max_size=2), max_size=4), st.integers(40, 60))
def test_widths_fit_and_hold_the_longest_words(rows, width):
    widths = column_widths(["x", "name"], rows, width)

    assert widths is not None
    assert sum(widths) + 3 * len(widths) + 1 <= width
    for texts, held in zip(zip(["x", "name"], *rows, strict=True), widths, strict=True):
        assert held >= max(len(word) for cell in texts for word in [*cell.split(), ""])


def test_a_heading_of_several_lines_is_as_wide_as_its_longest():
    assert column_widths(["time to first\nrecord", "x"], [["1 s", "y"]], 80) == [13, 1]


def test_a_table_of_the_page_is_printed_with_its_words_and_notes(capsys):
    columns = (column("name", "Topic", "name"), column("verdict", "Under min ISR", "verdict", definition="It fits."))
    print_data(table("Topics", columns, [{"name": "orders", "verdict": "no_worse", NOTE: "Mind it."}], note="All."))
    lines = capsys.readouterr().out.splitlines()

    assert lines[0].strip() == "Topics"
    assert [cell.strip() for cell in lines[2].strip("┃").split("┃")] == ["topic", "under min ISR"]
    assert [cell.strip() for cell in lines[4].strip("│").split("│")] == ["orders", "no worse than today"]
    assert lines[-2:] == ["orders: Mind it.", "It fits. All."]


def test_what_is_empty_is_left_out_of_stacked_rows():
    assert stacked_lines(["placer", "in waves"], [["zk", ""], ["striped", "1 h"]], 40) == [
        "  placer    zk",
        "",
        "  placer    striped",
        "  in waves  1 h",
        "",
    ]


def test_the_answer_stands_above_the_table(run, snapshot):
    start = ("--broker-counts", "6,9", "--placer", "fewest-bytes")
    plan, size = run("plan", snapshot, *start).stdout, run("size", snapshot).stdout

    assert plan.startswith("payments on 2026-11-20: 6 brokers fit: fewest-bytes moves ")
    assert plan.splitlines()[0].endswith(" Only disks and networks are judged here, not CPU.")
    few = run("plan", snapshot, "--broker-counts", "2", "-q").stdout
    assert "Only disks" not in few
    assert "\nrecommended: 006-brokers.fewest-bytes, " in plan
    assert size.startswith("payments on 2026-11-20: Today’s 6 brokers last until ")


COMMANDS = ("plan", "size", "groups", "failures", "durability", "doctor", "idle", "savings")


@pytest.mark.parametrize("command", COMMANDS)
def test_quiet_prints_the_first_line_of_what_is_printed_else_and_nothing_more(run, snapshot, command):
    whole, quiet = run(command, snapshot), run(command, snapshot, "--quiet")

    assert quiet.stdout.count("\n") == 1
    assert whole.stdout.startswith(quiet.stdout)
    assert len(whole.stdout) > len(quiet.stdout) or command in {"idle", "groups"}
    assert quiet.stderr == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_prose_is_wrapped_between_words_where_there_is_an_edge(run, snapshot, command):
    narrow, wide = (run(command, snapshot, env={"COLUMNS": columns}).stdout for columns in ("72", "2000"))

    assert max(map(len, narrow.splitlines())) <= 72
    assert set(_words(wide)) <= set(_words(narrow))


def _words(text):
    """Return the words, without what draws tables."""
    return re.findall(r"[\w.,:;%/-]+", text)
