"""The JSON documents that commands print with ``--json`` and write: what each holds; of rows of tables the table.

See :mod:`.decision_document`, which has the classes of ``decision.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from kafka_capacity.cli.decision_document import DecisionDocument, Document, FoundProblem
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.answer import Status

Row = Mapping[str, Any]  # plain data whose names a comment tells
Rates = Mapping[str, float | None]  # by resource: `cpu`, `network_in`, …; null where it is not known


class Head(Document):
    """What documents of commands begin with."""

    schema_version: int  # of the document; raised when a field is removed or changes its meaning
    code_version: str  # of the program
    model_version: str  # version of the model: figures may differ between versions
    cluster: str  # its name
    ds: str  # the day of the inventory, YYYY-MM-DD


class PlanDocument(Head):
    """One option of a move, with what was asked of it and its figures: further names are columns of `scenarios`."""

    is_open: ClassVar[bool] = True  # there are more names than these

    partition_count: int  # of the cluster
    scenario_id: str  # its name
    fits: bool  # whether it stays within all limits that are known
    status: Status  # the verdict, as in `decision.json`
    excuses: tuple[Excuse, ...]  # the limits that it exceeds
    standing: tuple[Excuse, ...]  # those that are exceeded today as well, and no worse afterwards
    warnings: tuple[FoundProblem, ...]  # pitfalls in its layout
    serious_caveats: tuple[str, ...]  # what is serious about it, as sentences
    schedule: Row | None  # its row of the table `schedules`; null if nothing was scheduled
    target: Row  # the target brokers, as lists of ids, racks and capacities


class WholePlanDocument(PlanDocument):
    """The only option of a move, with its waves and brokers: `plan --json` and `plan.json` of one scenario."""

    waves: tuple[Row, ...]  # rows of the table `waves`, without commands
    brokers: tuple[Row, ...]  # rows of the table `broker_load`


class PlansDocument(Document):
    """Several options of a move: `plan --json`, `plan.json` above them."""

    schema_version: int  # of the document
    recommended: str | None  # the scenario to take; null if none fits
    scenarios: tuple[PlanDocument, ...]  # each without waves and brokers


class SizeDocument(Head):
    """How many brokers of which kind are needed by when: `size --json`, `size.json`."""

    # `recommended` and why, the front of options, and by date what would do if it were the horizon; steps: `outlook`
    advice: Row
    # every option, with its `status`, excuses, dates and dollars, as in the table `sizing`; `fits` is said of what is
    # known
    options: tuple[Row, ...]
    outlook: Row | None  # how many brokers by when, and what waiting saves
    dates: tuple[str, ...]  # the day of the traffic and bytes, YYYY-MM-DD
    high_quantile: float  # of the high estimate
    classes: tuple[Row, ...]  # topic classes: basis of their growth, and traffic relative to today at each date
    added_topics: tuple[Row, ...]  # planned ones
    notes: tuple[str, ...]  # planned events that were ignored, and why
    partition_count: int  # of the cluster
    unknown_rate_partitions: int  # of which no rate is known
    unknown_rate_stored_ratio: float  # what those hold of what is stored
    unknown_read_partitions: int  # of which it is known what is produced and not what is read
    unknown_read_produced_ratio: float  # what those have of what is produced
    silent_since: str | None  # the last day with traffic, where there has been hardly any for a week or more
    risen: Row | None  # traffic that is far higher than before and too new to tell whether it stays: `since`, `ratio`
    traffic: Mapping[str, tuple[float | None, ...]]  # bytes per second at peak at each date, `middle` and `high`
    stored: Mapping[str, tuple[float | None, ...]]  # the same for the bytes of all replicas
    limits: Row  # up to which a broker may be used
    single_replicas: Row | None  # partitions that no limit can protect
    conditions: tuple[str, ...]  # conditions under which limits apply: `normal`, and what must be tolerated
    cpu: Row  # the CPU cost of traffic, and its source
    stored_per_produced: tuple[Row, ...]  # by topic: stored bytes per byte produced
    peak_basis: str  # the basis of "at peak"
    today: Row  # the shape of today's brokers
    uneven: Mapping[str, tuple[float, float]]  # by resource, the least and most of one of them, where they differ
    removed_brokers: tuple[int, ...]  # ids of today's brokers that the request does without
    moved_replication_factor: int | None  # that the planned move gives all topics; null for each topic's own
    shapes: tuple[Row, ...]  # the others that were tried
    waterfalls: tuple[Row, ...]  # from the broker counts of public calculators to ours, step by step
    partitions: tuple[Row, ...]  # topics that need more partitions
    partitions_advised: int  # for how many topics that is so
    groups_beyond_page_cache_today: tuple[Row, ...]  # consumer groups that read from disk
    request: Row  # every parameter: docs/parameters.md
    warnings: tuple[str, ...]  # about the snapshot


class BrokerPeaks(Document):
    """A broker today, at peak."""

    broker: int  # its id
    rack: str | None  # its rack
    peaks: Rates  # what it carries
    capacities: Rates  # what it can


class FailuresDocument(Head):
    """What breaks when brokers or racks die: `failures --json`, `failures.json`."""

    scenario: Row  # what was lost, and by which rules leaders are elected
    partitions: int  # of the cluster
    offline_today: int  # without a leader before anything is lost
    under_min_isr_today: int  # with too few replicas in sync before anything is lost
    peaks: str  # the basis of "at peak"
    unknown_traffic: str | None  # that of which partitions counts as 0 though they may have much: loads are more
    brokers: tuple[BrokerPeaks, ...]  # today
    sets: tuple[Row, ...]  # each lost set, worst first, as in the table `failures`
    left_out: tuple[Row, ...]  # kinds of which not every set was evaluated
    controllers: Row | None  # of the metadata quorum; null if no voters were named


class DecidedGroup(Document):
    """What is decided about a consumer group, and all its figures."""

    group_id: str  # its name
    status: str  # the verdict on the group
    verdict: str  # the verdict on today's setup
    is_at_risk: bool  # whether it is today's setup
    is_change: bool  # whether a change is recommended
    risk: str | None  # why it is at risk
    advice: str  # what to do, as a sentence
    reasons: tuple[str, ...]  # why nothing fits
    known: tuple[str, ...]  # further notes, as sentences
    figures: tuple[Row, ...]  # today's and the recommended one side by side
    today: str | None  # the scenario with today's setup
    recommended: str | None  # the scenario to take; null if nothing fits
    recommended_members: int | None  # its members
    focus: str  # the scenario that the answer is about
    facts: Row | None  # its row of the table `group_facts`
    scenarios: tuple[Row, ...]  # its rows of the table `group_scenarios`, each with its `events` of `group_churn`


class GroupsDocument(Head):
    """How many members consumer groups need: `groups --json`, `groups.json`."""

    request: Row  # the request
    summary: str  # a summary in one sentence
    at_risk: str | None  # which groups are, as a sentence; null for none
    groups: tuple[DecidedGroup, ...]  # each, by its name
    skipped: tuple[Row, ...]  # groups that cannot be simulated, and why
    shared: tuple[Row, ...]  # share groups


class DoctorDocument(Head):
    """What is wrong with a cluster today: `doctor --json`, `doctor.json`."""

    problems: tuple[FoundProblem, ...]  # the worst first


class SavingsDocument(Head):
    """What could be done instead of buying: `savings --json`, `savings.json`; of nothing looked for the head only."""

    sentences: tuple[str, ...] = ()  # the answer, then its basis
    instead_of_buying: str | None = None  # the line in the decision box; null if nothing avoids or postpones buying
    actions: tuple[Row, ...] = ()  # rows of the table `savings_actions`
    sets: tuple[Row, ...] = ()  # rows of `savings_sets`
    dates: tuple[Row, ...] = ()  # rows of `savings_dates`
    scope: tuple[Row, ...] = ()  # the one row of `savings_scope`


class ChargebackDocument(Head):
    """Who pays what of today's bill: `chargeback --json`, `chargeback.json`."""

    sentences: tuple[str, ...]  # the answer, then its basis
    chargeback: tuple[Row, ...]  # rows of the table of that name: shares of topics, groups, client ids and owners
    chargeback_bill: tuple[Row, ...]  # rows of the table of that name, as are those below
    chargeback_marginal: tuple[Row, ...]  # what would be saved without a topic, a group or an owner
    chargeback_scope: tuple[Row, ...]  # the one row about what was split
    chargeback_tiered: tuple[Row, ...]  # what the object store holds of tiered topics, next to the bill
    rack_flows: tuple[Row, ...]  # bytes from rack to rack
    rack_topics: tuple[Row, ...]  # of each topic
    rack_brokers: tuple[Row, ...]  # of each broker
    rack_leaders: tuple[Row, ...]  # what leaders in the racks of producers would do, by topic where these are known
    rack_leader_brokers: tuple[Row, ...]  # and to each broker


