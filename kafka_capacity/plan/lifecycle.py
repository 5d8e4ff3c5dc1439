"""What is kept of problems and recommendations: since when, who claimed or dismissed them, and what came of them.

Each has an id that stays while its figures change. One document a cluster keeps, by id, since when it has been seen,
who claimed it or dismissed it, and what came of it; reports write the first, people and approvals the second. Nothing
here changes what is decided: a problem that was dismissed still stands in ``decision.json``.
"""

from __future__ import annotations

import difflib
import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from kafka_capacity.demand.calendar_days import days_between
from kafka_capacity.errors import MissingObjectError, RequestError, StorageError
from kafka_capacity.health.check import NEW
from kafka_capacity.health.problem import Severity
from kafka_capacity.objects.keys import lifecycle_key
from kafka_capacity.objects.manifest import change_with_own_hash, read_with_own_hash
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.effects import ACTION, PROBLEM, effect_of
from kafka_capacity.plan.growth import Row, has_grown, is_within
from kafka_capacity.questions.answer import StepVerb
from kafka_capacity.text.names import slug

log = logging.getLogger(__name__)

LIFECYCLE_KIND = "kafka-capacity-lifecycle"
LIFECYCLE_VERSION = 1
ALIKE_DAYS = 35  # a report is compared with one that was asked the same rather than with a newer one, up to this age
CLUSTER = "cluster"  # what problems are of that the one check of the cluster's health finds, whatever is asked
ANSWERED = "answered"  # the request for an approval that was made last of those that were answered
GRAVE = frozenset({Severity.FATAL, Severity.SERIOUS})


Entry = Mapping[str, Any]  # what is kept of one


class Verb(StrEnum):
    """What somebody does with a problem or an action."""

    CLAIM = "claim"
    RELEASE = "release"  # the claim
    DISMISS = "dismiss"
    REOPEN = "reopen"  # what was dismissed


