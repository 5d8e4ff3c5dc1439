"""The move in waves, as the report tells it: figures in words, charts, runbook, and what stays out."""

from __future__ import annotations

import dataclasses
import json
from functools import lru_cache

import pyarrow as pa
import pytest

from kafka_capacity.kafka.reassignment.problem import Throttle, WaveSettings
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.questions.change.move_tables import MOVE_TABLES, schedule_tables
from kafka_capacity.questions.change.move_view import read_move
from kafka_capacity.questions.change.move_words import (
    detour_sentence,
    disk_sentence,
    leadership_sentence,
    line,
    order_sentence,
    refusal_problem,
    summary,
    throttle_sentence,
    time_notes,
)
from kafka_capacity.questions.change.section.comparison import OPTIONS
from kafka_capacity.questions.change.section.wave_charts import MAX_BARS, MAX_BROKERS, disk_chart, gantt_chart
from kafka_capacity.questions.change.wave_runbook import MAX_PAGES, pages
from kafka_capacity.report.charts import draw_charts
from kafka_capacity.report.email import render_email_text
from kafka_capacity.report.tables import cells
from kafka_capacity.report.template_folder import template_folder
from tests.properties.move_problems import move_problem_of
from tests.report.decided import build_report
from tests.report.plans import GIB, ClusterSpec, make_inputs

MB = 10**6


def move_of(before, after, **given):
    return read_move(schedule_tables("one", plan_waves(move_problem_of(before, after, **given))), "one")


def two_waves(**given):
    """Move two partitions of 100 MB to the same broker, one at a time: 12.5 s each, 10 to 50 s."""
    settings = {"size": 100 * MB, "rate": 1 * MB, "throttle": 10 * MB, "max_concurrent_moves_per_broker": 1}
    return move_of([[1, 2], [1, 2]], [[1, 3], [1, 3]], **{**settings, **given})


@lru_cache(maxsize=1)
def scheduled():
    spec = ClusterSpec(disk_capacity_bytes=900 * GIB, mean_rate=300_000.0)
    return make_inputs(spec, broker_counts=(8,), waves=WaveSettings(max_concurrent_moves_per_broker=3))


def without_waves(inputs):
    tables = {name: table for name, table in inputs.tables.items() if name not in MOVE_TABLES}
    return dataclasses.replace(inputs, tables=tables)


def section_of(report, name="waves"):
    return next((one["data"] for one in report["sections"] if one["name"] == name), None)


def test_the_summary_has_count_times_and_throttle():
    move = two_waves(pause_seconds=60.0)
    assert summary(move) == (
        "The move is 2 waves. It takes 1 min 25 s at 10 MB/s (1 min 20 s if nobody writes meanwhile, 1 min 33 s if all "
        "of it ran at peak rates). One may stop after any of them: no wave leaves a partition with fewer replicas, "
        "racks or in-sync replicas than it has before or shall have, or takes a disk beyond its limit."
    )
    assert line(move) == (
        "The move in waves: 2 waves, 1 min 25 s (1 min 20 s to 1 min 33 s); one may stop after any of them."
    )


def test_a_single_wave_is_not_one_of_many():
    move = move_of([[1, 2]], [[1, 3]], size=100 * MB, throttle=10 * MB)
    assert "The move is 1 wave. It takes 10 s at 10 MB/s, whether nobody writes or all of it runs at peak" in summary(
        move
    )
    assert line(move) == "The move in waves: 1 wave, 10 s."
    assert order_sentence(move) is None


def test_what_never_ends_names_the_throttle_that_does():
    move = move_of([[1, 2]], [[1, 3]], size=10 * MB, rate=5 * MB, throttle=6 * MB)
    assert " At 6 MB/s it never ends; it ends with a throttle above 10 MB/s (20 MB/s at peak rates). " in summary(move)
    assert line(move) == "The move in waves: 1 wave, never (1.7 s at least) at this throttle."
    chart = gantt_chart(move)
    assert "never ends" in chart["note"]
    assert chart["values"][0]["is_endless"]


