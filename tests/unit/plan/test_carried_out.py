"""Planned moves against the inventories that came after."""

import pytest

from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_manifest, read_table
from kafka_capacity.objects.keys import day_prefix, plan_prefix
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.publish import report_inputs
from kafka_capacity.plan.scoreboard import plans_by_day, score_cluster
from kafka_capacity.questions.accuracy.executed_moves import planned_times, score_moves
from kafka_capacity.questions.accuracy.stored_scores import read_score_document
from tests.builders import cluster, rows_of, topic, with_rows
from tests.report.decided import build_report
from tests.sized_plans import simulated_plan

REQUEST = {
    "cluster": "payments",
    "broker_counts": [9],
    "placers": ["fewest-bytes"],
    "horizon_months": 1,
    "max_savings_sets": 0,
}


def inventory(ds, brokers=6):
    return cluster(ds=ds, brokers=brokers, topics=[topic("orders", partitions=12, bytes_in=1000.0)])


def with_lists(raw, lists):
    """The inventory with other replica lists, by partition."""
    sample = rows_of(raw, "replicas")[0]
    kept = [row for row in rows_of(raw, "replicas") if row["partition"] not in lists]
    moved = [
        {**sample, "partition": partition, "position": position, "broker_id": broker, "is_leader": position == 0}
        for partition, brokers in lists.items()
        for position, broker in enumerate(brokers)
    ]
    return with_rows(raw, "replicas", kept + moved)


def plan(store, ds):
    return simulated_plan(store, {**REQUEST, "ds": ds})


def scored(store, ds):
    return score_moves(store, "payments", ds, plans_by_day(store, "payments", before=ds))


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    store = LocalStore(tmp_path_factory.mktemp("objects"))
    stage(inventory("2026-11-20"), store)
    pinned, manifest = plan(store, "2026-11-20")
    rows = read_table(store, manifest, "moves").to_pylist()
    return store, pinned, {row["partition"]: row["replicas_after"] for row in rows}


