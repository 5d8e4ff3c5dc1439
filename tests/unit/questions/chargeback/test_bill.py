"""What the bill is made of and who pays it, by hand; and that it is sizing's own."""

import dataclasses

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kafka_capacity.plan.handing import handed_to_all
from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.questions.chargeback.decide import decide_chargeback
from kafka_capacity.questions.chargeback.share import CHARGEBACK
from kafka_capacity.questions.chargeback.tables import charged as charges_of
from kafka_capacity.questions.chargeback.tables import paid_by, paid_by_client
from kafka_capacity.questions.question import Handed, run_here
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.unit.questions.chargeback.clusters import (
    HAND_MADE,
    MIB,
    MONTH,
    PRICES,
    asked,
    bill,
    charged,
    groups,
    hand_made,
    ledger,
    members,
)


def test_the_bill_by_hand():
    found = bill(charged(hand_made(), **HAND_MADE, marginal_topics=0))
    # How far resources are used of what limits allow: network in 21 / (0.7 × 100), out the same, processors
    # (0.03 × 7 + 0.03 × 0.15 / 0.7 × 14 + 0.04 × 21) / (0.6 × 9.5), disks 433.5 / (0.85 × 1020), replicas 3 / 30.
    # Disks are nearest: half of what they allow is left, so half of 3 × 730 dollars is idle; 42.5 % are used.
    cpu = 0.2
    use = {
        "storage": 0.5,
        "produce": 0.3 * 7 / 21 + cpu * 0.21 / 1.14,
        "replicate": 0.3 * 14 / 21 + 0.3 * 14 / 21 + cpu * (0.09 + 0.56) / 1.14,
        "consume": 0.3 * 7 / 21 + cpu * 0.28 / 1.14,
        "partitions": 0.1,
    }
    assert sum(use.values()) == pytest.approx(1.4)
    wanted = {("brokers", charge): 219_000 * 0.425 * one / 1.4 for charge, one in use.items()}
    wanted |= {("brokers", "idle"): 219_000 * 0.5, ("brokers", "headroom"): 219_000 * 0.075}
    # Two thirds of 21 MiB/s produced and of 21 read leave their rack, and all 42 that are replicated: 70 MiB/s.
    wanted["between_racks", "cross_rack"] = 100 * 70 * MONTH / 1024 * 0.02
    assert found.keys() == wanted.keys()
    assert [found[key] for key in wanted] == pytest.approx(list(wanted.values()), abs=1.0)
    # 2,190 for brokers and 70 × 2,628,000 / 1,024 × 0.02 = 3,593.0 for traffic.
    assert sum(found.values()) == 219_000 + 359_297


def test_limits_on_recovery_are_no_use_of_a_machine():
    asked_for = {"recovery_hours": 48.0, "volume_recovery_hours": 48.0}
    assert bill(charged(hand_made(), **HAND_MADE, **asked_for)) == bill(charged(hand_made(), **HAND_MADE))


def tiered(**settings):
    """The same, in tiered storage for seven days, of which brokers keep an hour; a group is half of a log behind."""
    offsets = {"committed_offset": 50, "log_start_offset": 0, "log_end_offset": 100, "lag_records": 50}
    lags = [{"group_id": "billing", "topic": "orders", "partition": number, **offsets} for number in range(3)]
    raw = hand_made(groups=groups("billing"), members=members([("orders", n) for n in range(3)]), lags=lags)
    kept = {"remote_storage_enable": True, "local_retention_ms": 3_600_000, **settings}
    return with_rows(raw, "topics", [{**row, **kept} for row in rows_of(raw, "topics")])


