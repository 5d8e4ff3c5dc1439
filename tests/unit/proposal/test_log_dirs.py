"""Brokers with several log directories: none is filled beyond its limit, and files say which is meant."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.placement import RackRule
from kafka_capacity.kafka.reassignment.kafka_json import files_of, wave_rows
from kafka_capacity.plan.released_files import move_files
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.log_dirs import fullest_dir_ratio, log_dir_facts, target_log_dirs
from kafka_capacity.questions.change.move_schedule import MoveSettings, scheduled
from kafka_capacity.questions.change.tables import moves_table
from tests.builders import cluster, rows_of, topic, with_rows
from tests.unit.proposal.snapshots import GIB, scenario


def jbod(topics, *, brokers=4, sizes=(100, 100), **options):
    """Several directories on every broker, sizes in GiB; each broker's replicas go to them in turn."""
    dirs = [
        {"broker_id": b, "path": f"/data{d}", "total_bytes": size * GIB, "usable_bytes": None}
        for b in range(1, brokers + 1)
        for d, size in enumerate(sizes)
    ]
    disk = float(sum(sizes)) * GIB
    raw = cluster(brokers=brokers, racks=None, topics=topics, log_dirs=dirs, disk_capacity_bytes=disk, **options)
    turn = dict.fromkeys(range(1, brokers + 1), 0)
    rows = rows_of(raw, "replicas")
    for row in rows:
        row["log_dir"] = f"/data{turn[row['broker_id']] % len(sizes)}"
        turn[row["broker_id"]] += 1
    raw = with_rows(raw, "replicas", rows)
    snapshot = build_snapshot(raw)
    return snapshot, partition_load(raw, snapshot)


def asked(brokers, *, disk=200.0, **changes):
    changes = {"rack_rule": RackRule.OFF, "disk_limit_ratio": 1.0, "tolerance_ratio": 0.3, **changes}
    return scenario(brokers, racks=0, disk=disk * GIB, **changes)


def held(snapshot, result):
    """What each directory holds after a placement, recounted replica by replica: {(broker, path): bytes}."""
    found = {}
    size = snapshot.partition_size_bytes()
    for row, (brokers, places) in enumerate(zip(result.diff.after, result.log_dir_after, strict=True)):
        for broker, place in zip(brokers.tolist(), places.tolist(), strict=True):
            if broker >= 0:
                assert result.log_dirs.broker_id[place] == broker
                key = (broker, result.log_dirs.path[place])
                found[key] = found.get(key, 0) + int(size[row])
    return found


def test_a_broker_whose_directories_are_too_small_for_a_replica_does_not_get_it():
    # Broker 4 goes. What it holds, 60 GiB, fits on each of the others, but in a directory of broker 3 only.
    topics = [
        topic("large", replicas=[[4]], size_bytes=60 * GIB),
        *(topic(f"on{b}-{n}", replicas=[[b]], size_bytes=50 * GIB) for b in (1, 2) for n in range(2)),
        *(topic(f"on3-{n}", replicas=[[3]], size_bytes=size * GIB) for n, size in enumerate((95, 20))),
    ]
    result = evaluate_placement(*jbod(topics), asked(3, tolerance_ratio=0.5))

    assert result.fits
    assert result.diff.after[0].tolist() == [3]
    assert result.metrics.moved_bytes == 60 * GIB


def test_a_directory_that_is_too_full_today_gives_the_smallest_replica_that_is_enough():
    topics = [topic(f"t{n}", replicas=[[1]], size_bytes=size * GIB) for n, size in enumerate((60, 10, 30, 10, 20, 10))]
    snapshot, load = jbod(topics, brokers=2)
    result = evaluate_placement(snapshot, load, asked(2, tolerance_ratio=1.0))

    # /data0 of broker 1 holds 60 + 30 + 20 and may hold 100.
    assert result.fits
    assert np.flatnonzero(result.diff.added.any(axis=1)).tolist() == [4]
    assert max(held(snapshot, result).values()) <= 100 * GIB


def test_what_no_broker_can_take_is_an_excuse_with_the_directory():
    topics = [topic(f"t{n}", replicas=[[1]], size_bytes=size * GIB) for n, size in enumerate((60, 10, 50, 10))]
    result = evaluate_placement(*jbod(topics, brokers=1), asked(1))

    (excuse,) = [one for one in result.excuses if one.constraint == "log_dir"]
    assert excuse.reason == (
        "log dir /data0 of broker 1 would hold 110.0 GiB but may be filled to 100.0 GiB (100 % of it); its "
        "other log dirs have room: move replicas between them first, which Kafka can do but this plan does not"
    )
    assert (excuse.needed, excuse.available) == (110 * GIB, 100 * GIB)


def test_no_disk_limit_is_called_enough_where_directories_are_too_small():
    # Two brokers hold 80 of 100 GiB in each of two directories, and the third, which goes, 45 and 30 GiB.
    topics = [topic(f"on{b}-{n}", replicas=[[b]], size_bytes=80 * GIB) for b in (1, 2) for n in range(2)]
    topics += [topic(f"on3-{n}", replicas=[[3]], size_bytes=size * GIB) for n, size in enumerate((45, 30))]
    wanted = asked(2, tolerance_ratio=1.0, disk_limit_ratio=0.8)
    several = evaluate_placement(*jbod(topics, brokers=3), wanted)
    assert {"disk", "log_dir"} <= {one.constraint for one in several.excuses}
    assert "would be enough" not in several.excuses[0].reason
    single = evaluate_placement(*jbod(topics, brokers=3, sizes=(200,)), wanted)
    assert "would be enough" in single.excuses[0].reason


