"""Who is told about a report where a mail server is down, silent or particular, and who is told later."""

from __future__ import annotations

import asyncio
import datetime
import email.policy
import json
import logging
import os
import socket
import time
from email.message import EmailMessage

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from kafka_capacity.objects.store import open_store
from tests.ports import free_port

pytestmark = pytest.mark.airflow

PINNED = {"cluster": "payments", "ds": "2026-11-20", "inventory_sha256": "ab" * 32, "plan_id": "1234"}
RUN_AFTER = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)
SRE, VP = "sre@example.net", "vp@example.net"
PATIENCE_SECONDS = 60


class Server:
    """An SMTP server that refuses whom it is told to, and keeps what it took."""

    def __init__(self):
        self.refused = {}
        self.taken = []
        self.asked = lambda address: None  # what happens for each recipient
        self.meanwhile = lambda: None  # what happens while a mail is taken

    async def handle_RCPT(self, server, session, envelope, address, options):
        self.asked(address)
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        await asyncio.to_thread(meanwhile)
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.taken.append((message["Subject"], sorted(envelope.rcpt_tos)))
        return "250 OK"


def connect(monkeypatch, port, **extra):
    found = {"conn_type": "smtp", "host": "127.0.0.1", "port": port}
    found["extra"] = {"disable_ssl": True, "disable_tls": True, **extra}
    monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", json.dumps(found))


@pytest.fixture
def server(services, monkeypatch):
    handler = Server()
    controller = Controller(handler, hostname="127.0.0.1", port=free_port(), ready_timeout=PATIENCE_SECONDS)
    controller.start()
    connect(monkeypatch, controller.port)
    yield handler
    controller.stop()


@pytest.fixture
def tell(services, monkeypatch, tmp_path):
    """Mail a report of some run to two recipients; the store has notes and nothing else."""
    from kafka_capacity_airflow import report_mail, steps

    def message(store, plan, *, sender, recipients, report_url, run_id, date):
        made = EmailMessage()
        made["Subject"], made["From"], made["To"] = run_id, sender, ", ".join(recipients)
        made.set_content("a report")
        return made

    monkeypatch.setattr(report_mail, "mail_report", message)
    monkeypatch.setattr(steps, "airflow_store", lambda: open_store(str(tmp_path)))

    def tell(run_id, *, plan_id=None, recipients=(SRE, VP), is_last_try=False):
        pinned, params = {**PINNED, "plan_id": plan_id or run_id}, {"recipients": [*recipients]}
        return steps.email_report(pinned, params, run_id=run_id, run_after=RUN_AFTER, is_last_try=is_last_try)

    return tell


def notes(folder):
    return [json.loads(path.read_text())["untold"] for path in sorted((folder / "untold").rglob("*.json"))]


def test_all_are_told_and_nothing_is_left(tell, server, tmp_path):
    assert tell("one") == {}
    assert server.taken == [("one", [SRE, VP])]
    assert notes(tmp_path) == []


def test_a_plan_that_another_run_comes_to_again_is_not_mailed_again(tell, server):
    tell("one", plan_id="same")
    tell("two", plan_id="same")
    tell("three", plan_id="same", recipients=[SRE, "new@example.net"])
    assert server.taken == [("one", [SRE, VP]), ("three", ["new@example.net"])]
    # A task that somebody clears does its work again.
    tell("one", plan_id="same")
    assert server.taken[2:] == [("one", [SRE, VP])]


def test_of_two_runs_at_once_one_mails_the_plan(tell, server, tmp_path):
    server.meanwhile = lambda: tell("two", plan_id="same", recipients=[SRE, VP, "new@example.net"])
    tell("one", plan_id="same")
    assert server.taken == [("two", ["new@example.net"]), ("one", [SRE, VP])]
    (told,) = [json.loads(path.read_text()) for path in (tmp_path / "told").rglob("*.json")]
    assert (set(told["told"]), told["telling"]) == ({SRE, VP, "new@example.net"}, {})


