"""Whether another rack rule would do where the strict one overloads a small rack: tried, not guessed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from kafka_capacity.kafka.placement.problem import PlacementProblem, RackRule
from kafka_capacity.kafka.placement.relaxing import limit_states
from kafka_capacity.proposal.constraints.moves import ALL_AT_ONCE, LOG_DIR
from kafka_capacity.proposal.scenario import PlacementResult, PlacementScenario

LOOKS_AT_RULES = "fewest-bytes"  # the placer that knows rack rules and balances; those of Kafka spread in their own way


def with_relaxed_rack_rule(
    result: PlacementResult, problem: PlacementProblem, evaluate: Callable[[PlacementScenario], PlacementResult]
) -> PlacementResult:
    """Describe in the first excuse about a limit that the rule ``two-racks`` would do, if it would."""
    asked = result.scenario
    if asked.placer != LOOKS_AT_RULES or asked.rack_rule is not RackRule.STRICT or result.diff is None:
        return result
    passed = {state.constraint for state in result.limits if state.is_passed}
    broken = {excuse.constraint for excuse in result.excuses}
    others = broken - passed - {LOG_DIR, *ALL_AT_ONCE}
    if not passed & broken or others or _is_hopeless(problem, result, passed):
        return result
    relaxed = evaluate(dataclasses.replace(asked, rack_rule=RackRule.TWO_RACKS))
    if any(excuse.constraint not in ALL_AT_ONCE for excuse in relaxed.excuses):
        return result
    at = next(number for number, excuse in enumerate(result.excuses) if excuse.constraint in passed)
    amended = dataclasses.replace(
        result.excuses[at], reason=f"{result.excuses[at].reason}; so would the rack rule two-racks instead of strict"
    )
    return dataclasses.replace(result, excuses=(*result.excuses[:at], amended, *result.excuses[at + 1 :]))


def _is_hopeless(problem: PlacementProblem, result: PlacementResult, passed: set[str]) -> bool:
    """Return whether a limit cannot be kept under the other rule either, whatever the plan."""
    assert result.diff is not None  # noqa: S101 - for the type checker
    relaxed = dataclasses.replace(problem, rack_rule=RackRule.TWO_RACKS)
    states = limit_states(relaxed, result.diff.after)
    return any(state.proven_ratio > 1.0 for state in states if state.constraint in passed)
