"""Mail the owner when a task fails or a run is late, and whoever must approve when a plan waits."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from airflow.providers.smtp.hooks.smtp import SmtpHook
from airflow.providers.smtp.notifications.smtp import SmtpNotifier
from airflow.sdk import Variable
from asgiref.sync import sync_to_async

from kafka_capacity.text.wording import MAIL_PREFIX
from kafka_capacity_airflow.mail import SMTP_CONN_ID, PromptSmtpHook
from kafka_capacity_airflow.settings import APPROVERS, DEFAULT_SENDER, OWNER, SENDER

log = logging.getLogger("kafka_capacity")


def _lines(of: str) -> str:
    """Return the part of a template that shows the lines that an expression is; Outlook ignores ``pre-line``."""
    return f"<p>{{% for line in {of} %}}{{{{ line | e }}}}<br>{{% endfor %}}</p>"


_SUBJECT = (
    MAIL_PREFIX + "failed: {{ ti.rendered_map_index ~ ', ' if ti.rendered_map_index else '' }}"
    "{{ ti.dag_id }}.{{ ti.task_id }} ({{ run_id }})"
)
_BODY = (
    _lines("(exception | string).splitlines()")
    + """
<p>Task <b>{{ ti.task_id }}</b> of <b>{{ ti.dag_id }}</b> failed in run {{ run_id | e }} (try {{ ti.try_number }}).</p>
{% if ti.log_url %}<p><a href="{{ ti.log_url }}">Log</a></p>{% endif %}"""
)


class PromptSmtpNotifier(SmtpNotifier):
    """The notifier, which waits for a silent server no longer than a report does, and which nothing fails for.

    The operator that asks for an approval calls it unguarded: a mail server that is down would keep it from asking.
    """

    @cached_property
    def hook(self) -> SmtpHook:
        """The connection to the server."""
        return PromptSmtpHook(smtp_conn_id=self.smtp_conn_id, auth_type=self.auth_type)

    def __call__(self, *args: Any) -> None:
        """Mail what the context of a task tells; where that fails, the log says who was not mailed and why."""
        (context,) = args
        try:
            self._update_context(context)
            self.render_template_fields(context)
            self.notify(context)
        except Exception as error:  # of many classes, by what is wrong with a server, a connection or a variable
            why = str(error) or type(error).__name__
            log.error("not mailed, through the connection %s: %s (%s)", self.smtp_conn_id, self.to, why)


# The provider's own link knows neither mapped tasks nor an Airflow behind a path.
_APPROVAL_BODY = (
    "<p>{{ task.subject | e }}</p>"
    + _lines("task.box")
    + """
<p><a href="{{ ti.log_url.partition('?')[0] }}/required_actions">Approve or reject</a></p>"""
)


def approval_mail() -> SmtpNotifier:
    """Return what mails whoever must approve: ``kafka_capacity_approvers`` names them, else the owner is asked."""
    approvers = f"var.value.get('{APPROVERS}', '') or {_OWNER}"
    return _mail(approvers, MAIL_PREFIX + "to approve: {{ task.subject }}", _APPROVAL_BODY)


def failure_mail() -> SmtpNotifier:
    """Return the callback that mails the owner, whom the variable ``kafka_capacity_owner`` names."""
    return _mail(_OWNER, _SUBJECT, _BODY)


_OWNER = f"(var.value.get('{OWNER}', '') or 'root@localhost')"  # an empty variable is none
_SENDER = f"(var.value.get('{SENDER}', '') or '{DEFAULT_SENDER}')"


def _mail(to: str, subject: str, html: str) -> SmtpNotifier:
    """Return what mails; to whom is an expression of a template."""
    return PromptSmtpNotifier(
        to=f"{{{{ {to} }}}}",
        from_email=f"{{{{ {_SENDER} }}}}",
        subject=subject,
        html_content=html,
        smtp_conn_id=SMTP_CONN_ID,
    )


_LATE_BODY = """<p>Run {{ dag_run.dag_run_id | e }} of <b>{{ dag_run.dag_id }}</b> has not finished by its deadline: it
is {{ dag_run.state }}, since {{ dag_run.start_date }}.</p>"""


async def mail_that_a_run_is_late(context: Mapping[str, Any]) -> None:
    """Mail the owner that a run has not ended by its deadline; Airflow's triggerer calls this, where no task is."""
    await sync_to_async(_mail_late)(context["dag_run"])


def _mail_late(dag_run: Mapping[str, Any]) -> None:
    values = {name: Variable.get(name, default="") for name in (OWNER, SENDER)}
    subject = MAIL_PREFIX + "late: {{ dag_run.dag_id }} ({{ dag_run.dag_run_id }})"
    _mail(_OWNER, subject, _LATE_BODY)({"dag_run": dag_run, "var": {"value": values}})
