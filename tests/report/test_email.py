"""The e-mail: what mail programs can show, the verdict first, nothing to inject."""

from __future__ import annotations

import dataclasses
import datetime
import email
import json
import re
import zlib
from email import policy
from html import unescape

import pytest
from bs4 import BeautifulSoup

from kafka_capacity.errors import RenderError
from kafka_capacity.plan.lifecycle import Said, Verb, after_saying, entries_of
from kafka_capacity.report.email import build_email
from kafka_capacity.report.palette import PAPER
from tests.report.decided import decision_of, render_all
from tests.report.group_plans import fine, group_tables, named_groups
from tests.report.plans import GIB, ClusterSpec, make_inputs
from tests.report.sized import sized_inputs

DATE = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)
INJECTION = "x\r\nBcc: thief@example.com\r\n\r\n<b>"


@pytest.fixture(scope="module")
def rendered():
    return render_all(make_inputs(placers=("fewest-bytes", "generate")))


def message_of(rendered, **changes):
    report = json.loads(rendered.report_json)
    report["links"] |= changes.pop("links", {})
    given = {
        "sender": "Kafka Capacity <planner@example.com>",
        "recipients": ("sre@example.com", "vp@example.com"),
        "images": rendered.images,
        "message_id": "<plan-1@kafka-capacity>",
        "date": DATE,
    }
    return build_email(report, **(given | changes))


def parsed(message):
    return email.message_from_bytes(message.as_bytes(), policy=policy.default)


def html_of(message):
    return message.get_body(("html",)).get_content()


def test_its_parts_are_nested_as_mail_programs_expect(rendered):
    message = parsed(message_of(rendered))
    assert message.get_content_type() == "multipart/alternative"
    plain, related = message.iter_parts()
    assert plain.get_content_type() == "text/plain"
    assert related.get_content_type() == "multipart/related"
    assert [part.get_content_type() for part in related.iter_parts()] == ["text/html", "image/png"]


def test_headers(rendered):
    message = parsed(message_of(rendered))
    assert message["Subject"] == rendered.subject == "[kafka-capacity] payments: 7 brokers fit (2026-11-20)"
    assert message["From"] == "Kafka Capacity <planner@example.com>"
    assert message["To"] == "sre@example.com, vp@example.com"
    assert message["Message-ID"] == "<plan-1@kafka-capacity>"
    assert message["Date"].datetime == DATE


def test_every_image_is_carried_and_shown(rendered):
    message = parsed(message_of(rendered))
    carried = {
        part["Content-ID"].strip("<>"): part for part in message.walk() if part.get_content_maintype() == "image"
    }
    shown = BeautifulSoup(html_of(message), "html5lib").find_all("img")
    assert {image["src"] for image in shown} == {f"cid:{cid}" for cid in carried}
    for image in shown:
        assert image["width"] == "576"
        assert len(image["alt"]) > 20
    for part in carried.values():
        assert part.get_content().startswith(b"\x89PNG")
        assert part.get_content_disposition() == "inline"


def test_it_is_the_same_twice(rendered):
    assert message_of(rendered).as_bytes() == message_of(rendered).as_bytes()


def test_boundaries_differ_and_come_from_the_plan(rendered):
    message = message_of(rendered)
    boundaries = [part.get_boundary() for part in message.walk() if part.is_multipart()]
    assert len(boundaries) == len(set(boundaries)) == 2


def test_the_html_is_what_mail_programs_can_show(rendered):
    html = html_of(parsed(message_of(rendered)))
    soup = BeautifulSoup(html, "html5lib")
    assert len(html.encode()) < 100_000
    assert "var(" not in html
    assert not soup.find_all(["script", "svg", "link", "form", "details"])
    assert soup.find("meta", attrs={"name": "color-scheme"})
    assert "prefers-color-scheme: dark" in soup.style.string.replace(
        "prefers-color-scheme:dark", "prefers-color-scheme: dark"
    )
    assert soup.h1["style"]
    assert soup.find(class_="card")["width"] == "640"
    assert all(tag.get("role") == "presentation" or tag.caption for tag in soup.find_all("table"))


def test_plain_text_has_the_verdict_and_the_same_figures(rendered):
    report = json.loads(rendered.report_json)
    text = parsed(message_of(rendered)).get_body(("plain",)).get_content()
    assert text.startswith(report["verdict"]["box"]["approve"])
    assert all(line["text"] in text for line in report["verdict"]["box"]["lines"])
    assert "https://reports.example.com/plan/index.html" in text
    assert "\n\n\n" not in text


def test_an_address_that_browsers_know_is_a_link(rendered):
    soup = BeautifulSoup(html_of(message_of(rendered)), "html5lib")
    assert soup.find("a")["href"] == "https://reports.example.com/plan/index.html"


