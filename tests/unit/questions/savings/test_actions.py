"""Which actions are found, and what each saves, by hand; the arithmetic stands beside each figure."""

from __future__ import annotations

import dataclasses

import pytest

from kafka_capacity.demand.changed import ClusterChange, changed_cluster
from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.hardware.limits import RESOURCES, Resource
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.plan.handing import sized_cluster
from kafka_capacity.questions.capacity.found import sizing_setup
from kafka_capacity.questions.capacity.options import placement_keys
from kafka_capacity.questions.capacity.placing import place_option
from kafka_capacity.questions.savings.even_racks import evened
from kafka_capacity.questions.savings.reach import reach_seconds
from tests.builders import cluster, rows_of, topic, with_rows
from tests.unit.questions.savings.small import (
    DAY,
    DOLLARS,
    GIB,
    PRODUCED,
    action_rows,
    asked_of,
    idle,
    inventory,
    logs,
    many,
    savings_of,
)

METRICS = [row for row in inventory(logs()).table("metrics").to_pylist()]
QUIET = inventory(idle()).table("metrics").to_pylist()
PER_HOUR = METRICS[0]["bytes_in_bytes_per_second"]


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
        "The retention of 1 topic is not cut: how far back it is read is unknown, because fewer than 168 "
        "consecutive hours of reads and writes are known."
    ]
    groups = [{"group_id": "nightly", "state": "Empty"}]
    lags = [
        {"group_id": "nightly", "topic": "logs", "partition": 0, "committed_offset": 5, "log_end_offset": 9,
         "lag_records": None}
    ]  # fmt: skip
    tables = savings_of(inventory(logs(), idle(), groups=groups, lags=lags))
    assert set(action_rows(tables)) == {"idle:old"}
    (scope,) = tables["savings_scope"].to_pylist()
    assert "an unknown lag or cannot be simulated, such as nightly" in scope["notes"][0]


@pytest.mark.parametrize(
    ("lags", "cut"),
    [
        ({number: 10 for number in range(12)}, True),
        ({number: None for number in range(12)}, False),  # nobody knows where the logs end
        ({0: 10, 1: None}, False),
        ({}, False),  # nothing is committed, or that could not be read
    ],
)
def test_retention_is_not_cut_where_a_group_may_be_further_behind_than_is_known(lags, cut):
    one = {
        "group_id": "steady",
        "member_id": "m",
        "subscribed": ["logs"],
        "assigned": [{"topic": "logs", "partition": 0}],
    }
    rows = [
        {"group_id": "steady", "topic": "logs", "partition": number, "committed_offset": 5, "lag_records": records}
        for number, records in lags.items()
    ]
    groups = [{"group_id": "steady", "state": "Stable"}]
    tables = savings_of(inventory(logs(), idle(), groups=groups, members=[one], lags=rows))
    assert ("retention:logs" in action_rows(tables)) == cut
    (scope,) = tables["savings_scope"].to_pylist()
    assert any("an unknown lag or cannot be simulated, such as steady" in note for note in scope["notes"]) != cut


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


def test_no_partitions_are_merged_that_sizing_would_have_apart_again_at_the_horizon():
    # All 240 carry PRODUCED; fewer than three would hold more than the fullest partition today.
    raw, rules = inventory(logs(), many()), {"broker_replica_limit": 100}

    def left(limit, **more):
        rows = action_rows(savings_of(raw, partition_in_bytes_per_second=limit, **rules, **more))
        return rows["partitions:many"]["text"].split()[3] if "partitions:many" in rows else None

    assert left(PRODUCED) == "3"
    assert left(PRODUCED / 4) == "4"
    doubled = {"growth_per_year_ratio": 0.0, "growth_high_per_year_ratio": 60.0}  # nearly, in two months
    assert left(PRODUCED / 4, **doubled) == "8"


