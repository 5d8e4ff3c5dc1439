"""What sets of actions save, by hand; the arithmetic stands beside each figure."""

from __future__ import annotations

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from kafka_capacity.demand.changed import ClusterChange, all_of, changed_cluster
from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.hardware.limits import RESOURCES, Resource
from kafka_capacity.plan.handing import sized_cluster
from kafka_capacity.questions.capacity import resize
from kafka_capacity.questions.capacity.found import sizing_setup
from kafka_capacity.questions.capacity.options import placement_keys
from kafka_capacity.questions.capacity.placing import place_option
from kafka_capacity.questions.capacity.simulate import placement_results, simulate_sizing
from kafka_capacity.questions.question import run_here
from kafka_capacity.questions.savings.decide import decide_savings, instead, read_savings
from kafka_capacity.questions.savings.simulate import NOTHING, Judge
from tests.builders import cluster, rows_of, topic, with_rows
from tests.unit.questions.savings.small import (
    DAY,
    DOLLARS,
    GIB,
    action_rows,
    asked_of,
    idle,
    inventory,
    logs,
    many,
    savings_of,
    set_rows,
)

RETENTION, IDLE, TIERED = frozenset({"retention"}), frozenset({"idle"}), frozenset({"tiered-storage"})


@pytest.fixture(scope="module")
def tables():
    """3,600 GiB of logs and 2,880 of old on six brokers: 1,080 each, and 850 are allowed. Nine hold 720."""
    return savings_of(inventory(logs(), idle()))


def test_single_actions(tables):
    found = action_rows(tables)
    assert set(found) == {"retention:logs", "idle:old", "tiered-storage:logs"}
    # Without old six brokers hold 600 each; three would hold 1,200.
    assert (found["idle:old"]["saved_brokers"], found["idle:old"]["freed_bytes"]) == (3, 2880 * GIB)
    assert found["idle:old"]["saved_usd_per_month"] == pytest.approx(3 * DOLLARS)
    # A day of logs is 100 / 7 GiB, and a segment of 1: 36 x 15.29 = 550, with old 3,430 on six brokers are 572.
    assert found["retention:logs"]["saved_brokers"] == 3
    assert found["retention:logs"]["freed_bytes"] == pytest.approx((3600 - 36 * (100 / 7 + 1)) * GIB)
    assert found["retention:logs"]["saved_usd_per_month"] == pytest.approx(3 * DOLLARS)
    # The same, and twelve times 100 GiB in the object store at $0.023.
    assert found["tiered-storage:logs"]["saved_usd_per_month"] == pytest.approx(3 * DOLLARS - 1200 * 0.023)
    # Three brokers would hold 3,430 / 3 GiB.
    assert found["retention:logs"]["binds"] == "disk"
    assert found["retention:logs"]["because"].startswith("3 brokers would not be enough: all replicas hold 3.3 TiB")


def test_follower_fetching_saves_what_consumers_read_across_racks():
    """Two thirds of what is read crosses racks today, and every rack has a replica of everything."""
    priced = {"usd_per_gib_between_racks": 0.02}
    action = action_rows(savings_of(inventory(logs()), **priced))["follower-fetching:all topics"]
    # 100 GiB are produced to each of 12 partitions in 7 days, and read twice; a month has 730 hours.
    read_gib = 12 * 2 * 100 / 7 * 730 / 24
    assert action["saved_usd_per_month"] == pytest.approx(read_gib * 2 / 3 * 0.02)
    assert (action["saved_brokers"], action["freed_bytes"]) == (0, 0)
    assert action["needs_restart"] == "brokers and consumers"
    for settings in ({}, {**priced, "is_follower_fetching": True}):
        assert "follower-fetching:all topics" not in action_rows(savings_of(inventory(logs()), **settings))


RACK_AWARE = "rack-aware-producers:all topics"
RACKS_PAID = {"usd_per_gib_between_racks": 0.02}


