"""In which words a plan says what fits, what does not, and what could be wrong."""

from __future__ import annotations

import dataclasses
import json
import re
from types import SimpleNamespace

import pyarrow as pa
import pytest

from kafka_capacity.errors import RenderError
from kafka_capacity.questions.change.section.comparison import option_verdict
from tests.report.decided import build_report, decision_of
from tests.report.plans import GIB, TIB, ClusterSpec, changed_rows, make_inputs
from tests.report.sized import sized_inputs


def verdict_of(inputs):
    return build_report(inputs)["verdict"]


def texts(verdict, severity):
    return [caveat["text"] for caveat in verdict["caveats"] if caveat["severity"] == severity]


def test_it_fits():
    def known(row):
        is_planned = row["placer"] == "fewest-bytes"
        row["moved_bytes"] = int((2.1 if is_planned else 20.7) * TIB)
        row["total_bytes"] = 26 * TIB
        row["moved_replicas"] = row["changed_partitions"] = 10
        row["duration_seconds"] = 11_520.0

    inputs = make_inputs(broker_counts=(9,), placers=("fewest-bytes", "generate"))
    verdict = verdict_of(changed_rows(inputs, known))
    assert verdict["fits"]
    assert verdict["status"] == "fits"
    assert verdict["recommended_scenario_id"] == "009-brokers.fewest-bytes"
    assert verdict["headline"] == (
        "9 brokers fit (6 today): fewest-bytes moves 2.1 TiB (8.1 % of 26.0 TiB) in 3 h 12 min at 50 MB/s; "
        "Kafka’s own --generate would move 20.7 TiB (9.9×)."
    )
    assert verdict["subject"] == "[kafka-capacity] payments: 9 brokers fit (2026-11-20)"


def test_where_no_size_is_known_nothing_is_judged_and_no_bytes_or_times_are_shown():
    inputs = make_inputs(broker_counts=(9,), placers=("fewest-bytes",))
    facts = {**inputs.snapshot_facts, "unknown_size_partitions": inputs.snapshot_facts["partition_count"]}
    verdict = decision_of(dataclasses.replace(inputs, snapshot_facts=facts))
    assert (verdict["status"], verdict["fits"]) == ("not_judged", False)
    assert [(one["label"], one["value"]) for one in verdict["figures"]] == [
        ("To copy", "not known"),
        ("Time", "not known"),
    ]
    assert re.search(r": fewest-bytes moves \d+ replicas\.$", verdict["headline"])
    sections = build_report(dataclasses.replace(inputs, snapshot_facts=facts))["sections"]
    (row,) = next(one["data"]["table"]["rows"] for one in sections if one["name"] == "comparison")
    assert {row.get(name) for name in ("moved_bytes", "lower_bound_bytes", "in_waves", "duration")} == {None}


@pytest.mark.parametrize(("held", "status"), [(0.05, "fits"), (0.06, "not_judged")])
def test_where_much_has_unknown_traffic_the_answer_is_as_far_as_known(held, status):
    inputs = sized_inputs()
    facts = {"unknown_rate_partitions": 20, "unknown_rate_stored_ratio": held}
    unknown = dataclasses.replace(
        inputs, snapshot_facts={**inputs.snapshot_facts, **facts}, sizing={**inputs.sizing, **facts}
    )
    decision, text = decision_of(unknown), "the traffic of 20 of 24 partitions"
    assert decision["status"] == status
    is_said = status == "not_judged"
    assert decision["box"]["approve"].startswith("As far as known: ") is is_said
    assert ("traffic-not-known" in {one["code"] for one in decision["problems"]}) is is_said
    assert (decision["unknown"] == [text]) is is_said
    assert (" in at least " in decision["headline"]) is is_said
    time = next(one["note"] for one in decision["figures"] if one["name"] == "move_seconds")
    assert time.endswith("; it takes longer by what is produced where traffic is unknown") is is_said
    confidence = next(one["text"] for one in decision["box"]["lines"] if one["name"] == "confidence")
    assert (confidence == f"Unknown: {text} is not known.") is is_said


