"""What is wrong or worth knowing about an inventory, as values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kafka_capacity.errors import InventoryError

EXAMPLES = 5  # enough to find the pattern; a hundred thousand bad rows are still one line


class Severity(StrEnum):
    """How much a finding matters."""

    FATAL = "fatal"
    """Nothing right can be computed from this inventory."""
    WARNING = "warning"
    """The numbers stand, but something was assumed or the cluster itself is in a bad state."""
    INFO = "info"
    """Good to know."""


_RANK = {Severity.FATAL: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of thing found, with how often and a few examples in its message.

    Attributes:
        severity: whether it forbids planning.
        code: its kind, in snake case; stable, for machines.
        where: the table and column it is about, such as ``replicas.broker_id``.
        message: one sentence for people, with the numbers and what to do.
    """

    severity: Severity
    code: str
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was found in one inventory, the worst first."""

    items: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, found: Iterable[Finding]) -> Findings:
        """Put findings in their one order: severity, code, place, message."""
        return cls(tuple(sorted(set(found), key=lambda f: (_RANK[f.severity], f.code, f.where, f.message))))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def of_severity(self, severity: Severity) -> tuple[Finding, ...]:
        """Give the findings of one severity."""
        return tuple(finding for finding in self.items if finding.severity is severity)

    @property
    def fatal(self) -> tuple[Finding, ...]:
        """The findings that forbid planning."""
        return self.of_severity(Severity.FATAL)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that a reader of the plan must know."""
        return self.of_severity(Severity.WARNING)

    def raise_if_fatal(self) -> None:
        """Raise :class:`InventoryError` with every fatal message, one a line, where there is one."""
        if self.fatal:
            raise InventoryError("\n".join(finding.message for finding in self.fatal))

    def to_json(self) -> list[dict[str, str]]:
        """Give plain data, in order."""
        return [finding_to_json(finding) for finding in self.items]

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]]) -> Findings:
        """Read what :meth:`to_json` gave."""
        return cls.of(finding_from_json(row) for row in rows)


def finding_to_json(finding: Finding) -> dict[str, str]:
    """Give one finding as plain data."""
    return {
        "severity": finding.severity.value,
        "code": finding.code,
        "where": finding.where,
        "message": finding.message,
    }


def finding_from_json(row: Mapping[str, Any]) -> Finding:
    """Read one finding from plain data; ``ValueError`` where it is none."""
    if set(row) != {"severity", "code", "where", "message"}:
        msg = "a finding has severity, code, where and message"
        raise ValueError(msg)
    return Finding(severity=Severity(row["severity"]), code=row["code"], where=row["where"], message=row["message"])


def fatal(code: str, where: str, message: str) -> Finding:
    """Make a finding that forbids planning."""
    return Finding(severity=Severity.FATAL, code=code, where=where, message=message)


def warning(code: str, where: str, message: str) -> Finding:
    """Make a finding that a reader of the plan must know."""
    return Finding(severity=Severity.WARNING, code=code, where=where, message=message)


def info(code: str, where: str, message: str) -> Finding:
    """Make a finding that is good to know."""
    return Finding(severity=Severity.INFO, code=code, where=where, message=message)


def some(examples: Iterable[object], total: int) -> str:
    """Name a few: ``1, 2, 3, 4, 5 and 7 more``."""
    shown = [str(example) for _, example in zip(range(EXAMPLES), examples, strict=False)]
    rest = total - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write ``1 broker`` or ``2 brokers``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