class IdleDocument(Head):
    """Topics that nobody uses: `idle --json`, `idle.json`."""

    sentences: tuple[str, ...]  # the answer, then its basis
    topics: int  # how many were examined, without internal ones
    not_judged_topics: int  # for how many of them too little is known
    idle_topics: tuple[Row, ...]  # rows of the table `idle_topics`, the largest first
    brokers: tuple[Row, ...]  # rows of `idle_brokers`: what removing them would free


class DurabilityDocument(Head):
    """Which failures lose acknowledged records, and how likely: `durability --json`, `durability.json`."""

    assumed: Row  # the basis of the figures
    today: Row  # what all topics lose in total, in events and bytes per year
    few_copysets: Row | None  # the same with few copysets, and what that moves; null if not requested
    check: Row | None  # the closed form compared with simulated random failures; null if not requested
    topics: tuple[Row, ...]  # each topic, worst first
    outcomes: tuple[Row, ...]  # the fewest failures to each outcome of each setting, and the steps to it


class FleetDocument(Document):
    """All clusters of a store: `fleet --json`."""

    summary: str  # how many have each verdict, in a sentence
    rows: tuple[Row, ...]  # one row per cluster, worst first: verdict, what to approve, dates, dollars, worst problem


class ProblemsDocument(Document):
    """What became of the problems and recommendations of a cluster: `problems --json`."""

    cluster: str  # its name
    ds: str  # the day of the newest plan's inventory
    entries: Row  # by id: text, first and last day, who claimed or dismissed it, and what was done


