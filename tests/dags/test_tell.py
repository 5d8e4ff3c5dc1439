"""Chats and pagers are told what is new: over real HTTP, once, and no secret shows anywhere."""

from __future__ import annotations

import base64
import datetime
import http.server
import json
import logging
import threading

import pytest

from kafka_capacity.objects.store import open_store
from tests.ports import free_port
from tests.report.decided import build_report
from tests.report.sized import sized_inputs

pytestmark = pytest.mark.airflow

PINNED = {"cluster": "payments", "ds": "2026-11-20", "inventory_sha256": "ab" * 32, "plan_id": "1234"}
RUN_AFTER = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)
SECRET = "T0000-hunter2-XXXX"
HOSTILE = "<!channel> [a](http://evil) & *b*"
LINES = ["payments: 15 brokers now", f"New: {HOSTILE}", "Approve 3 more brokers now.", "If not: full", "Resolved: none"]


class Sink(http.server.ThreadingHTTPServer):
    """A server that keeps what it is sent and answers what it is told to."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.taken = []
        self.status = {}
        self.meanwhile = lambda: None  # what happens while a message is taken

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        meanwhile, self.server.meanwhile = self.server.meanwhile, lambda: None
        meanwhile()
        status = self.server.status.get(self.path.split("/")[1], 200)
        if status == 200:
            self.server.taken.append((self.path, self.headers.get("Authorization"), body))
        self.send_response(status)
        self.end_headers()

    def log_message(self, *given):
        del given


@pytest.fixture
def sink():
    with Sink() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def connect(services, monkeypatch, sink):
    """Set a connection, and that it is told."""
    names = []

    def connect(name, form=None, *, host=None, **more):
        extra = {"form": form} if form else {}
        found = {"conn_type": "http", "host": host or f"{sink.url}/{name}", "password": SECRET, "extra": extra, **more}
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps(found))
        names.append(name)
        monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_TELL", ", ".join(names))

    return connect


@pytest.fixture
def tell(services, monkeypatch, tmp_path):
    """Tell what is new in a report of some plan; the store has notes and nothing else."""
    from kafka_capacity_airflow import report_mail, steps
    from kafka_capacity_airflow import tell as telling

    verdict = {"sizing": {"badge": badge("bad")}, "badge": badge("good"), "problems": []}
    report = {"verdict": verdict, "links": {}, "sections": []}
    for module in (telling, report_mail):
        monkeypatch.setattr(module, "published_report", lambda store, plan: dict(report))
    monkeypatch.setattr(telling, "message", lambda report: report.get("lines", LINES))
    monkeypatch.setattr(telling, "reasons", lambda report: [LINES[1]])
    monkeypatch.setattr(steps, "airflow_store", lambda: open_store(str(tmp_path)))
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_REPORT_URL", "https://reports.example.net/{key}")

    def tell(run_id="one", plan_id="1234", **changed):
        report.update(changed)
        return steps.tell({**PINNED, "plan_id": plan_id}, run_id=run_id, run_after=RUN_AFTER)

    return tell


@pytest.fixture
def drawn():
    """What a report with charts has in place of none."""
    return {"sections": build_report(sized_inputs())["sections"]}


def badge(kind, text=""):
    return {"kind": kind, "text": text}


REPORT = "https://reports.example.net/reports/cluster=payments/ds=2026-11-20/plan=1234/index.html"


def test_slack_gets_lines_and_a_link_and_nothing_in_them_calls_anybody(tell, connect, sink):
    connect("chat", "slack")
    assert tell() == ["chat"]
    ((path, authorization, body),) = sink.taken
    assert (path, authorization) == (f"/chat/{SECRET}", None)
    lines = body["text"].split("\n")
    assert (lines[0], lines[-1]) == ("*payments: 15 brokers now*", f"<{REPORT}|Open the report>")
    assert len(lines) == 6
    assert "&lt;!channel&gt;" in lines[1]
    assert "<!channel>" not in body["text"]


def test_teams_gets_a_card_of_plain_runs(tell, connect, sink):
    connect("teams", "teams")
    tell()
    ((path, _, body),) = sink.taken
    assert path == f"/teams/{SECRET}"
    card = body["attachments"][0]["content"]
    assert [block["inlines"][0]["text"] for block in card["body"]] == LINES
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}
    assert card["actions"] == [{"type": "Action.OpenUrl", "title": "Open the report", "url": REPORT}]


def test_a_pager_has_one_incident_a_cluster_which_ends_when_nothing_serious_stands(tell, connect, sink):
    connect("pager", "pagerduty")
    tell()
    good = {"sizing": None, "badge": badge("good")}
    offline = {"id": "offline-now", "code": "offline-now", "severity": "serious"}
    tell(plan_id="down", verdict={**good, "problems": [offline]})
    tell(plan_id="next", verdict={**good, "problems": [{**offline, "is_dismissed": True}]})
    (path, authorization, first), (_, _, down), (_, _, second) = sink.taken
    assert (down["event_action"], down["payload"]["severity"]) == ("trigger", "error")
    assert (path, authorization) == ("/pager", None)
    assert first["routing_key"] == SECRET
    assert (first["event_action"], second["event_action"]) == ("trigger", "resolve")
    assert first["dedup_key"] == second["dedup_key"] == "kafka-capacity/payments"
    assert (first["payload"]["severity"], first["payload"]["summary"]) == ("error", LINES[0])
    assert first["links"] == [{"href": REPORT, "text": "Open the report"}]


@pytest.mark.parametrize(
    ("verdict", "action", "severity"),
    [
        (badge("bad", "! Too few brokers now"), "trigger", "error"),
        (badge("warn", "↑ More brokers by March 2027"), "resolve", "warning"),
        (badge("warn", "? Not judged"), "trigger", "warning"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_needed_later_is_no_incident_and_what_is_not_known_ends_none(
    tell, connect, sink, verdict, action, severity
):
    connect("pager", "pagerduty")
    tell(verdict={"sizing": {"badge": verdict}, "badge": badge("good"), "problems": []})
    ((_, _, body),) = sink.taken
    assert (body["event_action"], body["payload"]["severity"]) == (action, severity)


def test_a_webhook_gets_data_and_its_token(tell, connect, sink):
    connect("hook")
    tell()
    ((path, authorization, body),) = sink.taken
    assert (path, authorization) == ("/hook", f"Bearer {SECRET}")
    assert (body["cluster"], body["ds"], body["plan_id"]) == ("payments", "2026-11-20", "1234")
    assert (body["verdict"], body["lines"], body["report"]) == ("bad", LINES, REPORT)
    assert body["reasons"] == [LINES[1]]


def test_each_has_the_picture_in_its_own_way(tell, connect, sink, drawn):
    for form in ("slack", "teams", "pagerduty", "webhook"):
        connect(form, form)
    tell(**drawn)
    slack, teams, pager, hook = (body for _, _, body in sink.taken)
    title, url = "Share of the disk space limit in use", f"{REPORT.rpartition('/')[0]}/images/used-disk.png"
    assert slack["attachments"] == [{"fallback": title, "image_url": url}]
    assert pager["images"] == [{"src": url, "href": REPORT, "alt": title}]
    assert hook["picture"]["title"] == title
    assert base64.b64decode(hook["picture"]["png_base64"]).startswith(b"\x89PNG")
    *_, image = teams["attachments"][0]["content"]["body"]
    assert image["altText"] == title
    assert image["url"] == f"data:image/png;base64,{hook['picture']['png_base64']}"
    assert len(json.dumps(teams)) < 28_000


def test_a_picture_that_is_too_large_or_not_drawn_takes_no_message_with_it(tell, connect, sink, drawn, monkeypatch):
    from kafka_capacity_airflow import tell as telling

    connect("teams", "teams")
    monkeypatch.setattr(telling, "_TEAMS_BYTES", 5_000)
    tell(**drawn)
    (chart, *_) = next(section["data"]["charts"] for section in drawn["sections"] if section["data"].get("charts"))
    chart["spec"] = "no-such-spec"
    tell(plan_id="next", **drawn)
    for _, _, body in sink.taken:
        assert {block["type"] for block in body["attachments"][0]["content"]["body"]} == {"RichTextBlock"}
    assert len(sink.taken) == 2


def test_a_report_that_no_browser_reaches_is_named_and_not_linked(tell, connect, sink, monkeypatch):
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_REPORT_URL", "")
    for form in ("slack", "teams", "pagerduty"):
        connect(form, form)
    tell()
    slack, teams, pager = (body for _, _, body in sink.taken)
    assert slack["text"].endswith("/plan=1234/index.html")
    assert teams["attachments"][0]["content"]["actions"] == []
    assert pager["links"] == pager["images"] == []


def test_what_is_no_news_is_not_told(tell, connect, sink):
    connect("hook")
    assert tell(lines=[]) == []
    assert sink.taken == []


def test_nobody_is_told_twice_of_a_plan_and_each_who_was_not_is_tried_again(tell, connect, sink):
    from kafka_capacity_airflow.report_mail import UntoldError

    connect("hook")
    connect("chat", "slack")
    sink.status = {"chat": 500}
    with pytest.raises(UntoldError, match=r"^chat was not notified: HTTP 500$"):
        tell()
    assert len(sink.taken) == 1
    sink.status = {}
    assert tell() == ["chat"]
    assert tell("two") == []
    assert len(sink.taken) == 2


def test_what_could_not_be_told_is_told_by_the_next_run_before_its_own(tell, connect, sink, tmp_path):
    from kafka_capacity_airflow.report_mail import UntoldError

    connect("hook")
    connect("pager", "pagerduty")
    sink.status = {"pager": 503}
    with pytest.raises(UntoldError, match=r"^pager was not notified: HTTP 503$"):
        tell()
    assert [path.name for path in tmp_path.glob("unheard/cluster=payments/*")] == ["plan=1234.json"]
    assert SECRET not in (tmp_path / "unheard" / "cluster=payments" / "plan=1234.json").read_text()
    # The next run is down as well, and the one after tells all three, each connection its own and none twice.
    with pytest.raises(UntoldError):
        tell("two", plan_id="next")
    sink.status, sink.taken[:] = {}, []
    assert tell("three", plan_id="third") == ["pager", "pager", "hook", "pager"]
    pager = [body for path, _, body in sink.taken if path == "/pager"]
    reports = [body["payload"]["custom_details"]["report"].split("plan=")[1].split("/")[0] for body in pager]
    assert reports == ["1234", "next", "third"]
    assert list(tmp_path.glob("unheard/cluster=payments/*")) == []
    assert tell("four", plan_id="fourth", lines=[]) == []


def test_what_is_refused_for_good_the_second_time_is_not_tried_any_more(tell, connect, sink, tmp_path):
    from kafka_capacity.plan.pinned import PinnedPlan
    from kafka_capacity_airflow import tell as telling
    from kafka_capacity_airflow.report_mail import UntoldError

    for name in ("chat", "hook"):
        connect(name)
    sink.status = {"chat": 500, "hook": 500}
    with pytest.raises(UntoldError):
        tell()
    store, later = open_store(str(tmp_path)), PinnedPlan(**{**PINNED, "ds": "2026-11-27", "plan_id": "next"})
    sink.status = {"chat": 404, "hook": 429}
    assert telling._tell_earlier(store, later, "two", ["chat", "hook"]) == []
    (note,) = tmp_path.glob("unheard/cluster=payments/*")
    assert json.loads(note.read_text())["untold"] == {"hook": "HTTP 429"}
    sink.status = {}
    # A run of an earlier day is silent about later news, and whom nobody tells any more is forgotten.
    before = PinnedPlan(**{**PINNED, "ds": "2026-11-13", "plan_id": "before"})
    assert telling._tell_earlier(store, before, "zero", ["hook"]) == []
    assert telling._tell_earlier(store, later, "three", ["chat"]) == []
    assert not note.exists()


def test_owners_with_something_to_do_are_mailed_once_with_their_page(tell, monkeypatch):
    from kafka_capacity_airflow import report_mail

    sent = []
    monkeypatch.setattr(report_mail, "send_message", lambda message, to: sent.append((to, message.get_content())) or {})
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_SENDER", "kafka@example.net")
    item = {"text": "orders needs 3 members.", "anchor": "group-1"}
    owners = [
        {"owner": "a@example.net", "page": "owners/a-1.html", "items": [item], "tables": []},
        {"owner": "b@example.net", "page": "owners/b-2.html", "items": [], "tables": []},
        {"owner": "Team C", "page": "owners/c-3.html", "items": [item], "tables": []},
    ]
    more = {"owners": owners, "cluster": "payments", "ds": "2026-11-20"}
    assert tell(lines=[], **more) == ["a@example.net"]
    assert tell("two") == []
    ((to, text),) = sent
    assert to == ["a@example.net"]
    assert f"{REPORT}#group-1" in text
    assert "https://reports.example.net/reports/cluster=payments/ds=2026-11-20/plan=1234/owners/a-1.html" in text


def test_of_two_runs_at_once_one_tells_a_connection(tell, connect, sink):
    connect("hook")
    sink.meanwhile = lambda: tell("two")
    tell("one")
    assert [path for path, *_ in sink.taken] == ["/hook"]


def test_who_has_the_report_by_mail_is_kept_beside(tell, connect, sink, tmp_path):
    from kafka_capacity.plan.pinned import PinnedPlan
    from kafka_capacity_airflow.report_mail import keep_told, told_of

    connect("hook")
    store, plan = open_store(str(tmp_path)), PinnedPlan(**PINNED)
    keep_told(store, plan, ["sre@example.net"], "one")
    tell()
    assert told_of(store, plan) == {"sre@example.net": "one", "hook": "one"}


@pytest.mark.parametrize("form", ["slack", "teams", "pagerduty", "webhook"])
@pytest.mark.parametrize("how", ["refuses", "is down", "is silent", "no address"])
def test_no_secret_is_in_a_log_an_error_or_a_result(tell, connect, sink, form, how, caplog, monkeypatch):
    from kafka_capacity_airflow import tell as telling
    from kafka_capacity_airflow.report_mail import UntoldError

    monkeypatch.setattr(telling, "SILENT_SECONDS", 0.3)
    hosts = {"is down": f"http://127.0.0.1:{free_port()}", "no address": f"ftp://{SECRET}.example.net"}
    connect("hook", form, host=hosts.get(how))
    sink.status = {"hook": 403}
    with caplog.at_level(logging.DEBUG):
        if how == "is silent":
            import socket

            with socket.create_server(("127.0.0.1", 0)) as silent:
                connect("hook", form, host=f"http://127.0.0.1:{silent.getsockname()[1]}")
                with pytest.raises(UntoldError, match="hook was not notified: no answer") as error:
                    tell()
        else:
            with pytest.raises(UntoldError, match="hook was not notified: ") as error:
                tell()
    assert SECRET not in caplog.text
    chained = error.value
    while chained is not None:
        assert SECRET not in repr(chained)
        chained = None if chained.__suppress_context__ else chained.__cause__ or chained.__context__


NO_PIGEONS = "wrong was not notified: form is 'pigeon'; write one of slack, teams, pagerduty, webhook into the"


def test_a_form_that_there_is_not_is_refused_by_name_and_costs_nobody_else_the_news(tell, connect, sink, monkeypatch):
    from kafka_capacity.errors import RequestError
    from kafka_capacity_airflow import report_mail

    mailed = []
    monkeypatch.setattr(report_mail, "send_message", lambda message, to: mailed.append(to) or {})
    owners = [{"owner": "a@example.net", "items": [{"text": "orders needs 3 members.", "anchor": "group-1"}]}]
    connect("wrong", "pigeon")
    connect("hook")
    with pytest.raises(RequestError, match=rf"^{NO_PIGEONS} connection's extra$"):
        tell(owners=owners, cluster="payments", ds="2026-11-20")
    assert [path for path, _, _ in sink.taken] == ["/hook"]
    assert mailed == [["a@example.net"]]
    # The next run tells it, once somebody has corrected the connection.
    connect("wrong", "webhook")
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_TELL", "wrong, hook")
    assert tell("two", plan_id="next", owners=[]) == ["wrong", "wrong", "hook"]


def test_what_may_pass_is_tried_again_beside_a_form_that_there_is_not(tell, connect, sink):
    from kafka_capacity_airflow.report_mail import UntoldError

    connect("wrong", "pigeon")
    connect("hook")
    sink.status = {"hook": 503}
    with pytest.raises(UntoldError, match=rf"{NO_PIGEONS} connection's extra, hook was not notified: HTTP 503$"):
        tell()


def test_a_connection_that_there_is_not_is_named(services, tell, monkeypatch):
    from kafka_capacity_airflow.report_mail import UntoldError

    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_TELL", "nowhere")
    with pytest.raises(UntoldError, match=r"nowhere was not notified: the connection cannot be read"):
        tell()
