"""How plans are submitted: one application, or one a question, and their progress heard on the way."""

from __future__ import annotations

import logging
import subprocess
import sys
import zipfile

import pytest

from kafka_capacity.questions.registry import QUESTIONS

pytestmark = pytest.mark.airflow

PINNED = {"cluster": "payments", "ds": "2026-11-20", "inventory_sha256": "ab" * 32, "plan_id": "1234"}
IN_ONE_GO = [question.share for question in QUESTIONS if not question.has_pieces]
APART = (["sizing", *IN_ONE_GO], ["groups"], ["savings"], ["chargeback"], ["placement"], ["failures"])
REQUEST_KEY = "requests/cluster=payments/ds=2026-11-20/plan=1234/request.json"


@pytest.mark.parametrize(
    ("is_split", "expected"),
    [
        (False, [[]]),
        (True, [["--shares", *shares] for shares in APART]),
    ],
)
def test_a_plan_is_one_application_unless_a_split_is_asked_for(services, is_split, expected):
    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    operator = KafkaCapacitySparkOperator(task_id="simulate", job="simulate", pinned=PINNED)
    found = operator._applications({"params": {"is_split_by_question": is_split}})
    assert found == [["--request-key", REQUEST_KEY, *more] for more in expected]


def test_the_progress_of_a_job_is_heard_and_all_it_prints_passed_on(services, caplog):
    from kafka_capacity_airflow.spark import _counted, progress

    lines = ["26/11/20 INFO kafka_capacity.spark 14 of 1,085 group variants are done", "anything else"]
    with caplog.at_level(logging.INFO, logger=progress.name):
        assert list(_counted(lines)) == lines
    assert caplog.messages == ["14 of 1,085 group variants are done"]


def test_a_line_is_printed_for_each_task_with_what_it_did(services):
    from types import SimpleNamespace

    from rich.console import Console

    from local.task_lines import TaskLines

    console = Console(record=True, width=200)
    lines = TaskLines(console, began=0.0)
    task = SimpleNamespace(task_id="plan.simulate")
    lines.on_task_instance_running(task_instance=task)
    for text in ("1 of 4 placements are done", "40 of 40 groups are done", "4 of 4 placements are done"):
        lines.emit(logging.LogRecord("progress", logging.INFO, "", 0, text, None, None))
    lines.on_task_instance_success(task_instance=task)
    assert "simulate " in (printed := console.export_text())
    assert printed.rstrip().endswith(" s  4 placements, 40 groups")


def test_what_travels_is_what_jobs_import_and_no_commands_or_recorded_answers(services, tmp_path):
    from kafka_capacity.plan.package_zip import build_zip

    archive = build_zip(tmp_path / "kafka_capacity.zip")
    with zipfile.ZipFile(archive) as packed:
        rooms = {name.split("/")[1] for name in packed.namelist() if name.startswith("kafka_capacity/")}
    assert not rooms & {"cli", "conformance", "example"}
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); "
        "import spark_jobs.simulate, spark_jobs.load_profile, kafka_capacity.plan.runner; "
        "print(kafka_capacity.plan.runner.__file__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.startswith(str(archive)), done.stderr


def test_a_driver_is_started_so_that_it_ends_with_its_task(services):
    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    operator = KafkaCapacitySparkOperator(task_id="simulate", job="simulate", pinned=PINNED)
    is_linux = sys.platform == "linux"
    assert (operator._get_hook().submit.keywords["preexec_fn"] is not None) == is_linux
