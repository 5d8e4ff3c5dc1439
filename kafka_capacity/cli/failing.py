"""From the options of ``failures`` to what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.documents import document_head
from kafka_capacity.cli.plan_input import ask_snapshot
from kafka_capacity.cli.plan_options import named_as_options, split_names
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.plain import plain_number, to_plain
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.plan.handing import failures_today
from kafka_capacity.proposal.pins import RACK_PREFIX
from kafka_capacity.questions.failures import FailureResult, FailureScenario, SetKind
from kafka_capacity.questions.failures.plain import set_row, survivor_rows, topic_rows
from kafka_capacity.questions.failures.request import lost_together
from kafka_capacity.questions.failures.sets import rack_members
from kafka_capacity.questions.question import Basis

SCHEMA_VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Failed:
    """All that came of the losses."""

    found: Basis
    result: FailureResult


def lose_brokers(
    snapshot: str, given: Mapping[str, Any], racks: Sequence[str], begin: Steps, *, has_pairs: bool
) -> Failed:
    """Read and lose.

    Args:
        snapshot: its folder or address.
        given: fields of the request that were given.
        racks: sets of racks, ``a,b`` each.
        begin: told of each step.
        has_pairs: whether every pair is lost beside given sets.

    Raises:
        KafkaCapacityError: an option or the snapshot is wrong.
    """
    begin("reading the snapshot", steps=3)
    # Sets are read where the brokers are known.
    asked = ask_snapshot(snapshot, {name: value for name, value in given.items() if name != "failure_sets"})
    request = asked.parameters
    sets = _given_sets(asked.basis.snapshot.brokers, given.get("failure_sets", ()), racks)
    names = ("pair",) * has_pairs if sets and "failure_kinds" not in given else request.failure_kinds
    scenario = FailureScenario(
        scenario_id="given" if sets else "every-loss",
        kinds=tuple(SetKind(name) for name in dict.fromkeys(names)),
        given=sets,
        rules=request.election_rules,
        max_sets=request.max_failure_sets,
        throttle_bytes_per_second=request.throttle_bytes_per_second,
        seed=request.seed,
    )
    begin("adding up the hours")
    inputs = failures_today(asked)
    begin("losing brokers")
    with named_as_options({"brokers": "--lost-together"}):
        result = inputs.lose(scenario, inputs.today)
    return Failed(found=asked.basis, result=result)


def _given_sets(brokers: Brokers, sets: Sequence[str], racks: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return sets of brokers and racks, ``1,2,rack:a`` each, and sets of racks, ``a,b`` each."""
    with named_as_options({"racks": "--lost-together"}):  # where a rack may stand among brokers
        given = [_given_set(brokers, text) for text in sets]
    with named_as_options({"racks": "--racks"}):
        given += [
            _given_set(brokers, ",".join(f"{RACK_PREFIX}{rack}" for rack in split_names(text)), option="--racks")
            for text in racks
        ]
    return tuple(given)


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
            "max_sets": scenario.max_sets,
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
        "left_out": [to_plain(one) for one in result.left_out],
    }


def _set(failed: Failed, number: int) -> dict[str, Any]:
    """Return a set; what was asked for by name, with each survivor and topic."""
    result = failed.result
    row = set_row(result, number)
    if result.sets[number].kind is SetKind.GIVEN:
        row["survivors"] = survivor_rows(result, number)
        row["topics"] = topic_rows(failed.found.snapshot, result.sets[number], result.scenario.rules)
    return row
