"""The lines of ``make plan``: what is counted while a task runs, and when it ends."""

import io
import logging
from types import SimpleNamespace

from rich.console import Console

from local.task_lines import TaskLines


def counted(*messages):
    """The line of a task that logged these messages."""
    shown = io.StringIO()
    lines = TaskLines(Console(file=shown, width=200), 0.0)
    task = SimpleNamespace(task_id="plan.simulate")
    lines.on_task_instance_running(task)
    for message in messages:
        lines.emit(logging.LogRecord("progress", logging.INFO, "", 0, message, (), None))
    lines.on_task_instance_success(task)
    return " ".join(shown.getvalue().splitlines()[-1].split("s  ")[-1].split())


def test_batches_of_the_same_kind_are_added_up():
    assert counted(
        "0 of 12 sets are done", "12 of 12 sets are done", "3 of 8 sets are done", "8 of 8 sets are done"
    ) == ("20 sets")


def test_kinds_stand_side_by_side():
    assert counted("1,200 of 1,200 placements are done", "2 of 2 sizes are done") == "1,200 placements, 2 sizes"