def test_as_many_brokers_in_every_rack():
    """Each of three racks holds 1,200 GiB of `logs`: the one broker of rack a may hold 850, each of two then 600."""
    raw = inventory(logs())
    racks = [row | {"rack": rack} for row, rack in zip(rows_of(raw, "brokers"), "abbbcc", strict=True)]
    replicas = [
        row | {"broker_id": (1, 2 + row["partition"] % 3, 5 + row["partition"] % 2)[row["position"]]}
        for row in rows_of(raw, "replicas")
    ]
    found = action_rows(savings_of(with_rows(with_rows(raw, "brokers", racks), "replicas", replicas)))["racks:even"]
    assert found["text"] == "replace broker 4 with one in rack a"
    assert (found["saved_brokers"], found["freed_bytes"]) == (3, 0)
    assert found["saved_usd_per_month"] == pytest.approx(3 * DOLLARS)


@pytest.mark.parametrize(
    ("racks", "replaced"),
    [
        ("aabbcc", {}),
        ("aabbbc", {5: "c"}),
        ("abbbcccc", {8: "a"}),
        ("abbbbcccc", {5: "a", 9: "a"}),
        ("abbbbb", {5: "a", 6: "a"}),
        (["a", None, "b", "b", "b"], {}),
        ([None] * 3, {}),
        ("", {}),
    ],
)
def test_the_fewest_brokers_are_replaced_to_even_racks(racks, replaced):
    assert evened(Brokers.of(list(range(1, len(racks) + 1)), list(racks))) == replaced


@pytest.mark.parametrize(("kind", "rates"), [("idle", {"bytes_in": 0.0}), ("write-only", {})])
def test_a_topic_that_had_better_be_removed_is_not_to_be_recreated(kind, rates):
    unread = idle("unread", partitions=240, size_bytes=GIB, **{"bytes_in": PER_HOUR / 240, **rates})
    found = set(action_rows(savings_of(inventory(logs(), unread, many()), broker_replica_limit=100)))
    assert {one for one in found if one.startswith(("partitions:", kind))} == {"partitions:many", f"{kind}:unread"}


def test_topics_of_kafka_streams_keep_their_partitions():
    raw = inventory(logs(), many(), many("app-counts-changelog"), **reading(1, group="app"))
    assert not [one for one in action_rows(savings_of(raw)) if one.startswith("partitions:")]


def test_a_topic_that_is_written_and_never_read():
    tables = savings_of(inventory(logs(bytes_out=0.0), idle()))
    found = action_rows(tables)["write-only:logs"]
    # 2,880 GiB of old on six brokers are 480 each, on three 960.
    assert (found["needs_restart"], found["saved_brokers"]) == ("producers", 3)


def test_what_is_read_when_something_starts_is_not_removed():
    schemas = idle("_schemas", settings={"cleanup_policy": "compact"})
    group = [{"group_id": "nightly", "state": "Empty"}]
    lag = {"group_id": "nightly", "topic": "inbox", "partition": 0, "committed_offset": 5, "log_end_offset": 9}
    raw = inventory(logs(), idle(), idle("inbox"), schemas, groups=group, lags=[lag | {"lag_records": None}])
    tables = savings_of(raw)
    assert action_rows(tables)["idle:old"]["topics"] == ["old"]
    assert (
        "Not read but not removed, since compacted, kept by Kafka Streams, or named by consumer groups: "
        "_schemas, inbox."
    ) in tables["savings_scope"].to_pylist()[0]["notes"]


def test_what_is_only_written_is_not_removed_where_it_is_read_when_something_starts():
    settings = {"cleanup_policy": "compact"}
    kept = [
        unread("app-store-changelog", settings=settings),
        unread("windows", settings=settings | {"cleanup_policy": "compact,delete"}),
        unread("app-join-changelog"),  # by Streams' names
        unread("state"),  # as a streams group tells
    ]
    parts = [{"subtopology": "0", "topics": ["logs"], "changelogs": ["state"]}]
    group = [{"group_id": "app", "state": "Stable", "group_type": "streams", "subtopologies": parts}]
    tables = savings_of(inventory(logs(), *kept, unread("audit"), unread("trace"), groups=group))
    rows = action_rows(tables)
    removed = next(row for row in rows.values() if row["kind"] == "write-only")
    assert removed["topics"] == ["audit", "trace"]
    assert removed["text"] == "remove 2 topics (audit, trace), which nobody reads, and stop producing to them"
    (notes,) = tables["savings_scope"].column("notes").to_pylist()
    assert any("app-join-changelog, app-store-changelog, state and 1 more" in note for note in notes)
    # Streams empties what it keeps itself.
    others = ("retention", "tiered-storage", "compaction", "partitions")
    assert not [row for row in rows.values() if row["kind"] in others and {*row["topics"]} & {"state"}]