def test_what_never_ends_at_peak_says_so():
    move = move_of([[1, 2]], [[1, 3]], size=10 * MB, rate=2 * MB, throttle=6 * MB)
    assert (
        "It takes 5 s at 6 MB/s (1.7 s if nobody writes meanwhile); at peak rates it never ends, unless the throttle "
        "is above 8 MB/s." in summary(move)
    )


def test_orders_are_compared_by_when_the_worst_broker_is_relieved():
    move = two_waves(limits=[1000.0 * MB, 250.0 * MB, 1000.0 * MB], size=[100 * MB, 50 * MB])
    orders = {one["order"]: one["relieved_seconds"] for one in move.orders}
    assert set(orders) == {"relief-first", "smallest-first", "hottest-first"}
    assert order_sentence(move).startswith("Order: relief-first. It relieves broker 2, the worst off (disk), after ")
    table = section_of(build_report(scheduled()))["orders"]
    assert sum(row["order"].endswith(" (chosen)") for row in table["rows"]) == 1


def test_orders_that_come_to_the_same_are_not_listed():
    move = two_waves(limits=[1000.0 * MB, 250.0 * MB, 1000.0 * MB])
    said = order_sentence(move)
    assert said.startswith("Order: relief-first. It relieves broker 2, the worst off (disk), after 25 s; ")
    assert said.endswith("; other orders do it just as late.")
    facts = {**move.facts, "is_leadership_first": True, "relieved_seconds": 20.0}
    said = order_sentence(dataclasses.replace(move, facts=facts))
    assert " after 20 s with leaders moved first; without, relief-first after 25 s; other orders " in said
    facts["orders"] = [{**one, "relieved_seconds": None} for one in move.orders]
    assert order_sentence(dataclasses.replace(move, facts=facts)) == (
        "Order: relief-first; in none that was tried is broker 2, the worst off (disk), relieved."
    )
    assert order_sentence(dataclasses.replace(move, facts={**move.facts, "worst_broker": None})) == (
        "Order: relief-first; the move relieves no broker, so the shortest time was taken."
    )


def test_one_wave_is_the_copying_alone():
    move = move_of([[1, 2]], [[1, 3]], size=100 * MB, throttle=10 * MB)
    assert time_notes(move, 10.0)[0] == (
        "10 s is the copying alone, with everything started at once and the throttle used in full on the broker that "
        "decides."
    )


def test_leaders_first_is_compared_with_the_plain_drain():
    given = {"size": 100 * MB, "rate": 2 * MB, "throttle": 10 * MB}
    move = move_of([[1, 2]] * 3, [[2, 3], [2, 4], [2, 3]], max_concurrent_moves_per_broker=1, **given)
    plain, first = move.facts["plain_seconds"], move.facts["leadership_first_seconds"]
    assert plain is not None
    assert first is not None
    assert "3 leaders" in leadership_sentence(move)
    assert leadership_sentence(two_waves()) is None


@pytest.mark.parametrize(
    ("is_first", "plain", "first", "said"),
    [
        (True, 500.0, 120.0, "First 3 leaders move off the drained brokers: so the move takes 2 min; without that it "
         "takes 8 min 20 s."),
        (True, None, 120.0, "First 3 leaders move off the drained brokers: so the move takes 2 min; without that it "
         "never ends."),
        (False, 100.0, 120.0, "To move 3 leaders off the drained brokers first was tried and is no faster: so the move "
         "takes 2 min, and takes 1 min 40 s as it is."),
    ],
)  # fmt: skip
def test_both_drains_have_their_times(is_first, plain, first, said):
    facts = {
        "leaders_moved_first": 3,
        "is_leadership_first": is_first,
        "plain_seconds": plain,
        "leadership_first_seconds": first,
    }
    move = two_waves()
    assert leadership_sentence(dataclasses.replace(move, facts={**move.facts, **facts})) == said


