"""What is wrong, or worth knowing, about a cluster or about what is known of it: as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import partial
from typing import Any

from kafka_capacity.errors import InventoryError
from kafka_capacity.text import capitalised, plural
from kafka_capacity.text.wording import few_names


class Severity(StrEnum):
    """How much a problem matters, the worst first."""

    FATAL = "fatal"  # nothing right can be computed from this inventory
    SERIOUS = "serious"  # something is down, over its limit or may be lost already, or one failure does that
    WARNING = "warning"
    """The figures stand, but something was assumed, or one failure more than necessary stops something."""
    INFO = "info"  # good to know

    @property
    def rank(self) -> int:
        """The place among all severities, 0 for the worst."""
        return list(Severity).index(self)

    def is_at_least(self, other: Severity) -> bool:
        """Return whether this is as severe as another, or more so."""
        return self.rank <= other.rank


MAX_TOPICS = 2_000
"""Topics that a problem names for those who own them: more would make every document heavy."""
_ALWAYS_TOLD = frozenset({"severity", "code", "where", "message"})


@dataclass(frozen=True, slots=True)
class Figure:
    """What is needed where the problem is worst, and what there is."""

    needed: float  # in the unit
    available: float  # likewise
    unit: str  # the unit of both, such as `bytes`, `bytes_per_second`, `cores`, `seconds` or `replicas`


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong."""

    severity: Severity  # how much it matters
    code: str  # its kind; stable, for machines
    # the brokers, topics, groups or racks, a few of them by name, or the column such as `replicas.broker_id` that an
    # inventory is wrong in
    where: str
    message: str  # a sentence with the figure that makes it matter, without a period
    about: str = ""  # which of its kind, where there may be several at once: in words that stay, for machines
    remedy: str = ""  # what to do, `""` where the message says it
    figure: Figure | None = None  # the worst of it in numbers, `None` where there are none
    partitions: int = 0  # how many partitions it is about, 0 where it is about none
    bytes_per_second: float = 0.0  # their mean produce rate
    topics: tuple[str, ...] = ()  # all topics that it is about, up to :data:`MAX_TOPICS`, where it is about some

    @property
    def sentence(self) -> str:
        """The message as a sentence begins, without its period; a name of a setting at its start stays as it is."""
        is_setting = "." in self.message.removesuffix(".").split(" ", 1)[0]
        return self.message if is_setting else capitalised(self.message)

    @property
    def text(self) -> str:
        """The problem as people read it: what is wrong, then what to do where the message does not say so.

        >>> full = {"severity": Severity.INFO, "code": "disk", "where": "broker 1", "message": "a disk is full"}
        >>> Problem(**full, remedy="free it").text
        'A disk is full. Remedy: free it.'
        """
        remedy = f" Remedy: {self.remedy.removesuffix('.')}." if self.remedy else ""
        return f"{self.sentence.removesuffix('.')}.{remedy}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data: severity, code, where and message, and whatever else there is to say."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        plain |= {"severity": self.severity.value, "topics": list(self.topics)}
        plain["figure"] = self.figure and asdict(self.figure)
        return {name: value for name, value in plain.items() if value or name in _ALWAYS_TOLD}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Problem:
        """Read what :meth:`as_dict` gave, by this version or the one before.

        Raises:
            ValueError: it is no problem.
        """
        if not set(row) >= _ALWAYS_TOLD:
            raise ValueError("a problem has severity, code, where and message")
        told = {one.name: row[one.name] for one in fields(cls) if row.get(one.name) or one.name in _ALWAYS_TOLD}
        told |= {"severity": Severity(row["severity"]), "topics": tuple(row.get("topics") or ())}
        told.setdefault("remedy", row.get("mend") or "")  # ``mend`` until schema version 1 of ``doctor.json``
        if figure := row.get("figure"):
            told["figure"] = Figure(figure["needed"], figure["available"], figure["unit"])
        return cls(**told)


@dataclass(frozen=True, slots=True)
class Problems:
    """All that was found, each once: the worst first, of these the one with the most traffic at stake."""

    items: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, found: Iterable[Problem]) -> Problems:
        """Put problems in their one order."""

        def rank(one: Problem) -> tuple[object, ...]:
            return one.severity.rank, -one.bytes_per_second, -one.partitions, one.code, one.where, one.message

        return cls(tuple(sorted(set(found), key=rank)))

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def fatal(self) -> tuple[Problem, ...]:
        """The problems that forbid planning."""
        return tuple(one for one in self.items if one.severity is Severity.FATAL)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The other problems that a reader of the plan must know."""
        return tuple(one for one in self.items if one.severity in {Severity.SERIOUS, Severity.WARNING})

    @property
    def summary(self) -> str:
        """How many there are of each severity, in few words."""
        counts = Counter(one.severity for one in self.items)
        return ", ".join(f"{counts[one]} {one}" for one in Severity if counts[one]) or "no problems found"

    def raise_if_fatal(self) -> None:
        """Raise :class:`InventoryError` with every fatal message, one a line, where there is one."""
        if self.fatal:
            raise InventoryError("\n".join(one.message for one in self.fatal))

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain data, in order."""
        return [one.as_dict() for one in self.items]

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]]) -> Problems:
        """Read what :meth:`to_json` gave."""
        return cls.of(Problem.from_dict(row) for row in rows)


