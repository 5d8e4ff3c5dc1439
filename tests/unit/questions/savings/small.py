"""Small clusters whose savings are reckoned by hand: six brokers in three racks, and nothing grows."""

from __future__ import annotations

from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.validation import validate
from kafka_capacity.plan.handing import sized_cluster
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.questions.question import Basis, Handed, PlanContext, run_here
from kafka_capacity.questions.savings.share import SAVINGS
from tests.builders import cluster, rows_of, topic, with_rows

GIB = 2**30
DAY = 86_400
DOLLARS = 730.0  # a broker a month, at a dollar an hour
ASKED = {
    "growth_per_year_ratio": 0.0,
    "growth_high_per_year_ratio": 0.0,
    "horizon_months": 2,
    "sizing_broker_counts": [3, 6, 9],
    "broker_usd_per_hour": 1.0,
    "usd_per_gib_between_racks": 0.0,
}
PRODUCED = 100 * GIB / (7 * DAY)  # to each partition, which fills 100 GiB in a retention of seven days


def logs(**options):
    """Twelve partitions of 100 GiB, three replicas each: 3,600 GiB."""
    given = {"partitions": 12, "size_bytes": 100 * GIB, "bytes_in": PRODUCED, "bytes_out": 2 * PRODUCED}
    return topic("logs", **(given | options))


def idle(name="old", **options):
    """Twelve partitions of 80 GiB that nobody uses: 2,880 GiB."""
    given = {"partitions": 12, "size_bytes": 80 * GIB, "bytes_in": 0.0, "bytes_out": 0.0}
    return topic(name, **(given | options))


def many(name="many", size_bytes=GIB):
    """240 partitions of 1 GiB, which together carry what one partition of `logs` does: 720 replicas."""
    rates = {"bytes_in": PRODUCED / 240, "bytes_out": PRODUCED / 240}
    return topic(name, partitions=240, size_bytes=size_bytes, **rates)


def inventory(*topics, disk_gib=1000, brokers=None, **made):
    """Disks of 1,000 GiB by default, of which 850 may be used."""
    raw = cluster(topics=topics, disk_capacity_bytes=float(disk_gib * GIB), **made)
    total = int(disk_gib * GIB)
    dirs = [{**row, "total_bytes": total, "usable_bytes": total // 2} for row in rows_of(raw, "log_dirs")]
    raw = with_rows(raw, "log_dirs", dirs)
    return raw if brokers is None else with_rows(raw, "brokers", [row | brokers for row in rows_of(raw, "brokers")])


def asked_of(raw, **more):
    """What a plan asks of an inventory."""
    snapshot = build_snapshot(raw)
    request = parse_plan_request({"cluster": raw.cluster, "ds": raw.ds, **ASKED, **more})
    basis = Basis(raw=raw, findings=validate(raw), snapshot=snapshot, load=partition_load(raw, snapshot))
    return PlanContext(basis=basis, parameters=request)


def savings_of(raw, **more):
    """The tables."""
    asked = asked_of(raw, **more)
    return SAVINGS.simulate(asked, Handed(sized=lambda: sized_cluster(asked)), run_here).tables


def action_rows(tables):
    """The actions by their ids."""
    return {row["action_id"]: row for row in tables["savings_actions"].to_pylist()}


def set_rows(tables):
    """The sets by the kinds of their actions."""
    return {
        frozenset(one.partition(":")[0] for one in row["actions"]): row for row in tables["savings_sets"].to_pylist()
    }
