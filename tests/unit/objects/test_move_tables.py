"""The tables of a schedule."""

import json

import numpy as np

from kafka_capacity.objects.move_tables import BROKER_TIMELINE, MOVE_TABLES, WAVES, schedule_tables
from kafka_capacity.reassignment.kafka_json import wave_files
from kafka_capacity.reassignment.waves import plan_waves
from tests.properties.move_problems import move_problem_of


def tables(before, after, **given):
    schedule = plan_waves(move_problem_of(before, after, **given))
    return schedule, schedule_tables("four", schedule)


def test_a_row_a_wave():
    schedule, made = tables([[1, 2]], [[1, 3]], size=100, rate=1, throttle=10, limits=[np.nan, 1000.0, 400.0])

    assert made["waves"].schema == WAVES
    (row,) = made["waves"].to_pylist()
    files = json.loads(row.pop("files"))
    assert files == {each.name: each.sha256 for each in wave_files(schedule, schedule.waves[0]).listed()}
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
    }


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

    assert {name: table.num_rows for name, table in made.items()} == {"waves": 0, "broker_timeline": 0}
    assert set(made) == set(MOVE_TABLES)
    for name, (schema, sort_by) in MOVE_TABLES.items():
        assert made[name].schema == schema
        assert set(sort_by) <= set(schema.names)
