"""A plan's questions, side by side on one basis: what the Spark job does on a cluster, and one process by itself.

A question cuts its work into pieces, and somebody else runs these: here one after another, or spread over executors;
what is answered in one go is answered here.
Each question stores its share of the plan when it is done. A share that is there and whole is not made again, so that
a run after a failure only does what is missing.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_capacity.errors import KafkaCapacityError, SimulationError
from kafka_capacity.objects.dataset import Manifest, read_document, read_manifest, read_table
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.basis import read_basis
from kafka_capacity.plan.failure_simulation import pinned_failures, write_failures
from kafka_capacity.plan.focus import focus_placement
from kafka_capacity.plan.group_simulation import pinned_groups, write_groups
from kafka_capacity.plan.pinned import PlanInputs
from kafka_capacity.plan.plan_dataset import (
    FAILURES,
    GROUPS,
    PLACEMENT,
    SHARES,
    SIZING,
    SIZING_DOCUMENT,
    find_share,
    write_share,
)
from kafka_capacity.plan.simulation import simulation_inputs, write_placement
from kafka_capacity.plan.sizing_simulation import pinned_sizing, write_sizing
from kafka_capacity.questions.capacity.simulate import placement_results, simulate_sizing
from kafka_capacity.questions.capacity.sizing_view import read_sizing
from kafka_capacity.questions.capacity.tables import SIZING_TABLES
from kafka_capacity.questions.change.evaluate import made_placements, placement_pieces, placement_tables
from kafka_capacity.questions.consumers.evaluate import GroupWork, simulate_groups, work_tables
from kafka_capacity.questions.failures.simulate import failure_pieces, merged_tables, piece_tables
from kafka_capacity.questions.question import Basis, Question
from kafka_capacity.questions.registry import QUESTIONS

log = logging.getLogger("kafka_capacity.plan")

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")


class RunPieces(Protocol):
    """Does pieces of work, anywhere and in any order, and returns the tables of each in the order of the pieces."""

    def __call__(
        self,
        function: Callable[[Shared, Piece], Mapping[str, pa.Table]],
        shared: Shared,
        pieces: Sequence[Piece],
        *,
        what: str,
    ) -> Sequence[Mapping[str, pa.Table]]:
        """Run.

        Args:
            function: of a module that executors have: what is shared and a piece in, tables out.
            shared: what all pieces need.
            pieces: large ones first.
            what: what the pieces are called where their progress is shown.
        """


def run_here(
    function: Callable[[Shared, Piece], Mapping[str, pa.Table]],
    shared: Shared,
    pieces: Sequence[Piece],
    *,
    what: str,
) -> Sequence[Mapping[str, pa.Table]]:
    """Do the pieces in this process, one after another."""
    return [function(shared, piece) for piece in pieces]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Task:
    """What simulating one question needs."""

    store: ObjectStore
    inputs: PlanInputs
    basis: Basis
    run: RunPieces


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Proposed:
    """What the question of the change leaves for others: how scenarios were judged, and the placements it made."""

    judged: pa.Table
    made: Mapping[str, NDArray[np.int32]]


def simulate_plan(
    store: ObjectStore,
    inputs: PlanInputs,
    run: RunPieces = run_here,
    *,
    shares: Sequence[str] = SHARES,
    side_by_side: bool = False,
) -> dict[str, Manifest]:
    """Simulate the questions of a plan and store the share of each; what is stored already is left as it is.

    Args:
        store: where the inventory is, and where the plan goes.
        inputs: of the plan.
        run: does the pieces of work.
        shares: of the plan that are wanted; that of failures alone needs that of the placements to be there.
        side_by_side: whether questions run at once, which pays where pieces are done elsewhere.

    Returns:
        The manifests of the shares that are wanted.

    Raises:
        InventoryError: the inventory is not the one that was pinned.
        SimulationError: a question failed, named in the message; the others are done and stored.
    """
    found = {share: find_share(store, inputs, share) for share in shares}
    for share in (share for share, manifest in found.items() if manifest is not None):
        log.info("%s: stored already, not simulated again", share)
    missing = [share for share in SHARES if share in found and found[share] is None]
    if not missing:
        return {share: manifest for share, manifest in found.items() if manifest is not None}
    task = _Task(store=store, inputs=inputs, basis=read_basis(store, inputs.pinned), run=run)
    with ThreadPoolExecutor(max_workers=len(missing) if side_by_side else 1) as pool:
        # First what another one waits for.
        change = pool.submit(_change, task) if PLACEMENT in missing else None
        others: dict[str, Callable[[_Task], Manifest]] = {
            GROUPS: _groups,
            SIZING: _sizing,
            FAILURES: lambda task: _failures(task, change=change, sizing=running.get(SIZING)),
            **{question.name: functools.partial(_in_one_go, question) for question in QUESTIONS},
        }
        running: dict[str, Future[Manifest]] = {}
        for share, question in others.items():
            if share in missing:
                running[share] = pool.submit(question, task)
    failed = {share: future.exception() for share, future in running.items()}
    failed |= {} if change is None else {PLACEMENT: change.exception()}
    _fail_for({share: failed[share] for share in SHARES if failed.get(share) is not None})
    found |= {share: future.result() for share, future in running.items()}
    found |= {} if change is None else {PLACEMENT: change.result()[0]}
    return {share: manifest for share, manifest in found.items() if manifest is not None}


def _fail_for(failed: Mapping[str, BaseException | None]) -> None:
    for share, error in failed.items():
        log.error("%s failed", share, exc_info=error)
    if failed:
        told = (
            f"{share}: {error}" if isinstance(error, KafkaCapacityError) else f"{share}: {error!r}"
            for share, error in failed.items()
        )
        raise SimulationError("\n".join(told)) from next(iter(failed.values()))


def _change(task: _Task) -> tuple[Manifest, _Proposed]:
    simulation = simulation_inputs(task.inputs, task.basis)
    pieces = placement_pieces(task.inputs.scenarios)
    bundles = task.run(placement_tables, simulation, pieces, what="placements")
    manifest = write_placement(task.store, task.inputs, bundles, simulation.facts)
    return manifest, _Proposed(judged=_judged(task.store, manifest), made=made_placements(bundles))


def _groups(task: _Task) -> Manifest:
    found = pinned_groups(task.inputs, task.basis)

    def run(work: Sequence[GroupWork]) -> Sequence[Mapping[str, pa.Table]]:
        what = "variants of groups" if all(piece.has_figures for piece in work) else "scenarios in detail"
        return task.run(work_tables, found.inputs, work, what=what)

    return write_groups(task.store, task.inputs, found, simulate_groups(found.inputs, run))


def _sizing(task: _Task) -> Manifest:
    found = pinned_sizing(task.inputs, task.basis)
    sized = simulate_sizing(found.inputs, functools.partial(task.run, placement_results, what="sizes"))
    return write_sizing(task.store, task.inputs, found, sized)


def _failures(
    task: _Task, *, change: Future[tuple[Manifest, _Proposed]] | None, sizing: Future[Manifest] | None
) -> Manifest:
    if change is None:
        stored = read_manifest(task.store, task.inputs.pinned.plan_prefix, share=PLACEMENT)
        proposed = _Proposed(judged=_judged(task.store, stored), made={})
    elif change.exception() is not None:
        msg = "not simulated, since the placements that brokers are lost of failed"
        raise SimulationError(msg)
    else:
        proposed = change.result()[1]
    if sizing is not None:
        # Sizing that failed leaves the answer to the placements alone; that it failed is reported as its own.
        sized = None if sizing.exception() is not None else sizing.result()
    else:
        sized = find_share(task.store, task.inputs, SIZING)
    focus = focus_placement(proposed.judged, count_now=None if sized is None else _count_now(task, sized))
    found = pinned_failures(task.inputs, task.basis, focus, proposed.made)
    bundles = task.run(piece_tables, found, failure_pieces(found), what="pieces of losses")
    return write_failures(task.store, task.inputs, found, merged_tables(found, bundles))


def _in_one_go(question: Question, task: _Task) -> Manifest:
    tables = question.results(task.basis)
    # The cluster as it is: nothing else is tried.
    return write_share(task.store, task.inputs, question.name, tables=tables, documents={}, scenario_count=1)


def _count_now(task: _Task, sized: Manifest) -> int | None:
    tables = {name: read_table(task.store, sized, name) for name in SIZING_TABLES}
    view = read_sizing(tables, json.loads(read_document(task.store, sized, SIZING_DOCUMENT)), task.inputs.request)
    return None if view is None else view.count_now


def _judged(store: ObjectStore, manifest: Manifest) -> pa.Table:
    return read_table(store, manifest, "scenarios")