def test_rack_aware_producers_save_what_is_produced_across_racks():
    """Two thirds of what is produced crosses racks today, and every rack leads a third of the partitions."""
    action = action_rows(savings_of(inventory(logs()), **RACKS_PAID))[RACK_AWARE]
    # 100 GiB are produced to each of 12 partitions in 7 days; a month has 730 hours.
    assert action["saved_usd_per_month"] == pytest.approx(12 * 100 / 7 * 730 / 24 * 2 / 3 * 0.02)
    assert (action["saved_brokers"], action["freed_bytes"], action["needs_restart"]) == (0, 0, "producers")
    assert action["text"] == "let producers of records without keys prefer partitions led in their rack"
    assert action["risk"].startswith(
        "a rack's partitions share what the rack produces; records with a key go where they went before, so that the "
        "saving is an upper bound"
    )
    compacted = logs(settings={"cleanup_policy": "compact"})
    for raw, settings in ((inventory(logs()), {}), (inventory(compacted), RACKS_PAID)):
        assert RACK_AWARE not in action_rows(savings_of(raw, **settings))
    # A topic to which nothing is produced has no mean, and comes first.
    assert RACK_AWARE in action_rows(savings_of(inventory(idle("a"), logs()), **RACKS_PAID))


def test_rack_aware_producers_are_judged_with_the_skew_that_they_cause():
    """Of eight partitions one is led in b: it gets half of 80 MiB/s, and the seven led in a share the other half."""
    lists = [[1, 2]] * 4 + [[3, 4]] * 3 + [[2, 1]]
    orders = topic("orders", rf=2, bytes_in=10.0 * 2**20, bytes_out=0.0, replicas=lists, size_bytes=GIB)
    raw = cluster(brokers=4, racks=2, topics=[orders])
    assert action_rows(savings_of(raw, **RACKS_PAID))[RACK_AWARE]["risk"].startswith(
        "with today's leaders partition orders-7 would get 4.0 times the mean of its topic (1.0 today); a rack's"
    )
    inputs = sizing_setup(asked_of(raw, **RACKS_PAID)).inputs
    loads = dataclasses.replace(inputs.request.loads, is_produced_in_rack=True)
    inputs = dataclasses.replace(inputs, request=dataclasses.replace(inputs.request, loads=loads))
    placed = place_option(inputs, next(key for key in placement_keys(inputs.options) if key.is_observed))
    # Brokers 1 and 2 hold four of the seven and the one of b, 3 and 4 three of the seven.
    network = placed.loads.load[0, RESOURCES.index(Resource.NETWORK_IN), 0, 0] / 2**20
    assert network == pytest.approx([4 * 40 / 7 + 40, 4 * 40 / 7 + 40, 3 * 40 / 7, 3 * 40 / 7])
    assert placed.loads.sizes[:, 0, 0] / GIB == pytest.approx([4 / 7] * 7 + [4])
    assert placed.traffic.produced[0] == pytest.approx(0.0)


def test_two_together_save_what_neither_does_alone(tables):
    found = set_rows(tables)
    assert len(found) == 1 + 7
    # 550 GiB on three brokers are 183 each: six of nine are not needed.
    both = found[RETENTION | IDLE]
    assert (both["saved_brokers"], both["broker_count_now"]) == (6, 3)
    assert both["saved_usd_per_month"] == pytest.approx(6 * DOLLARS)
    assert [row["actions"] for row in tables["savings_sets"].to_pylist() if row["is_on_front"]] == [
        ["retention:logs"],
        ["retention:logs", "idle:old"],
    ]
    (scope,) = tables["savings_scope"].to_pylist()
    assert (scope["sets_tried"], scope["is_exhaustive"], scope["brokers_today"]) == (7, True, 6)