def test_a_run_that_fails_keeps_nobody_from_being_told(tell, server):
    server.refused = {SRE: "451 try later", VP: "451 try later"}
    with pytest.raises(Exception, match="not mailed"):
        tell("one", plan_id="same")
    server.refused = {}
    tell("two", plan_id="same")
    assert ("two", [SRE, VP]) in server.taken


def test_who_was_left_is_told_of_a_plan_once(tell, server, tmp_path):
    server.refused = {VP: "550 no such user"}
    tell("one", plan_id="same")
    server.refused = {}
    tell("two", plan_id="same")
    assert server.taken == [("one", [SRE]), ("two", [VP])]
    assert notes(tmp_path) == []


def test_a_refused_recipient_of_several_is_a_warning_that_names_it(tell, server, tmp_path, caplog):
    server.refused = {VP: "550 no such user"}
    with caplog.at_level(logging.INFO, logger="kafka_capacity"):
        assert tell("one") == {VP: "550 no such user"}
    assert server.taken == [("one", [SRE])]
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert f"not mailed: {VP} (550 no such user)" in warning.getMessage()
    assert "mailed 'one' to 1 of 2 recipients" in caplog.text
    assert notes(tmp_path) == [{VP: "550 no such user"}]


def test_the_next_run_tells_who_was_left_and_takes_the_note_away(tell, server, tmp_path):
    server.refused = {VP: "550 no such user"}
    tell("one")
    server.refused = {}
    assert tell("two") == {}
    assert server.taken == [("one", [SRE]), ("two", [SRE, VP]), ("one", [VP])]
    assert notes(tmp_path) == []


def test_who_is_refused_again_by_the_next_run_is_no_longer_tried_for_the_earlier_report(tell, server, tmp_path):
    server.refused = {VP: "550 no such user"}
    tell("one")
    tell("two")
    assert server.taken == [("one", [SRE]), ("two", [SRE])]
    assert len(notes(tmp_path)) == 1  # of the second run


def test_who_may_be_told_soon_is_tried_again_alone(tell, server, tmp_path):
    from kafka_capacity_airflow.report_mail import UntoldError

    server.refused = {VP: "451 come back later"}
    with pytest.raises(UntoldError, match="come back later"):
        tell("one")
    server.refused = {}
    assert tell("one") == {}
    assert server.taken == [("one", [SRE]), ("one", [VP])]
    assert notes(tmp_path) == []


def test_who_is_refused_for_good_is_not_tried_again_by_the_task_that_tries_again(tell, server, tmp_path, caplog):
    from kafka_capacity_airflow.report_mail import UntoldError

    third = "ops@example.net"
    asked = []
    server.asked = asked.append
    server.refused = {SRE: "451 come back later", VP: "550 no such user"}
    for _ in range(3):
        with pytest.raises(UntoldError, match=rf"not mailed: {SRE} \(451 come back later\); this task's next try"):
            tell("one", recipients=(SRE, VP, third))
    assert asked == [SRE, VP, third, SRE, SRE]
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == [f"not mailed: {VP} (550 no such user); the cluster's next run tries again"]
    # The last try counts and names all who are left.
    assert tell("one", recipients=(SRE, VP, third), is_last_try=True) == server.refused
    assert notes(tmp_path) == [server.refused]
    assert f"not mailed: {SRE} (451 come back later); the cluster's next run tries again" in caplog.text
    # Of those who are left for good somebody who clears the task means these.
    server.refused = {VP: "550 no such user"}
    assert tell("one", recipients=(SRE, VP, third)) == server.refused
    server.refused = {}
    assert tell("one", recipients=(SRE, VP, third)) == {}
    assert notes(tmp_path) == []


def test_where_a_server_hangs_up_amid_the_recipients_nobody_counts_as_told(tell, server, tmp_path):
    from kafka_capacity_airflow.report_mail import UntoldError

    server.refused = {SRE: "421 too busy"}
    with pytest.raises(UntoldError, match=rf"{VP} \(421 too busy\)"):
        tell("one")
    server.refused = {}
    tell("one")
    assert server.taken == [("one", [SRE, VP])]


