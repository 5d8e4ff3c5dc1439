"""The example clusters are what they promise, sound, and the same every time."""

import numpy as np
import pytest

from kafka_capacity.cluster.assignment import replication_factors
from kafka_capacity.errors import RequestError
from kafka_capacity.example import EXAMPLE_DS, EXAMPLES, make_example
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.validation import validate
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
    held = [member.assigned for group in snapshot.groups for member in group.members]
    assert all(held)
    assert all(lag.lag_records >= 0 for group in snapshot.groups for lag in group.lags)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(RequestError) as refused:
        make_example("jumbo")
    assert str(refused.value) == "example: 'jumbo' is not known; choose one of metrics-uneven, shop-eu"
