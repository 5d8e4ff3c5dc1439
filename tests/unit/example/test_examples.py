"""The example clusters are what they promise, sound, and the same every time."""

import re
import uuid
from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.example import EXAMPLE_DS, EXAMPLES, make_example
from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.validation import validate
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.groups import Group, GroupProtocol, assignor
from kafka_capacity.kafka.groups.model import NO_PARTITIONS
from kafka_capacity.objects.dataset import parquet_bytes


@pytest.fixture(scope="module")
def uneven():
    return make_example("metrics-uneven")


@pytest.fixture(scope="module")
def shop():
    return make_example("shop-eu")


def test_both_are_listed_with_what_they_are():
    assert EXAMPLES == {
        "metrics-uneven": "9 brokers in racks of 4, 4 and 1, about 400 partitions",
        "shop-eu": "12 brokers in 3 racks, about 6,000 partitions",
    }


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not(uneven):
    again, other = make_example("metrics-uneven"), make_example("metrics-uneven", seed=77)

    for name in uneven.tables:
        assert parquet_bytes(again.table(name)) == parquet_bytes(uneven.table(name))
    assert not other.table("replicas").equals(uneven.table("replicas"))
    assert other.table("brokers").equals(uneven.table("brokers"))


def test_another_day_moves_the_history_and_nothing_else(uneven):
    moved = make_example("metrics-uneven", ds="2026-11-16")

    assert moved.ds == "2026-11-16"
    assert moved.table("replicas").equals(uneven.table("replicas"))
    last = [raw.table("metrics").column("hour").to_numpy().max() for raw in (uneven, moved)]
    assert last[1] - last[0] == np.timedelta64(1, "D")


def test_the_uneven_one_has_racks_of_four_four_and_one(uneven):
    snapshot = build_snapshot(uneven)

    assert sorted(len(ids) for ids in snapshot.brokers.brokers_by_rack().values()) == [1, 4, 4]
    assert 380 <= len(snapshot.partitions) <= 440
    assert set(replication_factors(snapshot.replicas).tolist()) == {1, 2, 3}


def test_the_shop_has_twelve_brokers_in_three_racks(shop):
    snapshot = build_snapshot(shop)

    assert sorted(len(ids) for ids in snapshot.brokers.brokers_by_rack().values()) == [4, 4, 4]
    assert 5_700 <= len(snapshot.partitions) <= 6_300
    assert len(snapshot.groups) == 40


@pytest.mark.parametrize("name", EXAMPLES)
def test_they_can_be_planned_on(name, request):
    raw = request.getfixturevalue({"metrics-uneven": "uneven", "shop-eu": "shop"}[name])
    findings = validate(raw)
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)

    assert not findings.fatal
    assert raw.ds == EXAMPLE_DS
    assert load.hours == 28 * 24
    assert (load.bytes_in_peak_bytes_per_second >= load.bytes_in_mean_bytes_per_second).all()
    # Skewed: the largest tenth of the partitions holds more than a fifth of the bytes.
    sizes = np.sort(snapshot.partition_size_bytes())[::-1]
    assert sizes[: len(sizes) // 10].sum() > 0.2 * sizes.sum()
    assert (snapshot.brokers.memory_bytes > snapshot.brokers.disk_capacity_bytes / 1000).all()
    assert all(lag.lag_records >= 0 for group in snapshot.groups for lag in group.lags)


@pytest.mark.parametrize("name", EXAMPLES)
def test_groups_are_what_kafka_would_make_of_them(name, request):
    raw = request.getfixturevalue({"metrics-uneven": "uneven", "shop-eu": "shop"}[name])
    found = group_facts(raw, build_snapshot(raw))

    assert not found.skipped
    for facts in found.facts:
        assert (facts.owner >= 0).all()
        lists = assignor(facts.assignor, facts.protocol).assign(_group(facts)).lists()
        if facts.protocol is GroupProtocol.CONSUMER:
            names = dict(zip(facts.topic_ids, (topic.name for topic in facts.topics), strict=True))
            lists = {member: [(names[topic], number) for topic, number in pairs] for member, pairs in lists.items()}
        assert {member.member_id: sorted(member.owned) for member in facts.members} == {
            member: sorted(pairs) for member, pairs in lists.items()
        }


def _group(facts):
    """Return the group as it was before anybody had anything."""
    ids = dict(zip((topic.name for topic in facts.topics), facts.topic_ids, strict=True))
    if facts.protocol is GroupProtocol.CLASSIC:
        ids = {topic: topic for topic in ids}
    return Group(
        topics=tuple(replace(topic, name=ids[topic.name]) for topic in facts.topics),
        members=tuple(
            replace(member, topics=tuple(ids[name] for name in member.topics), owned=NO_PARTITIONS)
            for member in facts.members
        ),
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_there_are_groups_of_every_kind(name, request):
    raw = request.getfixturevalue({"metrics-uneven": "uneven", "shop-eu": "shop"}[name])
    facts = group_facts(raw, build_snapshot(raw)).facts
    compacted = {row["topic"] for row in raw.table("topics").to_pylist() if row["cleanup_policy"] == "compact"}

    kinds = [(one.protocol, one.assignor) for one in facts]
    assert set(kinds) >= {("classic", "range"), ("classic", "cooperative-sticky"), ("consumer", "uniform")}
    assert 0.15 < np.mean([protocol is GroupProtocol.CONSUMER for protocol, _ in kinds]) < 0.25
    static = [one for one in facts if all(member.instance_id for member in one.members)]
    assert 0.2 < len(static) / len(facts) < 0.3
    assert not any(member.instance_id for one in facts if one not in static for member in one.members)
    idle = [one for one in facts if not all(len(member.owned) for member in one.members)]
    assert [len(one.members) - len(one) for one in idle] == [2]
    seconds = [one.start_lag_bytes.sum() / one.mean_bytes_per_second.sum() for one in facts]
    assert sum(each < 10 for each in seconds) > 0.8 * len(facts)
    (late,) = (one for one, each in zip(facts, seconds, strict=True) if each > 3 * 3600)
    assert late.estimated_capacity_bytes_per_second * len(late.members) < 0.8 * late.peak_bytes_per_second.sum()
    for one in facts:
        is_told = not {topic.name for topic in one.topics} <= compacted
        assert one.is_record_size_known is is_told
        assert not is_told or one.record_bytes == pytest.approx(900, rel=0.001)


def test_ids_of_members_look_like_kafkas(shop):
    groups = {row["group_id"]: row for row in shop.table("groups").to_pylist()}
    for row in shop.table("members").to_pylist():
        if groups[row["group_id"]]["group_type"] == "consumer":
            assert re.fullmatch(r"[A-Za-z0-9_-]{22}", row["member_id"])
        else:
            assert row["member_id"][:-37] == (row["instance_id"] or row["client_id"])
            assert uuid.UUID(row["member_id"][-36:]).version == 4


def test_the_log_starts_before_what_is_committed(shop):
    for row in shop.table("lags").to_pylist():
        assert 0 <= row["log_start_offset"] < row["committed_offset"] <= row["log_end_offset"]


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(RequestError) as refused:
        make_example("jumbo")
    assert str(refused.value) == "example: 'jumbo' is not known; choose one of metrics-uneven, shop-eu"
