"""The questions that are answered in one go; plans, reports and the command line ask all of these."""

from __future__ import annotations

from kafka_capacity.questions.idle import IDLE
from kafka_capacity.questions.question import Question

QUESTIONS: tuple[Question, ...] = (IDLE,)