@pytest.mark.parametrize("uri", ["s3://bucket/reports/index.html", "javascript:alert(1)", "file:///etc/passwd"])
def test_any_other_address_is_text(rendered, uri):
    soup = BeautifulSoup(html_of(message_of(rendered, links={"report_uri": uri})), "html5lib")
    assert soup.find("a") is None
    assert uri in soup.get_text()


def test_a_hostile_cluster_name_injects_no_header():
    hostile = render_all(make_inputs(ClusterSpec(partitions=4), cluster=INJECTION))
    message = parsed(message_of(hostile))
    assert message["Bcc"] is None
    assert "\\r\\nBcc: thief@example.com" in message["Subject"]
    assert set(message.keys()) == {"Subject", "From", "To", "Date", "Message-ID", "MIME-Version", "Content-Type"}
    raw = message_of(hostile).as_bytes()
    assert not re.search(rb"^Bcc:", raw, re.MULTILINE)
    soup = BeautifulSoup(html_of(message), "html5lib")
    assert "<b>" in soup.get_text()


@pytest.mark.parametrize("length", range(20, 100))
def test_a_subject_of_any_length_reads_back_as_it_was(rendered, length):
    subject = f"[kafka-capacity] {'metrics-uneven-and-more-of-it-' * 4}"[:length].replace("-", " ").strip()
    message = message_of(rendered)
    del message["Subject"]
    message["Subject"] = subject
    assert parsed(message)["Subject"] == subject


def test_a_long_cluster_name_leaves_the_verdict_in_the_subject():
    subject = render_all(make_inputs(ClusterSpec(partitions=4), cluster="x" * 249)).subject
    assert subject.endswith("…: 7 brokers fit (2026-11-20)")
    assert len(subject) < 120


@pytest.mark.parametrize("field", ["sender", "message_id"])
def test_a_line_break_in_a_header_is_refused(rendered, field):
    with pytest.raises(RenderError, match=f"{field}: .* has a control character"):
        message_of(rendered, **{field: INJECTION})


def test_a_line_break_in_a_recipient_is_refused(rendered):
    with pytest.raises(RenderError, match=r"recipients: .* has a control character"):
        message_of(rendered, recipients=("a@example.com", INJECTION))


def test_somebody_must_receive_it(rendered):
    with pytest.raises(RenderError, match="nobody to send the report to"):
        message_of(rendered, recipients=())


def test_the_stored_e_mail_shows_the_images_beside_it(rendered):
    soup = BeautifulSoup(rendered.email_html.decode(), "html5lib")
    assert {image["src"] for image in soup.find_all("img")} == {f"images/{name}" for name in rendered.images}


def test_without_images_there_are_none(rendered):
    message = parsed(message_of(rendered, images={}))
    assert [part.get_content_type() for part in message.walk()] == ["multipart/alternative", "text/plain", "text/html"]


def test_no_serious_caveat_is_cut_off():
    spec = ClusterSpec(hours=0, disk_capacity_bytes=None, network_bytes_per_second=None)
    finding = {"severity": "warning", "code": "x", "where": "replicas", "message": "something"}
    inputs = make_inputs(spec, findings=(finding,))
    more = {"unknown_size_partitions": 3, "brokers_with_several_log_dirs": 2}
    rendered = render_all(dataclasses.replace(inputs, snapshot_facts={**inputs.snapshot_facts, **more}))
    caveats = json.loads(rendered.report_json)["verdict"]["caveats"]
    serious = [caveat["text"] for caveat in caveats if caveat["severity"] == "serious"]
    message = parsed(message_of(rendered))
    text = message.get_body(("plain",)).get_content()
    html = BeautifulSoup(html_of(message), "html5lib").get_text()

    assert len(serious) == 5
    assert all(one in text and one in html for one in serious)
    assert f"{len(caveats) - 5} more caveats in the report" in text
    assert "see below" not in text


def test_an_option_that_does_not_fit_says_why():
    rendered = render_all(make_inputs(ClusterSpec(disk_capacity_bytes=200 * GIB), broker_counts=(2, 5, 9)))
    message = parsed(message_of(rendered))
    lines = message.get_body(("plain",)).get_content().splitlines()
    rows = BeautifulSoup(html_of(message), "html5lib").find(class_="options").tbody.find_all("tr")
    unfit = [line for line in lines if "does not fit" in line]

    assert len(unfit) == 3
    assert len([row for row in rows if "does not fit: " in row.get_text()]) == len(unfit)
    assert all(re.match(r"- \d brokers, [a-z-]+: does not fit: .{10,}", line) for line in unfit)
    assert not any("— to copy" in line for line in unfit)
    assert not any("more)" in line for line in unfit)
    options = lines[lines.index("Options compared") + 1 :]
    assert options[0].startswith("- 9 brokers, fewest-bytes: recommended, ")