class Code(StrEnum):
    """What is wrong with a cluster itself, as opposed to what an inventory says of it."""

    OFFLINE = "offline-now"
    UNDER_MIN_ISR = "under-min-isr-now"
    UNDER_REPLICATED = "under-replicated-now"
    FENCED = "fenced-brokers"
    CORDONED = "cordoned-brokers"
    CORDONED_DIRS = "cordoned-log-dirs"
    DISK_OVER_LIMIT = "disk-over-limit"
    LOG_DIR_OVER_LIMIT = "log-dir-over-limit"
    LOG_DIRS_UNEVEN = "log-dirs-uneven"
    LOG_DIR_OFFLINE = "log_dir_offline"
    NETWORK_IN_OVER_LIMIT = "network-in-over-limit"
    NETWORK_OUT_OVER_LIMIT = "network-out-over-limit"
    CPU_OVER_LIMIT = "cpu-over-limit"
    DISK_IO_OVER_LIMIT = "disk-io-over-limit"
    GROUPS_HOURS_BEHIND = "groups-hours-behind"
    GROUPS_BEHIND = "groups-behind"
    RECORDS_LOST = "records-lost"
    STREAMS_IDLE_MEMBERS = "streams-idle-members"
    STREAMS_STANDBYS = "streams-standbys"
    HOT_PARTITIONS = "hot-partitions"
    SINGLE_REPLICA = "single-replica"
    MIN_ISR_ABOVE_RF = "min-isr-above-rf"
    MIN_ISR_EQUALS_RF = "min-isr-equals-rf"
    MIN_ISR_ONE = "min-isr-one"
    UNCLEAN_ELECTION = "unclean-election"
    INTERNAL_TOPIC_REPLICAS = "internal-topic-replicas"
    INTERNAL_TOPIC_MIN_ISR = "internal-topic-min-isr"
    ONE_RACK = "one-rack"
    RACKS_INCOMPLETE = "racks-incomplete"
    RF_ABOVE_RACKS = "rf-above-racks"
    UNEVEN_RACKS = "uneven-racks"
    ONE_RACK_PARTITIONS = "one-rack-partitions"
    NARROW_PARTITIONS = "narrow-partitions"
    RACK_LOSS = "rack-loss"
    FEW_CONTROLLERS = "few-controllers"
    EVEN_CONTROLLERS = "even-controllers"
    CONTROLLERS_SHARE_RACK = "controllers-share-rack"
    CONTROLLERS_WITHOUT_RACK = "controllers-without-rack"
    VOTER_RENEWED = "voter-on-another-disk"
    VOTERS_BEHIND = "voters-behind"
    OBSERVER_BEHIND = "observer-behind"
    REMOVED_VOTER_RETURNS = "removed-voter-returns"
    STATIC_QUORUM = "static-quorum"


DOWN_NOW = (Code.OFFLINE, Code.UNDER_MIN_ISR)
"""What refuses reads or writes at the moment: the worst of all, and to be mended before anything is moved."""

OVER_LIMIT = frozenset(
    {
        Code.DISK_OVER_LIMIT,
        Code.LOG_DIR_OVER_LIMIT,
        Code.NETWORK_IN_OVER_LIMIT,
        Code.NETWORK_OUT_OVER_LIMIT,
        Code.CPU_OVER_LIMIT,
        Code.DISK_IO_OVER_LIMIT,
    }
)
"""What a broker carries too much of at the moment."""

RETIRED_CODES = frozenset(
    {
        "isr_empty",
        "leader_missing",
        "min_isr_above_rf",
        "min_isr_equals_rf",
        "min_isr_one",
        "partition_offline",
        "rack_missing",
        "rf_above_racks",
        "single_replica",
        "size_above_capacity",
        "under_replicated",
        "uneven_racks",
    }
)
"""Under which inventories that were staged by the version before tell some of the same."""

CLUSTER_CODES = frozenset({*map(str, Code), *RETIRED_CODES}) - {Code.LOG_DIR_OFFLINE}
"""Whatever is found of these is found again by every check of the cluster; an inventory tells which log dirs failed."""


EXAMPLES = 5  # enough to find the pattern; a hundred thousand bad rows are still one line


def _make(severity: Severity, code: str, where: str, message: str, remedy: str = "", **more: Any) -> Problem:
    """Make a problem; ``more`` are other attributes."""
    return Problem(severity=severity, code=code, where=where, message=message, remedy=remedy, **more)


fatal = partial(_make, Severity.FATAL)
serious = partial(_make, Severity.SERIOUS)
warning = partial(_make, Severity.WARNING)
info = partial(_make, Severity.INFO)


def problem_of(
    names: Collection[object], what: str, make: Callable[[str, str, str], Problem], code: str, where: str, message: str
) -> Iterator[Problem]:
    """Make a problem of some things, where there are any.

    In the message ``{count}`` stands for how many there are of ``what``, and ``{names}`` for a few of them.
    """
    if len(names):
        yield make(code, where, message.format(count=plural(len(names), what), names=some(names)))


def counted(names: Collection[object], what: str) -> str:
    """Count things and name a few: ``7 topics (a, b, c, d, e and 2 more)``."""
    return f"{plural(len(names), what)} ({some(names)})"


def some(examples: Iterable[object], total: int | None = None) -> str:
    """Name a few: ``1, 2, 3, 4, 5 and 7 more``; without a total the examples are all there are."""
    return few_names(examples, EXAMPLES, total)