def test_what_is_tiered_by_hand():
    tables = charged(tiered(), **HAND_MADE, marginal_topics=0, owners={"orders": "shop"})
    # Each broker sends 7 MiB/s more, to the object store: 28 of 70 that are allowed, and processors take 0.04 × 7 more.
    # It receives 7 more, which billing reads from there.
    cpu = 1.42 / 5.7
    use = {
        "storage": 0.5,
        "produce": 0.4 * 7 / 28 + 0.4 * 7 / 28 + cpu * (0.21 + 0.28) / 1.42,
        "replicate": 0.4 * 14 / 28 + 0.4 * 14 / 28 + cpu * (0.09 + 0.56) / 1.42,
        "consume": 0.4 * 7 / 28 + 0.4 * 7 / 28 + cpu * 0.28 / 1.42,
        "partitions": 0.1,
    }
    found, total = bill(tables), sum(use.values())
    assert [found["brokers", one] for one in use] == pytest.approx(
        [219_000 * 0.425 * one / total for one in use.values()], abs=1.0
    )
    (row,) = tables["chargeback_tiered"].to_pylist()
    assert (row["topic"], row["owner"]) == ("orders", "shop")
    assert row["remote_bytes"] == pytest.approx(3 * 7 * MIB * 7 * 86_400)
    assert row["usd_per_month"] == pytest.approx(3 * 7 * 7 * 86_400 / 1024 * 0.023)
    # Half of 144.5 GiB is 10,569 s of 7 MiB/s, and an hour is on the brokers.
    assert row["remote_read_bytes_per_second"] == pytest.approx(3 * 7 * MIB)
    reasons = decide_chargeback(tables).reasons
    assert (
        "Beside the brokers, the object store takes $285 a month for 12.1 TiB of 1 tiered topic (once their retention "
        "is reached); its requests and traffic are not costed."
    ) in reasons
    assert "Groups that are further behind than brokers keep read 21.0 MiB/s from the object store." in reasons


@pytest.mark.parametrize(
    ("settings", "held"),
    [
        ({"remote_copy_lag_ms": -1}, 7 * MIB * (7 * 86_400 - 3600)),  # as long as brokers keep it: an hour
        ({"remote_copy_lag_ms": 60_000}, 7 * MIB * (7 * 86_400 - 60)),
        ({"remote_copy_lag_ms": 7_200_000}, 7 * MIB * (7 * 86_400 - 3600)),
        ({"remote_copy_lag_ms": -1, "remote_copy_lag_bytes": 700 * MIB}, 7 * MIB * (7 * 86_400 - 100)),
        ({"remote_copy_lag_ms": 0, "remote_copy_lag_bytes": -1}, 7 * MIB * 7 * 86_400),  # the defaults
        ({"remote_copy_lag_ms": -1, "retention_bytes": 70_000 * MIB}, 7 * MIB * (10_000 - 3600)),
    ],
)
def test_uploads_that_are_held_back_are_not_in_the_object_store(settings, held):
    (row,) = charged(tiered(**settings), **HAND_MADE, marginal_topics=0)["chargeback_tiered"].to_pylist()
    assert (row["remote_bytes"], row["is_measured"]) == (pytest.approx(3 * held), False)


def test_what_brokers_measure_in_the_object_store_counts_before_what_is_reckoned():
    measured = {"remote_bytes": 1000 * 2**30, "retention_ms": -1}
    tables = charged(tiered(**measured), **HAND_MADE, marginal_topics=0)
    (row,) = tables["chargeback_tiered"].to_pylist()
    assert (row["remote_bytes"], row["usd_per_month"], row["is_measured"]) == (1000 * 2**30, pytest.approx(23.0), True)
    assert (
        "Beside the brokers, the object store takes $23.00 a month for 1,000.0 GiB of 1 tiered topic (as measured); "
        "its requests and traffic are not costed."
    ) in decide_chargeback(tables).reasons


def test_what_is_tiered_without_a_limit_is_not_known():
    tables = charged(tiered(retention_ms=-1), **HAND_MADE, marginal_topics=0)
    (row,) = tables["chargeback_tiered"].to_pylist()
    assert (row["remote_bytes"], row["usd_per_month"]) == (None, None)
    assert "What the object store takes for orders is not known." in decide_chargeback(tables).reasons
    assert not len(charged(hand_made(), **HAND_MADE, marginal_topics=0)["chargeback_tiered"])


