"""Who owns what, and what each has to do."""

from __future__ import annotations

import datetime
import json
import re

import pyarrow as pa
import pytest

from kafka_capacity.errors import RenderError, RequestError
from kafka_capacity.inventory.owners import owner_of, parse_owners
from kafka_capacity.plan.owners import MAX_LISTED, add_owners, page_name, topic_rows
from kafka_capacity.report.email import build_owner_email
from tests.report.decided import render_all
from tests.report.group_plans import named_groups
from tests.report.plans import make_inputs

OWNERS = {"slow": "slow@example.net", "*": "all@example.net"}
RISKY, FINE = {"group": "slow", "verdict": "at_risk", "anchor": "group-1"}, {"group": "fine", "verdict": "better"}
DATE = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)


def report():
    overview = {"columns": [{"key": "group", "label": "Group", "format": "name"}], "rows": [{**RISKY}, {**FINE}]}
    groups = {"overview": overview, "full": [{"anchor": "group-1", "reason": "slow needs 3 members"}], "folded": []}
    idle = {"sentences": [], "tables": [{"rows": [{"topic": "old"}]}, {"rows": [{"broker_id": 1}]}]}
    sections = [{"name": "groups", "data": groups}, {"name": "idle", "data": idle}]
    return {"cluster": "shop", "ds": "2026-11-20", "links": {"report_uri": "https://r/x"}, "sections": sections}


def test_the_first_pattern_that_matches_counts():
    assert [owner_of(OWNERS, name) for name in ("slow", "fast")] == ["slow@example.net", "all@example.net"]
    assert owner_of({}, "slow") is None


@pytest.mark.parametrize("verdict", ["at_risk", "at_risk_no_fit", "at_risk_not_judged"])
def test_each_owner_has_what_there_is_to_do(verdict):
    made = report()
    made["sections"][0]["data"]["overview"]["rows"][0]["verdict"] = verdict
    add_owners(made, OWNERS)
    assert {one["owner"]: one["items"] for one in made["owners"]} == {
        "all@example.net": [{"text": "Topic old is idle: remove it, or explain what it is for.", "anchor": "idle"}],
        "slow@example.net": [{"text": "slow needs 3 members.", "anchor": "group-1"}],
    }
    rows = made["sections"][0]["data"]["overview"]["rows"]
    assert [row["owner"] for row in rows] == ["slow@example.net", "all@example.net"]


def test_each_owner_has_what_is_wrong_with_topics_and_what_may_be_done_instead_of_buying():
    single = {"severity": "serious", "code": "single-replica", "text": "4 partitions have one replica."}
    shared, mine = {**single, "topics": ["slow", "a", "b"]}, {**single, "text": "It is slow.", "topics": ["slow"]}
    dismissed, note = {**mine, "is_dismissed": True}, {**mine, "severity": "info"}
    cut = "cut the retention of 2 topics to 1 day"
    savings = {"tables": [], "data": [], "offered": [cut], "topics": {cut: ["a", "slow"], "drop b": ["b"]}}
    made = report()
    made["sections"].append({"name": "savings", "data": savings})
    made["verdict"] = {"problems": [shared, mine, dismissed, note, {**note, "severity": "serious", "topics": []}]}
    add_owners(made, {"slow": "slow@example.net", "a": "a@example.net"})
    assert {one["owner"]: [item["text"] for item in one["items"]] for one in made["owners"]} == {
        "a@example.net": [
            "4 partitions have one replica. Yours: a.",
            "Instead of buying: cut the retention of 2 topics to 1 day. Yours: a.",
        ],
        "slow@example.net": [
            "4 partitions have one replica. Yours: slow.",
            "It is slow.",
            "slow needs 3 members.",
            "Instead of buying: cut the retention of 2 topics to 1 day. Yours: slow.",
        ],
    }


def test_without_owners_a_report_is_as_it_was():
    made = report()
    add_owners(made, {})
    assert made == report()


