"""Processes that the kernel kills at a call of the store, or at any moment, and what the next run makes of the rest."""

from __future__ import annotations

import datetime
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest import mock

from kafka_capacity.inventory.history import keep_history
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import canonical_json, check_parts, read_manifest
from kafka_capacity.objects.store import LocalStore, ObjectStore
from kafka_capacity.plan import report
from kafka_capacity.plan.pinned import PinnedPlan, pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import seal_plan
from kafka_capacity.plan.publish import publish_report
from kafka_capacity.plan.release import release_plan_files
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.runner import simulate_plan
from tests.builders import DS, cluster, topic

CALLS = ("read_bytes", "write_bytes", "replace_bytes", "list_objects", "list_folders", "exists", "delete")
REQUEST = {"cluster": "payments", "broker_counts": [6], "placers": ["fewest-bytes"]}
MAX_SECONDS = 120
"""For one process: what hangs is a failure."""

Phase = Callable[[ObjectStore], object]


class Counting(LocalStore):
    """Counts its calls, and may die right before or after one of them."""

    def __init__(self, root: Path, *, dies_at: int | None = None, is_done: bool = True) -> None:
        super().__init__(root)
        self.calls, self._dies_at, self._is_done, self._depth = 0, dies_at, is_done, 0

    def _counted(self, call: Callable[..., object], *arguments: object, **options: object) -> object:
        if self._depth:  # a call that another one makes
            return call(self, *arguments, **options)
        self.calls += 1
        if self.calls == self._dies_at and not self._is_done:
            os.kill(os.getpid(), signal.SIGKILL)
        self._depth += 1
        try:
            return call(self, *arguments, **options)
        finally:
            self._depth -= 1
            if self.calls == self._dies_at:
                os.kill(os.getpid(), signal.SIGKILL)


def _counting(name: str) -> Callable[..., object]:
    call = getattr(LocalStore, name)
    return lambda self, *arguments, **options: self._counted(call, *arguments, **options)


for _name in CALLS:
    setattr(Counting, _name, _counting(_name))


def inventory_phase(store: ObjectStore) -> PinnedPlan:
    """Stage, keep the history, pin: what the tasks before the simulation do."""
    raw = cluster(topics=[topic("audit", partitions=4, rf=2)], hours=24)
    stage(raw, store)
    keep_history(store, raw.cluster, raw.table("metrics"), captured=DS)
    return pin_plan(store, parse_plan_request(REQUEST), run_date=datetime.date(2026, 11, 25))


def phases(pinned: PinnedPlan) -> Mapping[str, Phase]:
    """Return the parts of a run by name, in their order."""
    return {
        "stage, history, pin": inventory_phase,
        "simulate": lambda store: simulate_plan(store, read_plan_inputs(store, pinned.request_key)),
        "seal": lambda store: seal_plan(store, pinned),
        "report": lambda store: publish_report(store, pinned),
        "release": lambda store: release_plan_files(store, pinned),
    }


def drawn_once() -> mock._patch[object]:
    """Draw a report once for all runs with the same decision: no call of the store is in it."""
    draw, drawn = report.render_all, {}

    def render(inputs: object, decision: object, **more: object) -> object:
        key = canonical_json(decision)
        if key not in drawn:
            drawn[key] = draw(inputs, decision, **more)
        return drawn[key]

    return mock.patch.object(report, "render_all", render)


def contents(root: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def check_what_is_complete(root: Path) -> int:
    """Check every byte of all that says it is complete; returns how many datasets that are."""
    store, count = LocalStore(root), 0
    for key in store.list_objects(""):
        folder, _, name = key.rpartition("/")
        if name.endswith("manifest.json"):
            share = name.removesuffix("manifest.json").rstrip(".") or None
            check_parts(store, read_manifest(store, folder + "/", share=share))
            count += 1
    return count


def run_and_die(phase: Phase, store: LocalStore, *, after_seconds: float | None = None) -> bool:
    """Run a phase in a process of its own that is killed; returns whether it was before its end."""
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.alarm(MAX_SECONDS)
            phase(store)
            status = 0
        finally:
            os._exit(status)
    if after_seconds is not None:
        time.sleep(after_seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, status
    assert not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM), "it hung"
    return os.WIFSIGNALED(status)


def kill_at_calls(phase: Phase, before: Path, work: Path, *, step: int = 1) -> int:
    """Kill a phase before and after every call of the store; returns how many kills there were.

    Args:
        phase: what runs.
        before: a folder with what is there before it.
        work: a folder to work in.
        step: try each so-manieth place.
    """

    def fresh() -> Path:
        shutil.rmtree(work, ignore_errors=True)
        if before.exists():
            shutil.copytree(before, work)
        return work

    reference = Counting(fresh())
    phase(reference)
    expected = contents(work)
    places = [(number, is_done) for number in range(1, reference.calls + 1) for is_done in (False, True)][::step]
    for number, is_done in places:
        assert run_and_die(phase, Counting(fresh(), dies_at=number, is_done=is_done))
        check_what_is_complete(work)
        phase(LocalStore(work))
        assert contents(work) == expected, (number, is_done)
    return len(places)


def kill_at_random(phase: Phase, work: Path, count: int, seed: int) -> int:
    """Kill a phase at random moments; returns how many of the kills came before its end."""
    shutil.rmtree(work, ignore_errors=True)
    began = time.monotonic()
    phase(LocalStore(work))
    seconds, expected, kills = time.monotonic() - began, contents(work), 0
    chance = random.Random(seed)
    for _ in range(count):
        shutil.rmtree(work)
        kills += run_and_die(phase, LocalStore(work), after_seconds=chance.uniform(0.0, 1.2 * seconds))
        check_what_is_complete(work)
        phase(LocalStore(work))
        assert contents(work) == expected
    return kills