def test_a_topic_carries_what_it_holds_and_a_group_what_it_reads():
    lists = [[("orders", 0), ("orders", 1)], [("orders", 2)]]
    others = members([("orders", 0)], group="fraud", client="fraud-app")
    raw = hand_made(groups=groups("billing", "fraud"), members=[*members(*lists), *others])
    tables = charged(raw, **HAND_MADE, marginal_topics=0)
    rows, charges = ledger(tables), charges_of(tables["chargeback_bill"])
    assert rows.keys() == {
        ("orders", None, None),
        ("orders", "billing", "billing-app"),
        ("orders", "fraud", "fraud-app"),
    }
    own, billing, fraud = (rows[key] for key in sorted(rows, key=lambda key: key[1] or ""))
    # Of three partitions one is read by both: billing reads 2.5 of 3, fraud half of one.
    assert own["consume_cents"] == 0
    assert billing["consume_cents"] == pytest.approx(charges["consume"] * 2.5 / 3, abs=1)
    assert fraud["consume_cents"] == pytest.approx(charges["consume"] * 0.5 / 3, abs=1)
    # Of 70 MiB/s between racks 14 are read.
    assert own["cross_rack_cents"] == pytest.approx(charges["cross_rack"] * 56 / 70, abs=1)
    assert fraud["cross_rack_cents"] == pytest.approx(charges["cross_rack"] * 14 / 70 * 0.5 / 3, abs=1)
    assert own["storage_cents"] == charges["storage"]
    assert [row["group_id"] for row in paid_by(tables["chargeback"], "group_id")] == ["billing", "fraud", None]
    assert [row["client_id"] for row in paid_by_client(tables["chargeback"])] == ["billing-app", "fraud-app"]


def producers(*rows):
    """The table: topic, client id, rack and MiB/s of each row."""
    names = ("topic", "client_id", "rack", "bytes_per_second")
    return [dict(zip(names, (*row[:3], row[3] * MIB), strict=True)) for row in rows]


def test_producing_is_charged_to_the_clients_that_count_what_they_produce():
    """Of 21 MiB/s to `orders` shop counts 9 and 3 in two racks, batch 6, and 3 are of nobody."""
    counted = producers(("orders", "shop", "a", 9.0), ("orders", "shop", "b", 3.0), ("orders", "batch", None, 6.0))
    others = producers(("gone", "shop", "a", 5.0), ("orders", None, "a", 1.0), ("orders", "shop", "a", float("nan")))
    raw = hand_made(groups=groups("billing"), members=members([("orders", 0)]), producers=[*counted, *others])
    tables = charged(raw, **HAND_MADE, marginal_topics=0, owners={"orders": "team@example.net"})
    rows, charges = ledger(tables), charges_of(tables["chargeback_bill"])
    assert {key: row["produce_cents"] / charges["produce"] for key, row in rows.items()} == {
        ("orders", None, None): pytest.approx(3 / 21, abs=1e-4),
        ("orders", None, "batch"): pytest.approx(6 / 21, abs=1e-4),
        ("orders", None, "shop"): pytest.approx(12 / 21, abs=1e-4),
        ("orders", "billing", "billing-app"): 0,
    }
    shop = rows["orders", None, "shop"]
    assert (shop["total_cents"], shop["owner"]) == (shop["produce_cents"], "team@example.net")
    assert rows["orders", None, None]["replicate_cents"] == charges["replicate"]
    assert {row["client_id"]: row["total_cents"] for row in paid_by_client(tables["chargeback"])} == {
        client: rows["orders", group, client]["total_cents"]
        for group, client in (("billing", "billing-app"), (None, "shop"), (None, "batch"))
    }
    assert "85.7 % of producing is charged to 2 client ids that produce." in decide_chargeback(tables).reasons
    assert sum(row["total_cents"] for row in rows.values()) + charges["headroom"] + charges["idle"] == sum(
        charges.values()
    )


