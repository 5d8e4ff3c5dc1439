"""What a plan asks, and how: the one shape that all questions have.

A question computes its share of a plan (:attr:`Question.simulate`): tables and documents, from the inventory and the
parameters. What is worth spreading over executors it cuts into pieces, and hands these to whoever runs them. What the
stored share says is decided once (:attr:`Question.decide`). A folder of ``questions/`` with a question in ``share.py``
and a name in :mod:`kafka_capacity.questions.registry` are all that a plan needs: it simulates, stores, decides, and
hands the tables to the report.

No question knows another one. What one needs of others the plan hands over (:class:`Handed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from kafka_capacity import MODEL_VERSION
from kafka_capacity.demand.changed import ClusterChange
from kafka_capacity.demand.history import TopicHistory
from kafka_capacity.demand.workload import Traffic, Workload
from kafka_capacity.hardware.bill import Bill, GivenHardware, SmallestSize
from kafka_capacity.hardware.cpu import CpuCalibration
from kafka_capacity.hardware.shape_catalogue import OWN_SHAPES
from kafka_capacity.hardware.shapes import Shape
from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.daily_history import topic_history
from kafka_capacity.inventory.group_facts import GroupFactsFound, group_facts
from kafka_capacity.inventory.owners import Owners
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import hourly_traffic
from kafka_capacity.inventory.snapshot import known_rates, profiled_rates
from kafka_capacity.inventory.week_traffic import filled_week, week_of_metrics, week_of_profile
from kafka_capacity.kafka.arrays import Flags, Floats, Int32s
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.tables import Tables
from kafka_capacity.proposal.resized import Resized
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.answer import Answer, as_far_as_known
from kafka_capacity.report.inputs import ReportInputs

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")


class RunPieces(Protocol):
    """Does pieces of work, anywhere and in any order, and returns the tables of each in the order of the pieces."""

    def __call__(
        self,
        function: Callable[[Shared, Piece], Mapping[str, pa.Table]],
        shared: Shared,
        pieces: Sequence[Piece],
        *,
        what: str,
    ) -> Sequence[Mapping[str, pa.Table]]:
        """Run a function of a module that executors have: what all pieces need and a piece in, tables out.

        Large pieces come first; ``what`` is what they are called where their progress is shown.
        """


def run_here(
    function: Callable[[Shared, Piece], Mapping[str, pa.Table]], shared: Shared, pieces: Sequence[Piece], *, what: str
) -> Sequence[Mapping[str, pa.Table]]:
    """Do the pieces in this process, one after another."""
    return [function(shared, piece) for piece in pieces]


@dataclass(frozen=True, kw_only=True, eq=False)
class Basis:
    """What questions rest on."""

    raw: RawInventory  # the inventory
    findings: Problems  # what was found when it was checked
    snapshot: Snapshot  # the same as arrays
    load: PartitionLoad  # traffic of its partitions
    # the table of that name of the load profile; `None` where there is no profile
    profile_partitions: pa.Table | None = None
    profile_days: pa.Table | None = None  # likewise
    profile_seasons: pa.Table | None = None  # likewise
    # the newest day that the profile knows, where the inventory itself brings no rates; `None` where it does
    rates_until: str | None = None

    @cached_property
    def traffic(self) -> Traffic:
        """The hours of its partitions: one copy for all questions, the largest arrays that they send to executors."""
        return hourly_traffic(self.raw, self.snapshot, self.load)

    @cached_property
    def groups(self) -> GroupFactsFound:
        """What is known of its consumer groups, likewise: looking through the hours for it takes as long as any."""
        return group_facts(self.raw, self.snapshot, self.load)

    @cached_property
    def history(self) -> TopicHistory:
        """What was produced to its topics, day by day."""
        return topic_history(self.raw, self.profile_days)

    @property
    def known_rates(self) -> Flags:
        """Of which partitions it is known what is produced, and what is read, by what loads are from: bool[2, P]."""
        profile = self.profile_partitions
        return known_rates(self.raw, self.snapshot) if profile is None else profiled_rates(profile, self.snapshot)

    @cached_property
    def unknown_traffic(self) -> dict[str, float]:
        """Of how many of all partitions no rate is known, and which share of what is stored they hold; plain data.

        Likewise of how many it is known what is produced and not what is read, and which share of that they have.
        """
        is_known, is_read_known = self.known_rates
        unknown, unread = ~is_known, is_known & ~is_read_known
        size, produced = self.snapshot.partition_size_bytes(), self.load.bytes_in_mean_bytes_per_second
        held, coming = int(size.sum()), float(produced.sum())
        return {
            "partition_count": len(size),
            "unknown_rate_partitions": int(unknown.sum()),
            "unknown_rate_stored_ratio": int(size[unknown].sum()) / held if held else 0.0,
            "unknown_read_partitions": int(unread.sum()),
            "unknown_read_produced_ratio": float(produced[unread].sum()) / coming if coming else 0.0,
        }

    @cached_property
    def week(self) -> Floats | None:
        """What is produced in each hour of a week, from Monday 0:00 UTC; ``None`` where no hour is known."""
        seasons = self.profile_seasons
        return filled_week(week_of_metrics(self.raw) if seasons is None else week_of_profile(seasons))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanContext:
    """What is asked of every question of a plan."""

    basis: Basis  # the inventory
    parameters: Any  # of the plan: one model that has the fields of every question's `parameters.py`
    # the placements that are tried; none while it is open which follow from sizing
    scenarios: Sequence[PlacementScenario] = ()
    request: Mapping[str, Any] = field(default_factory=dict)  # the parameters as they were written down, plain data
    own_shapes: str = ""  # shapes and prices of one's own, JSON in the form of the shipped catalogue; empty for none
    own_shapes_name: str = OWN_SHAPES  # of where they are from, for messages
    # what came of samples of processors that were given; else the inventory's own count, where it has any
    cpu: CpuCalibration | None = None
    scores: Mapping[str, Any] | None = None  # those of earlier predictions, if any
    owners: Owners = field(default_factory=dict)  # of topics and groups, as the deployment knows them
    model_version: str = MODEL_VERSION  # that the plan was pinned with


class Pricing(Protocol):
    """Prices a cluster as sizing does."""

    @property
    def today(self) -> Bill:
        """What the cluster costs as it is, and what it is used for."""

    def smallest(self, changes: Sequence[ClusterChange], run: RunPieces) -> tuple[SmallestSize, ...]:
        """Return the smallest size of the whole cluster, and of what is left after each change."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizedCluster:
    """The cluster that sizing is asked about, and how to size it again after changes."""

    snapshot: Snapshot
    workload: Workload  # its partitions
    today: Shape  # of the observed brokers
    others: tuple[Shape, ...]  # that a change may ask for: the next sizes of the family
    is_read_in_rack: bool  # whether consumers read from followers in their rack
    partition_limit_bytes_per_second: float  # what one partition may get at peak
    # sizes it after each of several changes, as sizing would: answers in the order of the changes
    resize: Callable[[Sequence[ClusterChange], RunPieces], Sequence[Resized]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Handed:
    """What a plan hands from one question to another."""

    # how many brokers to approve now, needed now or soon; `None` where sizing does not say
    count_due: int | None = None
    # the scenario that the plan's answer is about: the recommended one, else the nearest to fitting
    focus: str | None = None
    # replica lists of placements that were made already, by the first scenario of each
    made: Mapping[str, Int32s] = field(default_factory=dict)
    hardware: GivenHardware | None = None  # what brokers run on, as sizing takes it
    # returns the cluster to size again, which needs nothing that another question found; `None` for those that wait
    sized: Callable[[], SizedCluster] | None = None
    pricing: Pricing | None = None  # what today's cluster costs, likewise, for who waits for nobody


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Share:
    """What a question says in a plan."""

    tables: Mapping[str, pa.Table]  # sorted
    documents: Mapping[str, Any] = field(default_factory=dict)  # plain data by name
    scenario_count: int = 1  # how many scenarios the tables tell of
    made: Mapping[str, Int32s] = field(default_factory=dict)  # see `Handed`; not stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question."""

    name: str  # of its problems and its answer in `decision.json`
    share: str  # the name of its share of a plan
    tables: Tables  # that it stores
    # computes its share; the same whatever the order in which pieces of work are done
    simulate: Callable[[PlanContext, Handed, RunPieces], Share]
    # returns the answer that the stored results hold; `None` where they hold none, as those of a plan from before there
    # was this question
    decide: Callable[[ReportInputs, Handed], Answer | None]
    has_pieces: bool = True  # whether there is work for executors
    is_handed: bool = False  # whether it stands on what other questions found, so that a plan simulates it after them

    def has_results(self, tables: Mapping[str, pa.Table]) -> bool:
        """Return whether the tables of a plan, whatever they are about, say something of this question."""
        return _has_rows(self.tables, tables)


def _has_rows(of: Iterable[str], tables: Mapping[str, pa.Table]) -> bool:
    return any(len(tables[name]) for name in of if name in tables)


def where_stored(
    decide: Callable[[Mapping[str, pa.Table]], Answer], of: Tables, *, is_of_traffic: bool = False
) -> Callable[[ReportInputs, Handed], Answer | None]:
    """Return :attr:`Question.decide` of a question that its tables alone answer, where a plan has rows of them.

    One that rests on traffic says what is unknown of that.
    """

    def decided(results: ReportInputs, _: Handed) -> Answer | None:
        if not _has_rows(of, results.tables):
            return None
        answer = decide(results.tables)
        return as_far_as_known(answer, results.snapshot_facts) if is_of_traffic else answer

    return decided
