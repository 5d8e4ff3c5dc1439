"""What the bill would be without a topic or an owner: the same as sizing what is left the long way."""

from __future__ import annotations

import dataclasses

import pytest

from kafka_capacity.inventory.owners import owner_of
from kafka_capacity.questions.capacity.found import sizing_setup
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from kafka_capacity.questions.capacity.smallest import is_enough
from kafka_capacity.questions.chargeback.section.chargeback import all_tables
from tests.asking import run_sizes
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.unit.questions.chargeback.clusters import MIB, PRICES, asked, charged, groups, hand_made, members

# Nine brokers of 1,000 GiB that may hold 850 each. A topic's 18 partitions have three replicas of its size; a week of
# what is produced is less, so that nothing grows.
TOPICS = {"audit": 20, "clicks": 60, "orders": 40}
GIVEN = {**PRICES, "broker_vcpu": 16.0}
OWNERS = {"audit": "core@example.net", "billing": "core@example.net", "clicks": "web@example.net"}


def inventory():
    topics = [
        topic(name, partitions=18, size_bytes=size * GIB, bytes_in=0.02 * MIB, bytes_out=0.2 * MIB)
        for name, size in TOPICS.items()
    ]
    read = members([("orders", number) for number in range(18)])
    return cluster(
        brokers=9, topics=topics, hours=24, disk_capacity_bytes=1000.0 * GIB, groups=groups("billing"), members=read
    )


def without(raw, *, topics=(), group_ids=(), kept_reads=1.0):
    """Take topics and groups out of an inventory, row by row; what is read of orders is so much of what it was."""
    for name in ("topics", "replicas", "metrics", "lags"):
        raw = with_rows(raw, name, [row for row in rows_of(raw, name) if row["topic"] not in topics])
    for name in ("groups", "members", "lags"):
        raw = with_rows(raw, name, [row for row in rows_of(raw, name) if row["group_id"] not in group_ids])
    rows = rows_of(raw, "metrics")
    for row in rows:
        if row["topic"] == "orders":
            row["bytes_out_bytes_per_second"] *= kept_reads
    return with_rows(raw, "metrics", rows)


def the_long_way(raw):
    """Size every count, of today alone, and return the fewest brokers that carry it and what they cost in cents."""
    counts = [3, 6, 9, 12, 15, 18]
    stands_still = {"growth_per_year_ratio": 0.0, "growth_high_per_year_ratio": 0.0}
    context = asked(raw, **GIVEN, **stands_still, sizing_broker_counts=counts)
    results = simulate_sizing(sizing_setup(context).inputs, run_sizes).results
    # The observed placement is not one that is made anew, and one that leaves brokers idle is that of fewer.
    made = [
        one
        for one in results
        if not one.option.placement.is_observed and one.option.placement.idle_brokers == 0 and is_enough(one)
    ]
    best = min(made, key=lambda one: one.option.placement.broker_count)
    return best.option.placement.broker_count, round(100 * best.cost.total)


@pytest.fixture(scope="module")
def tables():
    return charged(inventory(), owners=OWNERS, **GIVEN, marginal_topics=3)


def test_the_smallest_size_is_what_sizing_finds_too(tables):
    (scope,) = tables["chargeback_scope"].to_pylist()
    # 120 GiB × 18 × 3 are 6,480, and 850 fit a broker: 7.6 brokers, in steps of three.
    assert (scope["broker_count"], scope["smallest_cents"]) == the_long_way(inventory())
    assert scope["broker_count"] == 9


@pytest.mark.parametrize("name", TOPICS)
def test_without_a_topic(tables, name):
    count, cents = the_long_way(without(inventory(), topics=[name]))
    (scope,) = tables["chargeback_scope"].to_pylist()
    (row,) = [row for row in tables["chargeback_marginal"].to_pylist() if (row["kind"], row["name"]) == ("topic", name)]
    assert (row["broker_count"], scope["smallest_cents"] - row["marginal_cents"]) == (count, cents)
    # Without clicks 60 × 54 are 3,240 GiB: 3.8 brokers, so 6.
    assert count == {"audit": 9, "clicks": 6, "orders": 6}[name]