def test_at_the_last_try_one_who_is_left_is_a_warning(tell, server):
    server.refused = {VP: "451 come back later"}
    assert tell("one", is_last_try=True) == {VP: "451 come back later"}


def test_where_nobody_takes_it_the_task_fails_and_tries_no_more(tell, server, tmp_path):
    from kafka_capacity.errors import RequestError

    server.refused = {SRE: "550 closed", VP: "550 closed"}
    with pytest.raises(RequestError, match=rf"{SRE} \(550 closed\).*correct recipients.*kafka_capacity_recipients"):
        tell("one")
    assert notes(tmp_path) == [{SRE: "550 closed", VP: "550 closed"}]


def test_a_server_that_is_down_fails_the_try_and_the_next_run_catches_up(tell, monkeypatch, server, tmp_path):
    from kafka_capacity_airflow.report_mail import UntoldError

    working = json.loads(os.environ["AIRFLOW_CONN_SMTP_DEFAULT"])["port"]
    connect(monkeypatch, free_port())
    for _ in range(2):
        with pytest.raises(UntoldError, match="refused"):
            tell("one", is_last_try=True)
    assert [sorted(note) for note in notes(tmp_path)] == [[SRE, VP]]
    connect(monkeypatch, working)
    tell("two")
    assert server.taken == [("two", [SRE, VP]), ("one", [SRE, VP])]
    assert notes(tmp_path) == []


@pytest.fixture
def silent():
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_silent_server_costs_one_short_wait(tell, monkeypatch, silent):
    from kafka_capacity_airflow.report_mail import UntoldError

    connect(monkeypatch, silent, timeout=1)
    began = time.monotonic()
    with pytest.raises(UntoldError):
        tell("one")
    assert time.monotonic() - began < 5  # the provider's hook would try six times


def test_the_wait_is_short_without_a_setting(services, monkeypatch):
    from kafka_capacity_airflow.mail import PromptSmtpHook

    connect(monkeypatch, 25)
    hook = PromptSmtpHook()
    hook.smtp_connection = hook.get_connection("smtp_default")
    assert (hook.timeout, hook.smtp_retry_limit) == (20, 0)


def failed_task():
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    of = {"dag_id": "kafka_capacity_plan", "task_id": "pin", "run_id": "weekly", "map_index": -1, "try_number": 1}
    return RuntimeTaskInstance.model_construct(**of, rendered_map_index=None)


def test_an_owner_who_is_refused_beside_others_is_named_in_the_log(server, caplog):
    from kafka_capacity_airflow.notices import failure_mail

    server.refused = {VP: "550 5.1.1 no such user"}
    variables = {"kafka_capacity_owner": f"{SRE}, {VP}"}
    failure_mail()({"ti": failed_task(), "run_id": "weekly", "exception": "gone", "var": {"value": variables}})
    assert [to for _, to in server.taken] == [[SRE]]
    (record,) = [record for record in caplog.records if record.name == "kafka_capacity"]
    assert record.getMessage() == (f"not mailed, through the connection smtp_default: {VP} (550 5.1.1 no such user)")


def test_a_silent_server_costs_the_owners_mail_one_short_wait(services, monkeypatch, silent, caplog):
    from kafka_capacity_airflow.notices import failure_mail

    connect(monkeypatch, silent, timeout=1)
    began = time.monotonic()
    failure_mail()({"ti": failed_task(), "run_id": "weekly", "exception": "gone", "var": {"value": {}}})
    assert time.monotonic() - began < 5
    assert "not mailed, through the connection smtp_default: root@localhost (" in caplog.text


