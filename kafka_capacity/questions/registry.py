"""The questions that a plan answers, in the order in which their problems are listed."""

from __future__ import annotations

from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.questions.change.share import CHANGE
from kafka_capacity.questions.chargeback.share import CHARGEBACK
from kafka_capacity.questions.consumers.share import CONSUMERS
from kafka_capacity.questions.failures.share import FAILURES
from kafka_capacity.questions.idle.share import IDLE
from kafka_capacity.questions.question import Question
from kafka_capacity.questions.savings.share import SAVINGS

QUESTIONS: tuple[Question, ...] = (CAPACITY, CONSUMERS, CHANGE, FAILURES, IDLE, SAVINGS, CHARGEBACK)
