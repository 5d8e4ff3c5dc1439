"""The inventory of a live cluster, read through Kafka's admin protocol.

Everything is asked in batches: one request a broker for what lies on its disks, one for all topics, one for a
thousand topics' configs. What cannot be known is null and has a remark or, for disks, an ``error``: a broker that is
down takes nothing else with it. No rights are needed beyond DESCRIBE on the cluster, the topics and the groups, and
DESCRIBE_CONFIGS on the topics; with DESCRIBE_CONFIGS on the cluster it is known what brokers take for the voters.

How much the brokers may store and how fast their network is, no broker tells; the sizes of their volumes stand in
``log_dirs`` (from Kafka 3.3 on), the rest is for other sources.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from kafka.errors import KafkaError

from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.kafka_admin_brokers import add_missing_brokers, read_brokers, read_storage
from kafka_capacity.inventory.kafka_admin_groups import read_groups
from kafka_capacity.inventory.kafka_admin_lags import lags_table
from kafka_capacity.inventory.kafka_admin_quorum import read_quorum
from kafka_capacity.inventory.kafka_admin_session import AdminSession, open_session
from kafka_capacity.inventory.kafka_admin_topics import (
    read_topics,
    remark_on_partitions,
    replica_holders,
    replicas_table,
    topics_table,
)
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KAFKA_4_4, KafkaRelease
from kafka_capacity.text import plural

SOURCE = "kafka_admin"

_FIRST_METADATA_VERSION = {KAFKA_4_3: 30, KAFKA_4_4: 31}
"""The lowest that only brokers of a release, and later ones, support (``MetadataVersion``, 4.4.0)."""


def read_cluster(
    connection: KafkaConnection, *, cluster: str, ds: str, progress: Callable[[str], None] | None = None
) -> RawInventory:
    """Read the inventory of a live cluster for a day, ``YYYY-MM-DD`` (UTC); ``progress`` is told what has been read.

    Raises:
        SourceError: the cluster cannot be reached, refuses us, or does not describe itself; the message names the
            bootstrap servers, never a secret.
    """
    say = progress or (lambda _: None)
    with open_session(connection) as session:
        captured_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        remarks: list[Problem] = []
        version = _kafka_version(session)
        tables = _read_tables(session, remarks, say)
    return RawInventory(
        cluster=cluster,
        ds=ds,
        captured_at=captured_at,
        source=SOURCE,
        kafka_version=version,
        tables=tables,
        remarks=tuple(remarks),
    )


def _read_tables(session: AdminSession, remarks: list[Problem], say: Callable[[str], None]) -> dict[str, pa.Table]:
    brokers = read_brokers(session, remarks)
    quorum = read_quorum(session, brokers)
    topics = read_topics(session, remarks)
    add_missing_brokers(brokers, replica_holders(topics), remarks)
    say(f"{plural(len(brokers), 'broker')}, {plural(len(topics), 'topic')}")
    # Right after the metadata: the longer between the two, the more often they are of different moments.
    log_dirs, stored = read_storage(session, brokers, remarks)
    replicas = replicas_table(topics, stored)
    remark_on_partitions(session, remarks)
    say(f"{plural(len(replicas), 'replica')} in {plural(len(log_dirs), 'log dir')}")
    topic_settings = topics_table(session, topics, remarks)
    groups, members = read_groups(session, brokers, remarks)
    lags = lags_table(session, [group["group_id"] for group in groups], topics, remarks)
    say(f"{plural(len(groups), 'group')}, {plural(len(members), 'member')}, {plural(len(lags), 'lag')}")
    return {
        "brokers": _table("brokers", brokers),
        "quorum_replicas": _table("quorum_replicas", quorum),
        "log_dirs": log_dirs,
        "topics": topic_settings,
        "replicas": replicas,
        "groups": _table("groups", groups),
        "members": _table("members", members),
        "lags": lags,
    }


def _table(name: str, rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), TABLES[name].schema)


def _kafka_version(session: AdminSession) -> str | None:
    """Return the version of one broker, as far as it gives that away: ``4.3``.

    By its requests a client knows releases that are older than itself; newer ones tell by the ``metadata.version`` that
    they support.
    """
    try:
        node = session.try_to_ask(session.client.describe_cluster)["brokers"][0]["broker_id"]
        data = session.try_to_ask(session.client.get_broker_version_data, node)
    except (KafkaError, LookupError):
        return None
    _, level = session.features().get("metadata.version", {}).get("supported", (0, 0))
    newer = [release for release, first in _FIRST_METADATA_VERSION.items() if level >= first]
    release = max([KafkaRelease(*data.broker_version[:2]), *newer])
    return f"{release.major}.{release.minor}"
