"""Mail the owner when a task fails, and whoever must approve when a plan waits."""

from __future__ import annotations

from functools import cached_property

from airflow.providers.smtp.hooks.smtp import SmtpHook
from airflow.providers.smtp.notifications.smtp import SmtpNotifier

from kafka_capacity_airflow.mail import SMTP_CONN_ID, PromptSmtpHook

_SUBJECT = (
    "[kafka-capacity] failed: {{ ti.rendered_map_index ~ ', ' if ti.rendered_map_index else '' }}"
    "{{ ti.dag_id }}.{{ ti.task_id }} ({{ run_id }})"
)
_BODY = """<p>{{ exception | string | e }}</p>
<p>Task <b>{{ ti.task_id }}</b> of <b>{{ ti.dag_id }}</b> failed in run {{ run_id | e }} (try {{ ti.try_number }}).</p>
{% if ti.log_url %}<p><a href="{{ ti.log_url }}">Log</a></p>{% endif %}"""


class PromptSmtpNotifier(SmtpNotifier):
    """The notifier, which waits for a silent server no longer than a report does."""

    @cached_property
    def hook(self) -> SmtpHook:
        """The connection to the server."""
        return PromptSmtpHook(smtp_conn_id=self.smtp_conn_id, auth_type=self.auth_type)


_APPROVAL_BODY = """<p>{{ task.subject | e }}</p><pre>{{ task.body | e }}</pre>
<p><a href="{{ task.generate_link_to_ui(task_instance=ti) }}">Approve or reject</a></p>"""


def approval_mail() -> SmtpNotifier:
    """Return what mails whoever must approve: ``kafka_capacity_approvers`` names them, else the owner is asked."""
    owner = "var.value.get('kafka_capacity_owner', 'root@localhost')"
    return PromptSmtpNotifier(
        to=f"{{{{ var.value.get('kafka_capacity_approvers', '') or {owner} }}}}",
        from_email="{{ var.value.get('kafka_capacity_sender', 'kafka-capacity@localhost') }}",
        subject="[kafka-capacity] to approve: {{ task.subject }}",
        html_content=_APPROVAL_BODY,
        smtp_conn_id=SMTP_CONN_ID,
    )


def failure_mail() -> SmtpNotifier:
    """Return the callback that mails the owner, whom the variable ``kafka_capacity_owner`` names."""
    return PromptSmtpNotifier(
        to="{{ var.value.get('kafka_capacity_owner', 'root@localhost') }}",
        from_email="{{ var.value.get('kafka_capacity_sender', 'kafka-capacity@localhost') }}",
        subject=_SUBJECT,
        html_content=_BODY,
        smtp_conn_id=SMTP_CONN_ID,
    )