@pytest.mark.parametrize("given", [{}, {"kafka_capacity_owner": "", "kafka_capacity_sender": ""}])
def test_the_owners_mail_has_its_addresses_where_variables_are_empty(services, given):
    from jinja2 import Template

    from kafka_capacity_airflow.notices import failure_mail

    mail = failure_mail()
    told = [Template(one).render(var={"value": given}) for one in (mail.to, mail.from_email)]
    assert told == ["root@localhost", "kafka-capacity@localhost"]


def test_the_owners_mail_keeps_the_lines_of_an_error(services):
    from kafka_capacity_airflow.notices import failure_mail

    error = ValueError("north: it has <no> inventory\nsouth: it has none either")
    mails = len(services.mail.messages())
    failure_mail()({"ti": failed_task(), "run_id": "weekly", "exception": error, "var": {"value": {}}})
    (mail,) = services.mail.messages()[mails:]
    message = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
    shown = "<p>north: it has &lt;no&gt; inventory<br>south: it has none either<br></p>"
    assert shown in message.get_body(("html",)).get_content()


def test_a_wrong_setting_is_named_without_its_value(tell, monkeypatch):
    from kafka_capacity.errors import RequestError

    connect(monkeypatch, 25, timeout="hunter2")
    with pytest.raises(RequestError, match="extra of smtp_default has a timeout that is not a whole number") as error:
        tell("one")
    assert "hunter2" not in str(error.value)


