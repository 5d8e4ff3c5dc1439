"""Chargeback: the share of a plan, and what is decided from it."""

from __future__ import annotations

from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.chargeback.decide import decide_chargeback
from kafka_capacity.questions.chargeback.evaluate import chargeback_tables
from kafka_capacity.questions.chargeback.tables import CHARGEBACK_TABLES
from kafka_capacity.questions.question import Question, Share, where_stored

CHARGEBACK = Question(
    name="chargeback",
    share="chargeback",
    tables=CHARGEBACK_TABLES,
    simulate=lambda *given: Share(tables=merge_tables([chargeback_tables(*given)], CHARGEBACK_TABLES)),
    decide=where_stored(decide_chargeback, CHARGEBACK_TABLES, is_of_traffic=True),
)
