"""Send a finished message through the SMTP connection, as it is.

The provider's e-mail operator would render our HTML again (a topic may be named ``{{ … }}``), sends no text part and
guesses at inline images; the hook's client takes a message that is complete.
"""

from __future__ import annotations

import smtplib
from collections.abc import Sequence
from email.message import EmailMessage

from airflow.providers.smtp.hooks.smtp import SmtpHook

from kafka_capacity.errors import RequestError

SMTP_CONN_ID = "smtp_default"
SILENT_SECONDS = 20  # how long a server may be silent, where the connection's extra has no `timeout`


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
            msg = f"the extra of {self.smtp_conn_id} has a {key} that is not a whole number; correct or remove it"
            raise RequestError(msg) from None


def send_message(message: EmailMessage, recipients: Sequence[str]) -> dict[str, str]:
    """Send one complete message to some of its recipients; returns those that the server refused, with its answers."""
    try:
        with PromptSmtpHook(smtp_conn_id=SMTP_CONN_ID) as hook:
            client = hook._smtp_client
            if not isinstance(client, smtplib.SMTP):
                raise ConnectionError(f"the SMTP connection {SMTP_CONN_ID} could not be opened")
            refused = client.send_message(message, to_addrs=list(recipients))
    except smtplib.SMTPRecipientsRefused as error:  # nobody was mailed
        # A server that hangs up (421) does so before it was asked for all of them.
        last = list(error.recipients.values())[-1]
        refused = dict.fromkeys(recipients, last) | error.recipients
    return {address: f"{code} {text.decode(errors='replace')}" for address, (code, text) in refused.items()}
