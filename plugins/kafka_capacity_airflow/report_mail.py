"""Mail reports, and keep note of who could not be told, so that they are told later.

A note in the store names the run, the plan and the recipients that are left, each with why. The next try of the task
sends to these alone; the next run of the cluster, after its own report, sends what earlier runs could not. Another note
names who has the report: a run that comes to the same plan does not mail it to them again.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from airflow.sdk.exceptions import AirflowException

from kafka_capacity.errors import DamagedObjectError, MissingManifestError, RequestError, StorageError
from kafka_capacity.objects.keys import told_key, untold_key
from kafka_capacity.objects.manifest import change_with_own_hash, read_with_own_hash, with_own_hash
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.plan.publish import mail_report, published_report
from kafka_capacity.plan.untold import keep_untold, read_untold, untold_text
from kafka_capacity.report.email import build_owner_email
from kafka_capacity_airflow.mail import send_message
from kafka_capacity_airflow.settings import RECIPIENTS, browser_url, sender

log = logging.getLogger("kafka_capacity")


Told: TypeAlias = dict[str, dict[str, str]]
"""Who was told of a plan (``told``), and whom runs are telling (``telling``), each with the run that does so."""


class UntoldError(AirflowException):
    """Recipients could not be told; trying again may help."""


def _is_final(why: str) -> bool:
    """Return whether a server refused a recipient for good, by its answer."""
    return why.startswith("5")


def _who_next(is_over: bool) -> str:
    return "the cluster's next run" if is_over else "this task's next try"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMail:
    """One report to mail, and the run that does so."""

    plan: PinnedPlan
    run_id: str
    run_after: datetime.datetime
    recipients: tuple[str, ...]

    @property
    def note(self) -> str:
        """The key of the note of who has not been told."""
        return untold_key(self.plan.cluster, self.plan.plan_id, self.run_id)

    def tell(self, store: ObjectStore, *, is_last_try: bool) -> dict[str, str]:
        """Mail the report to all, or to those whom an earlier try could not tell; returns who was not, each with why.

        Whom the server refused for good is left to the next run, and so is everybody after the last try.

        Raises:
            UntoldError: nobody has been told, or some may be told soon.
            RequestError: nobody has been told, and nobody will be until a setting or an address is changed.
        """
        earlier = read_untold(store, self.note)["untold"] if store.exists(self.note) else {}
        refused = {address: why for address, why in earlier.items() if _is_final(why)}
        if refused == earlier:  # nobody else is left: somebody cleared the task, and means these
            refused = {}
        to = [address for address in earlier or self.recipients if address not in refused]
        # A run that is cleared mails again.
        with claimed(store, self.plan, to, self.run_id, again=True) as left:
            if not left:
                count, why = len(to), "the same plan is not mailed twice"
                log.info("all %d recipients have this report, or get it from another run: %s", count, why)
                return refused
            try:
                untold = self._send(store, tuple(left))
            except (RequestError, OSError, AirflowException) as error:
                self._keep(store, refused | dict.fromkeys(left, str(error) or type(error).__name__))
                is_final = isinstance(error, RequestError)
                msg = f"nobody was mailed: {error}; {_who_next(is_final or is_last_try)} sends to {', '.join(left)}"
                raise (RequestError if is_final else UntoldError)(msg) from error
        self._keep(store, refused | untold)
        return self._left_of(refused, untold, is_last_try=is_last_try)

    def _left_of(self, refused: dict[str, str], untold: dict[str, str], *, is_last_try: bool) -> dict[str, str]:
        """Return who is left after a try, beside those whom an earlier one found refused for good; warn of them."""
        passing = {} if is_last_try else {address: why for address, why in untold.items() if not _is_final(why)}
        final = {address: why for address, why in untold.items() if address not in passing}
        if final:
            log.warning("not mailed: %s; %s tries again", untold_text(final), _who_next(True))
        if passing:
            raise UntoldError(f"not mailed: {untold_text(passing)}; {_who_next(False)} sends to them")
        everybody = refused | untold
        if set(everybody) == set(self.recipients):
            remedy = f"correct recipients, of the run or in the variable {RECIPIENTS}"
            is_final = all(map(_is_final, everybody.values()))
            msg = f"nobody takes the report: {untold_text(everybody)}"
            raise RequestError(f"{msg}; {remedy}") if is_final else UntoldError(msg)
        return everybody

    def _send(self, store: ObjectStore, recipients: tuple[str, ...]) -> dict[str, str]:
        message = mail_report(
            store,
            self.plan,
            sender=sender(),
            recipients=self.recipients,
            report_url=browser_url(store, self.plan.report_key),
            run_id=self.run_id,
            date=self.run_after,
        )
        untold = send_message(message, recipients)
        log.info("mailed %r to %d of %d recipients", message["Subject"], len(recipients) - len(untold), len(recipients))
        keep_told(store, self.plan, [address for address in recipients if address not in untold], self.run_id)
        return untold

    def _keep(self, store: ObjectStore, untold: dict[str, str]) -> None:
        run = {"run_id": self.run_id, "run_after": self.run_after.isoformat(), "recipients": self.recipients}
        keep_untold(store, self.note, self.plan, untold, **run)


def mail_owners(store: ObjectStore, plan: PinnedPlan, run_id: str, run_after: datetime.datetime) -> list[str]:
    """Mail each owner what to do by a report, once a plan; returns whom.

    Raises UntoldError where some could not be mailed; the others were, and are not mailed again. Raises RequestError
    where nobody can be until a setting is changed.
    """
    report = published_report(store, plan)
    report["links"] = {**report["links"], "report_uri": browser_url(store, plan.report_key)}
    mailed: list[str] = []
    untold: dict[str, str] = {}
    for one in report.get("owners", ()):
        owner, note = one["owner"], f"owner {one['owner']}"
        if "@" not in owner or not one["items"]:
            continue
        page_uri = browser_url(store, plan.report_prefix + one["page"] if "page" in one else plan.report_key)
        digest = hashlib.sha256(f"{run_id}/{owner}".encode()).hexdigest()[:16]
        message_id = f"<{plan.plan_id}.{digest}@kafka-capacity>"
        of = {"page_uri": page_uri, "sender": sender(), "message_id": message_id}
        message = build_owner_email(report, owner, one["items"], **of, date=run_after)
        with claimed(store, plan, [note], run_id) as mine:
            if not mine:
                continue
            try:
                refused = send_message(message, [owner])
            except (OSError, AirflowException) as error:
                refused = {owner: str(error) or type(error).__name__}
            untold |= refused
            if not refused:
                keep_told(store, plan, [note], run_id)
                mailed.append(owner)
                log.info("mailed %s their to-dos", owner)
    if untold:
        msg = f"not mailed: {untold_text(untold)}"
        raise (RequestError if all(map(_is_final, untold.values())) else UntoldError)(msg)
    return mailed


def told_of(store: ObjectStore, plan: PinnedPlan) -> dict[str, str]:
    """Return who was told of a plan, each with the run that did so: addresses, and connections by their ids."""
    try:
        return dict(read_with_own_hash(store, told_key(plan.cluster, plan.plan_id), json.loads)["told"])
    except (StorageError, LookupError):
        return {}


def keep_told(store: ObjectStore, plan: PinnedPlan, names: Sequence[str], run_id: str) -> None:
    """Keep who was told of a plan, beside those whom others tell at the same time."""
    _change(store, plan, lambda found: {**found, "told": {**found["told"], **dict.fromkeys(names, run_id)}})


@contextmanager
def claimed(
    store: ObjectStore, plan: PinnedPlan, names: Sequence[str], run_id: str, *, again: bool = False
) -> Iterator[list[str]]:
    """Keep other runs from telling these of a plan meanwhile; gives those whom nobody has told or is telling.

    With ``again`` whom this run has told is among them.
    """
    mine: list[str] = []

    def is_free(name: str, found: Told) -> bool:
        is_told = name in found["told"] and not (again and found["told"][name] == run_id)
        return not is_told and found["telling"].get(name, run_id) == run_id

    def claim(found: Told) -> Told:
        mine[:] = [name for name in names if is_free(name, found)]
        return {**found, "telling": {**found["telling"], **dict.fromkeys(mine, run_id)}}

    def release(found: Told) -> Told:
        return {**found, "telling": {name: run for name, run in found["telling"].items() if name not in mine}}

    _change(store, plan, claim)
    try:
        yield list(mine)
    finally:
        _change(store, plan, release)


def _change(store: ObjectStore, plan: PinnedPlan, change: Callable[[Told], Told]) -> None:
    """Change who was told of a plan, and who is being told."""
    key = told_key(plan.cluster, plan.plan_id)

    def changed(found: dict[str, Any] | None) -> Told:
        return change({"told": {}, "telling": {}, **(found or {})})

    try:
        change_with_own_hash(store, key, changed)
    except DamagedObjectError:  # whoever it named may be told once more
        store.write_bytes(key, with_own_hash(changed(None)), content_type="application/json")


def tell_earlier(store: ObjectStore, notes: list[str]) -> None:
    """Mail the reports that earlier runs could not, to those who were left.

    Whoever is refused once more is named in the log and no longer tried.
    """
    for key in notes:
        try:
            note = read_untold(store, key)
            mail = ReportMail(
                plan=PinnedPlan(**note["plan"]),
                run_id=note["run_id"],
                run_after=datetime.datetime.fromisoformat(note["run_after"]),
                recipients=tuple(note["recipients"]),
            )
            told = told_of(store, mail.plan)
            left = tuple(address for address in note["untold"] if address not in told)
            refused = mail._send(store, left) if left else {}
        except MissingManifestError as error:
            log.warning("an earlier report no longer exists and cannot be mailed: %s", error)
        except (RequestError, OSError, AirflowException, StorageError) as error:
            log.warning("reports of earlier runs still not mailed: %s", error)
            return
        else:
            if refused:
                log.warning("rejected again, giving up: %s", untold_text(refused))
        store.delete(key)
