"""How long what was dismissed stays so."""

from __future__ import annotations

import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.plan.lifecycle import Said, Verb, after_saying, entries_of, observed, with_steps_continued
from kafka_capacity.plan.states import with_states
from tests.unit.plan.kept_problems import (
    BEHIND,
    FULL,
    HAVE,
    MOVE,
    REBALANCE,
    boxed,
    changed,
    decided,
    say,
    states,
)


def test_a_dismissal_needs_a_reason_and_is_of_what_was_dismissed(document, first):
    with pytest.raises(RequestError, match="reason: is required; say why"):
        say(document, first, Verb.DISMISS, "groups-behind")
    dismissed = say(document, first, Verb.DISMISS, "groups-behind", reason="replays")
    told = with_states(first, entries_of(dismissed))["problems"]
    assert told[1]["state"] == "dismissed by ana on 2026-11-02: replays"
    assert [one.get("is_dismissed") for one in told] == [None, True, None]
    assert states(dismissed, decided("2026-11-08", [BEHIND]))["groups-behind"].startswith("dismissed")
    for other in ({"severity": "serious"}, {"where": "groups etl, ads"}, {"partitions": 3}):
        week = decided("2026-11-08", [{**BEHIND, **other}])
        assert states(dismissed, week) == {"groups-behind": "open for 1 week"}
    assert states(say(dismissed, first, Verb.REOPEN, "groups-behind"), first)["groups-behind"] == "new"


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("broker 1", True),
        ("brokers 2, 1", True),
        ("brokers 1, 2, 3", False),
        ("broker 3", False),
        ("brokers 1, 2, 3, 4, 5 and 2 more", False),
        ("group 1", False),
        ("", False),
    ],
)
def test_a_dismissal_holds_for_fewer_of_the_same(document, first, where, holds):
    dismissed = say(document, first, Verb.DISMISS, "disk-over-limit", reason="known")
    week = decided("2026-11-08", [{**FULL, "where": where}])
    assert states(dismissed, week)["disk-over-limit"].startswith("dismissed") is holds


def test_what_there_should_be_nothing_of_grows_by_itself_and_a_drift_both_ways(first):
    lost = {**FULL, "code": "records-lost", "figure": {"needed": 12.0, "available": 0.0, "unit": "records"}}
    off = {**FULL, "code": "prediction-drift", "figure": {"needed": 0.8, "available": 1.0, "unit": "bytes"}}
    week = decided("2026-11-01", [lost, off])
    dismissed = say(observed(None, week, None), week, Verb.DISMISS, "records-lost", "prediction-drift", reason="known")
    assert all(state.startswith("dismissed") for state in states(dismissed, week).values())
    more = [{**lost, "figure": {**lost["figure"], "needed": 24.0}}, {**off, "figure": {**off["figure"], "needed": 0.2}}]
    assert set(states(dismissed, decided("2026-11-08", more)).values()) == {"open for 1 week"}


def test_other_limits_leave_what_is_kept_of_resources_as_it_is(document, first):
    claimed = say(document, first, Verb.CLAIM, "disk-over-limit")
    if_so = {**changed(is_alike=False), "other_limits": ["disk-over-limit", "cpu-over-limit"]}
    cpu = {**FULL, "code": "cpu-over-limit"}
    after = entries_of(observed(claimed, decided("2026-11-04", [FULL, cpu]), if_so))
    assert after["disk-over-limit"] == entries_of(claimed)["disk-over-limit"]
    assert "cpu-over-limit" not in after


def test_a_step_that_was_dismissed_stands_first_in_the_box(document, first):
    why = {"name": "why", "label": "Why", "text": "Disk space binds."}
    boxed = {**first, "box": {"approve": "Approve 3 more brokers now.", "lines": [why]}}
    dismissed = say(document, boxed, Verb.DISMISS, "have-15-brokers", reason="no budget")
    assert with_states(boxed, entries_of(dismissed))["box"] == {
        "approve": "Approve 3 more brokers now.",
        "lines": [
            {
                "name": "dismissed",
                "label": "Dismissed",
                "text": "Have 15 brokers: dismissed by ana on 2026-11-02: no budget.",
            },
            why,
        ],
    }
    assert with_states(boxed, entries_of(document))["box"] == boxed["box"]
    by_march = {**boxed, "actions": [{**HAVE, "by": "2027-03-28"}]}
    assert with_states(by_march, entries_of(dismissed))["box"] == boxed["box"]


