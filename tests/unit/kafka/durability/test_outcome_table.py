"""The table of outcomes in the documents is the one that the explorer finds."""

from pathlib import Path

from benchmarks.durability_outcomes import outcome_table

DOCUMENT = Path(__file__).parents[4] / "docs" / "durability.md"


def test_the_documented_table_is_what_is_found():
    documented = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert documented == outcome_table()
