"""A plan's questions, side by side on one basis: what the Spark job does on a cluster, and one process by itself.

A question cuts its work into pieces, and somebody else runs these: here one after another, or spread over executors.
Each question stores its share of the plan when it is done. A share that is there and whole is not made again, so that
a run after a failure only does what is missing.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from kafka_capacity.errors import InventoryError, KafkaCapacityError, RequestError, SimulationError
from kafka_capacity.hardware.plain import filled
from kafka_capacity.inventory.staging import Gather, gather_here
from kafka_capacity.objects.dataset import Manifest, read_manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.handing import HANDED_TABLES, handed_over, handed_to_all, placements_to_try
from kafka_capacity.plan.kept_pieces import KeptPieces
from kafka_capacity.plan.pinned import PlanInputs
from kafka_capacity.plan.plan_dataset import SHARES, find_share, read_share, write_share
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.traffic import read_basis
from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.questions.change.share import CHANGE
from kafka_capacity.questions.question import Handed, PlanContext, Question, RunPieces, Share, run_here
from kafka_capacity.questions.registry import QUESTIONS

log = logging.getLogger("kafka_capacity.plan")


def simulate_plan(
    store: ObjectStore,
    inputs: PlanInputs,
    run: RunPieces = run_here,
    *,
    shares: Sequence[str] = SHARES,
    side_by_side: bool = False,
    gather: Gather = gather_here,
    keep_from: int | None = None,
) -> dict[str, Manifest]:
    """Simulate the questions of a plan and store the share of each; what is stored already is left as it is.

    Args:
        store: where the inventory is, and where the plan goes.
        inputs: of the plan.
        run: does the pieces of work.
        shares: of the plan that are wanted. What they follow from is among them or there already: for failures the
            placements, for these the sizes where the broker count is left open.
        side_by_side: whether questions run at once, which pays where pieces are done elsewhere.
        gather: reads the hours of a large inventory.
        keep_from: of a cluster of so many partitions or more, pieces are kept as they are done; ``None`` of none.

    Returns:
        The manifests of the shares that are wanted.

    Raises:
        InventoryError: the inventory is not the one that was pinned.
        SimulationError: a question failed, named in the message; the others are done and stored. It is a
            :class:`RequestError` or :class:`InventoryError` where nothing but those failed.
    """
    found = {share: find_share(store, inputs, share) for share in shares}
    manifests = {share: manifest for share, manifest in found.items() if manifest is not None}
    for share in manifests:
        log.info("%s: already stored, not simulated again", share)
    missing = [question for question in QUESTIONS if question.share in found and question.share not in manifests]
    if not missing:
        return manifests
    basis, parameters = read_basis(store, inputs.pinned, gather=gather), parse_plan_request(inputs.request)
    asked = filled(PlanContext, inputs, basis=basis, parameters=parameters)
    if keep_from is not None and len(asked.basis.snapshot.partitions) >= keep_from:
        run = KeptPieces(run, store, inputs.pinned.pieces_prefix, side_by_side=side_by_side)

    def keep(question: Question, share: Share) -> Share:
        manifests[question.share] = write_share(store, inputs, question.share, share)
        # What nobody else stands on need not stay in memory.
        return dataclasses.replace(share, tables={n: table for n, table in share.tables.items() if n in HANDED_TABLES})

    def stored(question: Question) -> Share | None:
        manifest = find_share(store, inputs, question.share)
        if manifest is None and question is CHANGE:
            manifest = read_manifest(store, inputs.pinned.plan_prefix, share=question.share)
        return None if manifest is None else read_share(store, manifest, HANDED_TABLES)

    _fail_for(simulate_questions(asked, run, questions=missing, keep=keep, stored=stored, side_by_side=side_by_side))
    return {share: manifests[share] for share in shares}


def simulate_questions(
    asked: PlanContext,
    run: RunPieces = run_here,
    *,
    questions: Sequence[Question] = QUESTIONS,
    keep: Callable[[Question, Share], Share] = lambda _, share: share,
    stored: Callable[[Question], Share | None] = lambda _: None,
    side_by_side: bool = False,
) -> dict[str, Future[Share]]:
    """Simulate questions, those that stand on others last, as :func:`simulate_plan` does.

    ``keep`` stores a share, and returns what of it others may stand on; ``stored`` returns the share of a question that
    is not among these, ``None`` where there is none.

    Returns:
        What was kept, or what failed, by the name of the share; all are done.
    """
    running: dict[str, Future[Share]] = {}
    for_all = handed_to_all(asked)

    def found(question: Question) -> Share | None:
        future = running.get(question.share)
        if future is None:
            return stored(question)
        # What failed is reported as its own.
        return None if future.exception() is not None else future.result()

    def simulate(question: Question) -> Share:
        if not question.is_handed:
            return keep(question, question.simulate(asked, for_all, run))
        whole, handed, is_change = asked, Handed(), question.share == CHANGE.share
        # The change waits for sizes only where its broker counts follow from them.
        sizing = None if is_change and asked.scenarios else found(CAPACITY)
        if not asked.scenarios:
            if sizing is None:
                raise SimulationError("not simulated, because there are no sizes to derive the broker counts from")
            whole = dataclasses.replace(asked, scenarios=placements_to_try(asked, sizing))
        if not is_change:
            placed = found(CHANGE)
            if placed is None:
                raise SimulationError("not simulated, because there are no placements to lose brokers from")
            # Without sizes the answer is that of the placements alone.
            handed = handed_over(whole, placed, sizing)
        return keep(question, question.simulate(whole, handed, run))

    ordered = sorted(questions, key=lambda one: one.is_handed)
    if not side_by_side:
        for question in ordered:
            running[question.share] = _done(simulate, question)
        return running
    with ThreadPoolExecutor(max_workers=len(questions)) as pool:
        for question in ordered:
            running[question.share] = pool.submit(simulate, question)
    return running


def _done(simulate: Callable[[Question], Share], question: Question) -> Future[Share]:
    """Do it here, where Ctrl-C ends it."""
    future: Future[Share] = Future()
    try:
        future.set_result(simulate(question))
    except Exception as error:
        future.set_exception(error)
    return future


def _fail_for(done: Mapping[str, Future[Share]]) -> None:
    failed = {share: error for share, future in done.items() if (error := future.exception()) is not None}
    for share, error in failed.items():
        log.error("%s failed", share, exc_info=error)
    if failed:
        by_reason: dict[str, list[str]] = {}  # several questions may rest on what is wrong
        for share, error in failed.items():
            by_reason.setdefault(str(error) if isinstance(error, KafkaCapacityError) else repr(error), []).append(share)
        reported = (f"{', '.join(shares)}: {reason}" for reason, shares in by_reason.items())
        raise _class_of(failed.values())("\n".join(reported)) from next(iter(failed.values()))


def _class_of(failed: Iterable[BaseException]) -> type[KafkaCapacityError]:
    """Return what all of it is: bad input where nothing else failed, so that nobody tries that again."""
    # What stands on a question that failed failed with it.
    causes = [error for error in failed if not isinstance(error, SimulationError)]
    of_input = [type(cause) for cause in causes if isinstance(cause, RequestError | InventoryError)]
    return of_input[0] if of_input and len(of_input) == len(causes) else SimulationError