def test_a_dismissal_ends_on_its_day(document, first):
    dismissed = say(document, first, Verb.DISMISS, "groups-behind", reason="replays", until="2026-11-08")
    assert "until 2026-11-08: replays" in states(dismissed, decided("2026-11-08", [BEHIND]))["groups-behind"]
    assert states(dismissed, decided("2026-11-09", [BEHIND]))["groups-behind"] == "open for 1 week"


def test_a_dismissal_cannot_end_before_it_begins(document, first):
    with pytest.raises(RequestError, match="until: 2026-11-01 is in the past; give a day from 2026-11-02 on"):
        say(document, first, Verb.DISMISS, "groups-behind", reason="replays", until="2026-11-01")


def test_a_dismissed_problem_that_got_worse_counts_again(document):
    said = Said(ids=("disk-over-limit",), verb=Verb.DISMISS, by="ana", on="2026-11-08", reason="disks are ordered")
    kept = entries_of(after_saying(document, decided("2026-11-08", [FULL], [HAVE]), said))
    (same, *_) = with_states(decided("2026-11-15", [FULL]), kept)["problems"]
    assert ("is_dismissed" in same, "is_again" in same) == (True, False)
    (worse, *_) = with_states(decided("2026-11-15", [{**FULL, "where": "brokers 1, 2, 3"}]), kept)["problems"]
    assert ("is_dismissed" in worse, "is_again" in worse) == (False, True)


@pytest.mark.parametrize(
    ("unit", "needed", "is_again"),
    [("bytes", 0.9, False), ("bytes", 0.99, True), ("seconds", 0.99, False), ("seconds", 1.8, True)],
)
def test_a_dismissed_problem_that_is_far_more_beyond_its_limit_counts_again(document, unit, needed, is_again):
    def full(needed):
        return {**FULL, "figure": {"needed": needed, "available": 0.85, "unit": unit}}

    said = Said(ids=("disk-over-limit",), verb=Verb.DISMISS, by="ana", on="2026-11-08", reason="88 % is fine")
    kept = entries_of(after_saying(document, decided("2026-11-08", [full(0.88)], [HAVE]), said))
    (row, *_) = with_states(decided("2026-11-15", [full(needed)]), kept)["problems"]
    assert ("is_dismissed" in row, "is_again" in row) == (not is_again, is_again)


def test_a_step_that_was_put_off_is_asked_again_once_it_is_due(document, first):
    dismissed = say(document, first, Verb.DISMISS, "have-15-brokers", reason="not this year")
    week = decided("2026-11-08", [], [MOVE])
    assert with_states(week, with_steps_continued(entries_of(dismissed), week))["actions"][0]["state"] == (
        "open for 1 week"
    )


def test_a_move_that_was_put_off_counts_again_once_it_is_due(first):
    optional, due = ({**REBALANCE, "by": None, "is_due": is_due} for is_due in (False, True))
    decision = boxed("2026-11-02", [], [optional])
    document = say(observed(None, decision, None), decision, Verb.DISMISS, REBALANCE["id"], reason="not worth it")
    assert states(document, boxed("2026-11-09", [], [optional]))[REBALANCE["id"]].startswith("dismissed by")
    again = with_states(boxed("2026-11-16", [], [due]), entries_of(document))["actions"][0]
    assert again["state"] == "open for 2 weeks"
    assert again["is_again"]


def test_a_move_that_comes_back_is_another_one():
    decision = boxed("2026-11-02", [], [{**REBALANCE, "by": None}])
    document = say(observed(None, decision, None), decision, Verb.DISMISS, REBALANCE["id"], reason="not worth it")
    document = observed(document, boxed("2026-11-09", [], disk=0.7), changed(asked=(REBALANCE["id"],)))
    assert states(document, boxed("2026-11-16", [], [{**REBALANCE, "by": None}]))[REBALANCE["id"]] == "new"
