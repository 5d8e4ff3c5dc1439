"""``kafka-capacity problems``: what is open on a cluster, who has it, and what was dismissed or done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import print_answer, print_json, print_rows
from kafka_capacity.cli.options import Quiet, StorePlace, day_or_today, no_clusters, option
from kafka_capacity.errors import RequestError

if TYPE_CHECKING:
    from kafka_capacity.objects.store import ObjectStore
    from kafka_capacity.plan.fleet import Standing
    from kafka_capacity.plan.lifecycle import Entry


@app.command("problems")
def problems(
    place: StorePlace,
    cluster: Annotated[str | None, option("--cluster", "Which cluster; not needed if there is only one.")] = None,
    claim: Annotated[
        list[str] | None, option("--claim ID", "Claim a problem: I will take care of it. May be repeated.")
    ] = None,
    release: Annotated[list[str] | None, option("--release ID", "Give up a claim.")] = None,
    dismiss: Annotated[list[str] | None, option("--dismiss ID", "Accept a problem as it is; needs --reason.")] = None,
    reopen: Annotated[list[str] | None, option("--reopen ID", "Undo a dismissal.")] = None,
    reason: Annotated[str, option("--reason TEXT", "Why it is accepted, or what is being done.")] = "",
    until: Annotated[str | None, option("--until YYYY-MM-DD", "The last day of the dismissal.")] = None,
    by: Annotated[str | None, option("--by NAME", "Who sets the state. Default: the user.")] = None,
    is_json: Annotated[bool, option("--json", "Print everything that is stored instead of a table.")] = False,
    is_quiet: Quiet = False,
) -> None:
    """List a cluster's problems and recommendations with their ids and states, and change their states.

    STORE is where scheduled plans are stored (s3://bucket/prefix, or a folder), with --cluster if it has several; or
    the address of a report in it, as linked in the mail. Each problem is new, open for some time, claimed by somebody,
    dismissed with a reason, or done with a measured effect. A state set here appears in the next report; a dismissed
    problem counts again once it gets worse or shows up somewhere else.

    kafka-capacity problems s3://b/prod --cluster shop-eu --claim disk-over-limit

    kafka-capacity problems s3://b/prod --cluster shop-eu --dismiss rack-loss --reason "moves in May" --until 2027-05-31
    """
    from kafka_capacity.cli.plan_options import named_as_options
    from kafka_capacity.objects.keys import is_day
    from kafka_capacity.plan.lifecycle import Said, Verb, followed, keep_said, read_entries

    if until and not dismiss:
        raise RequestError("--until: is for dismissals; give --dismiss as well, or leave it out")
    if reason and not (claim or dismiss):
        raise RequestError("--reason: is for claims and dismissals; give --claim or --dismiss as well, or leave it out")
    if by and not (claim or release or dismiss or reopen):
        raise RequestError("--by: is for a state that is set; give --claim or --dismiss as well, or leave it out")
    if until and not is_day(until):
        raise RequestError(f"--until: {until!r} is not a day; write it as YYYY-MM-DD")
    store, standing = _found(place, cluster)
    decision = standing.decision
    if decision is None:
        what = f"its decision for {standing.ds} cannot be read" if standing.plan_id else "it was never planned"
        raise RequestError(f"{standing.cluster}: {what}; run its plan first")
    asked = {Verb.CLAIM: claim, Verb.RELEASE: release, Verb.DISMISS: dismiss, Verb.REOPEN: reopen}
    said = [
        Said(ids=tuple(ids), verb=verb, by=by or _user(), on=day_or_today(None), reason=reason, until=until or "")
        for verb, ids in asked.items()
        if ids
    ]
    if said:
        with named_as_options({name: f"--{name}" for name in ("reason", "until", *map(str, Verb))}):
            keep_said(store, decision, *said)
    entries = read_entries(store, decision)
    if is_json:
        print_json({"cluster": standing.cluster, "ds": standing.ds, "entries": entries})
        return
    standing_ids, rows = followed(decision).keys(), _rows(decision, entries)
    count = len(standing_ids)
    over = sum(1 for key, entry in entries.items() if entry["done"] and key not in standing_ids)
    unseen = f", {more} of other plans" if (more := len(rows) - count - over) else ""
    print_answer(
        f"{standing.cluster} on {standing.ds}: {count} open or dismissed, {over} over{unseen}",
        lambda: _print(rows),
        hint="--claim ID, --dismiss ID --reason TEXT",
        is_quiet=is_quiet,
    )


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise RequestError("--by: is required because the system does not know your name; say who you are") from None


def _found(place: str, cluster: str | None) -> tuple[ObjectStore, Standing]:
    """Return the store of an address, and the plan of a report or the newest of the cluster that is asked for."""
    from kafka_capacity.objects.keys import list_clusters, plan_of_report
    from kafka_capacity.objects.store import open_store
    from kafka_capacity.plan.fleet import newest_standing, standing_of

    root, linked, plan = plan_of_report(place)
    store, name = open_store(root), cluster or linked
    known = list_clusters(store)
    if name is None and len(known) == 1:
        name = known[0]
    if name not in known:
        if not known:
            raise no_clusters(root)
        remedy = f"choose from {', '.join(known)}"
        raise RequestError(f"--cluster: {f'{name} is not there' if name else 'is missing'}; {remedy}")
    if plan is None or name != linked:
        return store, newest_standing(store, name)
    standing = standing_of(store, name, *plan)
    if standing is None:
        raise RequestError(f"{name} has no plan {plan[1]} on {plan[0]}; give the store {root} for its newest plan")
    return store, standing


def _rows(decision: Mapping[str, Any], entries: Mapping[str, Entry]) -> list[dict[str, str]]:
    """Return a row each of what stands, the worst first, then of what was done or is not asked any more."""
    from kafka_capacity.plan.effects import ended
    from kafka_capacity.plan.lifecycle import followed
    from kafka_capacity.plan.states import state_words

    standing = followed(decision)
    rows = [
        {
            "id": key,
            "severity": str(row.get("severity", "to do")),
            "state": state_words(entries.get(key), row, decision["ds"]),
            "text": str(row["text"]),
        }
        for key, row in standing.items()
    ]
    for key, entry in entries.items():
        if key not in standing:
            done, last = entry["done"], entry["last"]
            state = f"{ended(done['effect'])} on {done['on']}: {done['effect']}" if done else f"last seen on {last}"
            rows.append({"id": key, "severity": "", "state": state, "text": entry["text"]})
    return rows


def _print(rows: list[dict[str, str]]) -> None:
    from kafka_capacity.report.tables import column

    names = {"id": "Id", "severity": "Severity", "state": "State", "text": "What"}
    print_rows("Problems and recommendations", [column(name, label) for name, label in names.items()], rows)
