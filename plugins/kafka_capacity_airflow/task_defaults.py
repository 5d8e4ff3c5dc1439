"""What holds for all runs and tasks: what happens when they fail, how many run at once, and how long.

Bad input fails now, everything else is tried again, and the owner is told. What an Airflow must know before it runs a
task comes from the environment of its DAG processor:

KAFKA_CAPACITY_SPARK_POOL       pool of all that runs on Spark; made with 4 slots where there is none of that name
KAFKA_CAPACITY_TASK_HOURS       a task that runs longer is ended: 6
KAFKA_CAPACITY_APPROVAL_HOURS   an approval that is not given by then counts as refused: 72
KAFKA_CAPACITY_RUN_HOURS        a run that takes longer is ended: as long as an approval and four tasks may take
KAFKA_CAPACITY_LATE_MINUTES     the owner is mailed when a run takes longer; nobody where it is not set
KAFKA_CAPACITY_MAX_RUNS         plans of so many runs are under way at once: 50
"""

from __future__ import annotations

import datetime
import os
from typing import Any

from airflow.sdk import (  # type: ignore[attr-defined]  # Airflow's stubs leave out the first three
    AsyncCallback,
    DeadlineAlert,
    DeadlineReference,
    ExceptionRetryPolicy,
    RetryAction,
    RetryRule,
)

from kafka_capacity_airflow.notices import failure_mail, mail_that_a_run_is_late

_NO_USE_IN_TRYING_AGAIN = ("RequestError", "InventoryError", "PlacementError", "RenderError")
_WORTH_TRYING_AGAIN = ("SourceError", "StorageError")

MAIL_RETRIES = 5
FIRST_MAIL_DELAY = datetime.timedelta(minutes=1)
"""Before the second try of a mail, or up to twice as long, as Airflow draws it; each later one waits twice as long."""


def _rule(name: str, action: RetryAction, reason: str) -> RetryRule:
    return RetryRule(exception=f"kafka_capacity.errors.{name}", action=action, reason=reason)


def _number(name: str, usual: int) -> int:
    """Read a number above zero from the environment; with any other no DAG file is loaded, and Airflow shows why."""
    given = os.environ.get(name, "").strip()
    if not given:
        return usual
    if not given.isdecimal() or not int(given):
        msg = f"{name}: {given!r} is invalid: write a whole number above zero, or leave it out for {usual or 'none'}"
        raise ValueError(msg)
    return int(given)


def approval_deadline() -> datetime.timedelta:
    """Return how long somebody may take to approve."""
    return datetime.timedelta(hours=_number("KAFKA_CAPACITY_APPROVAL_HOURS", 72))


def _task_timeout() -> datetime.timedelta:
    return datetime.timedelta(hours=_number("KAFKA_CAPACITY_TASK_HOURS", 6))


def max_runs() -> int:
    """Return how many runs of plans may be under way, those that wait for an approval among them."""
    return _number("KAFKA_CAPACITY_MAX_RUNS", 50)


def run_limits() -> dict[str, Any]:
    """Return how long a run of our DAGs may take, and when its owner is told that it is late."""
    usual = approval_deadline() + 4 * _task_timeout()
    hours = _number("KAFKA_CAPACITY_RUN_HOURS", round(usual / datetime.timedelta(hours=1)))
    limits: dict[str, Any] = {"dagrun_timeout": datetime.timedelta(hours=hours)}
    if late_minutes := _number("KAFKA_CAPACITY_LATE_MINUTES", 0):
        limits["deadline"] = DeadlineAlert(
            reference=DeadlineReference.DAGRUN_QUEUED_AT,
            interval=datetime.timedelta(minutes=late_minutes),
            callback=AsyncCallback(mail_that_a_run_is_late),
        )
    return limits


def task_defaults() -> dict[str, Any]:
    """Return the ``default_args`` of our DAGs."""
    return {
        "owner": "kafka-capacity",
        "execution_timeout": _task_timeout(),
        # What is nearest to its end goes first: where slots are short, reports come one by one and not all in the end.
        "weight_rule": "upstream",
        "retries": 2,
        "retry_delay": datetime.timedelta(minutes=2),
        "retry_policy": ExceptionRetryPolicy(
            rules=[
                # The first rule that matches wins: a source that did not answer is also an inventory error.
                *(_rule(name, RetryAction.RETRY, "may pass") for name in _WORTH_TRYING_AGAIN),
                *(_rule(name, RetryAction.FAIL, "bad input stays bad") for name in _NO_USE_IN_TRYING_AGAIN),
            ]
        ),
        "on_failure_callback": failure_mail(),
    }


def dag_defaults() -> dict[str, Any]:
    """Return what our DAGs have in common: they make up for no runs of the past."""
    return {"catchup": False, "tags": ["kafka-capacity"], "default_args": task_defaults(), **run_limits()}


def mail_retries() -> dict[str, Any]:
    """Return what a task that mails does otherwise: it tries for most of an hour, and nothing waits for it."""
    return {
        "retries": MAIL_RETRIES,
        "retry_delay": FIRST_MAIL_DELAY,
        "retry_exponential_backoff": 2,
        "max_retry_delay": datetime.timedelta(hours=1),
    }
