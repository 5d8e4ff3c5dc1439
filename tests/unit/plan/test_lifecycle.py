"""What becomes of problems and recommendations from report to report."""

from __future__ import annotations

import copy
import threading

import pytest

from kafka_capacity.errors import DamagedObjectError, RequestError, StorageError
from kafka_capacity.objects.keys import lifecycle_key
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.effects import ended
from kafka_capacity.plan.lifecycle import (
    Request,
    Said,
    Verb,
    entries_of,
    keep_observed,
    keep_said,
    observed,
    read_entries,
    with_ids,
    with_steps_continued,
)
from kafka_capacity.plan.states import followed_lines, resolved_lines, settled
from tests.unit.plan.kept_problems import (
    BEHIND,
    FULL,
    HAVE,
    MOVE,
    NOTE,
    REBALANCE,
    RISK,
    boxed,
    changed,
    decided,
    say,
    states,
)


def compared(*, new=(), resolved=(), unjudged=(), other_limits=(), is_alike=True):
    found = {"new": [*new], "new_ids": [*new], "resolved": [*resolved], "resolved_ids": [*resolved]}
    return {**found, "unjudged": [*unjudged], "other_limits": [*other_limits], "is_alike": is_alike, "asked_ids": []}


def test_what_the_last_report_could_not_judge_is_settled_once_it_is_judged():
    full = {**FULL, "message": "2 brokers are full"}
    document = observed(None, decided("2026-11-01", [full]), None)
    unseen = decided("2026-11-08", [])
    document = observed(document, unseen, compared(unjudged=["disk-over-limit"]))
    assert entries_of(document)["disk-over-limit"]["done"] is None
    # Judged again it is over, unless it is there, and told once.
    still = decided("2026-11-15", [full])
    assert settled(entries_of(document), still, compared())["resolved"] == []
    gone = decided("2026-11-15", [])
    changes = settled(entries_of(document), gone, compared())
    assert (changes["resolved_ids"], changes["resolved"]) == (["disk-over-limit"], [FULL["text"]])
    assert settled(entries_of(document), gone, compared(is_alike=False))["resolved"] == []
    document = observed(document, gone, changes)
    assert entries_of(document)["disk-over-limit"]["done"]["on"] == "2026-11-15"
    assert settled(entries_of(document), decided("2026-11-22", []), compared())["resolved_ids"] == []


def test_what_a_report_under_other_limits_saw_is_new_in_the_next_one_under_these():
    full, cpu = {**FULL, "message": "full"}, {**FULL, "code": "cpu-over-limit", "message": "busy"}
    document = observed(None, decided("2026-11-01", [full]), None)
    week = decided("2026-11-08", [full, cpu])
    document = observed(document, week, compared(other_limits=["cpu-over-limit"], is_alike=False))
    later = decided("2026-11-15", [full, cpu])
    assert settled(entries_of(document), later, compared())["new_ids"] == ["cpu-over-limit"]
    # What only the change would bring is none of the cluster's.
    moved = decided("2026-11-15", [full, {**cpu, "then": "New with the change."}])
    assert settled(entries_of(document), moved, compared())["new_ids"] == []


def test_a_plan_that_was_asked_for_moves_nothing_by_itself():
    again = {"id": "plan-again.x", "code": "plan-again", "text": "Plan the move to 9.", "about": "x", "by": None}
    document = observed(None, decided("2026-11-01", [], [{**again, "broker_count": None}], disk=0.9), None)
    after = observed(document, decided("2026-11-08", [], disk=1.3), changed(asked=("plan-again.x",)))
    assert entries_of(after)["plan-again.x"]["done"]["effect"] == "no longer found"


def test_what_is_seen_first_is_new_whenever_its_report_is_drawn(first, document):
    new = {"disk-over-limit": "new", "groups-behind": "new", "sizes-of-one-day": None, "have-15-brokers": "new"}
    assert states(None, first) == new
    assert states(document, first) == new
    later = observed(document, decided("2026-11-22", [FULL]), None)
    assert states(later, first) == new
    assert observed(later, first, None) == later