class Login:
    """Lets nobody in, with an answer of its own."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, server, session, envelope, mechanism, auth_data):
        return AuthResult(success=False, handled=False, message=self.answer)


@pytest.fixture
def wants_login(services, monkeypatch):
    """A server that lets nobody in; gives what makes it answer, and what it takes."""
    login = Login("535 5.7.8 svc-mail: credentials invalid")
    handler = Server()
    auth = {"authenticator": login, "auth_require_tls": False}
    at = {"hostname": "127.0.0.1", "port": free_port(), "ready_timeout": PATIENCE_SECONDS}
    controller = Controller(handler, **at, **auth)
    controller.start()
    found = {"conn_type": "smtp", "host": "127.0.0.1", "port": controller.port, "login": "svc-mail"}
    found |= {"password": "hunter2", "extra": {"disable_ssl": True, "disable_tls": True}}
    monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", json.dumps(found))
    login.server = f"the mail server 127.0.0.1:{controller.port} of the connection smtp_default"
    yield login
    controller.stop()


def test_a_refused_login_is_told_of_the_connection_and_not_tried_again(tell, wants_login, tmp_path):
    from kafka_capacity.errors import RequestError  # which the retry policy lets fail at once

    with pytest.raises(RequestError) as error:
        tell("one")
    why = f"{wants_login.server} refuses the login (535 5.7.8 ***: credentials invalid)"
    remedy = "correct the connection's login and password"
    assert str(error.value) == f"nobody was mailed: {why}; {remedy}; the cluster's next run sends to {SRE}, {VP}"
    assert notes(tmp_path) == [dict.fromkeys([SRE, VP], f"{why}; {remedy}")]
    assert error.value.__cause__.__cause__ is None


def test_a_login_that_is_not_taken_now_is_tried_again(tell, wants_login):
    from kafka_capacity_airflow.report_mail import UntoldError

    wants_login.answer = "454 4.7.0 later"
    with pytest.raises(UntoldError, match=r"refuses the login \(454 4.7.0 later\).*this task's next try sends to"):
        tell("one")


@pytest.mark.parametrize(
    ("changes", "may_pass", "what"),
    [
        ({"host": "mail.invalid"}, True, "is not found by its name .*; if it persists, correct the connection's host"),
        ({"disable_ssl": False}, False, r"does not begin with SSL on this port \(.*write .disable_ssl.: true into"),
        ({"disable_tls": False}, False, "does not offer STARTTLS; write .disable_tls.: true into"),
        ({"login": "a", "password": "b"}, False, "takes no login on this port; remove the connection's login"),
        ({"ssl_context": "hunter2", "disable_tls": False}, False, "write default or none as ssl_context"),
        ({"port": 1}, True, r":1 of the connection smtp_default cannot be used \(.*refused\); if it persists"),
        ({"host": None}, False, "the connection smtp_default has no host"),
    ],
)
def test_what_is_wrong_with_a_connection_is_said_with_what_to_set(tell, server, monkeypatch, changes, may_pass, what):
    from kafka_capacity.errors import RequestError
    from kafka_capacity_airflow.report_mail import UntoldError

    found = json.loads(os.environ["AIRFLOW_CONN_SMTP_DEFAULT"])
    fields = {"host", "port", "login", "password"}
    found |= {key: value for key, value in changes.items() if key in fields}
    found["extra"] |= {key: value for key, value in changes.items() if key not in fields}
    monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", json.dumps(found))
    with pytest.raises(UntoldError if may_pass else RequestError, match=what) as error:
        tell("one")
    assert "smtp_default" in str(error.value)
    assert "hunter2" not in str(error.value)


def test_without_a_connection_it_is_asked_for(tell, monkeypatch):
    from kafka_capacity.errors import RequestError

    monkeypatch.delenv("AIRFLOW_CONN_SMTP_DEFAULT")
    with pytest.raises(RequestError, match="there is no connection smtp_default; add it to Airflow"):
        tell("one")


def test_a_sender_and_a_message_that_are_refused_are_not_blamed_on_recipients(tell, server, monkeypatch):
    from kafka_capacity.errors import RequestError

    async def refuse_sender(self, server, session, envelope, address, options):
        return "553 5.7.1 not you"

    async def refuse_message(self, server, session, envelope):
        return "552 5.3.4 too large"

    with monkeypatch.context() as patch:
        patch.setattr(Server, "handle_DATA", refuse_message)
        with pytest.raises(RequestError, match=r"refuses the message \(552 5.3.4 too large\)"):
            tell("one")
    monkeypatch.setattr(Server, "handle_MAIL", refuse_sender, raising=False)
    what = r"refuses the sender \S+@\S+ \(553 5.7.1 not you\); correct the variable kafka_capacity_sender"
    with pytest.raises(RequestError, match=what):
        tell("two")


@pytest.fixture
def to_do(services, monkeypatch, tmp_path):
    """Tell owners of a report of some plan what to do."""
    from kafka_capacity_airflow import report_mail, steps

    items = [{"text": "Group etl needs 3 members.", "anchor": "group-1"}]
    owners = [{"owner": one, "items": items} for one in (SRE, "a team without an address", VP)]
    report = {"cluster": "payments", "ds": "2026-11-20", "links": {}, "owners": owners}
    monkeypatch.setattr(report_mail, "published_report", lambda store, plan: dict(report))
    monkeypatch.setattr(steps, "airflow_store", lambda: open_store(str(tmp_path)))
    return lambda run_id="one": steps.tell(PINNED, run_id=run_id, run_after=RUN_AFTER)


def test_owners_are_mailed_what_to_do_once_a_plan(to_do, server):
    assert to_do() == [SRE, VP]
    assert [to for _, to in server.taken] == [[SRE], [VP]]
    assert server.taken[0][0] == "[kafka-capacity] payments: 1 thing for you to do (2026-11-20)"
    assert to_do("two") == []


def test_where_owners_are_refused_for_good_the_task_tries_no_more(to_do, server):
    from kafka_capacity.errors import RequestError

    server.refused = {SRE: "550 no such user"}
    with pytest.raises(RequestError, match=rf"not mailed: {SRE} \(550 no such user\)"):
        to_do()
    assert [to for _, to in server.taken] == [[VP]]


def test_an_owner_who_is_refused_is_tried_again_alone(to_do, server):
    from kafka_capacity_airflow.report_mail import UntoldError

    server.refused = {SRE: "451 come back later"}
    with pytest.raises(UntoldError, match=SRE):
        to_do()
    server.refused = {}
    assert to_do() == [SRE]
    assert [to for _, to in server.taken] == [[VP], [SRE]]
