"""What is not to be approved yet, and no action: what nobody knows to be needed, or enough."""

from __future__ import annotations

import dataclasses

import pytest

from kafka_capacity.health.check import RESOLVED, ListedProblem
from kafka_capacity.health.problem import Code, Problem, Severity
from kafka_capacity.plan.decision import decide
from kafka_capacity.plan.move_and_sizing import why_not_approved
from kafka_capacity.questions.answer import APPROVED
from tests.report.decided import decision_of
from tests.report.plans import ClusterSpec, make_inputs
from tests.report.sized import sized_inputs


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (4, "whether 4 brokers are enough"),
        (7, "whether 1 more broker is needed"),
        (8, "whether 2 more brokers are needed"),
    ],
)
def test_no_other_count_is_approved_where_nobody_knows_whether_it_is_needed_or_enough(count, said):
    decided = decision_of(make_inputs(ClusterSpec(hours=0), broker_counts=(count,), placers=("fewest-bytes",)))
    assert decided["box"]["approve"] == f"Approve nothing yet: {said} is not judged, because traffic is unknown."
    assert not [one for one in decided["actions"] if one["code"] == "move"]
    assert (decided["recommendation"]["broker_count_now"], decided["recommendation"]["moves_to"]) == (None, count)


def test_among_as_many_brokers_a_move_is_approved_as_far_as_known():
    decided = decision_of(make_inputs(ClusterSpec(hours=0), broker_counts=(6,), placers=("fewest-bytes",)))
    assert decided["box"]["approve"] == "As far as known: approve the move among 6 brokers."
    assert [one["about"] for one in decided["actions"]] == ["move to 6 brokers"]


@pytest.mark.parametrize(("count", "then", "is_known"), [(8, RESOLVED, True), (8, "", False), (4, RESOLVED, False)])
def test_more_brokers_are_needed_for_what_is_over_its_limit_until_the_move(count, then, is_known):
    inputs = make_inputs(ClusterSpec(hours=0), broker_counts=(count,), placers=("fewest-bytes",))
    problem = Problem(severity=Severity.SERIOUS, code=Code.DISK_OVER_LIMIT, where="broker 1", message="full")
    view = decide(inputs).view
    assert (why_not_approved(view, None, [ListedProblem(problem, then=then)]) == "") is is_known


def test_of_an_inconsistent_inventory_nothing_is_approved_and_no_action_follows():
    finding = {"severity": "fatal", "code": "no-sizes", "where": "replicas", "message": "no replica has a size"}
    for inputs in (make_inputs(findings=(finding,)), dataclasses.replace(sized_inputs(), findings=(finding,))):
        decided = decision_of(inputs)
        assert decided["box"]["approve"] == "Approve nothing yet: the inventory is inconsistent."
        assert not [one for one in decided["actions"] if one["code"] in APPROVED]