def test_producers_that_count_more_than_brokers_share_what_brokers_count():
    raw = hand_made(producers=producers(("orders", "shop", None, 60.0), ("orders", "batch", None, 20.0)))
    tables = charged(raw, **HAND_MADE, marginal_topics=0)
    rows, whole = ledger(tables), charges_of(tables["chargeback_bill"])["produce"]
    assert rows["orders", None, "shop"]["produce_cents"] == pytest.approx(whole * 0.75, abs=1)
    assert rows["orders", None, None]["produce_cents"] == pytest.approx(0, abs=1)


def test_what_is_read_by_nobody_known_stays_with_the_topic():
    tables = charged(hand_made(), **HAND_MADE, marginal_topics=0)
    (row,) = ledger(tables).values()
    assert row["consume_cents"] == charges_of(tables["chargeback_bill"])["consume"] > 0


def test_a_group_without_members_pays_only_where_no_other_reads():
    lags = [
        {"group_id": name, "topic": "orders", "partition": partition, "committed_offset": 5, "lag_records": 0}
        for name in ("old", "new")
        for partition in range(3)
    ]
    raw = hand_made(groups=groups("old", "new"), members=members([("orders", 0)], group="new"), lags=lags)
    rows = ledger(charged(raw, **HAND_MADE, marginal_topics=0))
    # The first partition is read by who is assigned it; of the others nobody is, so both commits count.
    shares = {key: row["consume_cents"] for key, row in rows.items()}
    assert shares["orders", "new", "billing-app"] == pytest.approx(shares["orders", "old", None], abs=1)
    assert shares["orders", "new", None] == pytest.approx(shares["orders", "old", None], abs=1)
    assert shares["orders", None, None] == 0


def test_the_bill_is_what_sizing_says_of_today():
    raw = cluster(topics=[topic("orders", size_bytes=100 * GIB, bytes_in=MIB), topic("audit", partitions=4)])
    for prices in (PRICES, {"current_shape": "m7g.large"}, {"current_shape": "kafka.m7g.large"}, {}):
        context = asked(raw, **prices)
        (row,) = [
            row
            for row in CAPACITY.simulate(context, Handed(), run_here).tables["sizing_options"].to_pylist()
            if row["kind"] == "do-nothing"
        ]
        (scope,) = charged(raw, **prices, marginal_topics=0)["chargeback_scope"].to_pylist()
        assert scope["total_cents"] == round(100 * row["by_date_usd_per_month"][0])
        assert scope["priced_as"] == row["priced_as"]


_RATES = st.just(0.0) | st.floats(1.0, 1e6)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(0, 200), _RATES, _RATES),
        min_size=1,
        max_size=5,
    ),
    st.floats(0.001, 50.0),
    st.booleans(),
)
def test_it_sums_to_the_bill_to_the_cent_whoever_it_is_summed_by(topics, price, is_shared):
    assume(any(rate for *_, rate, _ in topics))  # else no rate counts as known
    specs = [
        topic(f"t{number}", partitions=count, rf=rf, size_bytes=gib * GIB, bytes_in=rate, bytes_out=read)
        for number, (count, rf, gib, rate, read) in enumerate(topics)
    ]
    raw = cluster(brokers=3, hours=24, topics=specs, groups=groups("billing"), members=members([("t0", 0)]))
    tables = charged(
        raw,
        owners={"t1": "one@example.net", "billing": "two@example.net"},
        broker_usd_per_hour=price,
        usd_per_gib_between_racks=0.017,
        is_idle_shared=is_shared,
        marginal_topics=0,
    )
    (scope,), charges = tables["chargeback_scope"].to_pylist(), charges_of(tables["chargeback_bill"])
    total = scope["total_cents"]
    assert sum(charges.values()) == total
    apart = 0 if is_shared else charges["idle"] + charges["headroom"]
    rows = tables["chargeback"].to_pylist()
    assert sum(row["total_cents"] for row in rows) + apart == total
    for charge, cents in charges.items():
        assert sum(row[f"{charge}_cents"] for row in rows) == (
            0 if charge in ("idle", "headroom") and not is_shared else cents
        )
    for column in ("topic", "group_id", "client_id", "owner"):
        assert sum(row["total_cents"] for row in paid_by(tables["chargeback"], column)) + apart == total
    assert min(row["total_cents"] for row in rows) >= 0


