"""Idle topics: which nobody wrote to or read from, and what they hold that removing them would free."""

from kafka_capacity.questions.idle.decide import decide_idle
from kafka_capacity.questions.idle.evaluate import evaluate_idle
from kafka_capacity.questions.idle.tables import IDLE_TABLES
from kafka_capacity.questions.question import Question

__all__ = ["IDLE"]

IDLE = Question(name="idle", tables=IDLE_TABLES, evaluate=evaluate_idle, decide=decide_idle)
