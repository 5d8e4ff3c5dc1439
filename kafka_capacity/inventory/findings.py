"""How the checks of an inventory say what they find."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_capacity.health.problem import Problem, Severity

EXAMPLES = 5  # enough to find the pattern; a hundred thousand bad rows are still one line


def fatal(code: str, where: str, message: str) -> Problem:
    """Make a problem that forbids planning."""
    return Problem(severity=Severity.FATAL, code=code, where=where, message=message)


def warning(code: str, where: str, message: str) -> Problem:
    """Make a problem that a reader of the plan must know."""
    return Problem(severity=Severity.WARNING, code=code, where=where, message=message)


def info(code: str, where: str, message: str) -> Problem:
    """Make a problem that is good to know."""
    return Problem(severity=Severity.INFO, code=code, where=where, message=message)


def some(examples: Iterable[object], total: int) -> str:
    """Name a few: ``1, 2, 3, 4, 5 and 7 more``."""
    shown = [str(example) for _, example in zip(range(EXAMPLES), examples, strict=False)]
    rest = total - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write ``1 broker`` or ``2 brokers``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
