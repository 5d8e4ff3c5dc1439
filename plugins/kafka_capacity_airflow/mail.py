"""Send a finished message through the SMTP connection, as it is.

The provider's e-mail operator would render our HTML again (a topic may be named ``{{ … }}``), sends no text part and
guesses at inline images; the hook's client takes a message that is complete.
"""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from typing import Any

from airflow.providers.smtp.hooks.smtp import SmtpHook
from airflow.sdk.exceptions import AirflowException

from kafka_capacity.errors import RequestError
from kafka_capacity_airflow.settings import SENDER

SMTP_CONN_ID = "smtp_default"
SILENT_SECONDS = 20  # how long a server may be silent, where the connection's extra has no `timeout`
_FINAL = 500  # answers from here on are
_PLAIN_TEXT = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"})  # what OpenSSL calls an answer in it


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


class MailServerError(AirflowException):
    """The mail server took a message for nobody; it may do so later."""


def send_message(message: EmailMessage, recipients: Sequence[str]) -> dict[str, str]:
    """Send one complete message to some of its recipients; returns those that the server refused, with its answers.

    Raises:
        MailServerError: nobody was mailed, for a reason that may pass.
        RequestError: nobody was mailed, and nobody will be until somebody changes what the message names.
    """
    hook = PromptSmtpHook(smtp_conn_id=SMTP_CONN_ID)
    try:
        with hook:
            client = hook._smtp_client
            if not isinstance(client, smtplib.SMTP):
                raise ConnectionError("could not be opened")
            refused = client.send_message(message, to_addrs=list(recipients))
    except smtplib.SMTPRecipientsRefused as error:  # nobody was mailed
        # A server that hangs up (421) does so before it was asked for all of them.
        last = list(error.recipients.values())[-1]
        refused = dict.fromkeys(recipients, last) | error.recipients
    except (OSError, RuntimeError, AirflowException) as error:
        # Not the error itself: a server may repeat the login in its answer.
        raise _in_words(error, hook) from None
    return {address: _answer(code, text) for address, (code, text) in refused.items()}


def _answer(code: int, text: bytes | str) -> str:
    return f"{code} {text.decode(errors='replace') if isinstance(text, bytes) else text}"


def _in_words(error: Any, hook: SmtpHook) -> Exception:
    """Return what to raise instead, which names the connection, the server, what is wrong and what to do."""
    if hook.smtp_connection is None:
        if isinstance(error, OSError):
            return MailServerError(f"the connection {SMTP_CONN_ID} cannot be read now ({type(error).__name__})")
        return RequestError(f"there is no connection {SMTP_CONN_ID}; add it to Airflow, of type SMTP")
    if not hook.host:
        return RequestError(f"the connection {SMTP_CONN_ID} has no host; write the mail server's name into it")
    is_answer = isinstance(error, smtplib.SMTPResponseException)
    said = _answer(error.smtp_code, error.smtp_error) if is_answer else str(error) or type(error).__name__
    for secret in filter(None, (hook.smtp_password, hook.smtp_user)):
        said = said.replace(secret, "***")
    what, remedy, is_final = (_refused if is_answer else _met)(error, said)
    port = hook.port or (smtplib.SMTP_SSL_PORT if hook.use_ssl else smtplib.SMTP_PORT)
    # What stands before an "@", in a host that is a whole address, is a login.
    server = f"{hook.host.rpartition('@')[2]}:{port}"
    return (RequestError if is_final else MailServerError)(
        f"the mail server {server} of the connection {SMTP_CONN_ID} {what}; {remedy}"
    )


def _refused(error: Any, said: str) -> tuple[str, str, bool]:
    """Return what a server refused, what to do, and whether that is final."""
    is_final = error.smtp_code >= _FINAL
    match error:
        case smtplib.SMTPAuthenticationError():
            return f"refuses the login ({said})", "correct the connection's login and password", is_final
        case smtplib.SMTPSenderRefused():
            remedy = f"correct the variable {SENDER}, or give the connection a login if the server wants one"
            return f"refuses the sender {error.sender} ({said})", remedy, is_final
        case smtplib.SMTPDataError():
            return f"refuses the message ({said})", "ask those who run it", is_final
    return f"refuses the connection ({said})", "if it persists, ask those who run it", False


def _met(error: Any, said: str) -> tuple[str, str, bool]:
    """Return what happened on the way to a server, what to do, and whether no other try helps until that is done."""
    match error:
        case ssl.SSLCertVerificationError():
            remedy = "its certificate must be for the connection's host, by an authority that Airflow's workers trust"
            return f"has a certificate that is not accepted ({error.verify_message})", remedy, False
        case ssl.SSLError() if error.reason in _PLAIN_TEXT:
            remedy = 'write "disable_ssl": true into the connection\'s extra, or use the port for SSL, usually 465'
            return f"does not begin with SSL on this port ({error.reason})", remedy, True
        case smtplib.SMTPNotSupportedError() if "STARTTLS" in said:
            remedy = 'write "disable_tls": true into the connection\'s extra, or use a port that has it, usually 587'
            return "does not offer STARTTLS", remedy, True
        case smtplib.SMTPNotSupportedError() if "AUTH" in said:
            remedy = "remove the connection's login, or use a port that takes one, usually 587"
            return "takes no login on this port", remedy, True
        case socket.gaierror():
            return f"is not found by its name ({said})", "if it persists, correct the connection's host", False
        case RuntimeError():  # which has the value, and that may be a secret that stands in the wrong place
            return "is not asked", "write default or none as ssl_context into the connection's extra", True
    return f"cannot be used ({said})", "if it persists, correct the connection's host, port or disable_ssl", False
