"""A small cluster whose costs are worked out by hand, and what is asked of it."""

from __future__ import annotations

import dataclasses

from kafka_capacity.plan.handing import handed_to_all
from kafka_capacity.questions.chargeback.share import CHARGEBACK
from kafka_capacity.questions.question import run_here
from tests.asking import ask
from tests.builders import GIB, cluster, rows_of, topic, with_rows

MIB = 2**20
MONTH = 730 * 3600


def members(*assigned, group="billing", client="billing-app", rack=None):
    """One member for each list of (topic, partition)."""
    return [
        {
            "group_id": group,
            "member_id": f"{group}-{number}",
            "client_id": client,
            "host": "/10.0.0.1",
            "rack": rack,
            "subscribed": sorted({name for name, _ in pairs}),
            "assigned": [{"topic": name, "partition": partition} for name, partition in pairs],
        }
        for number, pairs in enumerate(assigned)
    ]


def groups(*names):
    return [{"group_id": name, "state": "Stable", "protocol_type": "consumer", "assignor": "range"} for name in names]


def hand_made(**tables):
    """Three brokers in three racks; ``orders`` has a leader and two followers on each.

    Of each partition 7 MiB/s are produced and read, and 144.5 GiB held; a broker holds 433.5 of 1,020 GiB, takes in 21
    of 100 MiB/s and sends 21.
    """
    raw = cluster(
        brokers=3,
        topics=[topic("orders", partitions=3, size_bytes=int(144.5 * GIB), bytes_in=7.0 * MIB, bytes_out=7.0 * MIB)],
        disk_capacity_bytes=1020.0 * GIB,
        **tables,
    )
    network = {name: 100.0 * MIB for name in ("network_in_bytes_per_second", "network_out_bytes_per_second")}
    return with_rows(raw, "brokers", [{**row, **network} for row in rows_of(raw, "brokers")])


PRICES = {"broker_usd_per_hour": 1.0, "usd_per_gib_between_racks": 0.02}
HAND_MADE = {"broker_vcpu": 9.5, "broker_replica_limit": 30, **PRICES}


def asked(raw, *, owners=None, **given):
    """Return what is asked."""
    return dataclasses.replace(ask(raw, {"cluster": "payments", **given}), owners=owners or {})


def charged(raw, *, owners=None, **given):
    """Return the tables of chargeback."""
    context = asked(raw, owners=owners, **given)
    return CHARGEBACK.simulate(context, handed_to_all(context), run_here).tables


def ledger(tables):
    """Return the rows of who pays by (topic, group, client id)."""
    return {(row["topic"], row["group_id"], row["client_id"]): row for row in tables["chargeback"].to_pylist()}


def bill(tables):
    """Return cents by (part, charge)."""
    return {(row["part"], row["charge"]): row["cents"] for row in tables["chargeback_bill"].to_pylist()}