def test_without_a_group_goes_what_it_reads():
    # billing alone reads orders: 18 × 60 MiB/s, two thirds of them from another rack.
    raw = inventory()
    busy = [
        {**row, "bytes_out_bytes_per_second": 60.0 * MIB} if row["topic"] == "orders" else row
        for row in rows_of(raw, "metrics")
    ]
    raw = with_rows(raw, "metrics", busy)
    found = charged(raw, **GIVEN, marginal_topics=0, marginal_groups=5)
    (row,), (scope,) = found["chargeback_marginal"].to_pylist(), found["chargeback_scope"].to_pylist()
    assert (row["kind"], row["name"]) == ("group", "billing")
    count, cents = the_long_way(without(raw, group_ids=["billing"], kept_reads=0.0))
    assert (row["broker_count"], scope["smallest_cents"] - row["marginal_cents"]) == (count, cents)
    assert row["average_cents"] == sum(
        one["total_cents"] for one in found["chargeback"].to_pylist() if one["group_id"] == "billing"
    )
    asked_for = {"Marginal cost", "Brokers without it"}
    shown = {name: {of["label"] for of in one["columns"]} for name, one in all_tables(found, most=9).items()}
    assert asked_for <= shown["groups"]
    assert not asked_for & shown["topics"]


def test_without_an_owner_go_their_topics_and_what_their_groups_read(tables):
    # billing alone reads orders.
    left = without(inventory(), topics=["audit"], group_ids=["billing"], kept_reads=0.0)
    count, cents = the_long_way(left)
    (scope,) = tables["chargeback_scope"].to_pylist()
    rows = {row["name"]: row for row in tables["chargeback_marginal"].to_pylist() if row["kind"] == "owner"}
    assert rows.keys() == {"core@example.net", "web@example.net"}
    row = rows["core@example.net"]
    assert (row["broker_count"], scope["smallest_cents"] - row["marginal_cents"]) == (count, cents)
    paid = [one["total_cents"] for one in tables["chargeback"].to_pylist() if one["owner"] == "core@example.net"]
    assert row["average_cents"] == sum(paid)
    assert owner_of(OWNERS, "orders") is None


def test_without_everything_there_is_no_bill():
    context = {"owners": {"*": "all@example.net"}, **GIVEN, "marginal_topics": 0}
    found = charged(inventory(), **context)
    (row,), (scope,) = found["chargeback_marginal"].to_pylist(), found["chargeback_scope"].to_pylist()
    assert (row["name"], row["broker_count"], row["marginal_cents"]) == ("all@example.net", 0, scope["smallest_cents"])


def test_what_no_size_carries_has_no_marginal_cost():
    # Twice as many brokers are tried at most: 40 topics as large as all disks fit none of these.
    raw = inventory()
    rows = [{**row, "size_bytes": row["size_bytes"] * 40} for row in rows_of(raw, "replicas")]
    found = charged(with_rows(raw, "replicas", rows), **GIVEN, marginal_topics=1)
    (row,), (scope,) = found["chargeback_marginal"].to_pylist(), found["chargeback_scope"].to_pylist()
    assert (scope["broker_count"], scope["smallest_cents"]) == (None, None)
    assert (row["broker_count"], row["marginal_cents"]) == (None, None)


def test_the_smallest_size_has_volumes_no_larger_than_they_must_be():
    found = charged(hand_made(), current_shape="m7g.large", marginal_topics=1)
    (scope,) = found["chargeback_scope"].to_pylist()
    assert scope["broker_count"] == scope["broker_count_now"] == 3
    # 1,020 GiB are provisioned and 433.5 / 0.85 = 510 needed, for $0.08 a GiB and month.
    assert scope["total_cents"] - scope["smallest_cents"] == 100 * 3 * (1020 - 510) * 0.08


def test_as_many_topics_as_are_asked_for(tables):
    context = asked(inventory(), **GIVEN)
    assert dataclasses.replace(context).parameters.marginal_topics == 3
    assert not len(charged(inventory(), **GIVEN, marginal_topics=0)["chargeback_marginal"])
    assert [row["kind"] for row in tables["chargeback_marginal"].to_pylist()] == ["owner"] * 2 + ["topic"] * 3