def test_the_front_is_that_of_all_subsets(tables):
    """Every subset is judged by itself, without the search."""
    asked = asked_of(inventory(logs(), idle()))
    cluster = sized_cluster(asked)
    rows = tables["savings_actions"].to_pylist()
    count = len(cluster.workload.partitions)
    partitions = cluster.workload.partitions
    is_logs = partitions.topic == partitions.topics.index("logs")
    nothing = ClusterChange.nothing(count)
    cut = np.where(is_logs, DAY, np.inf)
    changes = {
        "retention:logs": dataclasses.replace(nothing, kept_seconds=cut),
        "idle:old": dataclasses.replace(nothing, is_removed=~is_logs),
        "tiered-storage:logs": dataclasses.replace(nothing, kept_seconds=cut, is_tiered=is_logs),
    }
    points = {}
    (base,) = cluster.resize([nothing], run_here)
    for size in range(1, 4):
        for some in itertools.combinations(range(3), size):
            (one,) = cluster.resize([all_of([changes[rows[place]["action_id"]] for place in some], count)], run_here)
            usd = np.array(base.usd_per_month) - one.usd_per_month - np.array(one.remote_bytes) / GIB * 0.023
            points[some] = (sum(rows[place]["effort"] for place in some), float(usd.mean()))
    front = {
        tuple(rows[place]["action_id"] for place in some)
        for some, (effort, usd) in points.items()
        if not any(
            (e < effort and u >= usd - 1e-6)
            or (e <= effort and u > usd + 1e-6)
            or ((e, u) == (effort, usd) and s < some)
            for s, (e, u) in points.items()
        )
    }
    stored = {tuple(row["actions"]) for row in tables["savings_sets"].to_pylist() if row["is_on_front"]}
    assert stored == front


def test_the_page_offers_it_instead_of_buying(tables):
    """The answer is the set that the box offers, and not another one that saves more for more effort."""
    answer = decide_savings(tables)
    assert answer.headline == (
        "Cut the retention of logs to 1 day: that saves up to 3 brokers and $2,190 per month on average until January "
        "2027."
    )
    assert answer.reasons[0] == (
        "Another set saves the most. Cut the retention of logs to 1 day and remove old, which nobody uses: that saves "
        "up to 6 brokers and $4,380 per month on average until January 2027."
    )
    assert answer.details == (
        "Cut the retention of logs to 1 day, and buy no brokers up to 2027-01-20; saves $2,190 per month on average."
    )


def test_half_of_it_deleted_saves_nothing_where_the_network_binds():
    """800 MB/s, read twice, on disks of 40 TiB: the network of three brokers is too little, whatever they store."""
    size, rate = 100 * GIB, 800e6 / 12
    busy = logs(bytes_in=rate, bytes_out=2 * rate, settings={"retention_ms": int(size / rate * 1000)})
    raw = inventory(busy, idle(size_bytes=size), disk_gib=40_000, brokers={"cpu_cores": None})
    tables = savings_of(raw)
    (old,) = action_rows(tables).values()
    # Three brokers send 2 x 800 to consumers and 2 x 800 to followers: 1,067 each, and 875 of 1,250 are allowed.
    assert (old["action_id"], old["saved_brokers"], old["saves_nothing"]) == ("idle:old", 0, True)
    assert old["freed_bytes"] == 3600 * GIB == tables_stored(raw) / 2
    assert old["binds"] == "network_out"
    answer = decide_savings(tables)
    assert answer.headline == "1 set of actions evaluated: none saves a broker or a dollar."
    assert answer.reasons[0].startswith(
        "1 of 1 action looks like a saving but saves nothing alone. Remove old, which nobody uses: that frees 3.5 "
        "TiB and saves nothing, because 3 brokers would not be enough: broker "
    )
    assert "would send 1,017 MiB/s at peak on 2026-11-20, but 834 MiB/s are allowed" in answer.reasons[0]
    assert answer.details is None


def test_sums_in_another_order_save_nothing():
    def resized(*usd):
        return SimpleNamespace(usd_per_month=usd, remote_bytes=(0.0,) * 3)

    free_store = SimpleNamespace(object_store_usd_per_gib_month=0.0)
    found = {NOTHING: resized(0.1 + 0.2, 30.0, 5.25), frozenset([0]): resized(0.3, 27.5, 5.0)}
    judge = Judge(cluster=None, actions=(), settings=free_store, run=None, resized=found)
    assert 0.1 + 0.2 != 0.3
    assert judge.saved_usd(frozenset([0])).tolist() == [0.0, 2.5, 0.25]


