"""The tables of a schedule."""

import json
from dataclasses import asdict

import numpy as np

from kafka_capacity.kafka.reassignment.kafka_json import files_of, wave_rows
from kafka_capacity.kafka.reassignment.runbook import runbook_page
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.questions.change.move_tables import BROKER_TIMELINE, MOVE_TABLES, WAVES, schedule_tables
from kafka_capacity.questions.change.wave_runbook import wave_page
from tests.properties.move_problems import move_problem_of


def tables(before, after, **given):
    schedule = plan_waves(move_problem_of(before, after, **given))
    return schedule, schedule_tables("four", schedule)


def test_a_row_a_wave():
    schedule, made = tables([[1, 2]], [[1, 3]], size=100, rate=1, throttle=10, limits=[np.nan, 1000.0, 400.0])

    assert made["waves"].schema == WAVES
    (row,) = made["waves"].to_pylist()
    files = json.loads(row.pop("files"))
    page = json.loads(row.pop("runbook"))
    written = files_of(wave_rows(schedule, schedule.waves[0]))
    assert page == json.loads(json.dumps(asdict(runbook_page(schedule, schedule.waves[0], written))))
    assert files == {each.name: each.sha256 for each in written.listed()}
    assert row == {
        "scenario_id": "four",
        "wave": 1,
        "kind": "copy",
        "partitions": 1,
        "start_low_seconds": 0.0,
        "start_expected_seconds": 0.0,
        "start_high_seconds": 0.0,
        "end_low_seconds": 10.0,
        "end_expected_seconds": 12.5,
        "end_high_seconds": 100 / 6,
        "copied_bytes": 100.0,
        "in_flight_bytes": 112.5,
        "throttle_bytes_per_second": 10.0,
        "smallest_throttle_low_bytes_per_second": 0.0,
        "smallest_throttle_expected_bytes_per_second": 2.0,
        "smallest_throttle_high_bytes_per_second": 4.0,
        "bottleneck_broker": 1,
        "bottleneck_direction": "out",
        "fullest_broker": 3,
        "fullest_peak_bytes": 100.0,
        "fullest_ratio": 0.25,
        "elections": 0,
        "starts_at": None,
        "ends_at": None,
        "closes_at": None,
        "low_seconds": 10.0,
        "expected_seconds": 12.5,
        "high_seconds": 100 / 6,
        "fullest_log_dir": None,
    }


def test_the_log_dir_that_comes_closest_to_its_limit_is_named_where_its_broker_is_emptier():
    def fullest(dir_limits, dirs):
        _, made = tables([[1, 2]], [[1, 3]], limits=[np.nan, 1000.0, 400.0], dirs=dirs, dir_limits=dir_limits)
        (row,) = made["waves"].to_pylist()
        (text,) = (step["text"] for step in wave_page(row)["steps"] if step["does"] == "Watch")
        return row["fullest_broker"], row["fullest_log_dir"], row["fullest_ratio"], text

    # Broker 3 gets 100 of 400 bytes, in the first of two directories.
    *found, text = fullest([200.0, 50.0], dirs=[3, 3])
    assert found == [3, "/disk0", 0.5]
    assert "Log dir /disk0 of broker 3 holds up to 100.0 B meanwhile, 50.0 % of what it may" in text
    assert (
        "Cancel it and investigate if a broker's UnderMinIsrPartitionCount is above what it was before, log dir" in text
    )
    assert fullest([1000.0, 50.0], dirs=[3, 3])[:3] == (3, None, 0.25)
    assert fullest([200.0], dirs=[3])[:3] == (3, None, 0.25)  # which is its disk


def test_a_throttle_that_helps_is_null_where_none_does():
    _, made = tables([[1, 2]], [[1, 3]], rate=10, network=[20.0, 50.0, 50.0], throttle=100, read=15)
    for name in ("schedules", "waves"):
        (row,) = made[name].to_pylist()
        bands = [row[f"smallest_throttle_{band}_bytes_per_second"] for band in ("low", "expected", "high")]
        assert bands == [0.0, None, None]


