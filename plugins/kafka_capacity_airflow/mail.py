"""Send a finished message through the SMTP connection, as it is; and mail the owner when a task fails.

The provider's e-mail operator would render our HTML again (a topic may be named ``{{ … }}``), sends no text part and
guesses at inline images; the hook's client takes a message that is complete.
"""

from __future__ import annotations

import smtplib
from collections.abc import Sequence
from email.message import EmailMessage
from functools import cached_property

from airflow.providers.smtp.hooks.smtp import SmtpHook
from airflow.providers.smtp.notifications.smtp import SmtpNotifier

from kafka_capacity.errors import RequestError

SMTP_CONN_ID = "smtp_default"
_SUBJECT = "[kafka-capacity] failed: {{ ti.dag_id }}.{{ ti.task_id }} ({{ run_id }})"
_BODY = """<p>Task <b>{{ ti.task_id }}</b> of <b>{{ ti.dag_id }}</b> failed in run {{ run_id | e }}
(try {{ ti.try_number }}).</p><p>{{ exception | string | e }}</p>
{% if ti.log_url %}<p><a href="{{ ti.log_url }}">Log</a></p>{% endif %}"""
SILENT_SECONDS = 20
"""How long a server may be silent, where the connection's extra has no ``timeout``."""


class PromptSmtpHook(SmtpHook):
    """The hook, which gives a server that is silent or gone up soon: trying again is the task's to do, later."""

    @property
    def timeout(self) -> int:
        """How long to wait for each answer, in seconds: the connection's ``timeout``."""
        return self._whole_number("timeout", SILENT_SECONDS)

    @property
    def smtp_retry_limit(self) -> int:
        """How often to try again at once: the connection's ``retry_limit``."""
        return self._whole_number("retry_limit", 0)

    def _whole_number(self, key: str, default: int) -> int:
        try:
            return int(self.conn.extra_dejson.get(key, default))
        except (TypeError, ValueError):
            # Not the value: what stands in the wrong place may be a secret.
            msg = f"the extra of {self.smtp_conn_id} has a {key} that is no whole number; correct or remove it"
            raise RequestError(msg) from None


class PromptSmtpNotifier(SmtpNotifier):
    """The notifier, which waits for a silent server no longer than a report does."""

    @cached_property
    def hook(self) -> SmtpHook:
        """The connection to the server."""
        return PromptSmtpHook(smtp_conn_id=self.smtp_conn_id, auth_type=self.auth_type)


def failure_mail() -> SmtpNotifier:
    """Return the callback that mails the owner, whom the variable ``kafka_capacity_owner`` names."""
    return PromptSmtpNotifier(
        to="{{ var.value.get('kafka_capacity_owner', 'root@localhost') }}",
        from_email="{{ var.value.get('kafka_capacity_sender', 'kafka-capacity@localhost') }}",
        subject=_SUBJECT,
        html_content=_BODY,
        smtp_conn_id=SMTP_CONN_ID,
    )


def send_message(message: EmailMessage, recipients: Sequence[str]) -> dict[str, str]:
    """Send one complete message to some of its recipients; returns those that the server refused, with its answers."""
    try:
        with PromptSmtpHook(smtp_conn_id=SMTP_CONN_ID) as hook:
            client = hook._smtp_client
            if not isinstance(client, smtplib.SMTP):
                msg = f"the SMTP connection {SMTP_CONN_ID} could not be opened"
                raise ConnectionError(msg)
            refused = client.send_message(message, to_addrs=list(recipients))
    except smtplib.SMTPRecipientsRefused as error:  # it takes every one of them to be refused
        refused = error.recipients
    return {address: f"{code} {text.decode(errors='replace')}" for address, (code, text) in refused.items()}