def unread(name, **options):
    """Twelve partitions of 80 GiB that are written and that nobody reads."""
    return idle(name, bytes_in=PRODUCED, **options)


def test_patterns_that_match_nothing_are_told():
    given = {"uncritical_topics": ["lo*", "x*"], "compressions": ["nope=0.5"], "compactions": ["zip*=0.1", "zap=0.2"]}
    notes = savings_of(inventory(logs(), idle()), **given)["savings_scope"].to_pylist()[0]["notes"]
    assert [note for note in notes if note.startswith("No topic matches")] == [
        "No topic matches what is given for being uncritical: x*.",
        "No topic matches what is given for compression: nope.",
        "No topic matches what is given for compaction: zip*, zap.",
    ]


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
    # The object store holds what is produced in 70 days, and then what is in a day, and a segment.
    brokers = found["retention:logs"]["saved_brokers"] * DOLLARS
    stored = 12 * (100 / 7 * 70 - 100 / 7 - 1) * 0.023
    assert found["retention:logs"]["saved_usd_per_month"] == pytest.approx(brokers + stored, rel=1e-6)


def test_what_the_object_store_holds_is_as_long_as_before():
    """Uploads are held back by seven days of ten: three are there, today and in two months."""
    local = {"remote_storage_enable": True, "local_retention_ms": 7 * DAY * 1000, "retention_ms": 10 * DAY * 1000}
    raw = inventory(logs(settings=local), idle())
    told = [{**row, "remote_copy_lag_ms": -2 if row["topic"] == "logs" else None} for row in rows_of(raw, "topics")]
    cluster = sized_cluster(asked_of(with_rows(raw, "topics", told)))
    nothing = ClusterChange.nothing(len(cluster.workload.partitions))
    found = changed_cluster(cluster.snapshot, cluster.workload, partition_sizes(cluster.workload), nothing)
    assert found.remote_bytes / GIB == pytest.approx(12 * 100 / 7 * 3)


@pytest.mark.parametrize(("days", "reach"), [(60, 14), (-1, 14), (10, 10)])
def test_a_tiered_topic_reaches_as_far_back_as_both_of_its_limits_let_it(days, reach):
    local = {"remote_storage_enable": True, "local_retention_ms": 7 * DAY * 1000, "retention_bytes": 200 * GIB}
    retention = days * DAY * 1000 if days > 0 else -1
    raw = inventory(logs(settings={**local, "retention_ms": retention}), idle())
    cluster = sized_cluster(asked_of(raw))
    assert reach_seconds(cluster.workload)[cluster.workload.partitions.topics.index("logs")] == pytest.approx(
        reach * DAY
    )


def test_what_is_removed_is_no_longer_in_the_object_store_either():
    local = {"remote_storage_enable": True, "local_retention_ms": 7 * DAY * 1000, "retention_ms": 70 * DAY * 1000}
    for measured, stored in ((None, 12 * 1000), (5000 * GIB, 5000)):
        unread = topic("copy", partitions=12, size_bytes=100 * GIB, bytes_in=PRODUCED, bytes_out=0.0, settings=local)
        raw = inventory(unread, logs(size_bytes=GIB))
        told = [{**row, "remote_bytes": measured} if row["topic"] == "copy" else row for row in rows_of(raw, "topics")]
        found = action_rows(savings_of(with_rows(raw, "topics", told)))["write-only:copy"]
        brokers = found["saved_brokers"] * DOLLARS
        assert found["saved_usd_per_month"] == pytest.approx(brokers + stored * 0.023)
