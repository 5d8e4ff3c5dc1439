"""Chargeback: the share of a plan, and what is decided from it."""

from __future__ import annotations

from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.chargeback.decide import decide_chargeback
from kafka_capacity.questions.chargeback.evaluate import chargeback_tables
from kafka_capacity.questions.chargeback.tables import CHARGEBACK_TABLES
from kafka_capacity.questions.question import Handed, PlanContext, Question, RunPieces, Share
from kafka_capacity.report.inputs import ReportInputs


def _simulate(asked: PlanContext, handed: Handed, run: RunPieces) -> Share:
    return Share(tables=merge_tables([chargeback_tables(asked, handed, run)], CHARGEBACK_TABLES))


def _decide(results: ReportInputs, _: Handed) -> Answer | None:
    return decide_chargeback(results.tables) if CHARGEBACK.has_results(results.tables) else None


CHARGEBACK = Question(
    name="chargeback", share="chargeback", tables=CHARGEBACK_TABLES, simulate=_simulate, decide=_decide
)