def test_what_is_tiered_already_is_uploaded_beside_what_is_read():
    """As above, and leaders send 800 MB/s to the object store: 1,333 MB/s each, 1.24 GiB/s."""
    size, rate = 100 * GIB, 800e6 / 12
    settings = {"retention_ms": int(size / rate * 1000), "remote_storage_enable": True}
    busy = logs(bytes_in=rate, bytes_out=2 * rate, settings=settings)
    raw = inventory(busy, idle(size_bytes=size), disk_gib=40_000, brokers={"cpu_cores": None})
    (old,) = action_rows(savings_of(raw)).values()
    assert "would send 1.24 GiB/s at peak on 2026-11-20" in old["because"]
    # Half as much is written: so it is with both. Nobody reads: what is produced is sent nevertheless.
    cluster = sized_cluster(asked_of(raw))
    count = len(cluster.workload.partitions)
    assert cluster.workload.read_hours().sum(axis=1)[0] == pytest.approx(168 * 2 * rate)
    for field, value, sent in (("written_ratio", 0.5, 1.5), ("read_ratio", 0.0, 1.0)):
        change = dataclasses.replace(ClusterChange.nothing(count), **{field: np.full(count, value)})
        after = changed_cluster(cluster.snapshot, cluster.workload, partition_sizes(cluster.workload), change)
        assert after.workload.traffic.bytes_out[0] == pytest.approx(np.full(168, sent * rate))


def tables_stored(raw):
    return sum(row["size_bytes"] for row in raw.table("replicas").to_pylist())


def test_cordoned_brokers_stand_in_the_way_of_fewer_on_no_day_in_particular():
    raw = inventory(logs(size_bytes=GIB), idle())
    dirs = [{**row, "is_cordoned": row["broker_id"] > 2} for row in rows_of(raw, "log_dirs")]
    found = action_rows(savings_of(with_rows(raw, "log_dirs", dirs)))["idle:old"]
    assert found["because"].startswith("3 brokers would not be enough: topic 'logs' needs replication factor 3 but ")
    assert "has only 2 brokers that take new replicas" in found["because"]


def test_without_prices_there_are_no_dollars():
    raw = inventory(logs(), idle(), brokers={"cpu_cores": None})
    tables = savings_of(raw, broker_usd_per_hour=None)
    assert {row["saved_usd_per_month"] for row in tables["savings_sets"].to_pylist()} == {None}
    assert {row["usd_per_month"] for row in tables["savings_dates"].to_pylist()} == {None}
    # Sets are held against each other by brokers: two actions save six, one three.
    front = [row["saved_brokers"] for row in tables["savings_sets"].to_pylist() if row["is_on_front"]]
    assert front == [3, 6]
    assert "$" not in decide_savings(tables).headline


def test_what_is_read_late_keeps_its_retention():
    rows = [
        # A nightly job: what came in a day is read in its last hour.
        {**row, "bytes_out_bytes_per_second": 24 * PER_HOUR if row["hour"].hour == 23 else 0.0}
        for row in METRICS
    ]
    raw = inventory(logs(), idle(), metrics=rows + QUIET)
    found = action_rows(savings_of(raw))["retention:logs"]
    # 23 hours and the one that they are read in, twice: two days of the seven stay.
    assert found["text"] == "cut the retention of logs to 2 days"
    assert "text" in action_rows(savings_of(raw, lag_margin=4.0))["retention:logs"]
    assert action_rows(savings_of(raw, lag_margin=4.0))["retention:logs"]["text"].endswith("to 4 days")
    assert "retention:logs" not in action_rows(savings_of(raw, lag_margin=7.0))


