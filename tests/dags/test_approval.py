"""Who approves a plan: what they read, where they answer, and what follows from it."""

from __future__ import annotations

import datetime
import email
import email.policy
import json
import re
from types import SimpleNamespace

import pytest

from kafka_capacity.errors import RequestError
from tests.ports import free_port

pytestmark = pytest.mark.airflow

DAY = "2026-11-15"
NOON = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


def test_who_approves_reads_which_cluster_and_what_in_the_question_and_in_the_mail(services, monkeypatch):
    from airflow.providers.standard.operators.hitl import ApprovalOperator

    from kafka_capacity_airflow import approval, steps

    verdict = {
        "subject": "[kafka-capacity] north: 9 brokers now, 12 by May 2027 (2026-11-15)",
        "headline": "9 brokers fit",
        "box": {"approve": "Approve 3 more brokers now", "lines": [{"label": "If not", "text": "disk <of> broker_8_"}]},
    }
    found = {approval.REPORT_URL_KEY: "https://reports.example.com/north", "return_value": verdict}
    ti = _to_approve(map_index=0)
    monkeypatch.setattr(type(ti), "xcom_pull", lambda self, *, task_ids, map_indexes, key="return_value": found[key])
    asked = []
    monkeypatch.setattr(ApprovalOperator, "execute", lambda self, context: asked.append((self.subject, self.body)))
    monkeypatch.setattr(steps, "withdraw", lambda pinned: None)
    operator = approval.OptionalApprovalOperator(task_id="approve", pinned={"cluster": "north"})
    context = {"ti": ti, "params": {"is_approval_required": False}, "task": operator, "var": {"value": {}}}

    assert operator.execute(context) is None
    assert asked == []
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_APPROVAL", "always")
    operator.execute(context)
    ((subject, body),) = asked
    assert subject == "north: 9 brokers now, 12 by May 2027 (2026-11-15). Release the reassignment files?"
    assert body.splitlines() == [
        "Approve 3 more brokers now",
        "",
        r"- **If not:** disk \<of\> broker\_8\_",
        "- **Report:** <https://reports.example.com/north>",
    ]
    mails = len(services.mail.messages())
    operator.notifiers[0](context)
    (mail,) = services.mail.messages()[mails:]
    message = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
    assert message["To"] == "root@localhost"
    assert message["Subject"].startswith("[kafka-capacity] to approve: north: 9 brokers now")
    text = message.get_body(("html",)).get_content()
    assert "<br>If not: disk &lt;of&gt; broker_8_<br>" in text


def _to_approve(map_index):
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    of = {"dag_id": "kafka_capacity_plan", "task_id": "plan.approve", "run_id": "at 06:00+00:00"}
    return RuntimeTaskInstance.model_construct(**of, map_index=map_index, try_number=1)


@pytest.mark.parametrize(("map_index", "place"), [(3, "plan.approve/mapped/3"), (-1, "plan.approve")])
def test_the_mail_to_approvers_leads_to_the_page_where_they_answer(services, monkeypatch, map_index, place):
    from kafka_capacity_airflow.notices import approval_mail

    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://tools.example.net/airflow/")
    mails = len(services.mail.messages())
    task = SimpleNamespace(subject="Release?", box=["15 brokers"])
    approval_mail()({"ti": _to_approve(map_index), "task": task, "var": {"value": {}}})
    (mail,) = services.mail.messages()[mails:]
    message = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
    runs = "https://tools.example.net/airflow/dags/kafka_capacity_plan/runs"
    link = f'<a href="{runs}/at%2006%3A00%2B00%3A00/tasks/{place}/required_actions">'
    assert link in message.get_body(("html",)).get_content()


