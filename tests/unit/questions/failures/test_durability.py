"""What topics of a snapshot could lose, against sums made by hand."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.controller.annual_losses import SECONDS_PER_YEAR
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks
from kafka_capacity.questions.failures.durability.checking import check_formula
from kafka_capacity.questions.failures.durability.evaluate import MAX_PARTITIONS, evaluate_durability
from kafka_capacity.questions.failures.durability.scenario import DurabilityScenario
from kafka_capacity.questions.failures.durability.tables import durability_tables, outcome_rows
from kafka_capacity.questions.failures.scenario import TODAY
from kafka_capacity.questions.failures.section.durability import placement_durability, worst_first
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.copyset_losses import loss_frequency

QUICK = DurabilityScenario(max_failures=2)


def found(scenario=QUICK, **changes):
    topics = changes.pop("topics", None) or [
        topic("audit", rf=2, min_insync_replicas=1, settings={"unclean_leader_election_enable": True}),
        topic("orders", partitions=12),
        topic("scratch", rf=1, partitions=3, min_insync_replicas=1),
    ]
    raw = cluster(topics=topics, hours=24, **changes)
    snapshot = build_snapshot(raw)
    return snapshot, evaluate_durability(snapshot, partition_load(raw, snapshot), scenario)


def topic_rows(result):
    return durability_tables(result)["durability"].to_pylist()


def test_losses_follow_from_copysets_and_the_time_to_copy_anew():
    snapshot, result = found(topics=[topic("orders", partitions=12, bytes_in=0.0)])
    # Six brokers hold 6 GiB each; 50 MB/s in, and the hour until somebody stands in for the broker.
    repair = 6 * GIB / 50e6 + 3600.0
    assert result.today.repair_seconds == pytest.approx([repair] * 6)
    alone = loss_frequency(snapshot.replicas, mttf_seconds=QUICK.mttf_seconds, repair_seconds=repair)
    assert result.today.losses.all_copysets == 6
    assert result.today.losses.all_events == pytest.approx(alone.losses_per_year)
    assert result.today.losses.lost_bytes[0] == pytest.approx(alone.partitions_lost_per_year * GIB)


def test_settings_decide_after_how_many_failures_something_is_lost():
    rows = {row["topic"]: row for row in topic_rows(found()[1])}
    assert [rows[name]["lost_after_crashes"] for name in ("audit", "orders", "scratch")] == [2, None, None]
    assert [rows[name]["lost_after_power_losses"] for name in ("audit", "orders", "scratch")] == [1, 1, 1]
    assert [rows[name]["unavailable_after"] for name in ("audit", "orders", "scratch")] == [2, None, 1]
    assert {row["duplicated_after_crashes"] for row in rows.values()} == {None}
    assert {row["duplicated_after_producer_restarts"] for row in rows.values()} == {1}
    assert (rows["orders"]["is_idempotent"], rows["orders"]["acks"]) == (True, "all")


def test_every_outcome_comes_with_its_steps():
    rows = outcome_rows(found()[1])
    assert {row["course"] for row in rows} == {"crashes", "power", "producer"}
    assert all(row["steps"][-1].startswith("in the end") for row in rows)
    assert all(0 <= row["fewest_failures"] <= 2 for row in rows)


def test_ends_of_logs_are_lost_with_leaders_unless_all_must_have_them():
    asked = dataclasses.replace(
        QUICK, acks=Acks.LEADER, replica_lag_seconds=2.0, crash_mttf_seconds=SECONDS_PER_YEAR / 4
    )
    snapshot, result = found(asked)
    names = snapshot.partitions.topics
    # 4 deaths a year of each leader, 2 seconds of 1,000 bytes a second; a single replica comes back with its log.
    assert dict(zip(names, result.tail_bytes.tolist(), strict=True)) == pytest.approx(
        {"audit": 6 * 8000, "orders": 12 * 8000, "scratch": 0}
    )
    assert found()[1].tail_bytes.sum() == 0


def test_brokers_write_their_own_topics_with_acks_of_all():
    asked = dataclasses.replace(QUICK, acks=Acks.LEADER)
    topics = [topic("__consumer_offsets", settings={"is_internal": True}), topic("orders")]
    own, orders = topic_rows(found(asked, topics=topics)[1])
    assert (own["acks"], orders["acks"]) == ("all", "1")
    assert (own["lost_after_crashes"], orders["lost_after_crashes"]) == (None, 1)
    assert own["lost_tail_bytes_per_year"] == 0 < orders["lost_tail_bytes_per_year"]
    assert not own["is_idempotent"]


def test_single_replicas_are_the_worst():
    result = found()[1]
    assert worst_first(placement_durability(durability_tables(result), TODAY))[0]["topic"] == "scratch"
    row = topic_rows(result)[2]
    assert row["events_per_year"] == pytest.approx(3 / 10, rel=0.01)
    assert row["loss_probability"] == pytest.approx(1 - np.exp(-row["events_per_year"]))


def test_few_copysets_lose_seldomer_and_cost_a_move():
    random = np.random.default_rng(3)
    replicas = [[int(part) + 1 + 3 * int(random.integers(4)) for part in random.permutation(3)] for _ in range(120)]
    snapshot, result = found(brokers=12, topics=[topic("orders", partitions=120, replicas=replicas, bytes_in=10.0)])
    few = result.few_copysets
    assert few.losses.all_copysets <= 8 < result.today.losses.all_copysets
    assert few.losses.all_events < 0.5 * result.today.losses.all_events
    assert few.losses.lost_bytes.sum() == pytest.approx(result.today.losses.lost_bytes.sum(), rel=0.35)
    assert few.highest_over_mean <= 1.11
    assert 0 < result.moved_bytes <= snapshot.replicas.size * GIB
    assert MAX_PARTITIONS > 120


def test_few_copysets_are_not_tried_with_fewer_replicas():
    raw = cluster(brokers=3, topics=[topic("orders")], hours=24)
    rows = [{**row, "is_fenced": row["broker_id"] == 3} for row in rows_of(raw, "brokers")]
    snapshot = build_snapshot(with_rows(raw, "brokers", rows))
    assert evaluate_durability(snapshot, partition_load(raw, snapshot), QUICK).few_copysets is None


def test_few_copysets_are_not_tried_where_too_few_brokers_take_new_replicas():
    raw = cluster(topics=(topic("orders", partitions=4),), brokers=4)
    dirs = [{"broker_id": broker, "path": "/d", "is_cordoned": broker > 2} for broker in range(1, 5)]
    snapshot = build_snapshot(with_rows(raw, "log_dirs", dirs))
    assert snapshot.brokers.is_cordoned.sum() == 2
    assert evaluate_durability(snapshot, partition_load(raw, snapshot), QUICK).few_copysets is None


def test_racks_that_burn_take_what_is_in_one_of_them():
    topics = [topic("apart", replicas=[[1, 2, 3]]), topic("together", replicas=[[1, 4]])]
    asked = dataclasses.replace(QUICK, rack_mttf_seconds=100 * SECONDS_PER_YEAR)
    result = found(asked, topics=topics)[1]
    assert result.today.losses.events[1] == pytest.approx(0.01, rel=0.01)
    assert result.today.losses.events[0] < 1e-6


def test_a_throttle_below_what_is_produced_leaves_no_figures():
    asked = dataclasses.replace(QUICK, throttle_bytes_per_second=500.0)
    result = found(asked, topics=[topic("orders", partitions=12)])[1]
    row = topic_rows(result)[0]
    assert np.isinf(result.today.repair_seconds).all()
    assert (row["loss_probability"], row["lost_bytes_per_year"]) == (None, None)
    assert row["lost_after_power_losses"] == 1


def test_eligible_leader_replicas_are_explored_where_they_are_kept():
    asked = dataclasses.replace(QUICK, rules=ElectionRules.KRAFT_ELR)
    assert all(courses["crashes"].configuration.has_eligible_leaders for courses in found(asked)[1].settings)


def test_topics_with_many_replicas_are_not_explored():
    row = topic_rows(found(topics=[topic("wide", rf=5)])[1])[0]
    assert (row["is_explored"], row["lost_after_power_losses"]) == (False, None)
    assert row["copysets"] == 6


def test_the_closed_form_holds_on_the_copysets_of_the_assignment():
    snapshot, _ = found()
    check = check_formula(snapshot.brokers, snapshot.replicas)
    assert check.error_ratio < 0.05
    assert abs(check.off_ratio) < 4 * check.error_ratio