def test_idle_capacity_is_shared_out_where_that_is_asked():
    apart, shared = (charged(hand_made(), **HAND_MADE, marginal_topics=0, is_idle_shared=one) for one in (False, True))
    (before,), (after,) = ledger(apart).values(), ledger(shared).values()
    assert (before["idle_cents"], before["headroom_cents"]) == (0, 0)
    assert (after["idle_cents"], after["headroom_cents"]) == (109_500, 16_425)
    assert after["total_cents"] == before["total_cents"] + 109_500 + 16_425


def test_what_is_not_known_is_not_judged():
    raw = cluster(hours=0)
    tables = charged(raw, **PRICES)
    assert not len(tables["chargeback"])
    answer = decide_chargeback(tables)
    assert (
        answer.headline == "The cost of topics and owners cannot be determined: no rates are known, or every rate is 0."
    )
    assert answer.unknown == ("what topics and owners cost",)
    # Without processors and memory no shape of the catalogue stands for today's hardware.
    nameless = cluster(topics=[topic("orders")])
    rows = [{**row, "cpu_cores": None} for row in nameless.table("brokers").to_pylist()]
    tables = charged(with_rows(nameless, "brokers", rows))
    headline = decide_chargeback(tables).headline
    assert headline.startswith("The cost of topics and owners cannot be determined: the price of a broker")


def test_an_estimate_is_said_to_be_one():
    tables = charged(hand_made(), marginal_topics=0)
    assert tables["chargeback_scope"].to_pylist()[0]["priced_as"] is not None
    assert " per month (estimated) at today’s traffic, of which " in decide_chargeback(tables).headline


def test_who_owns_nothing_known_is_named():
    raw = cluster(topics=[topic("orders"), topic("audit"), topic("clicks")])
    tables = charged(raw, owners={"orders": "team@example.net"}, **PRICES, marginal_topics=0)
    (sentence,) = [one for one in decide_chargeback(tables).reasons if "has no known owner" in one]
    assert sentence.endswith("%): audit, clicks.")
    owned = charged(raw, owners={"*": "team@example.net"}, **PRICES, marginal_topics=0)
    assert "All of it has an owner." in decide_chargeback(owned).reasons


def test_what_a_group_reads_is_paid_by_the_owner_of_the_group():
    read = members([("orders", 0), ("orders", 1), ("orders", 2)])
    raw = hand_made(groups=groups("billing"), members=read)
    owners = {"orders": "topics@example.net", "bill*": "groups@example.net"}
    rows = ledger(charged(raw, owners=owners, **HAND_MADE, marginal_topics=0))
    assert rows["orders", None, None]["owner"] == "topics@example.net"
    assert rows["orders", "billing", "billing-app"]["owner"] == "groups@example.net"


def test_nothing_is_restated(monkeypatch):
    """The price of today's hardware is what is handed over, and nothing else."""
    context = asked(hand_made(), **HAND_MADE, marginal_topics=0)
    handed = handed_to_all(context)
    dearer = dataclasses.replace(handed.pricing.today, usd={**handed.pricing.today.usd, "brokers": 4380.0})
    monkeypatch.setattr(handed.pricing, "today", dearer, raising=False)
    found = bill(CHARGEBACK.simulate(context, handed, run_here).tables)
    assert sum(cents for (part, _), cents in found.items() if part == "brokers") == 438_000
