"""A line for each task of a DAG that runs here: what it is doing while it runs, and how long it took when it ends."""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from typing import Any

from airflow.listeners import hookimpl
from rich.console import Console
from rich.markup import escape

_COUNTED = re.compile(r"([\d,]+) of ([\d,]+) (.+) are done")


class TaskLines(logging.Handler):
    """Shows them: an Airflow listener, and a handler of the log that Spark jobs count in."""

    def __init__(self, console: Console, began: float) -> None:
        super().__init__()
        self._console = console
        self._began = began
        self._task_began = began
        self._counts: dict[str, tuple[int, int]] = {}
        self._finished: Counter[str] = Counter()
        self._status = console.status("")

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of how much of something is done."""
        found = _COUNTED.search(record.getMessage())
        if found:
            done, total = (int(number.replace(",", "")) for number in found.groups()[:2])
            what = found[3]
            before = self._finished[what]
            counts = self._counts[what] = before + done, before + total
            if done == total:
                self._finished[what] = counts[1]  # another batch of the same kind may follow
            shown = ", ".join(f"{done:,} of {total:,} {what}" for what, (done, total) in self._counts.items())
            self._status.update(f"{self._task}: {escape(shown)}")

    @hookimpl
    def on_task_instance_running(self, task_instance: Any) -> None:
        """Begin a line."""
        self._task = _name(task_instance)
        self._task_began = time.monotonic()
        self._counts, self._finished = {}, Counter()
        self._status.update(self._task)
        self._status.start()

    @hookimpl
    def on_task_instance_success(self, task_instance: Any) -> None:
        """End it."""
        self._end(task_instance, ", ".join(f"{total:,} {what}" for what, (_, total) in self._counts.items()))

    @hookimpl
    def on_task_instance_skipped(self, task_instance: Any) -> None:
        """End it."""
        self._end(task_instance, "nothing to do")

    @hookimpl
    def on_task_instance_failed(self, task_instance: Any) -> None:
        """End it."""
        self._end(task_instance, "[red]failed[/red]")

    def _end(self, task_instance: Any, told: str) -> None:
        self._status.stop()
        now = time.monotonic()
        line = f"{_name(task_instance):<26} {now - self._task_began:5.1f} s  {told}".rstrip()
        self._console.print(f"[dim]{now - self._began:6.1f} s[/dim]    {line}", soft_wrap=True)


def _name(task_instance: Any) -> str:
    return escape(str(task_instance.task_id).removeprefix("plan."))