@pytest.mark.parametrize(
    ("ds", "words"), [("2026-11-04", "3 days"), ("2026-11-08", "1 week"), ("2026-11-23", "3 weeks")]
)
def test_what_is_seen_again_is_open_for_so_long(document, ds, words):
    moved = {**FULL, "text": "7 brokers are over the limit.", "where": "brokers 1, 2, 3, 4, 5 and 2 more"}
    assert states(document, decided(ds, [moved]))["disk-over-limit"] == f"open for {words}"


def test_what_is_claimed_is_shown_until_it_is_released(document):
    week = decided("2026-11-08", [FULL])
    claimed = say(document, week, Verb.CLAIM, "disk-over-limit")
    assert states(claimed, week) == {"disk-over-limit": "open for 1 week, claimed by ana on 2026-11-02"}
    with_reason = say(document, week, Verb.CLAIM, "disk-over-limit", reason="disks are ordered, CHG-9")
    assert states(with_reason, week)["disk-over-limit"].endswith("by ana on 2026-11-02: disks are ordered, CHG-9")
    assert states(say(claimed, week, Verb.RELEASE, "disk-over-limit"), week) == {"disk-over-limit": "open for 1 week"}


def test_what_there_is_not_cannot_be_claimed(document, first):
    with pytest.raises(RequestError, match=r"claim: there is no .* 'groups-behnd'; did you mean groups-behind"):
        say(document, first, Verb.CLAIM, "groups-behnd")
    with pytest.raises(RequestError, match=r"claim: .* 'x'; choose from nothing: there are no problems"):
        say(None, decided("2026-11-01", [NOTE]), Verb.CLAIM, "x")


def test_what_is_over_is_said_to_be_and_only_a_close_id_is_suggested(document):
    have, later = {**HAVE, "id": "have-11-brokers"}, "2026-11-15"
    rest = decided(later, [], [have])
    gone = observed(document, rest, changed("disk-over-limit"))
    with pytest.raises(RequestError, match=r"^dismiss: disk-over-limit is over since 2026-11-15; leave it out$"):
        say(gone, rest, Verb.DISMISS, "disk-over-limit", reason="it goes")
    with pytest.raises(RequestError, match=r"^claim: groups-behind was last seen on 2026-11-01; leave it out$"):
        say(gone, rest, Verb.CLAIM, "groups-behind")
    with pytest.raises(RequestError, match=r"'fenced-brokers'; choose from have-11-brokers$"):
        say(None, rest, Verb.CLAIM, "fenced-brokers")


def test_what_was_done_has_the_effect_that_was_measured(document):
    after = decided("2026-11-15", [BEHIND], brokers=15, disk=0.71, usd=16_425.0)
    changes = changed("disk-over-limit") | {"resolved": ["2 brokers are over the limit."]}
    effect = "12 brokers → 15 brokers, the fullest disk 95.0 % → 71.0 %, $13,140 per month → $16,425 per month."
    assert resolved_lines(entries_of(document), after, changes) == [f"2 brokers are over the limit: {effect}"]
    lines = followed_lines(entries_of(document), after, changes)
    assert lines == [{"label": "Done", "text": f"Have 15 brokers: {effect}"}]
    kept = observed(document, after, changed("disk-over-limit"))
    assert entries_of(kept)["disk-over-limit"]["done"]["on"] == "2026-11-15"
    # The same report once more says and keeps the same.
    assert followed_lines(entries_of(kept), after, changed("disk-over-limit")) == lines
    assert observed(kept, after, changed("disk-over-limit")) == kept
    week = decided("2026-11-22", [BEHIND], brokers=15)
    assert followed_lines(entries_of(kept), week, changed()) == []
    # What comes back is new, and nobody's.
    assert states(kept, decided("2026-11-22", [FULL])) == {"disk-over-limit": "new"}
    back = observed(kept, decided("2026-11-22", [FULL]), changed())
    assert states(back, decided("2026-11-29", [FULL])) == {"disk-over-limit": "open for 1 week"}


def test_the_effect_is_since_it_was_first_asked_for(document):
    half = decided("2026-11-08", [FULL], [HAVE], brokers=14, disk=0.9)
    whole = decided("2026-11-15", [FULL], brokers=15, disk=0.9)
    (line,) = followed_lines(entries_of(observed(document, half, changed())), whole, changed())
    assert line["text"] == "Have 15 brokers: 12 brokers → 15 brokers, the fullest disk 95.0 % → 90.0 %."


