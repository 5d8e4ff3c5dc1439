"""A page of another origin, in a real browser, gets nothing from the local endpoint and changes nothing there."""

from __future__ import annotations

import http.server
import threading

import pytest

from local.s3_server import BUCKET, LocalS3
from tests.browser import PATIENCE_MS, started_browser

pytestmark = [
    pytest.mark.browser,
]

REPORT = f"{BUCKET}/capacity/reports/cluster=x/index.html"
RELEASED = f"{BUCKET}/capacity/reports/cluster=x/reassignment/runbook.md"
OURS = "<title>ours</title>"
TRY_ALL = """async ([endpoint, report, released]) => {
  const outcomes = {};
  const attempt = async (name, path, options) => {
    try {
      const answer = await fetch(`${endpoint}/${path}`, options);
      outcomes[name] = `${answer.type} ${answer.status} ${await answer.text()}`;
    } catch (error) { outcomes[name] = "nothing"; }
  };
  await attempt("read", report, {});
  await attempt("read blindly", report, {mode: "no-cors"});
  await attempt("list", "?list-type=2", {});
  await attempt("write", released, {method: "PUT", body: "theirs"});
  await attempt("write as a client", released, {method: "PUT", body: "theirs", headers: {Authorization: "AWS4"}});
  await attempt("write blindly", released, {method: "POST", body: "theirs", mode: "no-cors"});
  await attempt("delete", released, {method: "DELETE"});
  await attempt("empty", "moto-api/reset", {method: "POST", mode: "no-cors"});
  if (document.contentType !== "text/html") return outcomes;  // elements of other documents load nothing
  const load = (tag, path) => new Promise(done => {
    const element = document.createElement(tag);
    element.onload = () => done(`${tag} loaded`);
    element.onerror = () => done("nothing");
    element.src = `${endpoint}/${path}`;
    document.body.append(element);
  });
  outcomes["image"] = await load("img", report.replace("index.html", "images/a.png"));
  outcomes["script"] = await load("script", report.replace("index.html", "a.js"));
  outcomes["ran"] = String(window.ran ?? "nothing");
  return outcomes;
}"""
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001000500"
    "01a5f645400000000049454e44ae426082"
)


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>theirs</title><body>")

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def their_port():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server.server_port
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    # Any name leads to this machine: as where the owner of a name makes it do so.
    with started_browser("--host-resolver-rules=MAP *.example 127.0.0.1") as started:
        yield started


@pytest.fixture
def s3(tmp_path):
    with LocalS3(tmp_path) as found:
        client = found.client()
        put = {REPORT: OURS.encode(), RELEASED: b"ours", REPORT.replace("index.html", "images/a.png"): PIXEL}
        put[REPORT.replace("index.html", "a.js")] = b"window.ran = 'ours'"
        for path, body in put.items():
            bucket, _, key = path.partition("/")
            kind = "text/html" if key.endswith("html") else "text/javascript" if key.endswith("js") else "image/png"
            client.put_object(Bucket=bucket, Key=key, Body=body, ContentType=kind)
        yield found, tmp_path


@pytest.fixture
def page(browser):
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    page.close()


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "evil.example"])
def test_a_page_of_another_origin_gets_nothing_and_changes_nothing(page, s3, their_port, host):
    endpoint, folder = s3[0].endpoint, s3[1]
    before = files(folder)
    page.goto(f"http://{host}:{their_port}/")
    outcomes = page.evaluate(TRY_ALL, [endpoint, REPORT, RELEASED])
    blind = {name: outcomes.pop(name) for name in ("read blindly", "write blindly", "empty")}
    assert set(outcomes.values()) == {"nothing"}, outcomes
    # What is asked for blindly shows a page neither whether nor what was answered.
    assert set(blind.values()) <= {"opaque 0 ", "nothing"}, blind
    assert files(folder) == before
    assert s3[0].client().get_object(Bucket=BUCKET, Key=RELEASED.partition("/")[2])["Body"].read() == b"ours"


def test_a_name_that_was_made_to_lead_here_gets_nothing(page, s3):
    endpoint, folder = s3[0].endpoint, s3[1]
    before = files(folder)
    rebound = endpoint.replace("127.0.0.1", "evil.example")
    answer = page.goto(f"{rebound}/{REPORT}")
    assert answer.status == 403
    assert "ours" not in page.content()
    outcomes = page.evaluate(TRY_ALL, [rebound, REPORT, RELEASED])
    assert not [told for told in outcomes.values() if "ours" in told or " 200 " in told], outcomes
    assert files(folder) == before


def test_a_form_of_another_origin_changes_nothing(page, s3, their_port):
    endpoint, folder = s3[0].endpoint, s3[1]
    before = files(folder)
    page.goto(f"http://127.0.0.1:{their_port}/")
    action = f'method="post" enctype="text/plain" action="{endpoint}/{RELEASED}"'
    form = f'<form {action}><input name="a" value="theirs"></form>'
    page.evaluate("form => { document.body.innerHTML = form; }", form)
    with page.expect_navigation():
        page.evaluate("document.forms[0].submit()")
    assert files(folder) == before


def test_a_link_from_a_page_opens_the_report(page, s3, their_port):
    page.goto(f"http://127.0.0.1:{their_port}/")
    page.evaluate("link => { document.body.innerHTML = `<a href='${link}'>report</a>`; }", f"{s3[0].endpoint}/{REPORT}")
    with page.expect_navigation():
        page.click("a")
    assert page.title() == "ours"
