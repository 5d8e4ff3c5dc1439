"""Reports inside Airflow: what is stored of reports, for those who may see the runs of plans, and nothing else.

Airflow's API server serves them behind its own sign-in. Objects are read with the deployment's connection, so no bucket
has to be open to browsers.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api.security import requires_access_dag
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import RedirectResponse, Response

from kafka_capacity.errors import MissingObjectError
from kafka_capacity.objects.keys import FLEET_PAGE
from kafka_capacity.objects.object_store import content_type_of
from kafka_capacity.report.render import page_policy
from kafka_capacity_airflow.links import RENDER_TASK_ID, REPORT_KEY
from kafka_capacity_airflow.settings import PAGES_PATH
from kafka_capacity_airflow.store import airflow_store

PLAN_DAG = "kafka_capacity_plan"
_SHOWN = ("text/html", "image/png")  # by a browser; everything else is saved as a file

app = FastAPI(
    title="Kafka Capacity",
    openapi_url=None,
    dependencies=[Depends(requires_access_dag("GET", DagAccessEntity.RUN, param_dag_id=PLAN_DAG))],
)


@app.get("/runs/{run_id:path}")
def report_of_run(run_id: str) -> Response:
    """Lead to the report of a run, or to the page over all clusters where it has planned several."""
    with create_session() as session:
        asked = XComModel.get_many(run_id=run_id, key=REPORT_KEY, task_ids=RENDER_TASK_ID, dag_ids=PLAN_DAG)
        found = [XComModel.deserialize_value(row) for row in session.scalars(asked)]
    if not found:
        raise HTTPException(HTTPStatus.NOT_FOUND, "this run has no report yet")
    key = found[0] if len(found) == 1 else FLEET_PAGE
    return RedirectResponse(f"{PAGES_PATH}/{quote(key, safe='/=')}")


@app.get("/reports/{place:path}")
def stored(place: str) -> Response:
    """Return one object of the reports; what a browser does not show is saved under its name."""
    if any(not part.strip(".") for part in place.split("/")) or "\0" in place:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    try:
        body = airflow_store().read_bytes(f"reports/{place}")
    except MissingObjectError:
        raise HTTPException(HTTPStatus.NOT_FOUND, "no such report") from None
    kind = content_type_of(place)
    headers = {
        "Content-Security-Policy": f"{page_policy()}; frame-ancestors 'self'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cache-Control": "private, no-cache",
    }
    if not kind.startswith(_SHOWN):
        headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(place.rpartition('/')[2])}"
    return Response(body, media_type=kind, headers=headers)