def test_rates_of_earlier_days_are_told():
    inputs = sized_inputs()
    facts = {**inputs.snapshot_facts, "rates_until": "2026-11-19"}
    told = decision_of(dataclasses.replace(inputs, snapshot_facts=facts))
    (problem,) = [one for one in told["problems"] if one["code"] == "rates-of-earlier-days"]
    assert (
        problem["message"]
        == "The inventory of 2026-11-20 has no rates: all loads are those of the history up to 2026-11-19"
    )
    assert "rates-of-earlier-days" not in {one["code"] for one in decision_of(inputs)["problems"]}


def test_of_one_partition_the_singular_is_told():
    inputs = make_inputs(placers=("fewest-bytes",))
    table = inputs.tables["scenarios"]
    rows = [{**row, "leaders_changed": 1} for row in table.to_pylist()]
    alone = dataclasses.replace(
        inputs,
        tables={**inputs.tables, "scenarios": pa.Table.from_pylist(rows, schema=table.schema)},
        snapshot_facts={**inputs.snapshot_facts, "partition_count": 1},
    )
    assert decision_of(alone)["reasons"][-1] == "1 of 1 partition gets another preferred leader."


def test_a_count_that_fails_is_in_the_subject_and_among_the_reasons():
    spec = ClusterSpec(disk_capacity_bytes=180 * GIB)
    verdict = verdict_of(make_inputs(spec, broker_counts=(5, 6, 9), placers=("fewest-bytes",)))
    assert verdict["subject"] == "[kafka-capacity] payments: 9 brokers fit, 5 and 6 do not (2026-11-20)"
    assert verdict["reasons"][0] == "9 is the smallest broker count that fits among those tried (5, 6, 9)."
    assert verdict["reasons"][1].startswith("5 brokers do not fit: broker ")
    assert " too much; it needs " in verdict["reasons"][1]


def test_what_is_no_worse_than_today_does_not_fit_in_any_word():
    def full(row):
        row["standing"] = json.dumps([{"constraint": "disk", "broker_id": broker} for broker in (3, 8)])

    inputs = changed_rows(make_inputs(broker_counts=(6,), placers=("fewest-bytes",)), full)
    verdict = verdict_of(inputs)
    assert verdict["status"] == "no_worse"
    assert verdict["headline"].startswith("6 brokers are no worse than today")
    assert verdict["reasons"][0] == "No worse than today: brokers 3 and 8 were over the disk limit before."
    assert verdict["subject"] == "[kafka-capacity] payments: 6 brokers are no worse than today (2026-11-20)"


def test_nothing_fits():
    spec = ClusterSpec(disk_capacity_bytes=50 * GIB)
    verdict = verdict_of(make_inputs(spec, broker_counts=(7, 8), placers=("fewest-bytes",)))
    assert not verdict["fits"]
    assert verdict["status"] == "does_not_fit"
    assert verdict["recommended_scenario_id"] is None
    assert verdict["nearest_scenario_id"] == "008-brokers.fewest-bytes"
    assert verdict["headline"].startswith("No option fits. The nearest is 8 brokers, fewest-bytes: broker ")
    assert " too much; it needs " in verdict["headline"]
    others = r"\d+ other brokers? exceeds? this limit(, and \d+ other limits? (is|are) exceeded)?"
    assert re.search(rf" would be enough \({others}\)\.$", verdict["headline"])
    assert verdict["subject"] == "[kafka-capacity] payments: no option fits (disk) (2026-11-20)"


def test_a_single_option_that_does_not_fit():
    spec = ClusterSpec(disk_capacity_bytes=50 * GIB)
    verdict = verdict_of(make_inputs(spec, placers=("fewest-bytes",)))
    assert verdict["headline"].startswith("7 brokers are not enough: broker ")


def test_a_smaller_replication_factor_deletes_replicas():
    verdict = verdict_of(make_inputs(broker_counts=(6,), placers=("fewest-bytes",), replication_factor=2))
    assert re.search(
        r"6 brokers fit: nothing is copied, [\d,]+ replicas are deleted, which frees ", verdict["headline"]
    )


