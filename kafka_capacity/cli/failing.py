"""From the options of ``failures`` to what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.documents import document_head
from kafka_capacity.cli.plan_input import PlanInput, read_plan_input
from kafka_capacity.cli.plan_options import named_as_options, request_of, split_names
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.plain import plain_fields, plain_number
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.plan.failure_simulation import find_failures
from kafka_capacity.proposal.pins import RACK_PREFIX
from kafka_capacity.questions.failures import FailureResult, FailureScenario, SetKind
from kafka_capacity.questions.failures.given import lost_together
from kafka_capacity.questions.failures.plain import set_row, survivor_rows, topic_rows
from kafka_capacity.questions.failures.sets import rack_members
from kafka_capacity.questions.failures.simulate import FailureInputs

SCHEMA_VERSION = 2
FAILURES = "failures.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureOptions:
    """What was typed.

    Attributes:
        brokers: sets of brokers and racks, ``1,2,rack:a`` each.
        racks: sets of racks, ``a,b`` each.
        kinds: of sets that are looked at beside those.
        rules: of the controller.
        most_sets: at most so many of a kind.
        throttle_bytes_per_second: of the copies.
        seed: of draws.
    """

    brokers: Sequence[str]
    racks: Sequence[str]
    kinds: tuple[SetKind, ...]
    rules: ElectionRules
    most_sets: int
    throttle_bytes_per_second: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Failed:
    """All that came of the losses.

    Attributes:
        found: the snapshot.
        result: of every set.
    """

    found: PlanInput
    result: FailureResult


def lose_brokers(snapshot: str, options: FailureOptions, begin: Steps) -> Failed:
    """Read and lose.

    Args:
        snapshot: its folder or address.
        options: what was typed.
        begin: told of each step.

    Raises:
        KafkaCapacityError: an option or the snapshot is wrong.
    """
    begin("reading the snapshot", steps=3)
    found = read_plan_input(snapshot)
    scenario = _scenario(found.snapshot.brokers, options)
    begin("adding up the hours")
    inputs = failure_inputs(found)
    begin("losing brokers")
    with named_as_options({"brokers": "--lost-together"}):
        result = inputs.lose(scenario, inputs.today)
    return Failed(found=found, result=result)


def failure_inputs(found: PlanInput, **given: Any) -> FailureInputs:
    """Put together what a plan with the defaults, and some given parameters, would evaluate failures on."""
    request = request_of(found.snapshot.cluster, found.snapshot.ds, given)
    return find_failures(found.raw, found.snapshot, found.load, request, (), placements=())


def _scenario(brokers: Brokers, options: FailureOptions) -> FailureScenario:
    with named_as_options({"racks": "--lost-together"}):  # where a rack may stand among brokers
        given = [_given_set(brokers, text) for text in options.brokers]
    with named_as_options({"racks": "--racks"}):
        given += [
            _given_set(brokers, ",".join(f"{RACK_PREFIX}{rack}" for rack in split_names(text)), option="--racks")
            for text in options.racks
        ]
    return FailureScenario(
        scenario_id="given" if given else "every-loss",
        kinds=options.kinds,
        given=tuple(given),
        rules=options.rules,
        most_sets=options.most_sets,
        throttle_bytes_per_second=options.throttle_bytes_per_second,
        seed=options.seed,
    )


def _given_set(brokers: Brokers, text: str, *, option: str = "--lost-together") -> tuple[int, ...]:
    try:
        one = lost_together(text)
    except RequestError as error:
        raise RequestError(f"{option}: {error}") from None
    return tuple(sorted({*one.brokers, *(broker for rack in one.racks for broker in rack_members(brokers, rack))}))


def failures_document(failed: Failed) -> dict[str, Any]:
    """Give ``failures.json``: null where there is no figure, or none that ends."""
    result, snapshot = failed.result, failed.found.snapshot
    scenario, brokers = result.scenario, result.brokers
    return {
        **document_head(SCHEMA_VERSION, cluster=snapshot.cluster, ds=snapshot.ds),
        "scenario": {
            "rules": str(scenario.rules),
            "most_sets": scenario.most_sets,
            "throttle_bytes_per_second": scenario.throttle_bytes_per_second,
            "seed": scenario.seed,
        },
        "partitions": result.partition_count,
        "offline_today": result.offline_today,
        "under_min_isr_today": result.under_min_isr_today,
        "peaks": str(result.peak_basis),
        "brokers": [
            {
                "broker": int(brokers.ids[place]),
                "rack": brokers.racks[place],
                "peaks": {str(name): float(peak[place]) for name, peak in result.peaks_today().items()},
                "capacities": {str(name): plain_number(float(have[place])) for name, have in result.capacity.items()},
            }
            for place in range(len(brokers))
        ],
        "sets": [_set(failed, int(number)) for number in result.worst_first()],
        "left_out": [plain_fields(one) for one in result.left_out],
    }


def _set(failed: Failed, number: int) -> dict[str, Any]:
    """Return a set; what was asked for by name, with each survivor and topic."""
    result = failed.result
    row = set_row(result, number)
    if result.sets[number].kind is SetKind.GIVEN:
        row["survivors"] = survivor_rows(result, number)
        row["topics"] = topic_rows(failed.found.snapshot, result.sets[number], result.scenario.rules)
    return row
