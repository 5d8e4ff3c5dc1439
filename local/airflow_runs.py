"""Run DAGs in this process, without a daemon; import this only after the environment is set."""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun


def collect_garbage_seldom() -> None:
    """Let Python look for garbage less often, and not while it exits.

    Airflow brings a million objects that stay: to look through them takes seconds.
    """
    gc.set_threshold(200_000, 20, 100)
    atexit.register(gc.freeze)


def initialise() -> None:
    """Make Airflow's database if it is not there, or bring it up to date.

    A run that was killed in the middle of this leaves a database that looks ready and is not: only one that was
    finished counts, and any other is made again.
    """
    from airflow.utils.db import check_migrations, initdb

    home = Path(os.environ["AIRFLOW_HOME"])
    finished = home / "database-is-complete"
    if finished.exists():
        try:
            check_migrations(0)  # type: ignore[no-untyped-call]  # Airflow's own
        except Exception:  # any complaint means that it is of another version
            initdb()
        return
    for leftover in home.glob("airflow.db*"):
        leftover.unlink()
    initdb()
    finished.touch()


def hand_over_variables(names: Iterable[str]) -> None:
    """Move variables from the environment, where they would hide those of the UI, to where the UI changes them.

    One that is there already stays as somebody has made it.
    """
    from airflow.models.variable import Variable
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        for name in names:
            value = os.environ.pop(f"AIRFLOW_VAR_{name.upper()}", None)
            if value is not None and session.scalar(select(Variable).where(Variable.key == name)) is None:
                session.add(Variable(key=name, val=value))  # type: ignore[no-untyped-call]  # Airflow's own


def listen(listener: object) -> None:
    """Let something hear which tasks begin and end."""
    from airflow.sdk.listener import get_listener_manager

    get_listener_manager().add_listener(listener)  # type: ignore[no-untyped-call]  # Airflow's own


def run_dag(dag_id: str, params: dict[str, Any] | None = None, **options: Any) -> DagRun:
    """Run one DAG to its end; further options are those of ``dag.test()``.

    Raises:
        RuntimeError: the DAG file cannot be loaded.
    """
    from airflow.dag_processing.dagbag import DagBag

    # Made again each time: a run leaves its values in the DAG's parameters, where the next would find them as defaults.
    bag = DagBag(os.environ["AIRFLOW__CORE__DAGS_FOLDER"])
    if dag_id not in bag.dags:
        raise RuntimeError(f"DAG {dag_id} could not be loaded: {bag.import_errors}")
    dag = bag.dags[dag_id]
    dag.deadline = None  # the scheduler's to watch; with one, `dag.test()` of Airflow 3.3 fails after the last task
    run: DagRun = dag.test(run_conf=params or {}, **options)
    return run