@pytest.mark.parametrize("seed", range(12))
def test_no_directory_is_overfilled_and_every_wave_keeps_its_limit(seed):
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(4)[:2].tolist() for _ in range(30)]
    topics = [
        topic(f"t{n:02d}", replicas=[[b + 1 for b in row]], size_bytes=int(size) * GIB, bytes_in=100.0)
        for n, (row, size) in enumerate(zip(rows, rng.integers(1, 20, 30), strict=True))
    ]
    total = 2 * sum(spec.size_bytes for spec in topics) / GIB
    snapshot, load = jbod(topics, sizes=(round(total / 4), round(total / 8)))
    wanted = asked(5, disk=round(total / 4) + round(total / 8))
    result = evaluate_placement(snapshot, load, wanted)
    result, schedule = scheduled(snapshot, load, result, MoveSettings())

    assert result.fits, result.excuses
    limits = dict(
        zip(
            zip(result.log_dirs.broker_id.tolist(), result.log_dirs.path, strict=True),
            result.log_dirs.total_bytes.tolist(),
            strict=True,
        )
    )
    assert len([key for key in limits if key[0] == 5]) == 2
    assert all(amount <= limits[key] for key, amount in held(snapshot, result).items())
    # What is above its limit today only ever goes down.
    line = schedule.log_dirs
    assert (line.peak_bytes <= np.maximum(line.limit_bytes, line.start_bytes) * (1 + 1e-9)).all()
    # What the files of the waves name is where the placement put it.
    named = {}
    for wave in schedule.waves:
        for row in json.loads(files_of(wave_rows(schedule, wave)).execute.content)["partitions"]:
            for broker, path in zip(row["replicas"], row["log_dirs"], strict=True):
                if path != "any":
                    named[row["topic"], broker] = path
    wanted_dirs = {
        (snapshot.partitions.topics[row], int(result.diff.after[row, column])): result.log_dirs.path[
            result.log_dir_after[row, column]
        ]
        for row, column in zip(*np.nonzero(result.diff.added), strict=True)
    }
    assert named == wanted_dirs


def test_the_released_files_name_the_directories_both_ways():
    topics = [topic(f"t{n}", replicas=[[1]], size_bytes=30 * GIB) for n in range(4)]
    snapshot, load = jbod(topics, brokers=1)
    result = evaluate_placement(snapshot, load, asked(2))
    files = move_files(moves_table(result, snapshot))
    there = [(row["replicas"], row["log_dirs"]) for row in json.loads(files["moves.json"])["partitions"]]
    back = [(row["replicas"], row["log_dirs"]) for row in json.loads(files["rollback.json"])["partitions"]]

    assert sorted(there) == [([2], ["/data0"]), ([2], ["/data1"])]
    assert all(brokers == [1] and dirs[0] in {"/data0", "/data1"} for brokers, dirs in back)


def test_one_directory_a_broker_is_left_to_the_broker():
    raw = cluster()
    snapshot = build_snapshot(raw)
    result = evaluate_placement(snapshot, partition_load(raw, snapshot), scenario(9))

    assert result.log_dir_after is None
    rows = json.loads(move_files(moves_table(result, snapshot))["moves.json"])["partitions"]
    assert {place for row in rows for place in row["log_dirs"]} == {"any"}


def test_new_brokers_have_the_directories_of_the_median_one_and_replacements_those_of_the_old_one():
    snapshot, _ = jbod([topic("t", replicas=[[1]])], brokers=3)
    dirs = snapshot.log_dirs
    snapshot = replace(snapshot, log_dirs=replace(dirs, total_bytes=dirs.total_bytes * np.repeat([1.0, 2.0, 4.0], 2)))
    target = scenario(5, racks=0, disk=np.nan).target
    found = target_log_dirs(snapshot, target, {3: 5})

    assert found.broker_id.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert (found.total_bytes[6:] / GIB).tolist() == [200.0, 200.0, 400.0, 400.0]
    assert found.path[6:] == ("/data0", "/data1") * 2


def test_larger_disks_are_larger_directories():
    snapshot, _ = jbod([topic("t", replicas=[[1]])], brokers=1, sizes=(100, 300))
    found = target_log_dirs(snapshot, scenario(2, racks=0, disk=800.0 * GIB).target, {})

    assert (found.total_bytes / GIB).tolist() == [200.0, 600.0] * 2


def test_directories_of_unknown_size_limit_nothing_and_are_counted():
    snapshot, load = jbod([topic("t", replicas=[[1]] * 4)], brokers=2)
    total = snapshot.log_dirs.total_bytes.copy()
    total[0] = np.nan
    unsized = replace(snapshot, log_dirs=replace(snapshot.log_dirs, total_bytes=total))

    assert log_dir_facts(snapshot.log_dirs) == {
        "brokers_with_several_log_dirs": 2,
        "brokers_with_unsized_log_dirs": 0,
    }
    assert log_dir_facts(unsized.log_dirs)["brokers_with_unsized_log_dirs"] == 1
    assert evaluate_placement(unsized, load, asked(2)).fits


def test_the_fullest_directory_holds_its_share_of_what_its_broker_holds():
    # Three replicas of 10 GiB on each broker, in turn: two of them in the first of two directories.
    topics = [topic("orders", partitions=4, rf=3, size_bytes=10 * GIB)]
    snapshot, _ = jbod(topics)
    assert fullest_dir_ratio(snapshot) == pytest.approx(2 / 3)
    assert fullest_dir_ratio(jbod(topics, sizes=(200,))[0]) == 1.0
    assert fullest_dir_ratio(replace(snapshot, log_dir=np.full_like(snapshot.log_dir, -1))) == 1.0
