"""Which group scenarios a request stands for, and how they are named and spread."""

from __future__ import annotations

import pytest

from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.model import Event, GroupSettings
from kafka_capacity.questions.consumers.grid import (
    GroupGridRequest,
    GroupUnit,
    GroupVariant,
    StaticMembership,
    group_units,
    group_variants,
    scenario_id,
    variant_scenarios,
    wanted_groups,
)
from kafka_capacity.questions.consumers.scenario import SmallestCounts
from tests.made_up_groups import facts

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER


def request(**changes):
    usual = {
        "groups": (),
        "member_counts": (),
        "assignors": (),
        "protocols": (),
        "static_membership": StaticMembership.BOTH,
        "events": tuple(Event),
        "lag_slo_seconds": 120.0,
        "catch_up_limit_seconds": 3600.0,
        "failure_count": 1,
        "member_capacity_bytes_per_second": None,
        "partitions_factor": 2,
        "broker_heap_bytes": 6 * 2.0**30,
        "settings": GroupSettings(session_timeout_seconds=10.0),
        "seed": 0,
    }
    return GroupGridRequest(**{**usual, **changes})


def variant(protocol=CLASSIC, assignor="range", is_static=False):
    return GroupVariant(protocol=protocol, assignor=assignor, is_static=is_static)


def kinds(group, asked):
    return [(v.protocol.value, v.assignor, v.is_static) for v in group_variants(group, asked)]


def smallest(for_all):
    return SmallestCounts(
        at_peak=for_all, after_failures=for_all, while_restarting=for_all, for_all=for_all, why_none=None
    )


def counts(group, asked, **given):
    return [scenario.member_count for scenario in variant_scenarios(group, variant(), asked, **given)]


def test_nothing_asked_is_today_and_the_usual_ones_with_static_members_and_without():
    assert kinds(facts(), request()) == [
        ("classic", "range", False),
        ("classic", "range", True),
        ("classic", "cooperative-sticky", False),
        ("classic", "cooperative-sticky", True),
        ("consumer", "uniform", False),
        ("consumer", "uniform", True),
    ]


def test_what_is_the_same_is_tried_once():
    static = facts(assignor="uniform", protocol=CONSUMER, static=2)
    assert kinds(static, request()) == [("consumer", "uniform", True), ("classic", "cooperative-sticky", True)]


@pytest.mark.parametrize(
    ("membership", "found"),
    [(StaticMembership.AS_IS, [False]), (StaticMembership.STATIC, [True]), (StaticMembership.BOTH, [False, True])],
)
def test_static_membership_is_tried_as_asked(membership, found):
    asked = request(assignors=("range",), protocols=(CLASSIC,), static_membership=membership)
    assert [v.is_static for v in group_variants(facts(static=1), asked)] == found


def test_an_assignor_is_tried_under_every_protocol_that_has_it():
    asked = request(assignors=("range", "sticky", "uniform"), static_membership=StaticMembership.AS_IS)
    assert kinds(facts(), asked) == [
        ("classic", "range", False),
        ("classic", "sticky", False),
        ("consumer", "range", False),
        ("consumer", "uniform", False),
    ]


def test_a_protocol_alone_is_tried_with_todays_assignor_and_the_usual_one():
    as_is = StaticMembership.AS_IS
    assert kinds(facts(), request(protocols=(CONSUMER,), static_membership=as_is)) == [("consumer", "uniform", False)]
    assert kinds(facts(), request(protocols=(CLASSIC,), static_membership=as_is)) == [
        ("classic", "range", False),
        ("classic", "cooperative-sticky", False),
    ]


def test_names_stay_apart_whatever_groups_and_assignors_are_called():
    tricky = [
        scenario_id("g.006.classic-x", variant(assignor="y"), 7),
        scenario_id("g", variant(assignor="x.007.classic-y"), 6),
        scenario_id("g", variant(assignor="x%2E007"), 6),
        scenario_id("g", variant(assignor="x.007"), 6),
    ]
    assert len(set(tricky)) == 4
    assert tricky[0] == "g.006.classic-x.007.classic-y.dynamic"