def test_disks_on_the_way():
    assert disk_sentence(two_waves()) == "No broker’s disk size is known, so disks on the way are not checked."
    assert disk_chart(two_waves()) is None
    move = two_waves(limits=[1000.0 * MB, 1000.0 * MB, 400.0 * MB])
    assert disk_sentence(move) == "On the way broker 3 comes closest to its disk limit: 50.0 % of it in wave 2."
    chart = disk_chart(move)
    assert chart["values"][0]["label"] == "Broker 3: 0 %, at most 50.0 %, then 50.0 %"
    levels = [(one["place"], one["share"]) for one in chart["values"] if one["label"].startswith("Broker 3")]
    assert levels == [(0, 0.0), (0.5, 0.25), (1.0, 0.25), (1, 0.25), (1.5, 0.5), (2.0, 0.5)]
    rows = [row for row in chart["table"]["rows"] if row["broker"] == 3]
    assert [(row["waves"], row["start"], row["peak"], row["end"]) for row in rows] == [
        ("1", 0.0, 100.0 * MB, 100.0 * MB),
        ("2", 100.0 * MB, 200.0 * MB, 200.0 * MB),
    ]


def test_only_the_fullest_disks_are_drawn_and_the_chart_says_so():
    count = MAX_BROKERS + 3
    move = move_of([[b] for b in range(1, count)], [[b + 1] for b in range(1, count)], limits=[1000.0] * count)
    chart = disk_chart(move)
    assert len({one["label"] for one in chart["values"]}) == MAX_BROKERS
    assert chart["note"].endswith(f" The {MAX_BROKERS} of {count} brokers that come closest are drawn.")


def test_a_broker_beyond_its_limit_from_the_start_is_no_surprise():
    move = two_waves(limits=[1000.0 * MB, 100.0 * MB, 400.0 * MB])
    assert disk_sentence(move) == (
        "Broker 2 is beyond its disk limit before the move already, and holds at most 200 % of it in wave 1."
    )
    assert summary(move).endswith(" or takes a disk beyond its limit that is within it today.")
    assert summary(two_waves(limits=[1000.0 * MB] * 3)).endswith(" or takes a disk beyond its limit.")


def test_waves_that_copy_nothing_of_what_is_to_be_copied_take_no_time_to_compare():
    refused = {"wave_count": 1, "refusals": [{}], "copied_bytes": 0.0, "refused_partitions": 1}
    refused |= {f"total_{band}_seconds": 0.0 for band in ("low", "expected", "high")}
    columns = [one for one in OPTIONS if one.key in {"takes", "in_waves"}]
    assert cells(columns, None, "fits", refused) == {"takes": None, "in_waves": None}
    assert cells(columns, None, "fits", {**refused, "refusals": []}) == {
        "takes": (0.0, 0.0, 0.0),
        "in_waves": (0.0, 0.0),
    }


def test_a_detour_is_named():
    assert detour_sentence(two_waves()) is None
    move = two_waves()
    waves = tuple({**wave, "kind": "detour"} for wave in move.waves)
    assert detour_sentence(dataclasses.replace(move, waves=waves)) == (
        "In waves 1, 2 partitions go by way of a third broker, since full disks wait for each other; these are copied "
        "twice."
    )


def test_what_cannot_move_is_a_serious_caveat_with_its_figures():
    move = move_of([[1], [1]], [[2], [2]], size=100, limits=[1000.0, 150.0], allows_detours=False)
    problem = refusal_problem(move)
    assert (problem.severity, problem.code) == ("serious", "partitions-in-no-wave")
    assert problem.message.startswith("1 partition is in no wave and stays put: broker 2 may hold 150 B and holds")
    assert refusal_problem(two_waves()) is None


def test_nothing_that_can_move_is_still_told():
    move = move_of([[1]], [[2]], size=100, limits=[1000.0, 50.0], allows_detours=False)
    assert not move.waves
    assert summary(move) == "None of it can move as things are."
    assert line(move) == "The move in waves: none of it can move as things are."
    assert gantt_chart(move) is None
    assert pages(move) == []


def test_automatic_throttles_say_what_they_leave_free():
    throttle = Throttle(bytes_per_second=1.0 * MB, is_automatic=True, headroom_ratio=0.2)
    move = two_waves(throttle=throttle, network=[100.0 * MB, 100.0 * MB, 50.0 * MB])
    assert throttle_sentence(two_waves()) is None
    assert throttle_sentence(move) == (
        "Throttles are the largest that leave 20 % of network and disk free at each broker’s peak, by broker and "
        "direction."
    )
    note = time_notes(move, 3600.0)[0]
    assert note.endswith(" The copying alone, all started at once at 1 MB/s, would take 1 h.")
    assert "Throttle" in [step["does"] for step in pages(move)[0]["steps"]]


