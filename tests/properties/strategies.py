"""Small clusters and wishes, built valid rather than filtered."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.assignment import Partitions, replica_matrix
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, PlacementProblem, RackRule


def repeatable(examples: int) -> settings:
    """So many examples, the same ones in every run."""
    return settings(max_examples=examples, deadline=None, derandomize=True)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A problem in plain lists, so that a failing one can be read."""

    topics: tuple[int, ...]
    before: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    rates: tuple[int, ...]
    ids: tuple[int, ...]
    racks: tuple[str | None, ...]
    fenced: tuple[bool, ...]
    capacities: tuple[float | None, ...]
    factors: tuple[int, ...]
    rack_rule: RackRule
    balance: Balance
    tolerance: float

    def with_(self, **changes: object) -> Case:
        """Return the case with some fields changed."""
        return replace(self, **changes)

    def problem(self) -> PlacementProblem:
        """Make the arrays."""
        names = tuple(f"topic-{index}" for index in range(len(self.topics)))
        return PlacementProblem(
            partitions=Partitions(
                topics=names,
                topic=np.repeat(np.arange(len(names)), self.topics).astype(np.int32),
                partition=np.array([p for count in self.topics for p in range(count)], dtype=np.int32),
            ),
            before=replica_matrix(self.before),
            leader=np.array([row[0] if row else -1 for row in self.before], dtype=np.int32),
            size_bytes=np.array(self.sizes, dtype=np.int64),
            bytes_in_bytes_per_second=np.array(self.rates, dtype=np.float64),
            target=Brokers.of(self.ids, self.racks, is_fenced=self.fenced, disk_capacity_bytes=list(self.capacities)),
            replication_factor=np.array(self.factors, dtype=np.int32),
            seed=0,
            rack_rule=self.rack_rule,
            balance=self.balance,
            tolerance_ratio=self.tolerance,
        )


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    max_brokers: int = 8,
    max_partitions: int = 24,
    max_factor: int = 4,
    can_fence: bool = True,
    can_differ: bool = True,
) -> Case:
    """Draw a cluster, and the brokers and factors that are wanted of it.

    Args:
        draw: of Hypothesis.
        max_brokers: observed, and wanted.
        max_partitions: at most this many.
        max_factor: of any partition.
        can_fence: whether wanted brokers may be fenced.
        can_differ: whether brokers may differ in capacity.
    """
    observed = draw(st.lists(st.integers(0, 12), min_size=1, max_size=max_brokers, unique=True))
    wanted = draw(st.lists(st.integers(0, 12), min_size=1, max_size=max_brokers, unique=True))
    rack_count = draw(st.integers(0, 3))
    racks = tuple(None if not rack_count else "abc"[draw(st.integers(0, rack_count - 1))] for _ in wanted)
    fenced = [can_fence and draw(st.integers(0, 9)) == 0 for _ in wanted]
    if all(fenced):
        fenced[0] = False
    usable = fenced.count(False)
    capacities = draw(
        st.one_of(
            st.none(),
            st.lists(st.sampled_from([1e3, 2e3, 8e3]), min_size=len(wanted), max_size=len(wanted)),
        )
        if can_differ
        else st.none()
    )
    topics = draw(st.lists(st.integers(1, max(1, max_partitions // 3)), min_size=1, max_size=3))
    topics = topics if sum(topics) <= max_partitions else [max_partitions]
    count = sum(topics)
    width = min(max_factor, len(observed))
    before = [tuple(draw(st.permutations(observed))[: draw(st.integers(1, width))]) for _ in range(count)]
    keeps = draw(st.booleans())
    factors = [min(len(row), usable) if keeps else draw(st.integers(1, min(max_factor, usable))) for row in before]
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    return Case(
        topics=tuple(topics),
        before=tuple(before),
        sizes=tuple(draw(st.lists(st.integers(0, 100), min_size=count, max_size=count))),
        rates=tuple(draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))),
        ids=tuple(wanted[i] for i in order),
        racks=tuple(racks[i] for i in order),
        fenced=tuple(fenced[i] for i in order),
        capacities=tuple(capacities[i] for i in order) if capacities else (None,) * len(wanted),
        factors=tuple(factors),
        rack_rule=draw(st.sampled_from(RackRule)),
        balance=draw(st.sampled_from(Balance)),
        tolerance=draw(st.sampled_from([0.0, 0.02, 0.1, 0.5])),
    )
