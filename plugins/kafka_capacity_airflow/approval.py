"""The optional approval between a report and the release of its plan files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import ApprovalOperator

if TYPE_CHECKING:
    from airflow.sdk import Context

APPROVAL_TASK_ID = "plan.approve"


class OptionalApprovalOperator(ApprovalOperator):
    """Wait for somebody's approval where the run asks for one, else go on at once.

    Plan files that an earlier run of the same plan released are taken back before anybody is asked: until the answer
    there is nothing to carry out.
    """

    template_fields = (*ApprovalOperator.template_fields, "pinned")

    def __init__(self, *, pinned: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pinned = pinned

    def execute(self, context: Context) -> Any:
        """Ask, or give nothing when no approval is asked for."""
        if not context["params"]["is_approval_required"]:
            self.log.info("no approval is asked for")
            return None
        from kafka_capacity_airflow import steps

        steps.withdraw(self.pinned)
        return super().execute(context)


def is_released(ti: Any, params: Any) -> bool:
    """Return whether the plan files may be released: no approval was asked for, or it was given.

    The release looks itself, since a rejection cannot skip a task of a mapped group that is not expanded yet.
    """
    if not params["is_approval_required"]:
        return True
    answer = ti.xcom_pull(task_ids=APPROVAL_TASK_ID, map_indexes=ti.map_index)
    return bool(answer) and answer["chosen_options"] == [ApprovalOperator.APPROVE]