def test_groups_at_risk_have_one_line_that_leads_to_them():
    rendered = render_all(make_inputs(ClusterSpec(partitions=4), groups=named_groups()))
    message = parsed(message_of(rendered))
    soup = BeautifulSoup(html_of(message), "html5lib")
    text = message.get_body(("plain",)).get_content()
    line = "! 3 of 7 consumer groups at risk: archive (one member gets 9.0 MiB/s at peak, but the highest rate so far"

    assert soup.find(class_="risk").get_text().replace("\u00a0", " ").startswith(line)
    assert soup.find(class_="risk").a["href"] == "https://reports.example.com/plan/index.html#groups"
    assert [one.startswith(line) for one in text.splitlines() if "consumer groups" in one] == [True]
    assert "See https://reports.example.com/plan/index.html#groups" in text
    key_figures = (
        "orders-etl: Members 6; Assignor range → cooperative-sticky, static; Max lag 4 min 12 s → 48 s; "
        "Time to first record after a rolling restart 3 s"
    )
    assert key_figures in " ".join(text.split())
    assert key_figures in " ".join(soup.get_text().split())
    assert "\n\n\n" not in text
    stored = BeautifulSoup(html_of(message_of(rendered, links={"report_uri": "s3://b/index.html"})), "html5lib")
    assert stored.find(class_="risk").a is None


def test_groups_that_are_not_at_risk_are_not_mentioned():
    rendered = render_all(make_inputs(ClusterSpec(partitions=4), groups=group_tables(fine("billing"))))
    for text in (rendered.email_html.decode(), rendered.email_text):
        assert "consumer group" not in text
    assert BeautifulSoup(rendered.email_html.decode(), "html5lib").find(class_="risk") is None


def test_a_sized_plan_says_first_what_to_approve():
    sized = render_all(sized_inputs(shapes=["m7g.xlarge"], current_shape="m7g.xlarge"))
    box = sized.verdict["box"]
    assert sized.email_text.startswith(f"{box['approve']}\n\nThe full report: https://reports.example.com/")
    html = BeautifulSoup(sized.email_html, "html5lib")
    assert plain(html.h1) == box["approve"]
    # In the list of messages, before it is opened; then the way to the page, then the facts.
    assert html.body.find("div")["class"] == ["preheader"]
    assert plain(html.body.find("div")).startswith(box["approve"])
    assert [
        tag.name for tag in html.find_all(["h1", "a", "td"]) if tag.name != "td" or "label" in tag.get("class", [])
    ][:3] == ["h1", "a", "td"]
    rows = [[plain(cell) for cell in row.find_all("td")] for row in html.find("table", class_="facts").find_all("tr")]
    assert rows == [[line["label"], line["text"]] for line in box["lines"]]
    assert "used-" in " ".join(sized.images)


def test_drawings_are_opaque_and_no_glare_on_dark_screens(rendered):
    for png in rendered.images.values():
        assert first_pixel(png) == [*bytes.fromhex(PAPER[1:]), 255]


def first_pixel(png):
    assert png[12:16] == b"IHDR"
    assert (png[24], png[25]) == (8, 6)  # bits, and colours with alpha
    begin = png.index(b"IDAT") + 4
    return list(zlib.decompressobj().decompress(png[begin:], 5)[1:5])


def plain(tag):
    return tag.get_text().replace("\u00a0", " ").strip()


def test_what_was_dismissed_is_counted_and_no_longer_said():
    inputs = sized_inputs(disk_limit_ratio=0.7)
    decision = decision_of(inputs)
    said = Said(ids=("disk-over-limit",), verb=Verb.DISMISS, by="ana", on=inputs.ds, reason="they go")
    entries = entries_of(after_saying(None, decision, said))
    plain, shown = (render_all(inputs, entries=found) for found in ({}, entries))
    told = "over the limit of 70 % of disk space"
    for one in (plain.email_text, plain.email_html.decode()):
        assert told in unescape(one).replace("\u00a0", " ")
    for one in (shown.email_text, shown.email_html.decode()):
        assert told not in unescape(one).replace("\u00a0", " ")
        assert "1 dismissed." in one
    assert "\n1 dismissed." in shown.email_text or "more problem" in shown.email_text
    page = shown.index_html.decode()
    assert "<summary>1 dismissed</summary>" in page
    assert f'dismissed by ana on <span class="whole">{inputs.ds}</span>: they go' in page
    assert unescape(page).replace("\u00a0", " ").count(told) == 1  # in that line
