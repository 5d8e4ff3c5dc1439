"""What a plan takes for granted of all questions."""

from __future__ import annotations

import pytest

from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.plan.plan_dataset import SHARES, TABLES
from kafka_capacity.questions.question import Basis, Handed
from kafka_capacity.questions.registry import QUESTIONS
from kafka_capacity.report.inputs import ReportInputs
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.report.plans import make_inputs


def test_no_two_questions_share_a_name_or_a_table():
    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS) == len(set(SHARES))
    assert len(TABLES) == sum(len(question.tables) for question in QUESTIONS)


@pytest.mark.parametrize("question", [one for one in QUESTIONS if one.name != "change"], ids=lambda one: one.name)
def test_a_plan_from_before_there_was_a_question_says_nothing_of_it(question):
    """An answer about nothing has no problems; groups have one whether or not there are any."""
    older = {name: table for name, table in make_inputs().tables.items() if name not in question.tables}
    empty = {name: schema.empty_table() for name, (schema, _) in question.tables.items()}
    for tables in (older, {**older, **empty}):
        results = ReportInputs(
            tables=tables, cluster="c", ds="2026-11-20", plan_id="", request={}, snapshot_facts={}, generated_at=""
        )
        answer = question.decide(results, Handed(focus="x"))
        assert answer is None or not (answer.headline or answer.problems)


def test_of_which_partitions_nothing_is_known_and_what_they_hold():
    raw = cluster(
        topics=[topic("a", partitions=2, size_bytes=3 * GIB), topic("b", partitions=2, size_bytes=GIB)], hours=3
    )

    def told(is_known, column="bytes_in_bytes_per_second"):
        rows = [row | ({} if is_known(row) else {column: float("nan")}) for row in rows_of(raw, "metrics")]
        one = with_rows(raw, "metrics", rows)
        snapshot = build_snapshot(one)
        basis = Basis(raw=one, findings=Problems(), snapshot=snapshot, load=partition_load(one, snapshot))
        count, unknown, held, unread, produced = basis.unknown_traffic.values()
        assert count == 4
        return (unknown, held) if column.startswith("bytes_in") else (unread, produced)

    assert told(lambda row: True) == (0, 0.0)
    assert told(lambda row: row["topic"] == "a" or row["partition"]) == (1, 0.125)
    # One known hour is enough.
    hours = sorted({row["hour"] for row in rows_of(raw, "metrics")})
    assert told(lambda row: row["topic"] == "b" or row["hour"] == hours[0]) == (0, 0.0)
    assert told(lambda row: row["topic"] == "b") == (2, 0.75)
    # As much is produced to each.
    assert told(lambda row: row["topic"] == "b", "bytes_out_bytes_per_second") == (2, 0.5)
    assert told(lambda row: True, "bytes_out_bytes_per_second") == (0, 0.0)
