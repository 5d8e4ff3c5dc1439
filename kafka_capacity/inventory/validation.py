"""Everything that is wrong or odd about an inventory, all at once.

Fatal is what makes every number wrong: brokers or topics that contradict themselves, replicas that nobody holds,
names and sizes that cannot be. All else is a warning: a real cluster is often in a bad state, and that is when its
owners plan. Ids of groups and members, racks, hosts and paths may be any text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from kafka_capacity.hardware.cpu import STATED
from kafka_capacity.hardware.shapes import hardware, observed_shape
from kafka_capacity.health.check import check_health
from kafka_capacity.health.cluster_view import UNKNOWN_RATE_RATIO, ClusterView
from kafka_capacity.health.problem import Problem, Problems, fatal
from kafka_capacity.inventory.checks.brokers import check_brokers, check_log_dirs, check_quorum_replicas
from kafka_capacity.inventory.checks.groups import check_groups
from kafka_capacity.inventory.checks.metrics import (
    check_broker_metrics,
    check_history,
    check_metrics,
    check_producers,
    check_same_rates,
)
from kafka_capacity.inventory.checks.replicas import check_leadership, check_placement, check_sizes
from kafka_capacity.inventory.checks.topics import check_topic_names, check_topic_settings
from kafka_capacity.inventory.column_values import ReplicaColumns
from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.raw import RawInventory, is_utc_moment
from kafka_capacity.inventory.sizing_workload import group_lags, hourly_traffic, observed_costs
from kafka_capacity.inventory.snapshot import build_snapshot, known_rates, partition_load
from kafka_capacity.objects.keys import is_day


def validate(raw: RawInventory) -> Problems:
    """Check an inventory whole, as a source gave it.

    Returns:
        All findings, the source's own remarks among them, the worst first, in an order that depends on nothing else.
    """
    return Problems.of(_all_findings(raw))


def _all_findings(raw: RawInventory) -> Iterator[Problem]:
    brokers, topics, log_dirs = raw.table("brokers"), raw.table("topics"), raw.table("log_dirs")
    replicas = ReplicaColumns.of(raw.table("replicas"))
    yield from raw.remarks
    yield from check_identity(raw)
    yield from check_brokers(brokers)
    yield from check_log_dirs(log_dirs, brokers)
    yield from check_topic_names(topics)
    yield from check_topic_settings(topics, replicas)
    yield from check_placement(replicas, brokers, topics)
    yield from check_leadership(replicas, log_dirs)
    yield from check_sizes(replicas, log_dirs)
    yield from check_metrics(raw.table("metrics"), replicas, raw.ds)
    yield from check_broker_metrics(raw.table("broker_metrics"), brokers)
    yield from check_history(raw.table("history"), raw.ds)
    yield from check_same_rates(raw.table("history"), raw.table("metrics"))
    yield from check_producers(raw.table("producers"), topics)
    yield from check_quorum_replicas(raw.table("quorum_replicas"))
    yield from check_groups(raw.table("groups"), raw.table("members"), raw.table("lags"), replicas.index())


MAX_CLUSTER_NAME_LENGTH = 255  # it is one level of a path, and file systems give that 255


def check_identity(raw: RawInventory) -> Iterator[Problem]:
    """Check the name of the cluster, the day and the moment."""
    name = raw.cluster
    if not name:
        yield fatal("cluster_name", "cluster", "the name of the cluster is empty; give it one")
    elif len(name) > MAX_CLUSTER_NAME_LENGTH:
        message = (
            f"the name of the cluster has {len(name)} characters; shorten it to {MAX_CLUSTER_NAME_LENGTH} or fewer"
        )
        yield fatal("cluster_name", "cluster", message)
    # Cc are control characters, Cs halves of a surrogate pair: neither can stand in a key or be printed as typed.
    elif any(unicodedata.category(character) in {"Cc", "Cs"} for character in name):
        message = f"the name of the cluster, {name!r}, has control characters; remove them"
        yield fatal("cluster_name", "cluster", message)
    if not is_day(raw.ds):
        yield fatal("day", "ds", f"ds {raw.ds!r} is not a day; write it as YYYY-MM-DD")
    if raw.captured_at is not None and not is_utc_moment(raw.captured_at):
        message = f"captured_at {raw.captured_at!r} is not a time in UTC; write it as 2026-11-20T03:00:00Z"
        yield fatal("captured_at", "captured_at", message)


def inventory_problems(raw: RawInventory) -> Problems:
    """Return what is wrong with an inventory and, where it is sound enough to tell, with its cluster.

    Limits are the defaults; processors are judged by their own hours where the inventory has them. What the loss of
    a rack would do, and controllers, take more than an inventory: ``doctor`` and a plan look at them.
    """
    found = validate(raw)
    if found.fatal:
        return found
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)
    measured = observed_costs(raw)
    shape = observed_shape(snapshot.brokers)
    is_unknown, size = ~known_rates(raw, snapshot)[0], snapshot.partition_size_bytes()
    view = ClusterView.of(
        snapshot,
        load,
        traffic=hourly_traffic(raw, snapshot, load),
        are_rates_known=bool(size[is_unknown].sum() <= UNKNOWN_RATE_RATIO * size.sum()),
        has=hardware(shape, snapshot.brokers),
        costs=STATED if measured is None else measured.costs,
        lags=group_lags(group_facts(raw, snapshot, load)),
    )
    return check_health(view, found)
