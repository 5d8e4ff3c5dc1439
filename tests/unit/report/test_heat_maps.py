"""Heat maps of a report: the figures of the plan in few cells, which say without a colour what they are."""

from __future__ import annotations

import pytest

from kafka_capacity.plan.section.brokers import MAX_BROKERS
from kafka_capacity.questions.change.section.change_tables import broker_rows
from kafka_capacity.questions.change.section.flows import MAX_NAMES
from kafka_capacity.report.heat import STEPS, amount_cell, share_cell
from tests.report.decided import build_report, change_page
from tests.report.plans import ClusterSpec, make_inputs
from tests.report.sized import sized_inputs


def data_of(inputs, name):
    return next((one["data"] for one in build_report(inputs)["sections"] if one["name"] == name), None)


def test_a_share_is_marked_where_the_limit_is_close_or_passed():
    shares = [None, 0.0, 0.004, 0.5, 0.8, 0.801, 1.0, 1.001]
    cells = [share_cell(ratio, "") for ratio in shares]
    assert [one["text"] for one in cells] == ["—", "0", "<1", "50", "80", "● 80", "● 100", "▲ 100"]
    assert [one["kind"] for one in cells] == ["", "", "", "heat-3", "heat-4", "warn", "warn", "bad"]


def test_the_largest_amount_is_darkest_and_nothing_is_empty():
    assert amount_cell(9.0, 9.0, "9", "most")["kind"] == f"heat-{STEPS}"
    assert amount_cell(0.0, 9.0, "0", "none") == {"text": "", "kind": "", "title": ""}


def test_each_broker_stands_with_every_limit_before_and_after():
    inputs = sized_inputs()
    heat = data_of(inputs, "brokers")["heat"]
    assert heat["heads"] == ["1", "4", "7 (new)", "2", "5", "3", "6"]
    assert [(one["label"], one["span"]) for one in heat["groups"]] == [("a", 3), ("b", 2), ("c", 2)]
    names = [row["name"] for row in heat["cells"]]
    assert names[:2] == ["Disk space, today", "Disk space, after"]
    assert {name.split(",")[0] for name in names} >= {"Disk space", "Network in", "Network out", "CPU"}
    page = change_page(inputs)
    limit = page.nearest.figures["disk_limit_ratio"]
    (today,) = (row["cells"] for row in heat["cells"] if row["name"] == "Disk space, today")
    for row, cell in zip(broker_rows(inputs.tables, page.nearest), today, strict=True):
        share = None if row["is_new"] else row["fill_before"] / limit
        assert cell["text"] == share_cell(share, "")["text"]
    assert today[0]["title"].startswith("broker 1, disk space today: ")


def test_of_many_brokers_the_most_used_are_drawn_and_the_spread_of_all():
    inputs = make_inputs(ClusterSpec(brokers=60, partitions=100), placers=("fewest-bytes",), broker_counts=(63,))
    heat = data_of(inputs, "brokers")["heat"]
    assert heat["heads"][MAX_BROKERS:] == ["least", "median", "most"]
    assert heat["groups"][-1] == {"label": "all 63", "span": 3}
    page = change_page(inputs)
    fills = [row["fill_before"] for row in broker_rows(inputs.tables, page.nearest) if not row["is_new"]]
    most = share_cell(max(fills) / page.nearest.figures["disk_limit_ratio"], "")["text"]
    today = heat["cells"][0]["cells"]
    assert today[-1]["text"] == most
    assert most in [one["text"] for one in today[:MAX_BROKERS]]
    maps = data_of(inputs, "change")["maps"]
    assert max(len(one["cells"]) for one in maps) <= MAX_NAMES + 2


@pytest.mark.parametrize("case", [ClusterSpec(racks=None), ClusterSpec(disk_capacity_bytes=None)])
def test_what_is_not_known_is_left_out(case):
    inputs = make_inputs(case, placers=("fewest-bytes",))
    heat = data_of(inputs, "brokers")
    assert (heat is None) == (case.disk_capacity_bytes is None)
    assert [one["corner"] for one in data_of(inputs, "change")["maps"]] == ["From"] * (1 if case.racks is None else 2)


def test_what_is_sent_adds_up_to_what_each_broker_sends_and_receives():
    inputs = make_inputs(placers=("fewest-bytes",))
    page, data = change_page(inputs), data_of(inputs, "change")
    racks, brokers = data["maps"]
    moved = page.nearest.figures["moved_bytes"]
    assert f"of {moved / 2**30:.1f} GiB is copied between racks." in data["line"]
    rows = {row["broker"].split()[0]: row for row in broker_rows(inputs.tables, page.nearest)}
    for row in brokers["cells"][:-1]:
        sent = rows[row["name"]]["move_out_bytes"]
        assert row["cells"][-1]["title"] == f"{row['name']} sends {sent / 2**30:.1f} GiB"
    assert [row["name"] for row in racks["cells"]] == ["rack eu-1a", "rack eu-1b", "rack eu-1c", "in all"]