def test_a_row_a_broker_that_takes_part():
    _, made = tables([[1, 2]], [[1, 3]], size=100, limits=[np.nan, 1000.0, 400.0])

    assert made["broker_timeline"].schema == BROKER_TIMELINE
    line = {row["broker_id"]: row for row in made["broker_timeline"].to_pylist()}
    assert {
        b: (r["in_bytes"], r["out_bytes"], r["disk_start_bytes"], r["disk_end_bytes"]) for b, r in line.items()
    } == {
        1: (0.0, 100.0, 100.0, 100.0),
        2: (0.0, 0.0, 100.0, 0.0),
        3: (100.0, 0.0, 0.0, 100.0),
    }
    assert [line[broker]["disk_limit_bytes"] for broker in (1, 2, 3)] == [None, 1000.0, 400.0]
    assert [line[broker]["leaders"] for broker in (1, 2, 3)] == [1, 0, 0]


def test_what_never_ends_is_null():
    _, made = tables([[1, 2]], [[1, 3]], rate=5, throttle=10)

    (row,) = made["waves"].to_pylist()
    assert (row["start_expected_seconds"], row["end_expected_seconds"]) == (0.0, None)
    assert row["fullest_broker"] is None


def test_no_waves_are_empty_tables():
    _, made = tables([[1]], [[1]])

    assert made["schedules"].to_pylist()[0]["wave_count"] == 0
    assert {name for name, table in made.items() if table.num_rows} == {"schedules"}
    assert set(made) == set(MOVE_TABLES)
    for name, (schema, sort_by) in MOVE_TABLES.items():
        assert made[name].schema == schema
        assert set(sort_by) <= set(schema.names)


def test_without_a_schedule_all_tables_are_empty():
    made = schedule_tables("four", None)

    assert {name: (table.schema, table.num_rows) for name, table in made.items()} == {
        name: (schema, 0) for name, (schema, _) in MOVE_TABLES.items()
    }


def test_what_was_chosen_and_why():
    _, made = tables([[1, 2]] * 2, [[3, 2]] * 2, size=100, throttle=10, max_concurrent_moves_per_broker=1)

    (row,) = made["schedules"].to_pylist()
    assert (row["wave_count"], row["total_expected_seconds"], row["copied_bytes"]) == (len(made["waves"]), 20.0, 200.0)
    assert [each["order"] for each in json.loads(row["orders"])] == ["relief-first", "smallest-first", "hottest-first"]
    assert (row["order"], row["worst_broker"], row["worst_resource"]) == ("relief-first", 1, "disk")
    assert (row["leaders_moved_first"], row["is_leadership_first"]) == (2, False)
    assert (row["plain_seconds"], row["max_concurrent_moves_per_broker"]) == (20.0, 1)
    assert (row["refused_partitions"], row["refusals"]) == (0, "[]")


def test_what_is_in_no_wave_is_said_with_figures():
    schedule, made = tables([[1, 2], [1, 2]], [[1, 3], [1, 4]], leader=[-1, 1])

    (row,) = made["schedules"].to_pylist()
    (refusal,) = json.loads(row["refusals"])
    assert row["refused_partitions"] == refusal["partitions"] == 1
    assert (refusal["constraint"], refusal["reason"]) == ("leader", schedule.refusals[0].reason)
    assert made["wave_moves"].column("partition").to_pylist() == [1]


def test_a_row_a_partition_of_a_wave():
    _, made = tables([[1, 3]], [[1, 2]], dirs=[2, 2, 3, 3], log_dir=[[-1, 3]], dir_limits=[100.0, 200.0, 300.0, None])

    assert made["wave_moves"].to_pylist() == [
        {
            "scenario_id": "four",
            "wave": 1,
            "topic": "orders",
            "partition": 0,
            "replicas_before": [1, 3],
            "replicas_after": [1, 2],
            "log_dirs_before": [None, "/disk3"],
            "log_dirs_after": [None, "/disk1"],
            "elects": False,
            "elects_back": False,
        }
    ]
    assert made["log_dir_timeline"].select(
        ["broker_id", "path", "start_bytes", "end_bytes", "limit_bytes"]
    ).to_pylist() == [
        {"broker_id": 2, "path": "/disk1", "start_bytes": 0.0, "end_bytes": 100.0, "limit_bytes": 200.0},
        {"broker_id": 3, "path": "/disk3", "start_bytes": 100.0, "end_bytes": 0.0, "limit_bytes": None},
    ]
