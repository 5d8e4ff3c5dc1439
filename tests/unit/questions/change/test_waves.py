"""The section about waves: its data, its charts, and what the page and the mail have of it."""

from __future__ import annotations

import dataclasses
import json
import re
from functools import lru_cache

import pyarrow as pa
import pytest

from kafka_capacity.kafka.reassignment.problem import WaveSettings
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.questions.change.move_tables import MOVE_TABLES, schedule_tables
from kafka_capacity.questions.change.move_view import read_move
from kafka_capacity.questions.change.section.wave_charts import MAX_BARS, gantt_chart
from kafka_capacity.questions.change.wave_runbook import MAX_PAGES, pages
from kafka_capacity.report.charts import draw_charts
from kafka_capacity.report.email import render_email_text
from kafka_capacity.report.template_folder import template_folder
from kafka_capacity.text.figures import steady
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
    assert time["value"] == steady(rows[-1]["end"][1])
    assert time["note"] == "9 waves at 50 MB/s; 51 min 35 s without writes, 55 min 19 s at peak rates"
    notes = [one["text"] for one in report["verdict"]["caveats"]]
    assert (
        "53 min 15 s is for 9 waves, each started as soon as the previous one is done, with the throttle fully used "
        "on the bottleneck broker. The copying alone, with everything started at once, would take 49 min 3 s." in notes
    )
    assert not any("with everything started at once and the throttle" in one for one in notes)
    assert not any("is the bottleneck" in one for one in report["verdict"]["reasons"])
    row = next(r for r in section_of(report, "comparison")["table"]["rows"] if r["verdict"] == "recommended")
    assert row["in_waves"] == (rows[-1]["end"][1],) * 2
    labels = [one["label"] for one in section_of(report, "comparison")["table"]["columns"]]
    assert "In waves" in labels
    assert "Copying alone" in labels
    assert row["alone"] == (pytest.approx(2943.0, abs=1.0),) * 2
    assert "Time" not in labels


def test_the_mail_has_its_time():
    text = render_email_text(build_report(scheduled()))
    assert re.search(r"^The move: .* in 53 min 15 s at .*, in 9 waves", text, re.MULTILINE)
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
    text = render_email_text(report)
    assert "waves" not in text
    assert "all at once" not in text


def test_a_move_that_only_ends_in_waves_says_both():
    inputs = scheduled()

    def never(row):
        row["fits"], row["duration_seconds"], row["smallest_throttle_bytes_per_second"] = False, None, 61e6
        excuse = {"constraint": "throttle", "where": "broker 1", "needed": 61e6, "available": 50e6}
        row["excuses"] = json.dumps([{**excuse, "unit": "bytes_per_second", "reason": "it never finishes"}])
        return row

    table = inputs.tables["scenarios"]
    rows = [never(row) for row in table.to_pylist() if row["placer"] == "fewest-bytes"]
    tables = {**inputs.tables, "scenarios": pa.Table.from_pylist(rows, schema=table.schema)}
    report = build_report(dataclasses.replace(inputs, tables=tables))
    assert report["verdict"]["headline"] == (
        "The move to 8 brokers with fewest-bytes never finishes at 50 MB/s; it needs a "
        "throttle above 61 MB/s with everything started at once, while 9 waves at 50 MB/s take 53 min 15 s."
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

    assert compared["asked"] == "Requested: 8 brokers; throttles of 400 kB/s, 50 MB/s, 100 MB/s."
    assert report["verdict"]["recommended_scenario_id"] == "008-brokers.fewest-bytes.100MBps"
    assert [row["verdict"] for row in (slow, usual, fast)] == ["does_not_fit", "fits", "recommended"]
    assert slow["takes"][1] is None
    assert usual["takes"][1] > fast["takes"][1] > 0
    assert slow["throttle"] < slow["smallest"]
    labels = [row["label"] for row in compared["table"]["rows"]]
    assert "8 brokers, fewest-bytes, 50 MB/s" in labels
    assert section_of(build_report(scheduled()), "comparison")["throttles"] is None
