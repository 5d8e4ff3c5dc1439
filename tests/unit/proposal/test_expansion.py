"""Topics that get more partitions: made where the placement wants them, empty, and never moved."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.placement import placer_names
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.expansion import check_partition_counts, expanded, later_size_bytes, new_partitions
from kafka_capacity.proposal.pins import pins_of
from kafka_capacity.questions.change.move_schedule import MoveSettings, scheduled
from kafka_capacity.questions.change.tables import moves_table, new_partitions_table
from tests.builders import cluster, topic
from tests.unit.proposal.snapshots import GIB, scenario


def two_topics(**options):
    raw = cluster(
        topics=[topic("audit", partitions=4, rf=2), topic("orders", partitions=12, bytes_in=600.0)], **options
    )
    snapshot = build_snapshot(raw)
    return snapshot, partition_load(raw, snapshot)


def asked(brokers=6, counts=(("orders", 18),), **changes):
    return scenario(brokers, partition_counts=tuple(counts), **changes)


def test_new_partitions_are_even_and_nothing_moves_for_them():
    snapshot, load = two_topics()
    result = evaluate_placement(snapshot, load, asked(tolerance_ratio=1.0))
    start = result.start(snapshot)

    assert result.fits
    assert (result.metrics.created_partitions, result.metrics.moved_replicas, result.metrics.moved_bytes) == (6, 0, 0)
    assert start.partitions.partition[-6:].tolist() == [12, 13, 14, 15, 16, 17]
    assert (start.size_bytes[-6:] == 0).all()
    later = result.loads.brokers.sum_held(result.diff.after, later_size_bytes(result.expanded))
    assert np.ptp(later) <= 1.001 * GIB
    assert (start.leader == start.replicas[:, 0]).all()
    assert result.loads.replicas_before.sum() == 4 * 2 + 12 * 3
    assert result.loads.replicas_after.sum() == 4 * 2 + 18 * 3


@pytest.mark.parametrize("brokers", [6, 7, 9])
def test_new_partitions_fill_no_few_brokers_once_they_hold_records(brokers):
    """Placed as empty as they are made, all 36 would be on the brokers with the most room."""
    snapshot, load = two_topics()
    result = evaluate_placement(snapshot, load, asked(brokers, counts=(("orders", 48),), tolerance_ratio=0.2))

    later = result.loads.brokers.sum_held(result.diff.after, later_size_bytes(result.expanded))
    assert later.max() <= 1.25 * later.mean()
    assert later.max() / later.mean() - 1.0 == pytest.approx(result.metrics.balance_after, abs=0.2)


def test_rows_stay_with_their_partitions_wherever_the_topic_stands():
    snapshot, load = two_topics()
    more = expanded(snapshot, load, asked(counts=(("audit", 6),)))

    assert more.is_new.nonzero()[0].tolist() == [4, 5]
    assert more.snapshot.partitions.topic.tolist() == [0] * 6 + [1] * 12
    old = ~more.is_new
    assert (more.snapshot.replicas[old] == snapshot.replicas).all()
    assert (more.snapshot.partitions.partition[old] == snapshot.partitions.partition).all()
    assert (more.snapshot.log_dir[old] == snapshot.log_dir).all()


def test_traffic_is_shared_evenly_by_all_partitions_and_none_is_lost():
    snapshot, load = two_topics()
    more = expanded(snapshot, load, asked())

    for name in ("bytes_in_mean", "bytes_in_peak", "bytes_out_mean", "bytes_out_peak"):
        before, after = (getattr(one, f"{name}_bytes_per_second") for one in (load, more.load))
        assert after.sum() == pytest.approx(before.sum())
        assert (after[:4] == before[:4]).all()
        assert np.allclose(after[4:], before[4:].sum() / 18)
    result = evaluate_placement(snapshot, load, asked(tolerance_ratio=1.0))
    assert result.loads.peak_in_after.sum() == pytest.approx(result.loads.peak_in_before.sum())


@pytest.mark.parametrize("placer", placer_names())
@pytest.mark.parametrize("factor", [None, 1, 2, 4])
def test_what_is_made_and_then_moved_is_the_target_whatever_the_factor(placer, factor):
    snapshot, load = two_topics()
    result = evaluate_placement(snapshot, load, asked(9, placer=placer, replication_factor=factor))
    start = result.start(snapshot)

    # Kafka makes partitions with the factor that the topic has.
    assert ((start.replicas[-6:] >= 0).sum(axis=1) == 3).all()
    assert all(len(set(row)) == len(row) for row in start.replicas[-6:].tolist())
    wanted = 3 if factor is None else factor
    assert ((result.diff.after[-6:] >= 0).sum(axis=1) == wanted).all()
    if wanted <= 3:
        assert not result.diff.added[-6:].any()
    _, schedule = scheduled(snapshot, load, result, MoveSettings())
    now = start.replicas.copy()
    wide = np.full((len(now), max(now.shape[1], result.diff.after.shape[1], 4)), -1, dtype=np.int32)
    wide[:, : now.shape[1]] = now
    for wave in schedule.waves:
        assert (wide[wave.rows, : wave.replicas_before.shape[1]] == wave.replicas_before).all()
        wide[wave.rows] = -1
        wide[wave.rows, : wave.replicas_after.shape[1]] = wave.replicas_after
    moved = ~np.isin(np.arange(len(wide)), [row for one in schedule.refusals for row in one.rows])
    assert (wide[moved, : result.diff.after.shape[1]] == result.diff.after[moved]).all()


def test_new_partitions_keep_to_pins():
    snapshot, load = two_topics()
    result = evaluate_placement(snapshot, load, asked(counts=(("audit", 20),), pins=pins_of({"audit": [1, 2, 3]})))

    assert np.isin(result.start(snapshot).replicas[4:20], [1, 2, 3, -1]).all()


def test_the_command_lists_existing_partitions_too_and_spares_other_topics():
    raw = cluster(topics=[topic("pay.in", partitions=2, rf=2)])
    snapshot = build_snapshot(raw)
    result = evaluate_placement(snapshot, partition_load(raw, snapshot), asked(counts=(("pay.in", 4),)))
    (made,) = new_partitions(result.expanded)
    lists = made.command().rpartition(" ")[2].split(",")

    assert (made.count_before, made.count_after, made.moved_keys_ratio) == (2, 4, 0.5)
    assert len(lists) == 4
    assert [[int(b) for b in one.split(":")] for one in lists[2:]] == [list(row) for row in made.replicas]
    assert r"--topic 'pay\.in' --partitions 4 " in made.command()
    (row,) = new_partitions_table(result).to_pylist()
    assert row["command"] == made.command()


def test_a_disk_that_the_new_partitions_fill_later_is_an_excuse_now():
    # Broker 1 holds little today and gets the new partitions of a large topic.
    raw = cluster(
        brokers=2,
        racks=None,
        topics=[topic("big", replicas=[[2]], size_bytes=100 * GIB), topic("small", replicas=[[1]], size_bytes=GIB)],
    )
    snapshot = build_snapshot(raw)
    tiny = scenario(2, racks=0).target
    disks = np.array([20.0 * GIB, 200.0 * GIB])
    wanted = asked(
        2,
        counts=(("big", 2),),
        racks=0,
        tolerance_ratio=1.0,
        placer="striped",
        target=replace(tiny, disk_capacity_bytes=disks),
    )
    by_size = evaluate_placement(snapshot, partition_load(raw, snapshot), replace(wanted, placer="fewest-bytes"))
    assert by_size.fits
    result = evaluate_placement(snapshot, partition_load(raw, snapshot), wanted)

    assert result.start(snapshot).replicas[1].tolist() == [1]
    (excuse,) = result.excuses
    assert excuse.reason == (
        "broker 1 would hold 51.0 GiB once the records of the topics with new partitions have been "
        "replaced, but may be filled to 17.0 GiB (85 % of its disk)"
    )
    compacted = replace(snapshot, topics=replace(snapshot.topics, is_compacted=np.ones(2, dtype=np.bool_)))
    more = expanded(compacted, partition_load(raw, snapshot), wanted)
    assert later_size_bytes(more).tolist() == [100 * GIB, 0, GIB]


def test_a_throttle_of_its_own_takes_the_same_partitions():
    snapshot, load = two_topics()
    first = evaluate_placement(snapshot, load, asked(9))
    slow = asked(9, throttle_bytes_per_second=1e6)
    taken, again = evaluate_placement(snapshot, load, slow, first), evaluate_placement(snapshot, load, slow)

    assert taken.metrics == again.metrics
    assert (taken.expanded.snapshot.replicas == first.expanded.snapshot.replicas).all()
    assert moves_table(taken, snapshot).drop(["scenario_id"]) == moves_table(again, snapshot).drop(["scenario_id"])


def test_only_topics_that_there_are_can_have_more_and_only_more():
    counts = {"orders": 12, "__consumer_offsets": 50}
    with pytest.raises(RequestError) as refused:
        check_partition_counts({"orders": 12, "oders": 3, "__consumer_offsets": 100}, counts)

    assert str(refused.value).splitlines() == [
        "partition_counts: '__consumer_offsets' is invalid: Kafka would look for groups and transactions in the "
        "wrong partitions",
        "partition_counts: 'oders' is not a topic of the cluster; correct the name or leave it out",
        "partition_counts: 12 for 'orders' is invalid: it has 12 partitions, and Kafka never removes one; give more "
        "than 12",
    ]
    check_partition_counts({"orders": 13}, counts)


def test_without_more_partitions_nothing_is_different():
    snapshot, load = two_topics()
    result = evaluate_placement(snapshot, load, scenario(9))

    assert result.expanded is None
    assert result.start(snapshot) is snapshot
    assert json.loads(json.dumps(new_partitions_table(result).to_pylist())) == []