@pytest.mark.parametrize(
    ("constraint", "lead"),
    [
        *((one, "The move to 7 brokers cannot be made as requested: ") for one in ("window", "rack_rule")),
        ("disk", "7 brokers are"),
    ],
)
def test_what_another_count_does_not_help_is_no_lack_of_brokers(constraint, lead):
    def refused(row):
        excuse = {"constraint": constraint, "where": "wave 1", "needed": 2.0, "available": 1.0, "unit": "seconds"}
        row["fits"], row["excuses"] = False, json.dumps([{**excuse, "reason": "it is too long"}])

    verdict = verdict_of(changed_rows(make_inputs(placers=("fewest-bytes",)), refused))
    assert verdict["headline"].startswith(lead)


def test_a_move_that_never_ends_names_the_throttle_that_would():
    def known(row):
        assert row["duration_seconds"] is None
        row["smallest_throttle_bytes_per_second"] = 6_010_000.0

    inputs = make_inputs(broker_counts=(9,), placers=("fewest-bytes",), throttle=100_000.0)
    verdict = verdict_of(changed_rows(inputs, known))
    assert verdict["headline"] == (
        "The move to 9 brokers with fewest-bytes never finishes at 100 kB/s; it needs a throttle above 6.1 MB/s."
    )
    assert verdict["subject"] == "[kafka-capacity] payments: no option fits (the move never ends) (2026-11-20)"
    assert "The move never finishes at this throttle; it must be above 6.1 MB/s." in texts(verdict, "serious")


def test_a_move_that_no_throttle_ends_names_none():
    def known(row):
        row["smallest_throttle_bytes_per_second"] = None
        row["bottleneck_broker"], row["bottleneck_direction"] = 4, "out"
        row["excuses"] = json.dumps([{**json.loads(row["excuses"])[0], "needed": None}])

    inputs = make_inputs(broker_counts=(9,), placers=("fewest-bytes",), throttle=100_000.0)
    report = build_report(changed_rows(inputs, known))
    why = "no throttle helps: the network of broker 4 has nothing left for the copies"
    assert report["verdict"]["headline"] == f"The move to 9 brokers with fewest-bytes never finishes; {why}."
    assert f"The move never finishes at this throttle; {why}." in texts(report["verdict"], "serious")
    values = {one["label"]: one for one in report["figures"]}
    assert values["Needed"]["value"] == "no throttle helps"
    assert values["Time"]["note"] == "at 100 kB/s; no throttle helps"


def test_a_move_that_no_throttle_ends_at_peak_is_to_run_off_peak():
    def known(row):
        row["duration_peak_seconds"] = row["smallest_throttle_peak_bytes_per_second"] = None

    report = build_report(changed_rows(make_inputs(broker_counts=(9,), placers=("fewest-bytes",)), known))
    assert texts(report["verdict"], "serious") == [
        "At peak rates the copies fall behind and the move never finishes: run it off-peak; no throttle helps: a "
        "network or fetcher has nothing left for the copies."
    ]


def test_a_move_that_never_ends_at_peak_only_is_a_serious_caveat():
    def known(row):
        row["duration_peak_seconds"] = None
        row["smallest_throttle_peak_bytes_per_second"] = 61_000_000.0

    report = build_report(changed_rows(make_inputs(broker_counts=(9,), placers=("fewest-bytes",)), known))
    assert report["verdict"]["fits"]
    assert texts(report["verdict"], "serious") == [
        "At peak rates the copies fall behind and the move never finishes: run it off-peak, or with a throttle "
        "above 61 MB/s."
    ]
    assert next(one["note"] for one in report["figures"] if one["label"] == "Time").endswith(
        "at peak rates it never finishes"
    )


def test_without_rates_the_time_is_at_least_that():
    spec = ClusterSpec(hours=0)
    verdict = verdict_of(make_inputs(spec, broker_counts=(9,), placers=("fewest-bytes",)))
    assert " in at least " in verdict["headline"]
    assert texts(verdict, "serious")[0].startswith("No rates are known, or every rate is 0: times ignore")
    assert not any("Peaks add up" in text for text in texts(verdict, "info"))


