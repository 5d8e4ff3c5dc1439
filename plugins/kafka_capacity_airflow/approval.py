"""The approval between a report and the release of its plan files, where a run or the deployment asks for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Param
from airflow.sdk.exceptions import AirflowFailException

from kafka_capacity.text import plural
from kafka_capacity.text.names import without_markdown
from kafka_capacity.text.wording import MAIL_PREFIX
from kafka_capacity_airflow.links import RENDER_TASK_ID, REPORT_URL_KEY
from kafka_capacity_airflow.notices import approval_mail
from kafka_capacity_airflow.params import asked
from kafka_capacity_airflow.settings import are_approvals_demanded
from kafka_capacity_airflow.task_defaults import approval_deadline

if TYPE_CHECKING:
    from airflow.sdk import Context

APPROVAL_TASK_ID = "plan.approve"
REASON = "reason"  # the field of the answer


class OptionalApprovalOperator(ApprovalOperator):
    """Wait for somebody's approval where one is asked for, else go on at once; who does not answer has refused.

    Plan files that an earlier run of the same plan released are taken back just before somebody is asked: until the
    answer there is nothing to carry out. Whoever must approve is mailed if that can be; the request waits in any case.
    """

    template_fields = (*ApprovalOperator.template_fields, "pinned")

    def __init__(self, *, pinned: Any, **kwargs: Any) -> None:
        asking = {
            "subject": "Release the reassignment files?",  # and of which plan, as soon as there is one
            "response_timeout": approval_deadline(),
            "notifiers": approval_mail(),
            "execution_timeout": None,  # that of tasks is not for people
            # Airflow's form demands what may not be null.
            "params": {
                REASON: Param("", type=["string", "null"], title="Reason", description="Shown in the next report.")
            },
        }
        super().__init__(**{**kwargs, **asking})
        self.pinned = pinned
        self.box: list[str] = []  # the lines of the decision box, as the mail shows them

    def execute(self, context: Context) -> Any:
        """Ask, or give nothing when no approval is required."""
        if not is_approval_required(context["params"]):
            self.log.info("no approval is required")
            return None
        from kafka_capacity_airflow import steps

        ti = context["ti"]
        verdict = ti.xcom_pull(task_ids=RENDER_TASK_ID, map_indexes=ti.map_index)
        address = ti.xcom_pull(task_ids=RENDER_TASK_ID, key=REPORT_URL_KEY, map_indexes=ti.map_index)
        about = verdict["subject"].removeprefix(MAIL_PREFIX)
        self.subject = f"{about}. {self.subject}"
        self.box = [*_told(verdict), f"Report: {address}"]
        self.body = _in_markdown(self.box)
        steps.withdraw(self.pinned)
        return super().execute(context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        """Take the answer, and keep who gave it with what was asked, for the next report."""
        answer = super().execute_complete(context, event)
        from kafka_capacity_airflow import steps

        is_approved = answer["chosen_options"] == [self.APPROVE]
        steps.keep_answer(
            self.pinned,
            asked=context["dag_run"].run_after,
            is_approved=is_approved,
            by=str((answer["responded_by_user"] or {}).get("name") or "an approver"),
            on=answer["responded_at"].date(),
            reason=str(answer["params_input"].get(REASON) or "").strip() or ("" if is_approved else "rejected"),
        )
        return answer

    def process_trigger_event_error(self, event: dict[str, Any]) -> None:
        """Fail where nobody answered in time; another try would ask again, after the deadline."""
        if event["error_type"] != "timeout":
            super().process_trigger_event_error(event)
        hours = plural(round(approval_deadline().total_seconds() / 3600), "hour")
        which = f"cluster {self.pinned['cluster']}, plan {self.pinned['plan_id']}"
        what = f"nobody approved or rejected within {hours}, so the plan files are not released"
        raise AirflowFailException(f"{which}: {what}; clear this task to ask again")


def _told(verdict: Mapping[str, Any]) -> list[str]:
    """Return the decision box as lines; the report of a run that an earlier version began has none."""
    box = verdict.get("box")
    if box is None:
        return [verdict["headline"]]
    return [box["approve"], *(f"{line['label']}: {line['text']}" for line in box["lines"])]


def _in_markdown(box: Sequence[str]) -> str:
    """Return the decision box as Airflow's page shows it: the first line, and below it a list with labels in bold."""
    first, *others = box
    listed = []
    for line in others:
        label, _, text = line.partition(": ")
        shown = f"<{text}>" if text.startswith(("https://", "http://")) else without_markdown(text)
        listed.append(f"- **{without_markdown(label)}:** {shown}")
    return "\n".join([without_markdown(first), "", *listed])


def is_approval_required(params: Any) -> bool:
    """Return whether the parameters of a run, or the deployment, ask for an approval."""
    return bool(asked(params).get("is_approval_required")) or are_approvals_demanded()


def is_released(ti: Any, params: Any) -> bool:
    """Return whether the plan files may be released: no approval was asked for, or it was given.

    The release looks itself, since a rejection cannot skip a task of a mapped group that is not expanded yet.
    """
    if not is_approval_required(params):
        return True
    answer = ti.xcom_pull(task_ids=APPROVAL_TASK_ID, map_indexes=ti.map_index)
    return bool(answer) and answer["chosen_options"] == [ApprovalOperator.APPROVE]