def test_the_page_has_a_column_of_owners_where_there_are_any():
    inputs = make_inputs(groups=named_groups())
    assert '<th scope="col">Owner</th>' not in render_all(inputs).index_html.decode()
    rendered = render_all(inputs, owners={"*": "Team <b>"})
    assert '<th scope="col">Owner</th>' in rendered.index_html.decode()
    assert "<bdi>Team &lt;b&gt;</bdi>" in rendered.index_html.decode()
    (name,) = [name for name in rendered.tables if "groups" in name]
    assert rendered.tables[name].decode().splitlines()[0].split(",")[:2] == ["Group", "Owner"]


def test_each_owner_has_a_page_with_topics_groups_and_what_there_is_to_do():
    topics = [{"topic": f"t{number}", "partitions": 2, "bytes": number * 2**30} for number in range(MAX_LISTED + 1)]
    odd = "../a/<b>"
    rendered = render_all(make_inputs(groups=named_groups()), owners={"t*": "Storage", "*": odd}, topics=topics)
    assert set(rendered.owners) == {page_name("Storage"), page_name(odd)} <= set(rendered.files())
    storage, other = (rendered.owners[page_name(name)].decode() for name in ("Storage", odd))
    page = rendered.index_html.decode()
    for name in rendered.owners:
        assert re.fullmatch(r"owners/[a-z0-9-]+\.html", name)
        assert f'href="{name}"' in page
    assert "<p>Nothing.</p>" in storage
    assert f"The {MAX_LISTED} largest of {MAX_LISTED + 1}." in storage
    assert storage.index(">t500<") < storage.index(">t499<")
    assert "<bdi>../a/&lt;b&gt;</bdi>" in other
    assert "orders-etl" in other
    assert set(re.findall(r'href="([^"#]+)', other)) == {"../index.html"}
    anchors = re.findall(r'href="../index.html#([^"]+)"', other)
    assert anchors
    assert all(f'id="{anchor}"' in page for anchor in anchors)


def test_pages_of_owners_never_share_a_name():
    names = {page_name(owner) for owner in ("a/b", "a-b", "A-B", "", "..", "é" * 300, "a" * 300)}
    assert len(names) == 7
    assert max(map(len, names)) <= 64


def test_topics_are_counted_with_all_their_replicas():
    replicas = pa.table({"topic": ["b", "b", "b", "a"], "partition": [0, 0, 1, 0], "size_bytes": [1, 2, 3, None]})
    assert topic_rows(replicas) == [
        {"topic": "a", "partitions": 1, "bytes": None},
        {"topic": "b", "partitions": 2, "bytes": 6},
    ]


def test_the_mail_says_what_to_do_and_where_more_stands():
    made = report()
    add_owners(made, OWNERS)
    (_, mine) = made["owners"]
    of = {"page_uri": "https://r/mine", "sender": "a@example.net", "message_id": "<x@y>", "date": DATE}
    message = build_owner_email(made, mine["owner"], mine["items"], **of)
    assert message["Subject"] == "[kafka-capacity] shop: 1 thing for you to do (2026-11-20)"
    assert message["To"] == "slow@example.net"
    assert "- slow needs 3 members.\n  https://r/x#group-1\n" in message.get_content().replace("\r\n", "\n")
    assert "Everything you own there: https://r/mine\n" in message.get_content().replace("\r\n", "\n")
    with pytest.raises(RenderError, match="owner"):
        build_owner_email(made, "a@b\nBcc: c@d", mine["items"], **of)


@pytest.mark.parametrize("text", ["[", "[1]", '{"a": 1}', '{"a": " "}'])
def test_what_is_no_map_of_owners_is_refused_by_its_source(text):
    with pytest.raises(RequestError, match=r"^--owners: "):
        parse_owners(text, source="--owners")


def test_nothing_is_nobody():
    assert parse_owners(" ", source="x") == {}
    assert parse_owners(json.dumps(OWNERS), source="x") == OWNERS
