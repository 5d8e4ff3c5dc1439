"""What a plan takes for granted of all questions."""

from __future__ import annotations

import pytest

from kafka_capacity.plan.plan_dataset import SHARES, TABLES
from kafka_capacity.questions.question import Handed
from kafka_capacity.questions.registry import QUESTIONS
from kafka_capacity.report.inputs import ReportInputs
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