def test_slower_at_once_has_its_reason():
    note = time_notes(two_waves(), 3600.0)[0]
    assert note.endswith("would take 1 h, since what is produced to all that moves would then use up the throttle.")


def test_the_section_is_complete():
    report = build_report(scheduled())
    data = section_of(report)
    rows = data["waves"]["rows"]
    assert [one["name"] for one in report["sections"]][:5] == ["findings", "comparison", "brokers", "change", "waves"]
    assert len(rows) == len(data["gantt"]["values"])
    assert (len(data["pages"]), data["pages_left_out"]) == (MAX_PAGES, len(rows) - MAX_PAGES)
    moved = next(figure["value"] for figure in report["figures"] if figure["label"] == "To copy")
    assert sum(row["copied_bytes"] for row in rows) == pytest.approx(moved)
    assert data["waves"]["note"].endswith(" Throttle: 50 MB/s for each wave that copies.")


def test_the_scheduled_time_is_the_one_that_is_said_everywhere():
    report = build_report(scheduled())
    rows = section_of(report)["waves"]["rows"]
    headline, time = report["verdict"]["headline"], next(f for f in report["figures"] if f["label"] == "Time")
    assert f" in 53 min 15 s at 50 MB/s, in {len(rows)} waves." in headline
    assert time["value"] == rows[-1]["end"][1]
    assert time["note"] == "9 waves at 50 MB/s; 51 min 35 s if nobody writes, 55 min 19 s at peak rates"
    notes = [one["text"] for one in report["verdict"]["caveats"]]
    assert (
        "53 min 15 s is for 9 waves, each begun as soon as the one before is done, with the throttle used in full on "
        "the broker that decides. The copying alone, all started at once, would take 49 min 3 s." in notes
    )
    assert not any("with everything started at once and the throttle" in one for one in notes)
    assert not any("decides the time" in one for one in report["verdict"]["reasons"])
    row = next(r for r in section_of(report, "comparison")["table"]["rows"] if r["verdict"] == "recommended")
    assert row["in_waves"] == (rows[-1]["end"][1],) * 2
    labels = [one["label"] for one in section_of(report, "comparison")["table"]["columns"]]
    assert "In waves" in labels
    assert "Copying alone" in labels
    assert row["alone"] == (pytest.approx(2943.0, abs=1.0),) * 2
    assert "Time" not in labels


def test_the_mail_has_one_line_of_it():
    text = render_email_text(build_report(scheduled()), templates=template_folder())
    said = [one for one in text.splitlines() if one.startswith("The move in waves: ")]
    assert said == [
        "The move in waves: 9 waves, 53 min 15 s (51 min 35 s to 55 min 19 s); one may stop after any of them."
    ]
    assert "recommended, 210.1 GiB to copy, 53 min 15 s in waves" in text
    assert " all at once\n" in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize("empty", [False, True])
def test_a_plan_without_waves_is_told_as_before(empty):
    inputs = without_waves(scheduled())
    if empty:
        tables = {name: schema.empty_table() for name, (schema, _) in MOVE_TABLES.items()}
        inputs = dataclasses.replace(inputs, tables={**inputs.tables, **tables})
    report = build_report(inputs)
    assert section_of(report) is None
    assert " in 49 min 3 s at 50 MB/s." in report["verdict"]["headline"]
    assert any(
        one["text"].startswith("49 min 3 s is the copying alone, with everything started at once")
        for one in report["verdict"]["caveats"]
    )
    columns = [one["label"] for one in section_of(report, "comparison")["table"]["columns"]]
    assert "Time" in columns
    assert "In waves" not in columns
    text = render_email_text(report, templates=template_folder())
    assert "waves" not in text
    assert "all at once" not in text