@pytest.fixture(scope="module")
def executed(planned):
    """The plan, and the inventories of the days on which it was executed."""
    store, pinned, lists = planned
    assert len(lists) > 1
    half = dict(list(lists.items())[: len(lists) // 2])
    for day, done in (("2026-11-21", {}), ("2026-11-22", half), ("2026-11-23", lists)):
        stage(with_lists(inventory(day, brokers=9), done), store)
    return store, pinned, lists


def test_a_move_is_held_against_the_time_of_its_waves(planned):
    store, pinned, _ = planned
    manifest = read_manifest(store, plan_prefix("payments", "2026-11-20", pinned.plan_id), kind="plan")
    at_once = read_table(store, manifest, "scenarios").to_pylist()
    in_waves = read_table(store, manifest, "schedules").to_pylist()
    times = planned_times(store, manifest)
    assert times == {row["scenario_id"]: (row["total_expected_seconds"], row["total_high_seconds"]) for row in in_waves}
    assert times != {row["scenario_id"]: (row["duration_seconds"], row["duration_peak_seconds"]) for row in at_once}


def test_a_move_is_scored_once_it_is_done(executed):
    store, pinned, _ = executed
    assert scored(store, "2026-11-22") == []
    (score,) = scored(store, "2026-11-23")
    assert (score.plan_id, score.scenario_id) == (pinned.plan_id, "009-brokers.fewest-bytes")
    assert (score.begun_after, score.done_by) == ("2026-11-21", "2026-11-23")
    assert score.longest_seconds == 2 * 86_400
    assert 0 < score.seconds < score.longest_seconds
    assert score.is_consistent
    document = read_score_document(store, score_cluster(store, "payments", "2026-11-23"))
    assert [one["done_by"] for one in document["moves"]] == ["2026-11-23"]

    report = build_report(report_inputs(store, *plan(store, "2026-11-23")))
    (row,) = next(one["data"] for one in report["sections"] if one["name"] == "scoreboard")["moves"]["rows"]
    assert row["took"] == "at most 2 d"
    assert row["is_consistent"]


def test_another_order_of_the_same_brokers_is_done_too(executed):
    store, _, lists = executed
    turned = {partition: brokers[::-1] for partition, brokers in lists.items()}
    stage(with_lists(inventory("2026-11-24", brokers=9), turned), store)
    assert [one.done_by for one in scored(store, "2026-11-24")] == ["2026-11-23"]


def test_an_inventory_that_is_damaged_is_passed_over(executed, caplog):
    store, _, lists = executed
    stage(with_lists(inventory("2026-11-28", brokers=9), lists), store)
    found = scored(store, "2026-11-28")
    damaged = stage(inventory("2026-11-27", brokers=9), store)
    for one in store.list_objects(day_prefix("inventory", "payments", "2026-11-27")):
        if "/replicas/" in one:
            store.write_bytes(one, b"damaged")
    assert damaged
    assert scored(store, "2026-11-28") == found
    assert "moves are not looked for in the inventory of 2026-11-27" in caplog.text


def test_a_topic_that_is_deleted_meanwhile_is_not_missed(tmp_path):
    store = LocalStore(tmp_path)
    short_lived = topic("short-lived", partitions=12, bytes_in=1000.0, size_bytes=2**30 // 20)
    both = cluster(ds="2026-11-20", topics=[topic("orders", partitions=12, bytes_in=1000.0), short_lived])
    stage(both, store)
    _, manifest = plan(store, "2026-11-20")
    rows = read_table(store, manifest, "moves").to_pylist()
    assert {row["topic"] for row in rows} == {"orders", "short-lived"}
    lists = {row["partition"]: row["replicas_after"] for row in rows if row["topic"] == "orders"}
    for day, done in (("2026-11-21", {}), ("2026-11-22", lists)):
        stage(with_lists(inventory(day, brokers=9), done), store)
    (score,) = scored(store, "2026-11-22")
    assert (score.begun_after, score.done_by) == ("2026-11-21", "2026-11-22")


def test_a_move_of_which_most_was_deleted_tells_nothing(tmp_path):
    store = LocalStore(tmp_path)
    large = topic("large", partitions=12, bytes_in=1000.0, size_bytes=2**33)
    stage(cluster(ds="2026-11-20", topics=[topic("orders", partitions=12, bytes_in=1000.0), large]), store)
    _, manifest = plan(store, "2026-11-20")
    rows = read_table(store, manifest, "moves").to_pylist()
    assert {row["topic"] for row in rows} == {"orders", "large"}
    lists = {row["partition"]: row["replicas_after"] for row in rows if row["topic"] == "orders"}
    stage(with_lists(inventory("2026-11-21", brokers=9), lists), store)
    assert scored(store, "2026-11-21") == []


def test_leaders_alone_are_no_move_that_takes_time(tmp_path):
    """Each broker may lead three partitions, and some lead none: nothing is copied, and nobody does it."""
    lists = [[1, 5, 3]] * 3 + [[1, 5, 6]] * 3 + [[2, 4, 3]] * 3 + [[2, 4, 6]] * 3
    store = LocalStore(tmp_path)
    for day in ("2026-11-20", "2026-11-21"):
        stage(cluster(ds=day, topics=[topic("orders", partitions=12, replicas=lists)]), store)
    asked = {"ds": "2026-11-20", "max_leaders_per_broker": 3, "broker_counts": [6]}
    _, manifest = simulated_plan(store, {**REQUEST, **asked})
    rows = read_table(store, manifest, "moves").to_pylist()
    assert rows
    assert not any(row["moved_bytes"] for row in rows)
    assert scored(store, "2026-11-21") == []


def test_a_move_that_was_planned_at_several_speeds_counts_once(tmp_path):
    """Four days at the slowest speed, and that is how it is carried out."""
    store = LocalStore(tmp_path)

    def large(day, brokers=9):
        made = topic("orders", partitions=24, size_bytes=200 * 2**30, bytes_in=2e5)
        return cluster(ds=f"2026-11-{day:02}", brokers=brokers, topics=[made])

    stage(large(1, brokers=6), store)
    asked = {"ds": "2026-11-01", "throttles_bytes_per_second": [10e6, 25e6, 50e6]}
    _, manifest = simulated_plan(store, {**REQUEST, **asked})
    times = planned_times(store, manifest)
    slowest = "009-brokers.fewest-bytes.10MBps"
    days = times[slowest][0] / 86_400
    assert (len(times), max(times, key=times.get)) == (3, slowest)
    assert 3 < days < 5
    rows = [row for row in read_table(store, manifest, "moves").to_pylist() if row["scenario_id"] == slowest]
    held = {p: [1 + (p + r) % 6 for r in range(3)] for p in range(24)}
    for day in range(1, 6):
        done = rows[: round(len(rows) * min(1.0, day / days))]
        lists = held | {row["partition"]: row["replicas_after"] for row in done}
        stage(with_lists(large(1 + day), lists), store)
    (score,) = scored(store, "2026-11-06")
    assert (score.scenario_id, score.is_consistent) == (slowest, True)
    assert score.took_seconds == pytest.approx(times[slowest][0], rel=0.3)
    # Of predictions that are all wrong the nearest one counts: the last partition is still to be done after four days.
    for day, done in ((5, rows[:-1]), (6, rows[:-1]), (7, rows)):
        stage(with_lists(large(day), held | {row["partition"]: row["replicas_after"] for row in done}), store)
    (score,) = scored(store, "2026-11-07")
    assert (score.scenario_id, score.is_consistent, score.shortest_seconds) == (slowest, False, 4 * 86_400)


def test_of_several_plans_of_a_day_the_usual_one_is_scored(tmp_path):
    store = LocalStore(tmp_path)
    stage(inventory("2026-11-20"), store)
    usual, manifest = plan(store, "2026-11-20")
    slow = [
        simulated_plan(store, {**REQUEST, "ds": "2026-11-20", "throttle_bytes_per_second": rate}) for rate in (3e6, 5e6)
    ]
    assert len({usual.plan_id, *(pinned.plan_id for pinned, _ in slow)}) == 3
    lists = {row["partition"]: row["replicas_after"] for row in read_table(store, manifest, "moves").to_pylist()}
    stage(with_lists(inventory("2026-11-21", brokers=9), lists), store)
    assert [one.plan_id for one in scored(store, "2026-11-21")] == [usual.plan_id]