def with_ids(problems: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return problems each with its ``id``: its code, and what tells it from others of its code.

    >>> of = [("disk", ""), ("rack", ""), ("rack", "12 brokers"), ("rack", "")]
    >>> [one["id"] for one in with_ids({"code": code, "about": about} for code, about in of)]
    ['disk', 'rack', 'rack.12-brokers', 'rack.2']
    """
    taken = Counter[str]()
    rows = []
    for one in problems:
        found = f"{one['code']}.{slug(one['about'])}" if one.get("about") else str(one["code"])
        taken[found] += 1
        rows.append({**one, "id": found if taken[found] == 1 else f"{found}.{taken[found]}"})
    return rows


def id_of(problem: Row) -> str:
    """Return the id of a problem; in a report of before there were any, its code."""
    return str(problem.get("id", problem["code"]))


def is_followed(problem: Row) -> bool:
    """Return whether a problem has a state: a note that asks for nothing has none."""
    return problem["severity"] != Severity.INFO or bool(problem.get("remedy"))


def followed(decision: Mapping[str, Any]) -> dict[str, Row]:
    """Return the problems and actions of a decision that have a state, by id, the worst problem first."""
    rows = [*(one for one in decision["problems"] if is_followed(one)), *decision.get("actions", ())]
    return {id_of(one): one for one in rows}


def gravest(decision: Mapping[str, Any]) -> Row | None:
    """Return the worst problem of a decision that is serious and was not dismissed; ``None`` for none."""
    rows = followed(decision).values()
    return next((one for one in rows if one.get("severity") in GRAVE and "is_dismissed" not in one), None)


def entries_of(document: Mapping[str, Any] | None) -> Mapping[str, Entry]:
    """Return what a document keeps, by id; raises StorageError where it is of another kind, or of a newer version."""
    if document is None:
        return {}
    if document.get("kind") != LIFECYCLE_KIND or document.get("version") != LIFECYCLE_VERSION:
        msg = f"the state of problems is stored as {document.get('kind')!r} version {document.get('version')!r}"
        raise StorageError(f"{msg}; this release reads {LIFECYCLE_KIND!r} version {LIFECYCLE_VERSION}")
    entries: Mapping[str, Entry] = document["entries"]
    return entries


def with_steps_continued(entries: Mapping[str, Entry], decision: Mapping[str, Any]) -> dict[str, Entry]:
    """Return what is kept, of steps of brokers by the ids that they have in a decision.

    A step to have 12 brokers goes on as the move to 12 once it is due: its age and who claimed it stay. A dismissal
    does not, which was of the other.
    """
    found, rows = dict(entries), followed(decision)
    for key, row in rows.items():
        names = [slug(verb.about(row["broker_count"])) for verb in StepVerb] if row.get("broker_count") else []
        if key not in names or (key in found and found[key]["done"] is None):
            continue
        for name in names:
            old = found.get(name)
            if name not in rows and old and not old["done"] and days_between(old["last"], decision["ds"]) <= ALIKE_DAYS:
                found[key] = {**found.pop(name), "dismissed": None}
    return found


def dismissal(entry: Entry | None, row: Row, ds: str) -> Mapping[str, Any] | None:
    """Return the dismissal of a problem that holds on a day.

    It is of what was dismissed: it ends on its day, and where the problem is more severe, of more partitions, far more
    beyond its limit or somewhere else by now, or the action has become due, or was done and has come back.
    """
    found: Mapping[str, Any] | None = (entry or {}).get("dismissed")
    if found is None or (found["until"] and ds > found["until"]):
        return None
    if not is_within(row.get("where", ""), found["where"]):
        return None
    now, then = (Severity(one.get("severity", Severity.INFO)).rank for one in (row, found))
    # What was dismissed by an earlier release does not say of how many partitions it was.
    is_more = "partitions" in found and row.get("partitions", 0) > int(found["partitions"])
    is_more = is_more or has_grown(row, found)
    is_another = (
        entry is not None and entry["kind"] == ACTION and entry["done"] is not None and entry["done"]["on"] < ds
    )
    is_due_now = is_another or (row.get("is_due", False) and not found.get("is_due", True))
    return None if now < then or is_more or is_due_now else found


def done_words(
    entries: Mapping[str, Entry], decision: Mapping[str, Any], changes: Mapping[str, Any] | None
) -> dict[str, str]:
    """Return what was done since the last report, by id, and the effect that was measured.

    Problems are done that the comparison with the last report resolves, actions that it requested and this one does
    not; but for problems of the cluster only where that report was asked alike.
    """
    found: dict[str, str] = {}
    if changes is None:
        return found
    for key, entry in entries.items():
        is_over = key in changes["resolved_ids" if entry["kind"] == PROBLEM else "asked_ids"]
        is_told = is_over and (changes["is_alike"] or entry["question"] == CLUSTER) and key not in followed(decision)
        if is_told and (entry["done"] is None or entry["done"]["on"] == decision["ds"]):
            found[key] = effect_of(entry, decision["today"])
    return found


def observed(
    document: Mapping[str, Any] | None, decision: Mapping[str, Any], changes: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the document after a report: what is seen for the first time or again, and what is done.

    A report of an earlier day than the newest changes nothing.
    """
    ds, entries = decision["ds"], with_steps_continued(entries_of(document), decision)
    if document is not None and document["day"] > ds:
        return dict(document)
    for key, effect in done_words(entries, decision, changes).items():
        entries[key] = {**entries[key], "done": {"on": ds, "effect": effect}}
    other_limits = () if changes is None else changes.get("other_limits", ())
    for key, row in followed(decision).items():
        if row["code"] not in other_limits:  # a plan of what would be under other limits tells nothing of these
            entries[key] = _seen(entries.get(key), row, decision)
    head = {"kind": LIFECYCLE_KIND, "version": LIFECYCLE_VERSION, "cluster": decision["cluster"]}
    answered = {} if document is None else {key: value for key, value in document.items() if key == ANSWERED}
    return {**head, **answered, "day": ds, "entries": entries}


def _seen(old: Entry | None, row: Row, decision: Mapping[str, Any]) -> Entry:
    """Return what is kept of a problem or an action that is seen; what was done and comes back is new, and nobody's.

    A problem that comes back is still dismissed; an action is another one.
    """
    ds = decision["ds"]
    if old is None or (old["done"] is not None and old["done"]["on"] < ds):
        dismissed = None if old is None or old["kind"] == ACTION else old["dismissed"]
        old = {"first": ds, "at_first": decision.get("today", {}), "claimed": None, "dismissed": dismissed}
    return {
        "kind": PROBLEM if "severity" in row else ACTION,
        "code": row["code"],
        "question": question_of(row),
        "text": row["text"],
        "broker_count": row.get("broker_count"),
        **{name: old[name] for name in ("first", "at_first", "claimed", "dismissed")},
        "last": ds,
        "done": None,
    }


def question_of(row: Row) -> str:
    """Return what a problem is of; one that only the change would bring is not the cluster's, whatever finds it."""
    return "" if row.get("then") == NEW else str(row.get("question", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to approve a plan."""

    plan_id: str
    asked: str  # when the run was due that made it: ISO 8601, in UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What somebody says of problems or actions."""

    ids: tuple[str, ...]  # of which
    verb: Verb  # what becomes of them
    by: str  # who says so
    on: str  # the day
    reason: str = ""  # why; needed to dismiss
    until: str = ""  # the last day of a dismissal; empty for ever
    answers: Request | None = None  # the request that it is the answer to


def after_saying(document: Mapping[str, Any] | None, decision: Mapping[str, Any], *all_said: Said) -> dict[str, Any]:
    """Return the document after somebody claimed, released, dismissed or reopened something of a decision.

    Who rejects a plan after a later request of another one was answered dismisses nothing: that answer stands.

    Raises RequestError where the decision has no such problem or action, nothing would change, or a dismissal has no
    reason.
    """
    changed = observed(document, decision, None)
    for said in all_said:
        last = changed.get(ANSWERED) or {"plan_id": "", "asked": ""}
        if said.answers is not None:
            is_late = said.answers.asked < last["asked"]
            if is_late and said.verb is Verb.DISMISS and said.answers.plan_id != last["plan_id"]:
                why = f"plan {last['plan_id']}, whose approval was asked for later, was answered before"
                log.warning("the rejection of plan %s dismisses nothing: %s", said.answers.plan_id, why)
                continue
            if not is_late:
                changed[ANSWERED] = asdict(said.answers)
        changed = {**changed, "entries": _after(changed["entries"], decision, said)}
    return changed


def _after(entries: Mapping[str, Entry], decision: Mapping[str, Any], said: Said) -> dict[str, Entry]:
    if said.verb is Verb.DISMISS and not said.reason.strip():
        raise RequestError("reason: is required; say why it is dismissed, for readers of the next report")
    if said.until and said.until < said.on:
        raise RequestError(f"until: {said.until} is in the past; give a day from {said.on} on, or none for no end")
    rows, entries = followed(decision), dict(entries)
    for key in said.ids:
        _check_said_of(key, entries.get(key), rows, said.verb)
        told = {"by": said.by, "on": said.on, "reason": " ".join(said.reason.split())}
        usual = {"severity": Severity.INFO, "where": "", "partitions": 0}
        what = {name: rows[key].get(name, default) for name, default in usual.items()}
        what |= {"figure": rows[key]["figure"]} if rows[key].get("figure") else {}
        what |= {"is_due": rows[key]["is_due"]} if "is_due" in rows[key] else {}
        becomes: dict[Verb, dict[str, Any]] = {
            Verb.CLAIM: {"claimed": told, "dismissed": None},
            Verb.RELEASE: {"claimed": None},
            Verb.DISMISS: {"dismissed": {**told, **what, "until": said.until}},
            Verb.REOPEN: {"dismissed": None},
        }
        entries[key] = {**(entries.get(key) or _seen(None, rows[key], decision)), **becomes[said.verb]}
    return entries


_CLOSE = 0.8
"""Of difflib's ratio: a slip of the keyboard in an id, and not another id with a word in common."""


def _check_said_of(key: str, entry: Entry | None, rows: Mapping[str, Row], verb: Verb) -> None:
    if key not in rows:
        if entry is not None:
            how = f"is over since {entry['done']['on']}" if entry["done"] else f"was last seen on {entry['last']}"
            raise RequestError(f"{verb}: {key} {how}; leave it out")
        near = difflib.get_close_matches(key, rows, n=1, cutoff=_CLOSE)
        choose = f"choose from {', '.join(rows) or 'nothing: there are no problems'}"
        remedy = f"did you mean {near[0]}?" if near else choose
        raise RequestError(f"{verb}: there is no problem or recommendation {key!r}; {remedy}")
    undone = {Verb.RELEASE: "claimed", Verb.REOPEN: "dismissed"}.get(verb)
    if undone and not (entry and entry[undone]):
        raise RequestError(f"{verb}: {key} is not {undone}; leave it out")


def read_entries(store: ObjectStore, decision: Mapping[str, Any]) -> Mapping[str, Entry]:
    """Read what is kept of a cluster, for a decision about it.

    Where it cannot be read that is nothing, and a warning says so: no report waits for it.
    """
    try:
        kept = read_with_own_hash(store, lifecycle_key(decision["cluster"]), json.loads)
        return with_steps_continued(entries_of(kept), decision)
    except MissingObjectError:
        return {}
    except StorageError as error:
        log.warning("problems are shown without their state: %s", error)
        return {}


def keep_observed(store: ObjectStore, decision: Mapping[str, Any], changes: Mapping[str, Any] | None) -> None:
    """Keep what a report has seen; where what is kept cannot be read, it stays as it is, and a warning says so."""
    key = lifecycle_key(decision["cluster"])
    try:
        change_with_own_hash(store, key, lambda found: observed(found, decision, changes))
    except StorageError as error:
        log.warning("the state of problems was not saved: %s", error)


def keep_said(store: ObjectStore, decision: Mapping[str, Any], *said: Said) -> Mapping[str, Entry]:
    """Keep what somebody says, all of it or nothing, whoever else does so at once; returns what is kept then.

    Raises RequestError where it cannot be said, StorageError where what is kept cannot be read or written.
    """
    key = lifecycle_key(decision["cluster"])
    return entries_of(change_with_own_hash(store, key, lambda found: after_saying(found, decision, *said)))
