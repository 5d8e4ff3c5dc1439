"""Questions that are answered in one go: what a plan takes for granted of all of them."""

from __future__ import annotations

import pyarrow as pa

from kafka_capacity.plan.plan_dataset import SIMULATED_SHARES, TABLES
from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.capacity.tables import SIZING_TABLES
from kafka_capacity.questions.change.tables import PLAN_TABLES
from kafka_capacity.questions.consumers.tables import GROUP_TABLES
from kafka_capacity.questions.failures.tables import FAILURE_TABLES
from kafka_capacity.questions.question import Question
from kafka_capacity.questions.registry import QUESTIONS

SCHEMA = pa.schema([pa.field("topic", pa.string()), pa.field("partitions", pa.int32())])


def asked(found):
    """A question that finds these rows."""
    return Question(
        name="made-up",
        tables={"made_up": (SCHEMA, ("topic",)), "made_up_more": (SCHEMA, ("topic",))},
        evaluate=lambda _: {"made_up": pa.Table.from_pylist(found, schema=SCHEMA)},
        decide=lambda tables: Answer(headline=f"{len(tables['made_up'])} rows"),
    )


def test_what_is_stored_is_sorted_and_whole():
    question = asked([{"topic": "orders", "partitions": 6}, {"topic": "audit", "partitions": 1}])
    found = question.results(None)
    assert found["made_up"].column("topic").to_pylist() == ["audit", "orders"]
    assert found["made_up_more"] == SCHEMA.empty_table()
    assert question.answer({**found, "scenarios": SCHEMA.empty_table()}).headline == "2 rows"


def test_a_plan_from_before_there_was_a_question_says_nothing_of_it():
    question = asked([])
    assert question.answer({}) is None
    assert question.answer({"made_up": SCHEMA.empty_table(), "made_up_more": SCHEMA.empty_table()}) is None


def test_no_two_questions_share_a_name_or_a_table():
    names = [*SIMULATED_SHARES, *(question.name for question in QUESTIONS)]
    assert len(set(names)) == len(names)
    several = (PLAN_TABLES, GROUP_TABLES, SIZING_TABLES, FAILURE_TABLES, *(question.tables for question in QUESTIONS))
    assert len(TABLES) == sum(map(len, several))