def test_today_is_always_among_the_counts_that_are_given():
    asked = request(member_counts=(5, 3, 5), assignors=("sticky",), static_membership=StaticMembership.AS_IS)
    assert group_units([facts()], asked) == (
        GroupUnit(position=0, variant=variant(), member_counts=(2,)),
        GroupUnit(position=0, variant=variant(assignor="sticky"), member_counts=(3, 5)),
    )
    covered = request(member_counts=(4,), protocols=(CLASSIC,), static_membership=StaticMembership.AS_IS)
    assert group_units([facts()], covered) == (
        GroupUnit(position=0, variant=variant(), member_counts=(2, 4)),
        GroupUnit(position=0, variant=variant(assignor="cooperative-sticky"), member_counts=(4,)),
    )


def test_large_groups_come_first():
    units = group_units([facts("small", partitions=2), facts("large", partitions=9)], request())
    assert [(unit.position, unit.member_counts) for unit in units] == [(1, ())] * 6 + [(0, ())] * 6


def test_without_counts_today_and_the_smallest_are_tried():
    assert counts(facts(members=2), request(), smallest=smallest(5)) == [2, 5]
    assert counts(facts(members=2), request(), smallest=smallest(2)) == [2]
    assert counts(facts(members=2), request(), smallest=smallest(None)) == [2]
    assert counts(facts(members=2), request()) == [2]
    # Of one member nobody is left when it fails, whatever is known of its load.
    crash = request(events=(Event.CRASH,), failure_count=1)
    assert counts(facts(members=1), crash, smallest=smallest(None)) == [1, 2]
    assert counts(facts(members=2), crash, smallest=smallest(None)) == [2]


def test_a_group_without_members_is_tried_with_the_smallest_count():
    empty = facts(members=0)
    assert counts(empty, request(), smallest=smallest(4)) == [4]
    assert counts(empty, request()) == [1]
    assert {unit.member_counts for unit in group_units([empty], request())} == {()}
    assert {unit.member_counts for unit in group_units([empty], request(member_counts=(3,)))} == {(3,)}


def test_a_scenario_has_what_was_asked():
    asked = request(events=(Event.CRASH,))
    (scenario,) = variant_scenarios(facts(), variant(), asked, member_counts=(4,), smallest=smallest(9))
    assert scenario.scenario_id == "orders-etl.004.classic-range.dynamic"
    assert scenario.events == (Event.CRASH,)
    assert scenario.settings.session_timeout_seconds == 10.0
    assert scenario.catch_up_limit_seconds == 3600.0


def test_only_the_groups_asked_for_are_kept():
    groups = [facts("b"), facts("a"), facts("c")]
    assert [f.group_id for f in wanted_groups(groups, request())] == ["a", "b", "c"]
    assert [f.group_id for f in wanted_groups(groups, request(groups=("c", "a")))] == ["a", "c"]


def test_an_assignor_that_is_not_known_is_not_tried():
    own = facts(assignor="by-moon")
    assert kinds(own, request(static_membership=StaticMembership.AS_IS)) == [
        ("classic", "cooperative-sticky", False),
        ("consumer", "uniform", False),
    ]
    asked = request(assignors=("range",), protocols=(CLASSIC,), static_membership=StaticMembership.AS_IS)
    assert [unit.variant.assignor for unit in group_units([own], asked)] == ["range"]


def test_members_are_lost_for_good_only_where_a_crash_is_asked_about():
    def failures(*events):
        asked = request(events=events)
        return {one.failure_count for one in variant_scenarios(facts("orders"), variant(), asked, member_counts=(3,))}

    assert failures(Event.CRASH, Event.SCALE) == {1}
    assert failures(Event.SCALE) == {0}