@pytest.fixture
def asking(services, monkeypatch):
    """Ask for an approval as a task does, with a report of 12 brokers; gives what happened, in order."""
    from airflow.providers.standard.operators import hitl
    from airflow.sdk.exceptions import TaskAwaitingInput

    from kafka_capacity_airflow import approval, steps

    happened = []
    verdict = {"subject": "[kafka-capacity] north: 12 brokers now", "headline": "12 brokers fit"}
    found = {approval.REPORT_URL_KEY: "https://reports.example.com/north", "return_value": verdict}
    ti = _to_approve(map_index=0)
    monkeypatch.setattr(type(ti), "xcom_pull", lambda self, *, task_ids, map_indexes, key="return_value": found[key])
    monkeypatch.setattr(hitl, "upsert_hitl_detail", lambda **given: happened.append("asked"))
    monkeypatch.setattr(steps, "withdraw", lambda pinned: happened.append("withdrew"))
    operator = approval.OptionalApprovalOperator(task_id="approve", pinned={"cluster": "north"})
    context = {"ti": ti, "task_instance": SimpleNamespace(id="7"), "task": operator, "var": {"value": {}}}

    def ask():
        with pytest.raises(TaskAwaitingInput) as waiting:
            operator.execute({**context, "params": {"is_approval_required": True}})
        return waiting.value

    ask.happened, ask.found = happened, found
    return ask


@pytest.mark.parametrize(
    ("connection", "why"),
    [
        ({"host": "mail.invalid", "port": 25}, "mail.invalid|not known|resolution"),
        ({"host": "127.0.0.1", "port": free_port()}, "refused"),
    ],
)
def test_who_cannot_be_mailed_is_asked_all_the_same(asking, monkeypatch, caplog, connection, why):
    found = {"conn_type": "smtp", **connection, "extra": {"disable_ssl": True, "disable_tls": True}}
    monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", json.dumps(found))
    asking()
    assert asking.happened == ["withdrew", "asked"]
    (record,) = [record for record in caplog.records if "not mailed" in record.getMessage()]
    assert "root@localhost" in record.getMessage()
    assert "smtp_default" in record.getMessage()
    assert re.search(why, record.getMessage())


def test_files_stay_where_nobody_can_be_asked(asking):
    asking.found.clear()
    with pytest.raises(KeyError):
        asking()
    assert asking.happened == []


def test_who_does_not_answer_in_time_is_not_asked_again_and_the_owner_reads_why(services, monkeypatch):
    from airflow.sdk.exceptions import AirflowFailException

    from kafka_capacity_airflow.approval import OptionalApprovalOperator

    monkeypatch.setenv("KAFKA_CAPACITY_APPROVAL_HOURS", "48")
    operator = OptionalApprovalOperator(task_id="approve", pinned={"cluster": "north", "plan_id": "12ab"})
    event = {"error": "The response timeout has passed.", "error_type": "timeout"}
    # The exception that Airflow never tries again, whatever retries a task has.
    with pytest.raises(AirflowFailException) as failed:
        operator.execute_complete({"ti": SimpleNamespace(), "task": operator}, event)
    assert str(failed.value) == (
        "cluster north, plan 12ab: nobody approved or rejected within 48 hours, so the plan files are not released; "
        "clear this task to ask again"
    )


