"""Mail the owner when a task fails or a run is late, and whoever must approve when a plan waits."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from email.message import EmailMessage
from email.utils import localtime
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseNotifier, Variable
from asgiref.sync import sync_to_async

from kafka_capacity.text.names import visible
from kafka_capacity.text.wording import MAIL_PREFIX
from kafka_capacity_airflow.mail import SMTP_CONN_ID, send_message
from kafka_capacity_airflow.settings import APPROVERS, DEFAULT_SENDER, OWNER, SENDER

if TYPE_CHECKING:
    from airflow.sdk import Context

log = logging.getLogger("kafka_capacity")

_NOT_MAILED = f"not mailed, through the connection {SMTP_CONN_ID}"


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


class MailNotifier(BaseNotifier):
    """Mails what templates say of a task or a run; where that fails, the log says who was not mailed and why.

    The provider's notifier says nothing of a recipient who was refused beside others. Nothing fails for a mail: the
    operator that asks for an approval calls its notifiers unguarded.
    """

    template_fields = ("to", "from_email", "subject", "html_content")

    def __init__(self, *, to: str, from_email: str, subject: str, html_content: str) -> None:
        super().__init__()
        self.to = to  # addresses, with commas between them
        self.from_email = from_email
        self.subject = subject
        self.html_content = html_content

    def __call__(self, *args: Any) -> None:
        """Mail what the context of a task tells."""
        (context,) = args
        try:
            self._update_context(context)
            self.render_template_fields(context)
            self.notify(context)
        except Exception as error:  # of many classes, by what is wrong with a server, a connection or a variable
            log.error("%s: %s (%s)", _NOT_MAILED, self.to, str(error) or type(error).__name__)

    def notify(self, context: Context) -> None:
        """Send the message, whose templates are filled in."""
        from kafka_capacity.plan.untold import untold_text  # DAG files load this module, and need nothing of plans

        recipients = [one.strip() for one in self.to.split(",") if one.strip()]
        message = EmailMessage()
        message["Subject"], message["From"] = visible(self.subject), self.from_email
        message["To"], message["Date"] = ", ".join(recipients), localtime()
        message.set_content(self.html_content, subtype="html")
        if refused := send_message(message, recipients):
            log.error("%s: %s", _NOT_MAILED, untold_text(refused))


# The provider's own link knows neither mapped tasks nor an Airflow behind a path.
_APPROVAL_BODY = (
    "<p>{{ task.subject | e }}</p>"
    + _lines("task.box")
    + """
<p><a href="{{ ti.log_url.partition('?')[0] }}/required_actions">Approve or reject</a></p>"""
)


def approval_mail() -> MailNotifier:
    """Return what mails whoever must approve: ``kafka_capacity_approvers`` names them, else the owner is asked."""
    approvers = f"var.value.get('{APPROVERS}', '') or {_OWNER}"
    return _mail(approvers, MAIL_PREFIX + "to approve: {{ task.subject }}", _APPROVAL_BODY)


def failure_mail() -> MailNotifier:
    """Return the callback that mails the owner, whom the variable ``kafka_capacity_owner`` names."""
    return _mail(_OWNER, _SUBJECT, _BODY)


_OWNER = f"(var.value.get('{OWNER}', '') or 'root@localhost')"  # an empty variable is none
_SENDER = f"(var.value.get('{SENDER}', '') or '{DEFAULT_SENDER}')"


def _mail(to: str, subject: str, html: str) -> MailNotifier:
    """Return what mails; to whom is an expression of a template."""
    return MailNotifier(
        to=f"{{{{ {to} }}}}",
        from_email=f"{{{{ {_SENDER} }}}}",
        subject=subject,
        html_content=html,
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
