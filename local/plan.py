"""``make plan``: stage an example cluster, plan it with the real DAG, and say where everything is."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from kafka_capacity.errors import RequestError
from kafka_capacity.plan.request import parse_plan_request
from local.airflow_runs import collect_garbage_seldom
from local.one_holder import StateInUseError, held
from local.services import DEFAULT_STATE, Services, running
from spark_jobs.spread import LOG_FILE

CONSOLE = Console(highlight=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Stage an example cluster and plan it.")
    parser.add_argument("--cluster", default="shop-eu", help="name of the example")
    parser.add_argument("--params", default="{}", help="plan parameters that override the defaults, as JSON")
    parser.add_argument("--state", type=Path, default=DEFAULT_STATE, help="folder for all output")
    return parser


def _failed(dag_run: object) -> list[str]:
    return [f"{ti.task_id}[{ti.map_index}]" for ti in dag_run.get_task_instances() if ti.state == "failed"]  # type: ignore[attr-defined]  # Airflow's model


def _run(services: Services, cluster: str, params: dict[str, object]) -> int:
    started = time.monotonic()

    def step(text: str) -> None:
        CONSOLE.print(f"[dim]{time.monotonic() - started:6.1f} s[/dim]  {text}")

    step("starting Airflow (SQLite, in this process)")
    from local.airflow_runs import initialise, listen, run_dag
    from local.task_lines import TaskLines

    # What the tasks log is in Airflow's files; here only what went wrong interrupts the steps.
    logging.getLogger("kafka_capacity").setLevel(logging.ERROR)
    initialise()
    log_of_jobs = services.state / "spark_jobs.log"
    log_of_jobs.write_text("", encoding="utf-8")
    os.environ[LOG_FILE] = str(log_of_jobs)
    listen(TaskLines(CONSOLE, started, log_of_jobs))
    from kafka_capacity.example import EXAMPLE_DS

    staging = f"staging {cluster} and profiling its traffic (DAG kafka_inventory)"
    planning = f"planning {cluster} (DAG kafka_capacity_plan: Spark, report, e-mail)"
    for what, dag_id, given in (
        (staging, "kafka_inventory", {"ds": EXAMPLE_DS}),
        (planning, "kafka_capacity_plan", params),
    ):
        step(what)
        run = run_dag(dag_id, {"cluster": cluster, **given})
        if run.state != "success":
            CONSOLE.print(f"[red]{dag_id} failed in {', '.join(_failed(run))}; see the log above[/red]")
            return 1
    step("done")
    _print_results(services, cluster)
    return 0


def _print_results(services: Services, cluster: str) -> None:
    root = services.state / "s3" / "kafka-capacity" / "capacity"
    reports = (root / "reports" / f"cluster={cluster}").glob("ds=*/plan=*/report.json")
    report = max(reports, key=lambda file: file.stat().st_mtime).parent
    verdict = json.loads((report / "report.json").read_text())["verdict"]
    mails = services.mail.messages()
    if verdict["sizing"] is not None:
        CONSOLE.print(f"\n[bold]{escape(verdict['sizing']['headline'])}[/bold]", soft_wrap=True)
    CONSOLE.print(f"\n[bold]{escape(verdict['headline'])}[/bold]\n", soft_wrap=True)
    CONSOLE.print(f"report   {report / 'index.html'}", soft_wrap=True)
    if mails:
        CONSOLE.print(f"e-mail   {mails[-1]}", soft_wrap=True)
    for file in sorted((report / "reassignment").iterdir()):
        if file.name != "manifest.json":
            CONSOLE.print(f"files    {file}", soft_wrap=True)


def main() -> int:
    """Run it."""
    args = _parser().parse_args()
    try:
        params = json.loads(args.params)
    except ValueError as error:
        CONSOLE.print(f"error: --params: {args.params!r} is not JSON ({error}); write it as {{}}", markup=False)
        return 2
    try:
        request = parse_plan_request({**params, "cluster": args.cluster})
        with held(args.state), running(args.state) as services:
            return _run(services, args.cluster, request.model_dump(mode="json", include=set(params)))
    except (RequestError, StateInUseError) as error:
        CONSOLE.print(f"error: {error}", markup=False, soft_wrap=True)
        return 2


if __name__ == "__main__":
    collect_garbage_seldom()
    sys.exit(main())