def test_who_answers_late_says_it_of_what_was_asked(document, first):
    later = observed(document, decided("2026-11-15", [FULL]), changed())
    asked = decided("2026-11-08", [FULL, RISK])
    entries = entries_of(say(later, asked, Verb.CLAIM, "disk-over-limit", "groups-at-risk"))
    assert [key for key, entry in entries.items() if entry["claimed"]] == ["disk-over-limit", "groups-at-risk"]
    assert entries["disk-over-limit"]["last"] == "2026-11-15"


def test_what_an_earlier_version_decided_has_a_state_as_well():
    old = {**decided("2026-11-01", []), "problems": [FULL], "actions": [{"code": "move", "text": "Move."}]}
    del old["today"]
    document = observed(None, old, None)
    assert set(entries_of(document)) == {"disk-over-limit", "move"}
    now = decided("2026-11-08", [], brokers=15)
    assert followed_lines(entries_of(document), now, changed("disk-over-limit")) == []


def test_what_is_asked_for_no_more_is_not_called_reached(document):
    lines = followed_lines(entries_of(document), decided("2026-11-15", [FULL]), changed())
    assert lines == [{"label": "Dropped", "text": "Have 15 brokers: no longer recommended; there are 12 brokers."}]


def test_what_only_a_what_if_asked_for_is_neither_done_nor_dropped(document):
    fits = decided("2026-11-15", [FULL], brokers=15, disk=0.7)
    assert followed_lines(entries_of(document), fits, changed(asked=())) == []
    assert entries_of(observed(document, fits, changed(asked=())))["have-15-brokers"]["done"] is None


def test_a_plan_that_was_asked_otherwise_says_nothing_of_what_others_asked(first):
    document = observed(None, decided("2026-11-01", [FULL, RISK], [HAVE]), None)
    what_if = decided("2026-11-03", [])
    kept = observed(document, what_if, changed("disk-over-limit", "groups-at-risk", is_alike=False))
    assert [key for key, entry in entries_of(kept).items() if entry["done"]] == ["disk-over-limit"]


def test_a_report_keeps_which_request_was_answered_last():
    early, late = (Request(plan_id=name, asked=f"2026-11-0{day}T06:00") for name, day in (("a", 1), ("b", 2)))
    decision = decided("2026-11-01", [], [MOVE])
    document = say(None, decision, Verb.CLAIM, "move-to-15-brokers", answers=late)
    document = observed(document, decided("2026-11-08", [], [MOVE]), None)
    document = say(document, decision, Verb.DISMISS, "move-to-15-brokers", reason="stale", answers=early)
    assert entries_of(document)["move-to-15-brokers"]["dismissed"] is None
    # Who says so without a request is heard.
    document = say(document, decision, Verb.DISMISS, "move-to-15-brokers", reason="no")
    assert entries_of(document)["move-to-15-brokers"]["dismissed"]["reason"] == "no"


def test_of_several_that_say_something_at_once_all_are_kept(tmp_path, first):
    store = LocalStore(tmp_path)
    problems = [{**BEHIND, "code": f"code-{number}"} for number in range(12)]
    decision = decided("2026-11-01", problems)
    keep_observed(store, decision, None)
    saying = [
        threading.Thread(
            target=keep_said,
            args=(store, decision, Said(ids=(f"code-{number}",), verb=Verb.CLAIM, by=f"{number}", on="2026-11-02")),
        )
        for number in range(12)
    ]
    for thread in saying:
        thread.start()
    for thread in saying:
        thread.join()
    claims = {entry["claimed"]["by"] for entry in read_entries(store, decision).values()}
    assert claims == {str(number) for number in range(12)}


def test_what_cannot_be_read_costs_no_report_and_is_not_written_over(tmp_path, first, caplog):
    store, key = LocalStore(tmp_path), lifecycle_key("shop")
    keep_observed(store, first, None)
    broken = store.read_bytes(key)[:-40]
    store.write_bytes(key, broken)
    assert read_entries(store, first) == {}
    keep_observed(store, first, None)
    assert "the state of problems was not saved" in caplog.text
    assert store.read_bytes(key) == broken
    with pytest.raises(DamagedObjectError):
        keep_said(store, first, Said(ids=("groups-behind",), verb=Verb.CLAIM, by="ana", on="2026-11-02"))


