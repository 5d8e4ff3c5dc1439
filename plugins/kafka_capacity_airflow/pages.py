"""Reports inside Airflow: what is stored of reports, for those who may see the runs of plans, and nothing else.

Airflow's API server serves them behind its own sign-in, to which it leads browsers. Objects are read with the
deployment's connection, so no bucket has to be open to browsers.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote, urlencode

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api.security import requires_access_dag
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from airflow.utils.state import State, TaskInstanceState
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.exceptions import HTTPException as AnyHTTPException

from kafka_capacity.errors import MissingObjectError
from kafka_capacity.objects.keys import FLEET_PAGE
from kafka_capacity.objects.object_store import content_type_of
from kafka_capacity.report.render import page_policy
from kafka_capacity.text.wording import few_names
from kafka_capacity_airflow.links import RENDER_TASK_ID, REPORT_KEY
from kafka_capacity_airflow.settings import PAGES, PAGES_PATH
from kafka_capacity_airflow.store import airflow_store

PLAN_DAG = "kafka_capacity_plan"
_SHOWN = ("text/html", "image/png")  # by a browser; everything else is saved as a file
_ROOT = PAGES_PATH.removesuffix(PAGES)  # the path of Airflow's address
_TASKS_NAMED = 5
_NO_SUCH_RUN = f"Only runs of {PLAN_DAG} have reports, and this is none of them."
_PAGE = Markup("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<title>Kafka Capacity</title></head>
<body style="font-family: sans-serif; margin: 2em"><p>{why}</p>{link}</body></html>
""")
_LINK = Markup('<p><a href="{address}">Show the run</a></p>')

app = FastAPI(
    title="Kafka Capacity",
    openapi_url=None,
    dependencies=[Depends(requires_access_dag("GET", DagAccessEntity.RUN, param_dag_id=PLAN_DAG))],
)


@app.exception_handler(AnyHTTPException)
async def refused(request: Request, error: AnyHTTPException) -> Response:
    """Lead browsers to the sign-in, as Airflow's own pages do, or show them what is wrong; others are told in JSON."""
    if "text/html" not in request.headers.get("Accept", ""):
        return await http_exception_handler(request, error)
    if error.status_code == HTTPStatus.UNAUTHORIZED or error.detail == "Invalid JWT token":
        wanted = _ROOT + quote(request.url.path.removeprefix(_ROOT), safe="/=")
        return RedirectResponse(f"{_ROOT}/api/v2/auth/login?{urlencode({'next': wanted})}")
    run_id = request.path_params.get("run_id")
    link = Markup("")
    # Airflow's own tab is a frame, from which its sandbox lets nobody out.
    if run_id and error.detail != _NO_SUCH_RUN and request.headers.get("Sec-Fetch-Dest") != "iframe":
        link = _LINK.format(address=f"{_ROOT}/dags/{PLAN_DAG}/runs/{quote(run_id, safe='')}")
    headers = {"Content-Security-Policy": f"{page_policy()}; frame-ancestors 'self'"}
    return HTMLResponse(_PAGE.format(why=error.detail, link=link), error.status_code, headers)


@app.get("/runs/{run_id:path}")
def report_of_run(run_id: str) -> Response:
    """Lead to the report of a run, or to the page over all clusters where it has planned several."""
    with create_session() as session:
        asked = XComModel.get_many(run_id=run_id, key=REPORT_KEY, task_ids=RENDER_TASK_ID, dag_ids=PLAN_DAG)
        found = [XComModel.deserialize_value(row) for row in session.scalars(asked)]
        if not found:
            raise HTTPException(HTTPStatus.NOT_FOUND, _why_none(session, run_id))
    key = found[0] if len(found) == 1 else FLEET_PAGE
    return RedirectResponse(f"{PAGES_PATH}/{quote(key, safe='/=')}")


def _why_none(session: Session, run_id: str) -> str:
    of_run = {"dag_id": PLAN_DAG, "run_id": run_id}
    run = session.scalar(select(DagRun).filter_by(**of_run))
    if run is None:
        return _NO_SUCH_RUN
    tasks = session.scalars(select(TaskInstance).filter_by(**of_run).order_by(TaskInstance.start_date)).all()
    failed = [
        f"{task.task_id} ({task.rendered_map_index})" if task.map_index >= 0 else task.task_id
        for task in tasks
        if task.state == TaskInstanceState.FAILED
    ]
    names = few_names(failed, _TASKS_NAMED)
    if run.state in State.unfinished_dr_states:  # where the plan of one cluster failed, others may have a report yet
        why = f"This run has no report yet: it is {run.state}. Its report is here once {RENDER_TASK_ID} has succeeded."
        return f"{why} Failed so far: {names}." if failed else why
    if failed:
        return f"This run has no report, since a task failed: {names}."
    states = sorted({str(task.state) for task in tasks if task.task_id == RENDER_TASK_ID and task.state})
    rendered = f"in state {states[0]}" if states else "not begun"
    return f"This run has no report: it ended in state {run.state}, {RENDER_TASK_ID} {rendered}."


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
