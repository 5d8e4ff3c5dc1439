"""Return the owner when a task fails."""

from __future__ import annotations

from airflow.providers.smtp.notifications.smtp import SmtpNotifier

_SUBJECT = "[kafka-capacity] failed: {{ ti.dag_id }}.{{ ti.task_id }} ({{ run_id }})"
_BODY = """<p>Task <b>{{ ti.task_id }}</b> of <b>{{ ti.dag_id }}</b> failed in run {{ run_id | e }}
(try {{ ti.try_number }}).</p><p>{{ exception | string | e }}</p>
{% if ti.log_url %}<p><a href="{{ ti.log_url }}">Log</a></p>{% endif %}"""


def failure_mail() -> SmtpNotifier:
    """Return the callback that mails the owner, whom the variable ``kafka_capacity_owner`` names."""
    return SmtpNotifier(
        to="{{ var.value.get('kafka_capacity_owner', 'root@localhost') }}",
        from_email="{{ var.value.get('kafka_capacity_sender', 'kafka-capacity@localhost') }}",
        subject=_SUBJECT,
        html_content=_BODY,
        smtp_conn_id="smtp_default",
    )
