"""Everything that is wrong or odd about an inventory, all at once.

Fatal is what makes every number wrong: brokers or topics that contradict themselves, replicas that nobody holds,
names and sizes that cannot be. All else is a warning: a real cluster is often in a bad state, and that is when its
owners plan. Ids of groups and members, racks, hosts and paths may be any text.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_capacity.health.problem import Problem, Problems
from kafka_capacity.inventory.checks.broker_metrics import check_broker_metrics
from kafka_capacity.inventory.checks.brokers import check_brokers
from kafka_capacity.inventory.checks.groups import check_groups
from kafka_capacity.inventory.checks.history import check_history
from kafka_capacity.inventory.checks.identity import check_identity
from kafka_capacity.inventory.checks.leadership import check_leadership
from kafka_capacity.inventory.checks.log_dirs import check_log_dirs
from kafka_capacity.inventory.checks.metrics import check_metrics
from kafka_capacity.inventory.checks.placement import check_placement
from kafka_capacity.inventory.checks.sizes import check_sizes
from kafka_capacity.inventory.checks.topics import check_topic_names, check_topic_settings
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.replica_columns import ReplicaColumns


def validate(raw: RawInventory) -> Problems:
    """Check an inventory whole.

    Args:
        raw: as a source gave it.

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
    yield from check_leadership(replicas)
    yield from check_sizes(replicas, brokers, log_dirs)
    yield from check_metrics(raw.table("metrics"), replicas, raw.ds)
    yield from check_broker_metrics(raw.table("broker_metrics"), brokers)
    yield from check_history(raw.table("history"), raw.ds)
    yield from check_groups(raw.table("groups"), raw.table("members"), raw.table("lags"), replicas.index())