@pytest.mark.parametrize(
    ("kept_bytes", "kept_ms", "saved"),
    [
        (100 * GIB, -1, 3),  # seven days at what is produced: a day is cut as where time is the limit
        (10 * GIB, 7 * DAY * 1000, None),  # less than the day that is kept at least
        (-1, -1, None),  # meant to be kept
    ],
)
def test_what_only_bytes_limit_is_cut_by_time(kept_bytes, kept_ms, saved):
    limits = {"retention_bytes": kept_bytes, "retention_ms": kept_ms}
    size = min(100, kept_bytes // GIB) * GIB if kept_bytes > 0 else 100 * GIB
    raw = inventory(logs(settings=limits, size_bytes=size), idle())
    found = action_rows(savings_of(raw))
    assert ("retention:logs" in found) == (saved is not None)
    assert saved is None or found["retention:logs"]["saved_brokers"] == saved
    # A partition to which nothing is produced says nothing of how far back the others reach.
    nothing = {"bytes_in_bytes_per_second": 0.0}
    rows = [row | (nothing if row["partition"] == 0 else {}) for row in rows_of(raw, "metrics")]
    assert ("retention:logs" in action_rows(savings_of(with_rows(raw, "metrics", rows)))) == (saved is not None)


def test_unknown_is_never_a_saving():
    tables = savings_of(inventory(logs(), idle(), hours=100))
    assert tables["savings_actions"].num_rows == 0
    (scope,) = tables["savings_scope"].to_pylist()
    assert scope["notes"] == [
        "The retention of 1 topic is not cut: how far back they are read is unknown, because fewer than 168 "
        "consecutive hours of reads and writes are known."
    ]
    groups = [{"group_id": "nightly", "state": "Empty"}]
    lags = [
        {"group_id": "nightly", "topic": "logs", "partition": 0, "committed_offset": 5, "log_end_offset": 9,
         "lag_records": None}
    ]  # fmt: skip
    tables = savings_of(inventory(logs(), idle(), groups=groups, lags=lags))
    assert set(action_rows(tables)) == {"idle:old"}
    assert "such as nightly" in tables["savings_scope"].to_pylist()[0]["notes"][0]


def reading(count, group_type="classic", group="readers"):
    """A group of so many members that reads `many`."""
    members = [{"group_id": group, "member_id": f"m{number}", "subscribed": ["many"]} for number in range(count)]
    return {"groups": [{"group_id": group, "state": "Stable", "group_type": group_type}], "members": members}


@pytest.mark.parametrize(
    ("made", "left"),
    [
        ({}, 3),
        (reading(5), 5),
        (reading(7), 8),
        (reading(61), None),
        (reading(1, "streams"), None),
        (reading(50, "share"), 3),
    ],
)
def test_fewer_partitions_where_replicas_bind(made, left):
    """Six brokers hold 36 replicas of `logs` and 720 of `many`: 126 each, and 100 are allowed. Nine hold 84."""
    found = action_rows(savings_of(inventory(logs(), many(), **made), broker_replica_limit=100))
    action = found.get("partitions:many")
    if left is None:
        # Each of 61 members wants a partition, and 60 would be the most that are a quarter; state is kept by partition.
        assert action is None
        return
    # 240 GiB are in three partitions 80 each, and no partition of today has more than 100.
    assert action["text"] == f"recreate many with {left} instead of 240 partitions"
    assert (action["saved_brokers"], action["freed_bytes"]) == (3, 0)
    assert action["saved_usd_per_month"] == pytest.approx(3 * DOLLARS)


def test_topics_of_kafka_streams_keep_their_partitions():
    raw = inventory(logs(), many(), many("app-counts-changelog"), **reading(1, group="app"))
    assert not [one for one in action_rows(savings_of(raw)) if one.startswith("partitions:")]


def test_a_topic_that_is_written_and_never_read():
    tables = savings_of(inventory(logs(bytes_out=0.0), idle()))
    found = action_rows(tables)["write-only:logs"]
    # 2,880 GiB of old on six brokers are 480 each, on three 960.
    assert (found["needs_restart"], found["saved_brokers"]) == ("producers", 3)


def test_fewer_replicas_of_what_is_not_critical():
    assert not any(one.startswith("replication") for one in action_rows(savings_of(inventory(logs(), idle()))))
    found = action_rows(savings_of(inventory(logs(), idle()), uncritical_topics=["lo*"]))
    # 1,200 GiB less: (2,400 + 2,880) / 6 = 880 each, and 850 are allowed.
    assert found["replication-factor:logs"]["saved_brokers"] == 0
    assert found["replication-factor:logs"]["freed_bytes"] == 1200 * GIB
    lossy = logs(settings={"unclean_leader_election_enable": True})
    assert "replication-factor:logs" in action_rows(savings_of(inventory(lossy, idle())))


def test_what_is_compressed_already_is_left_out():
    given = {"compressions": ["lo*=0.5"], "horizon_months": 1}
    found = action_rows(savings_of(inventory(logs(), idle()), **given))
    # Today nothing is smaller yet: nine brokers; after a week six hold (1,800 + 2,880) / 6 = 780.
    assert found["compression:lo*"]["freed_bytes"] == 0
    zstd = logs(settings={"compression_type": "zstd"})
    tables = savings_of(inventory(zstd, idle()), **given)
    assert "compression:lo*" not in action_rows(tables)
    assert "Already compressed and left out: logs." in tables["savings_scope"].to_pylist()[0]["notes"]


def test_compaction_is_offered_where_the_ratio_is_given_and_the_topic_is_not_compacted():
    given = {"compactions": ["lo*=0.2"]}
    found = action_rows(savings_of(inventory(logs(), idle()), **given))["compaction:lo*"]
    assert found["text"] == "compact logs (cleanup.policy=compact,delete) to 20 %"
    # Of 3,600 GiB twice a fifth stays, and a segment of each of 36 replicas: (1,476 + 2,880) / 6 = 726 on six brokers.
    assert found["freed_bytes"] == pytest.approx((3600 * 0.6 - 36) * GIB)
    assert (found["saved_brokers"], found["needs_restart"]) == (3, "")
    compacted = logs(settings={"cleanup_policy": "compact"})
    assert "compaction:lo*" not in action_rows(savings_of(inventory(compacted, idle()), **given))


def test_a_tiered_topic_is_kept_locally_and_not_tiered_again():
    tiered = logs(
        size_bytes=100 * GIB, settings={"remote_storage_enable": True, "local_retention_ms": 7 * DAY * 1000,
                                        "retention_ms": 70 * DAY * 1000},
    )  # fmt: skip
    found = action_rows(savings_of(inventory(tiered, idle())))
    assert "tiered-storage:logs" not in found
    assert found["retention:logs"]["freed_bytes"] == pytest.approx((3600 - 36 * (100 / 7 + 1)) * GIB)


def test_it_is_off_where_nobody_wants_it():
    tables = savings_of(inventory(logs(), idle()), max_savings_sets=0)
    assert {table.num_rows for table in tables.values()} == {0}


def test_one_set_is_not_all_that_there_are():
    tables = savings_of(inventory(logs(), idle()), max_savings_sets=1)
    (scope,) = tables["savings_scope"].to_pylist()
    assert (scope["sets_tried"], scope["is_exhaustive"]) == (1, False)
    assert "2 more actions were not evaluated" in decide_savings(tables).reasons[-1]
    assert instead(read_savings(tables)) is not None


def test_the_judge_answers_as_sizing_does(monkeypatch):
    """What is not looked at could not have been chosen."""
    cluster = sized_cluster(asked_of(inventory(logs(), idle()), sizing_broker_counts=[3, 6, 8, 9, 12]))
    count = len(cluster.workload.partitions)
    nothing = ClusterChange.nothing(count)
    changes = [
        nothing,
        dataclasses.replace(nothing, kept_seconds=np.full(count, 4.0 * DAY)),
        dataclasses.replace(nothing, kept_seconds=np.full(count, DAY)),
        dataclasses.replace(nothing, written_ratio=np.full(count, 0.3)),
        dataclasses.replace(nothing, max_replicas=np.full(count, 2, dtype=np.int32)),
    ]
    found = cluster.resize(changes, run_here)

    def every_option(inputs):
        return simulate_sizing(inputs, lambda given, keys: [placement_results(given, key) for key in keys]).results

    monkeypatch.setattr(resize, "_results", every_option)
    for one, other in zip(found, cluster.resize(changes, run_here), strict=True):
        assert one.broker_counts == other.broker_counts
        assert one.usd_per_month == pytest.approx(other.usd_per_month)
        assert one.steps == other.steps


METRICS = [row for row in inventory(logs()).table("metrics").to_pylist()]
QUIET = inventory(idle()).table("metrics").to_pylist()
PER_HOUR = METRICS[0]["bytes_in_bytes_per_second"]