def test_a_deployment_that_says_neither_is_told(services, monkeypatch):
    from kafka_capacity_airflow.settings import are_approvals_demanded

    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_APPROVAL", "sometimes")
    with pytest.raises(RequestError, match="kafka_capacity_approval is 'sometimes'; write 'always' or 'as asked'"):
        are_approvals_demanded()


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (("Approve", ""), {"move-to-9-brokers": ("claimed", ""), "have-15-brokers": ("claimed", "")}),
        (("Reject", " not before May "), {"move-to-9-brokers": ("dismissed", "not before May")}),
        (("Reject", ""), {"move-to-9-brokers": ("dismissed", "rejected")}),
        (("Reject", None), {"move-to-9-brokers": ("dismissed", "rejected")}),
    ],
)
def test_who_approves_has_what_is_due_and_who_rejects_does_without_the_move(
    services, monkeypatch, tmp_path, answer, kept
):
    from kafka_capacity.objects.store import open_store
    from kafka_capacity.plan.lifecycle import read_entries
    from kafka_capacity_airflow import steps
    from kafka_capacity_airflow.approval import OptionalApprovalOperator

    def action(code, about, by=None):
        name = about.replace(" ", "-")
        return {"id": name, "code": code, "about": about, "text": about, "by": by, "broker_count": 9}

    actions = [action("move", "move to 9 brokers"), action("brokers", "have 15 brokers")]
    actions.append(action("brokers", "have 18 brokers", "2027-05-01"))
    today = {"broker_count": 6, "fullest_disk_ratio": None, "usd_per_month": None}
    decision = {"cluster": "north", "ds": DAY, "problems": [], "actions": actions, "today": today}
    store = open_store(str(tmp_path))
    monkeypatch.setattr(steps, "airflow_store", lambda: store)
    monkeypatch.setattr(steps, "read_decision", lambda store, prefix: decision)
    pinned = {"cluster": "north", "ds": DAY, "inventory_sha256": "a", "plan_id": "p"}
    operator = OptionalApprovalOperator(task_id="approve", pinned=pinned)
    monkeypatch.setattr(operator, "skip", lambda **given: None)
    chosen, reason = answer
    event = {
        "chosen_options": [chosen],
        "params_input": {"reason": reason},
        "responded_at": NOON,
        "responded_by_user": {"id": "7", "name": "ana"},
    }
    run = SimpleNamespace(run_after=NOON)
    given = operator.execute_complete({"ti": SimpleNamespace(), "task": operator, "dag_run": run}, event)
    assert given["chosen_options"] == [chosen]
    entries = read_entries(store, decision)
    found = {
        key: (verb, entry[verb]["reason"])
        for key, entry in entries.items()
        for verb in ("claimed", "dismissed")
        if entry[verb]
    }
    assert found == kept
    assert {entry[verb]["by"] for entry in entries.values() for verb in ("claimed", "dismissed") if entry[verb]} == {
        "ana"
    }
    assert {one["on"] for entry in entries.values() if (one := entry["claimed"] or entry["dismissed"])} == {
        "2026-11-20"
    }


def test_the_rejection_of_an_old_request_changes_nothing_of_a_later_one(services, monkeypatch, tmp_path, caplog):
    from kafka_capacity.objects.keys import lifecycle_key
    from kafka_capacity.objects.store import open_store
    from kafka_capacity.plan.lifecycle import read_entries
    from kafka_capacity_airflow import steps

    move = {"id": "move-to-10-brokers", "code": "move", "about": "move to 10 brokers", "text": "Move.", "by": None}
    today = {"broker_count": 9, "fullest_disk_ratio": None, "usd_per_month": None}
    actions = [{**move, "broker_count": 10}]
    decision = {"cluster": "north", "ds": DAY, "problems": [], "actions": actions, "today": today}
    store = open_store(str(tmp_path))
    monkeypatch.setattr(steps, "airflow_store", lambda: store)
    monkeypatch.setattr(steps, "read_decision", lambda store, prefix: decision)

    def answer(plan_id, hour, *, is_approved, reason):
        pinned = {"cluster": "north", "ds": DAY, "inventory_sha256": "a", "plan_id": plan_id}
        asked = NOON.replace(hour=hour)
        steps.keep_answer(pinned, asked=asked, is_approved=is_approved, by="ana", on=NOON.date(), reason=reason)
        return read_entries(store, decision)["move-to-10-brokers"]

    answer("later", 11, is_approved=True, reason="go")
    entry = answer("early", 9, is_approved=False, reason="stale")
    assert (entry["claimed"]["reason"], entry["dismissed"]) == ("go", None)
    assert (
        "the rejection of plan early dismisses nothing: plan later, whose approval was asked for later" in caplog.text
    )
    # The same plan, whichever run asked for it, and a later one are what the answer is of.
    assert answer("later", 10, is_approved=False, reason="no more")["dismissed"]["reason"] == "no more"
    assert answer("latest", 12, is_approved=True, reason="")["dismissed"] is None
    assert answer("newest", 13, is_approved=False, reason="not now")["dismissed"]["reason"] == "not now"
    # An answer stands, whatever becomes of what is kept of it.
    store.write_bytes(lifecycle_key("north"), b"{")
    steps.keep_answer(
        {"cluster": "north", "ds": DAY, "inventory_sha256": "a", "plan_id": "newest"},
        asked=NOON,
        is_approved=True,
        by="ana",
        on=NOON.date(),
        reason="",
    )
    assert "the answer was not kept for the next report: " in caplog.text
