"""Size a cluster again after changes to its topics, just as it is sized without: the judge of what a change saves.

The same options are judged by the same code, and the same one is chosen. Only what cannot be chosen is not looked at,
where one shape and no budget are asked for: more brokers never leave less headroom, so that beyond the smallest number
that fits, and below one that is too small today already, nothing else is. Disks tell in advance which numbers hold too
little altogether.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kafka_capacity.demand.changed import ClusterChange, changed_cluster
from kafka_capacity.hardware.limits import RECOVERIES, RESOURCES, Resource, resource_name
from kafka_capacity.hardware.plain import to_plain
from kafka_capacity.hardware.shapes import Shape
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.proposal.resized import InTheWay, Resized
from kafka_capacity.questions.capacity.choice import advise_size
from kafka_capacity.questions.capacity.idle import options_better_idle
from kafka_capacity.questions.capacity.more_counts import with_more_counts
from kafka_capacity.questions.capacity.options import (
    SizingInputs,
    capacity_options,
    placement_keys,
)
from kafka_capacity.questions.capacity.results import (
    CapacityResult,
    OptionKind,
    PlacementKey,
    unknown_of_fewer,
)
from kafka_capacity.questions.capacity.simulate import (
    evaluate_placed,
    keys_to_try,
    packed,
    placement_results,
    simulate_sizing,
    unpacked,
)
from kafka_capacity.questions.capacity.sizing_steps import mean_usd_per_month, view_sizing
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView, family_of, is_alike
from kafka_capacity.questions.capacity.tables import SIZING_USE, sizing_exhaustion_table, sizing_options_table
from kafka_capacity.text import format_bytes

_OF_DISKS = RECOVERIES | {Resource.DISK, Resource.REPLICAS}  # what an order of replicas does not change


_Given = tuple[SizingInputs, tuple[Shape, ...]]
"""What is sized again, without any change, and shapes that a change may ask for."""


def resize(
    given: _Given, changes: Sequence[ClusterChange], run: Callable[..., Sequence[Mapping[str, pa.Table]]]
) -> list[Resized]:
    """Size the cluster after each change; ``run`` does the pieces of work of a plan."""
    return list(unpacked(run(resized_tables, given, changes, what="sets of savings actions")))


def resized_tables(given: _Given, change: ClusterChange) -> dict[str, pa.Table]:
    """Do one piece of work: the answer after one change, as one row."""
    inputs, remote_bytes = _changed(given, change)
    inputs, results = _results(inputs)
    view = _view(inputs, results)
    options = [next((one.option for one in view.steps if view.lasts(one.option, date)), None) for date in view.dates]
    goal = view.steps[-1].option if view.steps else None
    unproved = {one.option_id: one.why_as_far_as_known for one in results if one.is_unproved}
    answer = Resized(
        broker_counts=tuple(None if one is None else int(one["broker_count"]) for one in options),
        steps=tuple((step.from_day, int(step.option["broker_count"])) for step in view.steps),
        usd_per_month=tuple(
            None if one is None else view.usd_on(one, date) for one, date in zip(options, view.dates, strict=True)
        ),
        mean_usd_per_month=mean_usd_per_month(view) if options[-1] is not None else None,
        remote_bytes=tuple(remote_bytes.tolist()),
        stored_bytes=float(inputs.snapshot.size_bytes.sum()),
        shape=None if goal is None else str(goal["shape"]),
        is_estimate=goal is not None and goal["priced_as"] is not None,
        unknown=tuple(
            resource_name(one) for one in RESOURCES if any(row and one in row["not_judged"] for row in options)
        ),
        in_the_way=None if goal is None else _in_the_way(inputs, view, goal, unproved),
    )
    return packed([answer])


def _changed(given: _Given, change: ClusterChange) -> tuple[SizingInputs, Floats]:
    """Return what is sized, and what the object store holds at each date."""
    before, others = given
    cluster = changed_cluster(before.snapshot, before.workload, before.sizes, change)
    shapes = {shape.name: shape for shape in (*before.request.shapes, *others)}
    wanted = {*change.shapes, *(shape.name for shape in before.request.shapes)}
    now = before.request.loads
    loads = dataclasses.replace(
        now,
        is_read_in_rack=now.is_read_in_rack or change.is_read_in_rack,
        is_produced_in_rack=change.is_produced_in_rack,
        only_estimate=before.request.estimate,
        is_client_traffic_limited=any(
            math.isfinite(limit)
            for shape in (before.request.today, *shapes.values())
            for limit in (shape.client_in_bytes_per_second, shape.client_out_bytes_per_second)
        ),
    )
    inputs = dataclasses.replace(
        before,
        snapshot=cluster.snapshot,
        named=None if before.named is None else before.named.with_racks(dict(change.racks)),
        workload=cluster.workload,
        sizes=cluster.sizes,
        request=dataclasses.replace(
            before.request, shapes=tuple(shape for name, shape in shapes.items() if name in wanted), loads=loads
        ),
        today=None,
    )
    options = tuple(
        option
        for option in capacity_options(inputs)
        if change.is_volume_shrunk or option.kind is not OptionKind.SHRINK_VOLUMES
    )
    return dataclasses.replace(inputs, options=options), cluster.remote_bytes[before.request.estimate]


def _results(inputs: SizingInputs) -> tuple[SizingInputs, tuple[CapacityResult, ...]]:
    """Return all options, and what those that were looked at are judged to be, doing nothing first."""
    request = inputs.request
    keys = [key for key in placement_keys(inputs.options) if not key.is_observed]
    is_one_row = len({key.broker_count for key in keys}) == len(keys)
    if request.shapes or not is_one_row or request.budget_usd_per_month is not None:
        sized = simulate_sizing(inputs, lambda given, pieces: [placement_results(given, one) for one in pieces])
        return dataclasses.replace(inputs, options=tuple(one.option for one in sized.results)), sized.results
    still = next(key for key in placement_keys(inputs.options) if key.is_observed)
    found = {result.option_id: result for result in evaluate_placed(inputs, still)}
    today = found["do-nothing"]
    if today.is_not_judged:
        return inputs, tuple(found.values())
    inputs = dataclasses.replace(inputs, today=today.cost)

    def look(key: PlacementKey) -> CapacityResult:
        (result,) = _evaluated(inputs, key)
        found[result.option_id] = result
        return result

    room = [inputs.has_room(key) for key in keys]
    start = next((place for place, dates in enumerate(room) if dates[-1]), len(keys) - 1)
    for key in keys[start:]:
        if (one := look(key)).fits and not one.is_unproved:
            break
    for place in range(start - 1, -1, -1):
        if not room[place][0] or look(keys[place]).fits_until is None:
            break
    while (more := with_more_counts(inputs, found.values())) is not None:
        known = {option.option_id for option in inputs.options}
        inputs = more
        for key in keys_to_try(more, known):
            look(key)
    again = options_better_idle(list(found.values()), inputs)
    for option in again:
        (found[option.option_id],) = evaluate_placed(dataclasses.replace(inputs, options=(option,)), option.placement)
    return inputs, tuple(found[option.option_id] for option in inputs.options if option.option_id in found)


def _evaluated(inputs: SizingInputs, key: PlacementKey) -> list[CapacityResult]:
    """Judge a placement, in the order of lists that levels takeovers only where something else than disks asks for it.

    That order takes long to find, and lists that fit without it need none.
    """
    as_placed = dataclasses.replace(inputs.request, is_takeover_levelled=False)
    results = evaluate_placed(dataclasses.replace(inputs, request=as_placed), key)
    if all(excuse.constraint in _OF_DISKS for result in results for excuse in result.excuses):
        return results
    return evaluate_placed(inputs, key)


def _view(inputs: SizingInputs, results: Sequence[CapacityResult]) -> SizingView:
    request, dates = inputs.request, inputs.workload.outlook.dates
    advice = advise_size(results, dates, request.budget_usd_per_month)
    tables = {
        "sizing_options": sizing_options_table(results, recommended=advice.recommended, front=advice.front),
        "sizing_exhaustion": sizing_exhaustion_table(results),
        "sizing_use": SIZING_USE.empty_table(),
    }
    document: dict[str, Any] = {"dates": list(dates), "advice": to_plain(advice), **inputs.request_facts()}
    return view_sizing(tables, document, {"sized_estimate": ("middle", "high")[request.estimate]})


def _in_the_way(inputs: SizingInputs, view: SizingView, goal: Row, unproved: Mapping[str, str]) -> InTheWay | None:
    """Return why the next smaller number of such brokers is not enough; ``None`` where none was tried."""
    alike = [
        option
        for option in inputs.options
        if option.placement.broker_count < goal["broker_count"] and option.family == family_of(goal)
    ]
    if not alike:
        return None
    fewer = max(alike, key=lambda option: option.placement.broker_count)
    count = fewer.placement.broker_count
    rows = [row for row in view.options if row["broker_count"] == count and is_alike(row, goal)]
    if rows:
        row = max(rows, key=lambda one: one["fits_until"] or "")
        first = next(iter(row["excuses"]), None)
        if first is None and row["option_id"] in unproved:
            what = next(iter(unknown_of_fewer(row["not_judged"])), Resource.NETWORK_OUT)
            reason = unproved[row["option_id"]]
            return InTheWay(broker_count=count, constraint=str(what), reason=reason, is_unknown=True)
        if first is None:  # it fits, but costs more, or is beside the budget
            return None
        return InTheWay(broker_count=count, constraint=first["constraint"], reason=first["reason"])
    held, allowed = inputs.held_bytes(fewer.placement), inputs.allowed_bytes(fewer.placement)
    place = int((held > allowed).argmax())
    return InTheWay(
        broker_count=count,
        constraint=str(Resource.DISK),
        reason=f"all replicas hold {format_bytes(held[place])} on {view.dates[place]}, and {count:,} brokers may hold "
        f"{format_bytes(allowed)}",
    )