def test_little_history_is_said():
    verdict = verdict_of(make_inputs(ClusterSpec(hours=24)))
    assert "Rates are based on 24 hours of history, less than a week." in texts(verdict, "info")


def test_what_is_not_known_is_not_judged_and_never_fits():
    verdict = verdict_of(make_inputs(ClusterSpec(disk_capacity_bytes=None, network_bytes_per_second=None)))
    disk, network = texts(verdict, "serious")
    assert disk.startswith("The disk of 7 of 7 brokers is unknown, so it is not judged. Remedy: give the disks")
    assert network.startswith("The network of 7 of 7 brokers is unknown, so it is not judged. Remedy: give the")
    assert (verdict["status"], verdict["fits"]) == ("not_judged", False)
    assert verdict["badge"] == {"kind": "warn", "text": "? Not judged"}
    assert verdict["unknown"] == ["the disk of 7 of 7 brokers", "the network of 7 of 7 brokers"]
    assert verdict["because"] == [f"{what} is not known" for what in verdict["unknown"]]
    assert verdict["headline"].startswith(
        "Not judged whether 7 brokers fit (6 today), because the disk of 7 of 7 brokers and the network of 7 of 7 "
        "brokers are unknown: "
    )
    assert verdict["subject"] == "[kafka-capacity] payments: not judged whether 7 brokers fit (2026-11-20)"
    assert verdict["recommended_scenario_id"] == "007-brokers.fewest-bytes"


def test_a_limit_that_is_passed_decides_whatever_else_is_not_known():
    spec = ClusterSpec(disk_capacity_bytes=50 * GIB, network_bytes_per_second=None)
    assert verdict_of(make_inputs(spec, placers=("fewest-bytes",)))["status"] == "does_not_fit"


def test_brokers_that_join_are_not_said_to_be_off_their_share():
    verdict = verdict_of(make_inputs(broker_counts=(9,), placers=("fewest-bytes",)))
    (reason,) = [text for text in verdict["reasons"] if "fair share" in text]
    assert "now over today’s brokers" in reason
    assert "100 %" not in reason


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (
            {"unknown_size_partitions": 1},
            "The size of 1 of 72 partitions is unknown and counts as zero: copied bytes, disk use and time are "
            "underestimated. Remedy: stage an inventory with the sizes of partitions.",
        ),
        (
            {"brokers_with_several_log_dirs": 3, "brokers_with_unsized_log_dirs": 2},
            "2 brokers have several log dirs of unknown size, which are judged as one disk here: a full one next to "
            "an empty one goes unnoticed.",
        ),
        ({"unknown_size_partitions": 0, "brokers_with_several_log_dirs": 0}, None),
    ],
)
@pytest.mark.parametrize("count", [7, 2], ids=["placed", "refused"])
def test_what_the_inventory_cannot_tell_is_serious(facts, text, count):
    inputs = make_inputs(broker_counts=(count,), placers=("fewest-bytes",))
    inputs = dataclasses.replace(inputs, snapshot_facts={**inputs.snapshot_facts, **facts})
    assert texts(verdict_of(inputs), "serious") == ([text] if text else [])


def test_what_the_report_lists_is_not_counted_beside_the_list():
    finding = {"severity": "warning", "code": "x", "where": "replicas", "message": "something"}
    assert not [text for text in texts(verdict_of(make_inputs(findings=(finding,))), "info") if "1 warning" in text]
    fatal = {**finding, "severity": "fatal"}
    (text,) = [text for text in texts(verdict_of(make_inputs(findings=(fatal,))), "serious") if "inconsistent" in text]
    assert text.startswith("The inventory is inconsistent (1 fatal problem): no figure here is reliable")


def test_kafka_would_refuse_it():
    report = build_report(make_inputs(broker_counts=(2,), placers=("fewest-bytes",)))
    verdict = report["verdict"]
    assert verdict["headline"].startswith("The move to 2 brokers cannot be made: ")
    assert verdict["subject"] == "[kafka-capacity] payments: no option fits (placement) (2026-11-20)"
    assert [figure["label"] for figure in report["figures"]] == ["Needed", "Available"]
    assert [figure["value"] for figure in report["figures"]] == [3.0, 2.0]
    assert "change" not in {section["name"] for section in report["sections"]}


