"""What a plan hands from one question to another, since questions do not know each other.

Where nobody says how many brokers to move to, it is as many as sizing finds are needed. Brokers are lost of the
placement that the plan's answer is about, and which one that is follows from how placements were judged and from how
many brokers are needed now. None makes again what another has found.
"""

from __future__ import annotations

import dataclasses
import functools

from kafka_capacity.hardware.bill import GivenHardware
from kafka_capacity.hardware.shape_catalogue import next_sizes, shapes_beside
from kafka_capacity.proposal.grid import placement_grid
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.capacity.document import SIZING_DOCUMENT
from kafka_capacity.questions.capacity.found import SizingSetup, sizing_request_of, sizing_setup
from kafka_capacity.questions.capacity.pricing import TodaysPricing
from kafka_capacity.questions.capacity.resize import resize
from kafka_capacity.questions.capacity.sizing_steps import read_sizing
from kafka_capacity.questions.capacity.tables import SIZING_TABLES
from kafka_capacity.questions.change.choice import choose, read_options
from kafka_capacity.questions.failures.share import find_failures
from kafka_capacity.questions.failures.simulate import FailureInputs
from kafka_capacity.questions.question import Handed, PlanContext, Share, SizedCluster

HANDED_TABLES = frozenset({"scenarios", *SIZING_TABLES})  # what is read here of the shares of other questions


def given_hardware(asked: PlanContext) -> GivenHardware:
    """Return what today's brokers run on, as sizing takes it."""
    request, _ = sizing_request_of(asked)
    loads = request.loads
    return GivenHardware(
        shape=request.today, costs=loads.cpu, limits=request.limits, is_read_in_rack=loads.is_read_in_rack
    )


def sized_cluster(asked: PlanContext, setup: SizingSetup | None = None) -> SizedCluster:
    """Return the cluster as sizing is asked about it, and what sizes it again; ``setup`` is where that is known.

    Raises RequestError where a planned event or a shape cannot be.
    """
    inputs = (setup or sizing_setup(asked)).inputs
    catalogue = shapes_beside(asked.own_shapes, asked.own_shapes_name)
    names = [one.name for one in next_sizes(inputs.request.today, catalogue.values())]
    # Prices and processors as sizing takes those of shapes that are asked for.
    parameters = asked.parameters.model_copy(update={"shapes": tuple(names)})
    with_others, _ = sizing_request_of(dataclasses.replace(asked, parameters=parameters))
    return SizedCluster(
        snapshot=inputs.snapshot,
        workload=inputs.workload,
        today=inputs.request.today,
        others=with_others.shapes,
        is_read_in_rack=inputs.request.loads.is_read_in_rack,
        partition_limit_bytes_per_second=parameters.partition_limit_bytes_per_second,
        resize=functools.partial(resize, (inputs, with_others.shapes)),
    )


def failures_today(asked: PlanContext) -> FailureInputs:
    """Return what simulating failures of the cluster as it is needs."""
    return find_failures(asked, Handed(hardware=given_hardware(asked)))


def handed_to_all(asked: PlanContext) -> Handed:
    """Return what is there for questions that wait for no other; nothing of it is worked out before it is used."""
    setup = functools.cache(functools.partial(sizing_setup, asked))
    return Handed(sized=functools.cache(lambda: sized_cluster(asked, setup())), pricing=TodaysPricing(setup))


def placements_to_try(asked: PlanContext, sizing: Share) -> tuple[PlacementScenario, ...]:
    """Return the placements to try where the broker count is open: today's, and what is needed first beside it."""
    view = read_sizing(sizing.tables, sizing.documents[SIZING_DOCUMENT], asked.request)
    needed = None if view is None else view.count_to_move_to
    return placement_grid(asked.basis.snapshot.brokers, asked.parameters.grid(), needed=needed)


def handed_over(asked: PlanContext, placement: Share, sizing: Share | None) -> Handed:
    """Return what follows from the shares of the change and of sizing; without that the placements alone decide."""
    view = None if sizing is None else read_sizing(sizing.tables, sizing.documents[SIZING_DOCUMENT], asked.request)
    count_due = None if view is None else view.count_due
    options = read_options(placement.tables["scenarios"])
    return Handed(
        count_due=count_due,
        focus=choose(options, count_due=count_due)[1].scenario_id if options else None,
        made=placement.made,
        hardware=given_hardware(asked),
    )
