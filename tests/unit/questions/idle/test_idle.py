"""Idle topics: what counts as use, what is not known is not judged, and what removing them would free."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.validation import validate
from kafka_capacity.objects.profile_tables import PROFILE_TABLES
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.idle.decide import decide_idle
from kafka_capacity.questions.idle.evaluate import evaluate_idle
from kafka_capacity.questions.idle.tables import IDLE_TABLES
from kafka_capacity.questions.question import Basis
from tests.builders import GIB, cluster, rows_of, topic, with_rows

QUIET = {"bytes_in": 0.0, "bytes_out": 0.0}


def basis_of(raw, **profile):
    snapshot = build_snapshot(raw)
    return Basis(raw=raw, findings=validate(raw), snapshot=snapshot, load=partition_load(raw, snapshot), **profile)


def found(raw, **profile):
    return merge_tables([evaluate_idle(basis_of(raw, **profile))], IDLE_TABLES)


def idle(tables):
    return tables["idle_topics"].column("topic").to_pylist()


def not_judged(tables):
    return tables["idle_scope"].column("not_judged_topics").to_pylist()[0]


def inventory(hours=168, topics=(), **tables):
    several = [topic("orders"), topic("old", partitions=2, rf=2, **QUIET), *topics]
    return cluster(topics=several, hours=hours, **tables)


def test_an_idle_topic_is_told_with_what_it_holds_and_where():
    tables = found(inventory(topics=[topic("__consumer_offsets", **QUIET)]))
    (row,) = tables["idle_topics"].to_pylist()
    assert row == {
        "topic": "old",
        "partitions": 2,
        "replicas": 4,
        "size_bytes": 4 * GIB,
        "unknown_size_replicas": 0,
        "broker_ids": [1, 2, 3],
        "is_compacted": False,
        "groups": 0,
        "known_hours": 168,
    }
    freed = {row["broker_id"]: (row["replicas"], row["size_bytes"]) for row in tables["idle_brokers"].to_pylist()}
    assert freed == {1: (1, GIB), 2: (2, 2 * GIB), 3: (1, GIB)}
    assert tables["idle_scope"].to_pylist() == [{"topics": 2, "not_judged_topics": 0}]


def test_one_hour_of_one_partition_either_way_is_use():
    for column in ("bytes_in_bytes_per_second", "bytes_out_bytes_per_second"):
        rows = rows_of(inventory(), "metrics")
        rows[-1][column] = 0.5
        tables = found(with_rows(inventory(), "metrics", rows))
        assert (idle(tables), not_judged(tables)) == ([], 0)


def test_no_topic_is_idle_where_none_is_written():
    """All topics at once are likelier to be the metrics."""
    tables = found(cluster(topics=[topic("orders", **QUIET), topic("old", **QUIET)]))
    assert (idle(tables), not_judged(tables)) == ([], 2)


@pytest.mark.parametrize("value", [None, float("nan"), -1.0])
def test_what_is_not_known_is_not_judged(value):
    assert (idle(found(inventory(hours=167))), not_judged(found(inventory(hours=167)))) == ([], 1)
    rows = rows_of(inventory(), "metrics")
    rows[-1]["bytes_out_bytes_per_second"] = value
    tables = found(with_rows(inventory(), "metrics", rows))
    assert (idle(tables), not_judged(tables)) == ([], 1)
    nothing = found(inventory(hours=0))
    assert (idle(nothing), not_judged(nothing)) == ([], 2)


def group(committed, *, subscribed=("old",)):
    return {
        "groups": [{"group_id": "readers", "state": "Stable", "protocol_type": "consumer", "assignor": "range"}],
        "members": [{"group_id": "readers", "member_id": "m", "subscribed": list(subscribed), "assigned": []}],
        "lags": [
            {"group_id": "readers", "topic": "old", "partition": 0, "committed_offset": committed, "lag_records": 0}
        ],
    }


def test_a_group_that_is_subscribed_and_has_got_on_is_use():
    assert idle(found(inventory(**group(7)))) == []
    waits = found(inventory(**group(0)))
    assert idle(waits) == ["old"]
    assert waits["idle_topics"].column("groups").to_pylist() == [1]
    # Offsets that were left behind are named and are no use.
    left = found(inventory(**group(7, subscribed=["orders"])))
    assert (idle(left), left["idle_topics"].column("groups").to_pylist()) == (["old"], [1])


def test_a_day_of_the_history_is_use():
    day = {"topic": "old", "day": rows_of(inventory(), "metrics")[0]["hour"], "bytes_in_bytes_per_second": 3.0}
    assert idle(found(inventory(history=[day]))) == []
    assert idle(found(inventory(history=[{**day, "bytes_in_bytes_per_second": 0.0}]))) == ["old"]


def profile(*, highest=0.0, hours=400, days=8):
    """A load profile of the topic ``old``."""
    schema, _ = PROFILE_TABLES["profile_partitions"]
    told = {"topic": "old", "known_hours": hours, "expected_hours": hours, "coverage_ratio": 1.0}
    told |= {"longest_gap_hours": 0, "stale_hours": 0, "bytes_in_max_bytes_per_second": highest}
    rows = [{**told, "partition": number, "bytes_out_max_bytes_per_second": 0.0} for number in (0, 1)]
    by_day, _ = PROFILE_TABLES["profile_days"]
    each = [{"topic": "old", "day": number, "known_hours": 24} for number in range(days)]
    return {
        "profile_partitions": pa.Table.from_pylist(rows, schema=schema),
        "profile_days": pa.Table.from_pylist([{**one, "bytes_out_mean_bytes_per_second": 0.0} for one in each], by_day),
    }


def test_a_profile_knows_more_hours_and_more_use():
    short = inventory(hours=24)
    assert idle(found(short)) == []
    tables = found(short, **profile())
    assert idle(tables) == ["old"]
    # What is read was known on eight days.
    assert tables["idle_topics"].column("known_hours").to_pylist() == [192]
    assert idle(found(short, **profile(days=6))) == []
    assert idle(found(inventory(), **profile(highest=1.0))) == []


def test_the_answer_has_the_bytes_the_remedy_and_what_is_not_judged():
    raw = inventory(topics=[topic("unread", bytes_in=0.0, bytes_out=None), topic("gone", size_bytes=None, **QUIET)])
    answer = decide_idle(found(raw))
    assert answer.headline == (
        "2 topics are idle: nobody has written to or read from them for at least 168 hours; they hold 4.0 GiB in 22 "
        "replicas, 18 of unknown size."
    )
    assert answer.reasons == (
        "1 topic is not judged: no use is visible, but fewer than 168 hours of reads and writes are known.",
    )
    assert answer.unknown == ("whether 1 topic is idle",)
    (problem,) = answer.problems
    assert (problem.severity, problem.code, problem.where, problem.partitions) == (
        "info",
        "idle-topics",
        "old, gone",
        8,
    )
    assert problem.remedy.endswith("that frees 2.0 GiB on broker 2, the most of any broker")


def test_nothing_idle_and_nothing_judged_are_told_apart():
    assert decide_idle(found(cluster())).headline == (
        "No topic is idle: the only judged topic was written to, read from, or has subscribers that have "
        "committed offsets."
    )
    assert decide_idle(found(inventory(hours=0))).headline == "Which of 2 topics are idle cannot be determined."
    assert not decide_idle(found(inventory(hours=0))).problems