def test_nothing_has_to_move():
    inputs = make_inputs(broker_counts=(6,), placers=("fewest-bytes",), tolerance_ratio=1.0)

    def still(row):
        for name in ("moved_replicas", "moved_bytes", "changed_partitions", "leaders_changed", "lower_bound_bytes"):
            row[name] = 0

    assert verdict_of(changed_rows(inputs, still))["headline"] == "6 brokers fit: nothing has to move."

    def leaders_only(row):
        still(row)
        row["changed_partitions"] = 5

    headline = verdict_of(changed_rows(inputs, leaders_only))["headline"]
    assert headline == "6 brokers fit: no bytes move, only the order of 5 replica lists changes."


def test_empty_replicas_are_said_to_be_empty():
    def empty(row):
        row["moved_bytes"], row["moved_replicas"] = 0, 1

    headline = verdict_of(changed_rows(make_inputs(placers=("fewest-bytes",)), empty))["headline"]
    assert headline == "7 brokers fit (6 today): fewest-bytes moves 1 empty replica."


def test_scaling_in():
    verdict = verdict_of(make_inputs(broker_counts=(4,), placers=("fewest-bytes",)))
    assert verdict["headline"].startswith("4 brokers fit (6 today): fewest-bytes moves ")


def test_one_broker_is_singular():
    spec = ClusterSpec(brokers=2, racks=None, rf=1)
    verdict = verdict_of(make_inputs(spec, broker_counts=(1,), placers=("fewest-bytes",)))
    assert verdict["headline"].startswith("1 broker fits (2 today): ")
    assert verdict["subject"] == "[kafka-capacity] payments: 1 broker fits (2026-11-20)"


def test_an_unsound_inventory_is_said_first():
    finding = {"severity": "fatal", "code": "no-sizes", "where": "replicas", "message": "no replica has a size"}
    verdict = verdict_of(make_inputs(findings=(finding,)))
    assert verdict["status"] == "not_judged"
    assert verdict["badge"] == {"kind": "bad", "text": "! Inventory inconsistent"}
    assert verdict["subject"].startswith("[kafka-capacity] payments: inventory is inconsistent; 7 brokers fit")
    assert texts(verdict, "serious")[0].startswith("The inventory is inconsistent (1 fatal problem)")


def test_caveats_are_serious_first():
    verdict = verdict_of(make_inputs(ClusterSpec(hours=0, disk_capacity_bytes=None)))
    severities = [caveat["severity"] for caveat in verdict["caveats"]]
    assert severities == sorted(severities, key=lambda severity: severity != "serious")


def test_many_failing_counts_are_counted_in_the_subject():
    spec = ClusterSpec(disk_capacity_bytes=180 * GIB)
    verdict = verdict_of(make_inputs(spec, broker_counts=(3, 4, 5, 6, 9), placers=("fewest-bytes",)))
    assert verdict["subject"] == "[kafka-capacity] payments: 9 brokers fit, 3, 4, 5 and 1 more do not (2026-11-20)"


def test_a_plan_without_scenarios_is_an_error():
    inputs = make_inputs()
    empty = {name: table.schema.empty_table() for name, table in inputs.tables.items()}
    with pytest.raises(RenderError) as caught:
        build_report(dataclasses.replace(inputs, tables=empty))
    assert str(caught.value) == ("the plan has no scenarios, so there is nothing to decide; evaluate at least one")


@pytest.mark.parametrize(
    ("status", "lasts", "alone", "recommended"),
    [
        ("fits", "horizon", "fits", "recommended"),
        ("fits", "until", "fits", "recommended_now"),
        ("does_not_fit", "not-today", "fits_today", "fits_today"),
        ("not_judged", "not-judged", "not_judged", "recommended_unjudged"),
    ],
)
def test_what_sizing_finds_too_small_fits_todays_sizes_only(status, lasts, alone, recommended):
    option, decided = SimpleNamespace(fits=True), {"status": status, "lasts": lasts}
    assert option_verdict(option, decided, is_recommended=False) == alone
    assert option_verdict(option, decided, is_recommended=True) == recommended
