"""What tasks do when they fail: bad input fails now, everything else is tried again, and the owner is told."""

from __future__ import annotations

import datetime
from typing import Any

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule

from kafka_capacity_airflow.mail import failure_mail

_NO_USE_IN_TRYING_AGAIN = ("RequestError", "InventoryError", "PlacementError", "RenderError")
_WORTH_TRYING_AGAIN = ("SourceError", "StorageError")

MAIL_RETRIES = 5
FIRST_MAIL_DELAY = datetime.timedelta(minutes=1)
"""Before the second try of a mail, or up to twice as long, as Airflow draws it; each later one waits twice as long."""


def _rule(name: str, action: RetryAction, reason: str) -> RetryRule:
    return RetryRule(exception=f"kafka_capacity.errors.{name}", action=action, reason=reason)


def task_defaults() -> dict[str, Any]:
    """Return the ``default_args`` of our DAGs."""
    return {
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


def mail_retries() -> dict[str, Any]:
    """Return what a task that mails does otherwise: it tries for most of an hour, and nothing waits for it."""
    return {
        "retries": MAIL_RETRIES,
        "retry_delay": FIRST_MAIL_DELAY,
        "retry_exponential_backoff": 2,
        "max_retry_delay": datetime.timedelta(hours=1),
    }
