"""A question that is answered in one go, from the inventory and its traffic, without work for executors.

A folder of ``questions/`` with such a question and its name in :mod:`kafka_capacity.questions.registry` are all that a
plan needs: it stores the tables as a share of their own, reads them, decides, and hands them to the report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.tables import Tables, merge_tables
from kafka_capacity.questions.answer import Answer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """What questions rest on.

    Attributes:
        raw: the inventory.
        findings: what was found when it was checked.
        snapshot: the same as arrays.
        load: traffic of its partitions.
        profile_partitions: the table of that name of the load profile; ``None`` where there is no profile.
        profile_days: likewise.
    """

    raw: RawInventory
    findings: Problems
    snapshot: Snapshot
    load: PartitionLoad
    profile_partitions: pa.Table | None = None
    profile_days: pa.Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question.

    Attributes:
        name: of its share of a plan, and of its problems and its answer in ``decision.json``.
        tables: that it stores.
        evaluate: computes them, with a row at least in one of them; their rows may have any order.
        decide: returns the answer that the stored tables hold.
    """

    name: str
    tables: Tables
    evaluate: Callable[[Basis], Mapping[str, pa.Table]]
    decide: Callable[[Mapping[str, pa.Table]], Answer]

    def results(self, basis: Basis) -> dict[str, pa.Table]:
        """Return the tables as they are stored."""
        return merge_tables([self.evaluate(basis)], self.tables)

    def answer(self, tables: Mapping[str, pa.Table]) -> Answer | None:
        """Return the answer of a plan; ``None`` for one from before there was this question.

        Args:
            tables: of the plan, whatever they are about.
        """
        own = {name: tables[name] for name in self.tables if name in tables}
        return self.decide(own) if any(map(len, own.values())) else None
