"""Idle topics: the share of a plan, and what is decided from it."""

from __future__ import annotations

from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.idle.decide import decide_idle
from kafka_capacity.questions.idle.evaluate import evaluate_idle
from kafka_capacity.questions.idle.tables import IDLE_TABLES
from kafka_capacity.questions.question import Question, Share, where_stored

IDLE = Question(
    name="idle",
    share="idle",
    tables=IDLE_TABLES,
    simulate=lambda asked, _, __: Share(tables=merge_tables([evaluate_idle(asked.basis)], IDLE_TABLES)),
    decide=where_stored(decide_idle, IDLE_TABLES),
    has_pieces=False,
)
