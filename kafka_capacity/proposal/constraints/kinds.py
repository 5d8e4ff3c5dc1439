"""The kinds of constraints, and what they look at."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.cluster.snapshot import LogDirs, Snapshot
from kafka_capacity.kafka.placement.log_dirs import LogDirPlacement
from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.relaxing import LimitState
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.expansion import Expanded
from kafka_capacity.proposal.scenario import BrokerLoads, PlacementMetrics, PlacementScenario
from kafka_capacity.text import format_limit
from kafka_capacity.text.wording import told_apart


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proposal:
    """A placement to be judged, and all that is known of it."""

    snapshot: Snapshot  # the cluster as it is
    scenario: PlacementScenario  # what is asked
    problem: PlacementProblem  # that was solved for it
    diff: AssignmentDiff  # what changes
    loads: BrokerLoads  # each broker before and after
    metrics: PlacementMetrics  # the figures of the scenario
    limits: tuple[LimitState, ...]  # how the brokers stand to their hard limits, for what it would take to keep them
    dirs: LogDirs  # the log directories of observed and wanted brokers
    in_dirs: LogDirPlacement | None  # which of them the replicas are in; `None` where no broker has several
    expanded: Expanded | None  # the cluster when the move begins, where partitions are added before

    @property
    def start(self) -> Snapshot:
        """The cluster when the move begins."""
        return self.snapshot if self.expanded is None else self.expanded.snapshot


Constraint = Callable[[Proposal], list[Excuse]]  # lists where a placement breaks it, the worst first


def where_of(brokers: Brokers, at: int) -> str:
    """Name a broker and its rack, if it has one, as excuses do."""
    rack = brokers.racks[at]
    return f"broker {int(brokers.ids[at])}{f' (rack {rack})' if rack else ''}"


def other_data(written: Callable[[float], str], amount: float) -> str:
    """Name an amount of other data on a disk; empty for none, and where it is not known."""
    return f"{written(amount)} of other data" if amount > 0 else ""


def limit_share(scenario: PlacementScenario, what: str, other: str) -> str:
    """Say which share of a disk may be filled: "85 % of its disk, less 650 GB of other data"."""
    return f"{format_limit(scenario.disk_limit_ratio)} of {what}{f', less {other}' if other else ''}"


def baseline(scenario: PlacementScenario, brokers: Brokers, before: Floats | Ints) -> Floats | None:
    """Return what each broker may be compared with: float64[B], 0 for new ones; ``None`` where nothing stands.

    ``before`` is [B], what they carry today; who replaces a broker is compared with that one.
    """
    if not scenario.is_judged_against_today:
        return None
    known = before.astype(np.float64)
    for old, new in scenario.replaced:
        found = brokers.index_of(np.array([old, new], dtype=np.int32))
        if (found >= 0).all():
            known[found[1]] = known[found[0]]
    return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A limit that a broker passes, with amounts as they are written."""

    scenario: PlacementScenario  # what is asked
    needed: str  # what it would carry
    available: str  # what it may
    excess: str  # by how much it is too much
    other: str  # what else is on the disk, such as "650 GB of other data"; empty for nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConstraint:
    """What brokers carry against what they may."""

    name: str  # short, such as `disk`; that of the `LimitState`, too
    label: str  # what is limited, after "over", such as "the disk limit"
    unit: str  # what is counted
    # float64[B], what each of some brokers may carry; not finite where there is no limit
    limit: Callable[[PlacementScenario, Brokers], Floats]
    # float64[B], what each carries after the change; `None` where the constraint says nothing of a proposal
    after: Callable[[Proposal], Floats | None]
    # float64[B], what each carries today; `None` where no broker can be over it before
    before: Callable[[BrokerLoads], Floats] | None = None
    sentence: Callable[[Passed], str]  # says what a broker, named first, would need and has
    figure: Callable[[float, int], str]  # writes an amount, to so many digits more than usual
    # the field of `BrokerLimits` by which placers keep it; `None` where they do not look at it
    placer_limit: str | None = None
    # names the limit that would do; `None` where how many times as high it is says enough
    higher: Callable[[Proposal, Excuse], str] | None = None
    # the field of a request with the limit, for those that are asked for; `None` for others
    parameter: str | None = None
    noun: str = ""  # what is counted then, one of them
    is_of_disks: bool = False  # whether other data takes some of it
    is_of_dirs: bool = False  # whether the same limit holds for each log dir

    def __call__(self, proposal: Proposal) -> list[Excuse]:
        """List the brokers of the target that carry more than they may."""
        needed = self.after(proposal)
        if needed is None:
            return []
        loads, scenario = proposal.loads, proposal.scenario
        available = self.limit(scenario, loads.brokers)
        before = None if self.before is None else baseline(scenario, loads.brokers, self.before(loads))
        is_over = ~loads.is_removed & np.isfinite(available) & (needed > np.maximum(available, 0.0))
        positions = np.nonzero(is_over)[0]
        order = np.argsort(-(needed[positions] / np.maximum(available[positions], 1.0)), kind="stable")
        found = []
        for at in positions[order].tolist():
            where, broker = where_of(loads.brokers, at), int(loads.brokers.ids[at])
            need, limit = float(needed[at]), max(0.0, float(available[at]))
            today = None if before is None else float(before[at])
            replaced = None if today is None else next((old for old, new in scenario.replaced if new == broker), None)
            written = told_apart(self.figure, need, limit)
            other = float(loads.brokers.other_bytes[at]) if self.is_of_disks else 0.0
            passed = Passed(
                scenario=scenario,
                needed=written(need),
                available=written(limit),
                excess=written(need - float(available[at])),
                other=other_data(written, other),
            )
            text = "" if today is None else f"; today it is {written(today)}"
            text += "" if replaced is None else f" on broker {replaced}, which it replaces"
            excuse = Excuse(
                constraint=self.name,
                where=where,
                broker_id=broker,
                needed=need,
                available=limit,
                unit=self.unit,
                reason=f"{where} {self.sentence(passed)}{text}",
                before=today,
                replaced_broker_id=replaced,
            )
            found.append(excuse)
        return self._with_relaxation(proposal, found)

    def tolerated(self, scenario: PlacementScenario, loads: BrokerLoads) -> Floats:
        """Return what each broker may carry without being a reason against the change: float64[B]."""
        limit = self.limit(scenario, loads.brokers)
        before = None if self.before is None else baseline(scenario, loads.brokers, self.before(loads))
        return limit if before is None else np.where(np.isnan(limit), limit, np.maximum(limit, before))

    def _with_relaxation(self, proposal: Proposal, found: list[Excuse]) -> list[Excuse]:
        """Add to the worst reason against the change what would do: brokers, or a higher limit."""
        state = next((one for one in proposal.limits if one.constraint == self.name and one.is_passed), None)
        at = next((place for place, excuse in enumerate(found) if not excuse.is_standing), None)
        if state is None or at is None:
            return found
        in_dirs = proposal.in_dirs
        is_enough = not (self.is_of_dirs and in_dirs is not None and in_dirs.is_over.any())
        higher = None if self.higher is None else self.higher(proposal, found[at])
        text = state.relaxation(higher, is_enough=is_enough)
        reason = f"{found[at].reason}; {text}" if text else found[at].reason
        amended = dataclasses.replace(found[at], reason=reason, is_proven=state.is_proven)
        return [*found[:at], amended, *found[at + 1 :]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionConstraint:
    """What no partition may be subject to."""

    name: str  # short, such as `pin`
    where: str  # names the partitions
    count: Callable[[Proposal], int]  # how many are
    sentence: Callable[[PlacementScenario, int], str]  # says so of that many

    def __call__(self, proposal: Proposal) -> list[Excuse]:
        """Return one excuse for all such partitions."""
        count = self.count(proposal)
        if not count:
            return []
        return [
            Excuse(
                constraint=self.name,
                where=self.where,
                needed=float(count),
                available=0.0,
                unit="partitions",
                reason=self.sentence(proposal.scenario, count),
            )
        ]
