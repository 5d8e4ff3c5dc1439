"""The recordings of the terminal in the docs are what the program prints, and fit the terminals that they are of."""

import re

from tests.recordings import PAGE, WIDTHS, recordings


def test_the_recordings_are_what_is_printed():
    assert PAGE.read_text() == recordings()


def test_no_line_is_wider_than_its_terminal():
    found = re.findall(r"(\d+) columns:\n\n```text\n\$.*\n([\s\S]*?)```", PAGE.read_text())
    assert {int(width) for width, _ in found} == set(WIDTHS)
    assert all(len(line) <= int(width) for width, said in found for line in said.splitlines())
