"""What is said of consumer groups: who is at risk and how, what to do, what the figures rest on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.questions.consumers.section.details import (
    MAX_FOLDED,
    MAX_LISTED,
    MAX_MEMBERS,
    MAX_OPEN,
    members_table,
)
from kafka_capacity.questions.consumers.section.groups import MAX_DETAILED, MAX_FULL
from kafka_capacity.questions.consumers.section.view import groups_of
from kafka_capacity.text.partition_ranges import partition_ranges
from tests.made_up_groups import result
from tests.report.decided import view_plan
from tests.report.group_plans import (
    EVENTS,
    at_risk,
    fine,
    group_tables,
    lagging,
    many_groups,
    named_groups,
    unfit,
    with_metrics,
)
from tests.report.plans import make_inputs
from tests.unit.questions.consumers.group_sections import SMALL, part_of, report_of, rows_by_group, section_of

ORDERS = "max lag 4 min 12 s in a crash, allowed 2 min, caught up after 12 min 36 s"


def members_of(group_id):
    view = groups_of(view_plan(make_inputs(SMALL, groups=named_groups())))
    choice = next(one.choice for one in view.groups if one.group_id == group_id)
    return members_table(view, choice, limit=MAX_FOLDED)


@pytest.fixture(scope="module")
def section():
    return section_of(named_groups())


def test_a_plan_without_groups_has_no_such_section():
    for groups in (None, {name: table.slice(0, 0) for name, table in named_groups().items()}):
        report = report_of(groups)
        assert "groups" not in [one["name"] for one in report["sections"]]
        assert not [one for one in report["verdict"]["caveats"] if "anchor" in one]


def test_groups_at_risk_are_named_first_with_their_figure():
    line = (
        "3 of 7 consumer groups at risk: archive (one member gets 9.0 MiB/s at peak, but the highest rate so far is "
        f"4.0 MiB/s), reports (Kafka would throw), orders-etl ({ORDERS})."
    )
    report = report_of(named_groups())
    assert report["verdict"]["caveats"][0]["text"] == line
    assert report["verdict"]["caveats"][0]["anchor"] == "groups"
    assert next(one["data"]["at_risk"] for one in report["sections"] if one["name"] == "groups") == line


def test_many_groups_at_risk_are_counted():
    line = section_of(many_groups(risky=5, others=35))["at_risk"]
    assert line == (
        f"5 of 40 consumer groups at risk: orders-etl-000 ({ORDERS}), orders-etl-001 ({ORDERS}), "
        f"orders-etl-002 ({ORDERS}), and 2 more."
    )


def test_where_no_group_is_at_risk_nothing_is_said():
    report = report_of(group_tables(fine("billing")))
    assert next(one["data"]["at_risk"] for one in report["sections"] if one["name"] == "groups") is None
    assert not [one for one in report["verdict"]["caveats"] if "anchor" in one]


@pytest.mark.parametrize(
    ("constraint", "metrics", "phrase"),
    [
        (
            "member_capacity",
            {"is_capacity_given": True, "is_capacity_limit": True, "busiest_member_bytes_per_second": 5e6},
            "one member gets 4.8 MiB/s at peak but can read 3.8 MiB/s",
        ),
        (
            "member_capacity",
            {"is_capacity_limit": True, "busiest_member_bytes_per_second": 4_004_000.0},
            "one member gets 3.82 MiB/s at peak, but the highest rate so far is 3.81 MiB/s",
        ),
        (
            "lag_now",
            {"start_lag_seconds": 3600.0, "catch_up_now_seconds": None},
            "is 1 h behind today, never caught up, allowed 4 h",
        ),
        ("settling", {}, "the assignor keeps revoking partitions"),
    ],
)
def test_each_constraint_has_its_words(constraint, metrics, phrase):
    made = unfit(result("a", 2, is_today=True, events=EVENTS), "the assignor keeps revoking partitions", constraint)
    line = section_of(group_tables([with_metrics(made, **metrics)]))["at_risk"]
    assert line == f"1 of 1 consumer group at risk: a ({phrase})."


@pytest.mark.parametrize(
    ("catch_up", "keeps_up", "ending"),
    [(None, False, ", never caught up"), (None, None, ""), (90.0, True, ", caught up after 1 min 30 s")],
)
def test_when_the_worst_lag_is_gone_is_said_where_it_is_known(catch_up, keeps_up, ending):
    made = lagging(result("a", 2, is_today=True, events=EVENTS), {EVENTS[2]: 252.0})
    tables = group_tables([unfit(made, "x")])
    churn = tables["group_churn"]
    rows = [row | {"catch_up_seconds": catch_up, "keeps_up": keeps_up} for row in churn.to_pylist()]
    tables["group_churn"] = pa.Table.from_pylist(rows, schema=churn.schema)
    line = section_of(tables)["at_risk"]
    assert line.endswith(f"a (max lag 4 min 12 s in a crash, allowed 2 min{ending}).")


def test_a_lag_without_end_is_said_so():
    made = lagging(result("a", 2, is_today=True, events=EVENTS), {EVENTS[2]: None})
    line = section_of(group_tables([unfit(made, "x")]))["at_risk"]
    assert line == "1 of 1 consumer group at risk: a (lag grows without bound in a crash, allowed 2 min)."


def test_the_overview_has_today_and_what_is_recommended(section):
    assert section["summary"] == (
        "7 consumer groups: 3 at risk as they are today, 1 could run with fewer members or fewer pauses, 1 not "
        "simulated with today's setup, 2 best left as they are."
    )
    rows = rows_by_group(section)
    assert {group: row["verdict"] for group, row in rows.items()} == {
        "archive": "at_risk_no_fit",
        "reports": "at_risk_no_fit",
        "orders-etl": "at_risk",
        "search-index": "better",
        "nightly": "empty",
        "billing": "fits",
        "wide": "fits",
    }
    orders = rows["orders-etl"]
    assert orders["members"] == [6, 6]
    assert orders["variant"] == ["range", "cooperative-sticky, static"]
    assert orders["lag"] == [252.0, 48.0]
    assert orders["event"] == "Crash"
    assert orders["pauses"] == [412, 0]
    assert orders["load"] == [3e6, 4e6, False]
    assert rows["search-index"]["members"] == [11, 9]
    assert rows["archive"]["event"] == "At peak"
    assert rows["archive"]["lag"] == ["endless", None]
    assert rows["nightly"]["members"] == [None, 1]
    assert rows["reports"]["load"] is None
    assert rows["reports"]["note"] == "Kafka would throw."
    assert section["overview"]["note"].endswith("The lag allowed is 2 min.")


def test_the_time_to_the_first_record_is_on_the_page_and_in_the_figures_of_the_mail(section):
    label = "Time to first record after a rolling restart"
    assert label in [column["label"] for column in section["overview"]["columns"]]
    assert "first_record" in part_of(section, "orders-etl")["events"]["rows"][0]
    figures = {one["label"]: one["value"] for one in section["figures"][-1]["figures"]}
    assert section["figures"][-1]["group"] == "orders-etl"
    assert figures.pop("Assignor") == ["range", "cooperative-sticky, static"]  # a figure where it changes
    assert figures == {"Members": [6, 6], "Max lag": [252.0, 48.0], label: [3.0, 3.0]}


def test_ways_to_share_are_side_by_side_at_todays_count(section):
    table = part_of(section, "orders-etl")["variants"]
    assert table["caption"] == "Ways to assign the partitions of orders-etl among 6 members"
    today, switched = table["rows"]
    assert [today[key] for key in ("variant", "behaviour", "verdict", "rebalances", "revoked", "pauses")] == [
        "range (today)",
        "eager",
        "no_fit",
        12,
        412,
        472,
    ]
    assert [switched[key] for key in ("variant", "behaviour", "verdict", "revoked", "unread", "duplicates")] == [
        "cooperative-sticky, static",
        "cooperative",
        "best",
        0,
        1300.0,
        2190.0,
    ]


def test_what_is_to_know_about_counts_is_said(section):
    assert part_of(section, "orders-etl")["sentences"] == [
        "A deploy leaves partitions unread for 900 partition-seconds in total today, and for 1,300 with the "
        "recommended change: fewer pauses, but longer ones, because a static member's partitions wait until it is "
        "back.",
        "5 to 6 members read no faster than 4 with range: the fullest member has as many partitions.",
        "1 of 6 members gets nothing today: orders-etl-005.",
        "The smallest sufficient count with cooperative-sticky, static is 6 (6 at peak, 6 with 1 member failed if "
        "members can process more than seen so far, 6 in a rolling restart).",
        "range assigns each topic separately, always starting at the first member, so the first members get one "
        "more partition of each of orders, orders-returns. The busiest reads 2.9 MiB/s at peak; the mean is 2.9 "
        "MiB/s.",
        "It falls out of the page cache: catching up reads up to 3.0 MiB from disk in a crash (today).",
    ]


def test_lag_of_today_comes_before_all_else():
    made = result("a", 3, is_today=True, events=EVENTS)
    made = with_metrics(made, start_lag_seconds=7200.0, catch_up_now_seconds=600.0)
    sentences = part_of(section_of(group_tables([made])), "a")["sentences"]
    assert sentences[1] == (
        "It is already 2 h behind, caught up in 10 min at mean rates, or sooner if members can process more than was "
        "seen; events are simulated for the group once it has caught up."
    )
    assert sentences[2].startswith("The smallest sufficient count with range is 2 (")


def test_a_group_whose_partitions_nobody_leads_is_at_risk_whatever_else_is_wrong():
    reason = "2 of its 6 partitions have no leader: nobody can read them"
    made = unfit(result("a", 2, is_today=True, events=EVENTS), "too much to do", "member_capacity")
    (slow,) = made.excuses
    made = dataclasses.replace(made, excuses=(dataclasses.replace(slow, reason=reason, constraint="offline"), slow))
    found = section_of(group_tables([made]))
    assert found["at_risk"] == f"1 of 1 consumer group at risk: a ({reason})."
    assert rows_by_group(found)["a"]["note"] == f"{reason}."
    assert part_of(found, "a")["reason"] == f"no option fits a: {reason}"
    assert part_of(found, "a")["sentences"][1].startswith(
        "Once all partitions have a leader, the smallest sufficient count with range is 2 ("
    )


def test_records_that_were_deleted_unread_are_said_to_be_lost():
    made = with_metrics(
        result("a", 3, is_today=True, events=EVENTS), start_lag_seconds=7200.0, catch_up_now_seconds=60.0
    )
    found = section_of(group_tables([made], lost_records=np.array([5000.0, 0.0, 120.0, 0.0, 0.0, 0.0])))
    lost = "5,120 records (4.9 MiB) were deleted before it had read them, and are lost to it."
    assert part_of(found, "a")["sentences"][2] == lost
    assert rows_by_group(found)["a"]["note"].endswith(f"once it has caught up. {lost}")
    unsized = group_tables([made], lost_records=np.array([1.0, 0, 0, 0, 0, 0]), is_record_size_known=False)
    assert part_of(section_of(unsized), "a")["sentences"][2] == (
        "1 record was deleted before it had read it, and is lost to it."
    )


def test_how_soon_lag_of_today_is_gone_is_not_claimed_without_a_capacity():
    made = result("a", 3, is_today=True, events=EVENTS)
    unknown = {"capacity_bytes_per_second": None, "load_ratio": None, "catch_up_now_seconds": None}
    sentences = part_of(section_of(group_tables([with_metrics(made, start_lag_seconds=7200.0, **unknown)])), "a")
    assert sentences["sentences"][1] == (
        "It is already 2 h behind, and how soon it catches up is unknown, as member capacity is; events are simulated "
        "for the group once it has caught up."
    )


def test_each_group_says_what_its_figures_rest_on(section):
    texts = [one["text"] for one in part_of(section, "orders-etl")["caveats"]]
    assert texts == [
        "Rates are based on 24 hours of history, less than a week.",
        "The record size is unknown; duplicates are counted in records of 1,000 B.",
    ]


def test_who_reads_what_is_in_ranges(section):
    table = part_of(section, "search-index")["members"]
    assert [column["label"] for column in table["columns"]][1:3] == ["Reads today", "Reads afterwards"]
    first, gone = table["rows"][0], table["rows"][-1]
    assert (first["before"], first["after"]) == ([["pages", "0, 1"]], [["pages", "0–2"]])
    assert gone["member"] == "search-index-010 (gone)"
    assert (gone["after"], gone["peak_after"]) == ([], None)
    stays = members_of("billing")
    assert [column["label"] for column in stays["columns"]] == ["Member", "Reads", "Peak"]


def test_who_reads_what_is_shown_of_groups_at_risk_alone(section):
    assert {part["group"] for part in section["full"] if part["members"]} >= {"archive", "orders-etl"}
    assert {part["group"] for part in section["folded"] if part["members"] is None} >= {"billing", "wide"}


def test_of_many_members_those_that_read_most_are_shown(section):
    table = members_of("wide")
    assert len(table["rows"]) == MAX_FOLDED < MAX_MEMBERS
    assert table["note"] == "The 4 of 300 members that read most."
    assert table["rows"][0]["after"][-1] == ["", "and 100 of 5 more topics"]


@pytest.mark.parametrize(
    ("names", "ranges"),
    [
        ([], []),
        (["a-0"], [["a", "0"]]),
        (["a-9", "a-10", "a-11", "a-1"], [["a", "1, 9–11"]]),
        (["b-0", "a-1-0", "a-1-2"], [["a-1", "0, 2"], ["b", "0"]]),
        ([f"a-{2 * i}" for i in range(20)], [["a", "0, 2, 4, 6, 8, 10, 12, 14 and 12 more"]]),
    ],
)
def test_partitions_become_ranges(names, ranges):
    assert partition_ranges(names) == ranges


def test_only_the_first_groups_are_shown_in_full():
    section = section_of(many_groups(risky=MAX_FULL + 3, others=MAX_DETAILED))
    assert [part["group"] for part in section["full"]] == [f"orders-etl-{i:03d}" for i in range(MAX_FULL)]
    assert len(section["folded"]) == MAX_DETAILED - MAX_FULL
    assert section["left_out"] == MAX_FULL + 3
    assert len(section["charts"]) == MAX_FULL
    rows = section["overview"]["rows"]
    assert len(rows) == MAX_FULL + 3 + MAX_DETAILED <= MAX_LISTED
    assert sum("anchor" in row for row in rows) == MAX_DETAILED


def test_no_more_rows_are_in_sight_than_are_read():
    rows = section_of(many_groups(risky=MAX_OPEN + 2, others=0))["overview"]["rows"]
    assert [row["group"] for row in rows if "is_rest" not in row] == [row["group"] for row in rows[:MAX_OPEN]]


def test_the_worst_come_first():
    groups = view_plan(make_inputs(SMALL, groups=named_groups())).of(groups_of)
    assert [group.group_id for group in groups.groups] == [
        "archive",
        "reports",
        "orders-etl",
        "search-index",
        "nightly",
        "billing",
        "wide",
    ]


def test_skipped_groups_are_listed_with_their_reason():
    skipped = ({"group_id": "z", "reason": "Its consumers assign by hand."}, {"group_id": "a", "reason": "Empty."})
    table = section_of(None, skipped_groups=skipped)["skipped"]
    assert [(row["group_id"], row["reason"]) for row in table["rows"]] == [
        ("a", "Empty."),
        ("z", "Its consumers assign by hand."),
    ]


def test_what_was_not_simulated_is_left_open():
    groups = group_tables(at_risk("a"))
    for name in ("group_churn", "group_timeline", "group_members"):
        groups[name] = groups[name].slice(0, 0)
    section = section_of(groups)
    part = part_of(section, "a")
    assert [part[name] for name in ("chart", "events", "members")] == [None, None, None]
    assert section["charts"] == []
    assert rows_by_group(section)["a"]["pauses"] == [None, None]
    del groups["group_members"]
    assert part_of(section_of(groups), "a")["members"] is None
