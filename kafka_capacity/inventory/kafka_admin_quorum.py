"""The metadata quorum of a live cluster: who votes, who observes, and how far each is behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka.errors import KafkaError

from kafka_capacity.inventory.kafka_admin_brokers import broker_settings
from kafka_capacity.inventory.kafka_admin_session import AdminSession, kafka_uuid

_VOTERS, _AUTO_JOIN = "controller.quorum.voters", "controller.quorum.auto.join.enable"
_FEATURE = "kraft.version"


def read_quorum(session: AdminSession, brokers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of ``quorum_replicas``; none of a cluster without a quorum, or one that does not tell.

    What is set on controllers only controllers tell. Brokers go by the same voters, so one of them is asked, and those
    that are controllers as well tell of themselves.
    """
    try:
        described = session.try_to_ask(session.client.describe_metadata_quorum)
    except KafkaError:
        return []  # the rows of brokers have the remark
    (partition,) = described["topics"][0]["partitions"]
    told = session.features().items()
    levels = {name: feature["finalized"][1] for name, feature in told if "finalized" in feature}
    level = int(levels.get(_FEATURE, 0)) if levels else None  # a cluster that has other features only is at 0
    up = [broker["broker_id"] for broker in brokers if not broker["is_fenced"]]
    voters = {voter["replica_id"] for voter in partition["current_voters"]}
    asked = [*voters.intersection(up), *[each for each in up if each not in voters][:1]]
    answers = {broker: broker_settings(session, broker, [_VOTERS, _AUTO_JOIN]) for broker in asked}
    settings = {broker: answer for broker, answer in answers.items() if answer}
    named = [
        int(voter.partition("@")[0])
        for each in settings.values()
        for voter in (each.get(_VOTERS) or "").split(",")
        if voter
    ]
    joins = {broker: each[_AUTO_JOIN] == "true" for broker, each in settings.items() if each.get(_AUTO_JOIN)}
    nodes = {node["node_id"]: node["listeners"][0] for node in described.get("nodes") or () if node["listeners"]}
    rows = []
    replicas = list(_rows(partition))
    gone = sorted({*named} - {row["node_id"] for row in replicas})
    for row in [*replicas, *({"node_id": node_id, "is_voter": False} for node_id in gone)]:
        node = nodes.get(row["node_id"], {}) if row["is_voter"] else {}
        known = {"host": node.get("host"), "port": node.get("port"), "kraft_version": level}
        known["is_named"] = row["node_id"] in named if settings else None
        known["auto_joins"] = joins.get(row["node_id"])
        rows.append({**row, **known})
    return sorted(rows, key=lambda row: (row["node_id"], row["is_voter"]))


def _rows(partition: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    leader = partition["leader_id"]
    voters, observers = partition["current_voters"], partition["observers"]
    active: Mapping[str, Any] = next((voter for voter in voters if voter["replica_id"] == leader), {})
    for is_voter, replicas in ((True, voters), (False, observers)):
        for replica in replicas:
            end, last = replica["log_end_offset"], active.get("log_end_offset", -1)
            # Both times are of the clock of the leader, for which it is now.
            caught_up, now = (one.get("last_caught_up_timestamp", -1) for one in (replica, active))
            yield {
                "node_id": replica["replica_id"],
                "is_voter": is_voter,
                "is_active": is_voter and replica["replica_id"] == leader,
                "directory_id": kafka_uuid(replica.get("replica_directory_id")),
                "log_end_offset": end if end >= 0 else None,
                "lag_records": max(0, last - end) if end >= 0 and last >= 0 else None,
                "behind_seconds": max(0, now - caught_up) / 1000 if caught_up > 0 and now > 0 else None,
            }