def test_ids_stay_when_figures_change_and_tell_several_of_a_kind_apart():
    rows = with_ids([FULL, {**FULL, "about": "12 brokers"}, {**FULL, "where": "elsewhere"}, copy.deepcopy(NOTE)])
    assert [one["id"] for one in rows] == [
        "disk-over-limit",
        "disk-over-limit.12-brokers",
        "disk-over-limit.2",
        "sizes-of-one-day",
    ]


def test_what_a_newer_release_keeps_is_refused(document):
    with pytest.raises(StorageError, match=r"version 9; this release reads 'kafka-capacity-lifecycle' version 1"):
        entries_of({**document, "version": 9})


def test_what_is_due_or_claimed_stands_with_what_changed(document):
    later = {**HAVE, "id": "have-18-brokers", "about": "have 18 brokers", "by": "2027-05-01"}
    first = decided("2026-11-01", [], [HAVE, later])
    document = observed(None, first, None)
    assert followed_lines(entries_of(document), first, changed()) == []
    week = decided("2026-11-08", [], [HAVE, later])
    due = {"label": "Have 15 brokers", "text": "open for 1 week"}
    assert followed_lines(entries_of(document), week, changed()) == [due]
    claimed = say(document, first, Verb.CLAIM, "have-18-brokers")
    bought = {"label": "Have 18 brokers", "text": "open for 1 week, claimed by ana on 2026-11-02"}
    assert followed_lines(entries_of(claimed), week, changed()) == [due, bought]


def test_a_step_that_is_due_goes_on_as_the_move_that_takes_it(document, first):
    claimed = say(document, first, Verb.CLAIM, "have-15-brokers")
    week = decided("2026-11-08", [FULL], [MOVE])
    entries = with_steps_continued(entries_of(claimed), week)
    lines = followed_lines(entries, week, changed())
    assert lines == [{"label": "Move to 15 brokers", "text": "open for 1 week, claimed by ana on 2026-11-02"}]
    kept = observed(claimed, week, changed())
    assert set(entries_of(kept)) == {"disk-over-limit", "groups-behind", "move-to-15-brokers"}
    moved = decided("2026-11-15", [FULL], brokers=15)
    (line,) = followed_lines(entries_of(kept), moved, changed(asked=("move-to-15-brokers",)))
    assert line == {"label": "Done", "text": "Move to 15 brokers: 12 brokers → 15 brokers."}


@pytest.mark.parametrize(
    ("ds", "actions"),
    [("2026-11-08", [{**MOVE, "id": "move-to-9-brokers", "broker_count": 9}]), ("2026-12-20", [MOVE])],
)
def test_another_step_or_one_of_long_after_is_not_the_same(document, ds, actions):
    assert set(with_steps_continued(entries_of(document), decided(ds, [], actions))) == set(entries_of(document))


@pytest.mark.parametrize(
    ("effect", "word"),
    [
        ("12 brokers → 15 brokers", "done"),
        ("no longer found", "gone"),
        ("no longer recommended; there are 12 brokers", "dropped"),
        ("no longer requested; there are 12 brokers", "dropped"),
    ],
)
def test_only_what_was_reached_is_called_done(effect, word):
    assert ended(effect) == word


@pytest.mark.parametrize(
    ("brokers", "disk", "told"),
    [
        (12, 0.7, "Done: the fullest disk 95.0 % → 70.0 %"),
        (12, 0.96, "Dropped: no longer recommended"),
        (15, 0.7, "Dropped: no longer recommended; there are 15 brokers"),
    ],
)
def test_a_move_that_nobody_made_is_not_done(brokers, disk, told):
    first = boxed("2026-11-02", [], [{**REBALANCE, "by": None}])
    document, changes = observed(None, first, None), changed(asked=(REBALANCE["id"],))
    later = boxed("2026-11-09", [], brokers=brokers, disk=disk)
    (line,) = followed_lines(entries_of(document), later, changes)
    assert f"{line['label']}: {line['text'].partition(': ')[2]}" == f"{told}."
