"""The link from a run to its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.sdk import BaseOperatorLink
from airflow.sdk.execution_time.xcom import XCom

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator
    from airflow.sdk.types import TaskInstanceKey

REPORT_URL_KEY = "report_url"


class ReportLink(BaseOperatorLink):
    """Shows as a button on the task that rendered the report."""

    name = "Capacity report"

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        """Return the report's address, or nothing before there is one."""
        return XCom.get_value(ti_key=ti_key, key=REPORT_URL_KEY) or ""