def test_a_move_that_only_ends_in_waves_says_both():
    inputs = scheduled()

    def never(row):
        row["fits"], row["duration_seconds"], row["smallest_throttle_bytes_per_second"] = False, None, 61e6
        excuse = {"constraint": "throttle", "where": "broker 1", "needed": 61e6, "available": 50e6}
        row["excuses"] = json.dumps([{**excuse, "unit": "bytes_per_second", "reason": "it never ends"}])
        return row

    table = inputs.tables["scenarios"]
    rows = [never(row) for row in table.to_pylist() if row["placer"] == "fewest-bytes"]
    tables = {**inputs.tables, "scenarios": pa.Table.from_pylist(rows, schema=table.schema)}
    report = build_report(dataclasses.replace(inputs, tables=tables))
    assert report["verdict"]["headline"] == (
        "8 brokers will not do: the move to 8 brokers with fewest-bytes never ends at 50 MB/s; it ends with a throttle "
        "above 61 MB/s with everything started at once, while 9 waves at 50 MB/s take 53 min 15 s."
    )
    assert any("with everything started at once; it must be above 61 MB/s; in waves" in one["text"]
               for one in report["verdict"]["caveats"])  # fmt: skip


def many_waves(count):
    """Stretch two waves to many."""
    move = two_waves()
    waves = [{**move.waves[at % 2], "wave": at + 1} for at in range(count)]
    seconds = {f"{edge}_{band}_seconds": shift for edge, shift in (("start", 0), ("end", 10)) for band in
               ("low", "expected", "high")}  # fmt: skip
    waves = [{**wave, **{name: at * 10.0 + shift for name, shift in seconds.items()}} for at, wave in enumerate(waves)]
    return dataclasses.replace(move, waves=tuple(waves))


def test_many_waves_share_bars_and_the_chart_says_so():
    chart = gantt_chart(many_waves(130))
    assert len(chart["values"]) == 44 <= MAX_BARS
    assert [one["label"] for one in chart["values"][:2]] == ["1–3 copy", "4–6 copy"]
    assert chart["values"][1]["start_seconds"] == 30.0
    assert chart["values"][1]["end_seconds"] == 60.0
    assert chart["note"].endswith(" 130 waves share 44 bars.")
    assert len(pages(many_waves(130))) == MAX_PAGES


def test_bars_have_more_than_a_colour():
    move = many_waves(4)
    kinds = ("leadership", "copy", "detour", "reorder")
    move = dataclasses.replace(move, waves=tuple({**w, "kind": k} for w, k in zip(move.waves, kinds, strict=True)))
    assert [one["label"] for one in gantt_chart(move)["values"]] == [
        "1 leaders first",
        "2 copy",
        "3 detour",
        "4 reorder",
    ]


def test_the_charts_are_drawn():
    drawn = draw_charts(build_report(scheduled()), template_folder())
    assert {"gantt", "disk-on-the-way"} <= set(drawn)
    for name in ("gantt", "disk-on-the-way"):
        assert drawn[name].png is None
        assert 'fill="#' not in drawn[name].wide
        assert 'stroke="#' not in drawn[name].wide
    assert drawn["gantt"].wide.count("copy</text>") >= 8
    assert drawn["disk-on-the-way"].wide.count("stroke-dasharray") == 3


def test_throttles_stand_side_by_side_and_name_the_options():
    spec = ClusterSpec(disk_capacity_bytes=900 * GIB, mean_rate=300_000.0)
    inputs = make_inputs(spec, broker_counts=(8,), throttles=(4e5, 50e6, 100e6), waves=WaveSettings())
    report = build_report(inputs)
    compared = section_of(report, "comparison")
    slow, usual, fast = compared["throttles"]["rows"]

    assert compared["asked"] == "Asked: 8 brokers; throttles of 400 kB/s, 50 MB/s, 100 MB/s."
    assert report["verdict"]["recommended_scenario_id"] == "008-brokers.fewest-bytes.100MBps"
    assert [row["verdict"] for row in (slow, usual, fast)] == ["does_not_fit", "fits", "recommended"]
    assert slow["takes"][1] is None
    assert usual["takes"][1] > fast["takes"][1] > 0
    assert slow["throttle"] < slow["smallest"]
    labels = [row["label"] for row in compared["table"]["rows"]]
    assert "8 brokers, fewest-bytes, 50 MB/s" in labels
    assert section_of(build_report(scheduled()), "comparison")["throttles"] is None