class SnapshotDocument(Head):
    """What a snapshot holds and what is wrong with it: `inventory check|export|import|metrics`, `example NAME`."""

    address: str  # where it is
    brokers: int  # how many
    topics: int  # how many
    replicas: int  # how many
    groups: int  # how many
    partition_hours: int  # rows of hourly rates of partitions
    broker_hours: int  # the same of brokers
    findings: tuple[FoundProblem, ...]  # what is wrong or odd, worst first


class ExamplesDocument(Document):
    """The examples there are: `example --json`."""

    examples: Mapping[str, str]  # what each is, by name


class Parameter(Document):
    """A parameter of a plan."""

    name: str  # of the field, as in the trigger form's JSON
    section: str  # of the form
    options: tuple[str, ...]  # the option's names on the command line; none if there is no option
    default: str  # as it is shown
    bounds: str  # what is allowed, as it is shown
    meaning: str  # in sentences


class ParametersDocument(Document):
    """Every parameter of a plan: `parameters --json`."""

    parameters: tuple[Parameter, ...]  # in the order of the form


class CompressionDocument(Document):
    """What compression makes of sampled batches: `inventory compression --json`."""

    topics: tuple[Row, ...]  # `topic`, `batches_by_codec`, `records`, `stored_bytes`, `bytes_by_codec`


class KeysDocument(Document):
    """Key skew: `inventory keys --json`."""

    # `topic`, `partitions`, `records`, `keys`, `without_key_ratio`, `top`, `fullest_ratio` and `salted_fullest_ratio`,
    # both by partition count
    topics: tuple[Row, ...]


DOCUMENTS: Mapping[str, type | tuple[type, ...]] = {
    "decision.json": DecisionDocument,
    "plan.json": (WholePlanDocument, PlansDocument),
    "size.json": SizeDocument,
    "failures.json": FailuresDocument,
    "groups.json": GroupsDocument,
    "doctor.json": DoctorDocument,
    "savings.json": SavingsDocument,
    "chargeback.json": ChargebackDocument,
    "idle.json": IdleDocument,
    "durability.json": DurabilityDocument,
    "fleet --json": FleetDocument,
    "problems --json": ProblemsDocument,
    **{f"inventory {name} --json": SnapshotDocument for name in ("check", "export", "import", "metrics")},
    "inventory compression --json": CompressionDocument,
    "inventory keys --json": KeysDocument,
    "example --json": (ExamplesDocument, SnapshotDocument),
    "parameters --json": ParametersDocument,
}
"""By the file that ``--out`` writes, where there is one; ``--json`` prints the same."""
