"""Send a finished message through the SMTP connection, as it is.

The provider's e-mail operator would render our HTML again (a topic may be named ``{{ … }}``), sends no text part and
guesses at inline images; the hook's client takes a message that is complete.
"""

from __future__ import annotations

from email.message import EmailMessage

from airflow.providers.smtp.hooks.smtp import SmtpHook

SMTP_CONN_ID = "smtp_default"


def send_message(message: EmailMessage, *, smtp_conn_id: str = SMTP_CONN_ID) -> None:
    """Send one message to the recipients in its headers."""
    with SmtpHook(smtp_conn_id=smtp_conn_id) as hook:
        client = hook._smtp_client
        if client is None:
            msg = f"the SMTP connection {smtp_conn_id} could not be opened"
            raise ConnectionError(msg)
        client.send_message(message)
