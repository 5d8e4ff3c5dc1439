"""Idle topics: the share of a plan, and what is decided from it."""

from __future__ import annotations

from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.idle.decide import decide_idle
from kafka_capacity.questions.idle.evaluate import evaluate_idle
from kafka_capacity.questions.idle.tables import IDLE_TABLES
from kafka_capacity.questions.question import Handed, PlanContext, Question, RunPieces, Share
from kafka_capacity.report.inputs import ReportInputs


def _simulate(asked: PlanContext, _: Handed, __: RunPieces) -> Share:
    return Share(tables=merge_tables([evaluate_idle(asked.basis)], IDLE_TABLES))


def _decide(results: ReportInputs, _: Handed) -> Answer | None:
    return decide_idle(results.tables) if IDLE.has_results(results.tables) else None


IDLE = Question(name="idle", share="idle", tables=IDLE_TABLES, simulate=_simulate, decide=_decide, has_pieces=False)
