"""What a live consumer group is told: protocol, assignor, timings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_capacity.kafka.groups import GroupProtocol
from tests.live.cluster import KafkaCluster

LOG4J = Path(__file__).with_name("log4j2.xml")
_CLASSES = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
# Kafka's own for classic groups. The verifiable consumer polls without end, and a client of the consumer protocol asks
# for records of newly given partitions only when something wakes it: records of others, its heartbeat, or a commit that
# is due. There it stands for the time-out of an application's poll.
_COMMIT_MS = {GroupProtocol.CLASSIC: 5000, GroupProtocol.CONSUMER: 200}
RACKS = {1: "rack-a", 2: "rack-b", 3: "rack-c"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """One group.

    Attributes:
        protocol: classic or consumer.
        assignor: by its Kafka name.
        topic: what it reads.
        is_static: whether members have a ``group.instance.id``.
        heartbeat_seconds: how often members send heartbeats. The coordinator says it to groups of the consumer
            protocol: it must be what the brokers are set to.
        session_seconds: after how long a silent member is out, likewise; see :meth:`configure`.
        suffix: of the group id, to tell a group from an earlier one of the same kind.
    """

    protocol: GroupProtocol
    assignor: str
    topic: str
    is_static: bool = False
    heartbeat_seconds: float = 3.0
    session_seconds: float = 10.0
    suffix: str = ""

    @property
    def name(self) -> str:
        """The group id."""
        return f"{self.protocol}-{self.assignor}" + ("-static" if self.is_static else "") + self.suffix

    def configure(self, cluster: KafkaCluster) -> None:
        """Have the coordinator of a group of the consumer protocol give this one its own session."""
        if self.protocol is GroupProtocol.CONSUMER:
            session_ms = round(self.session_seconds * 1000)
            cluster.tool(
                "kafka.admin.ConfigCommand",
                *("--alter", "--entity-type", "groups", "--entity-name", self.name),
                *("--add-config", f"consumer.session.timeout.ms={session_ms}"),
            )

    def options(self, properties: Path, seat: str) -> list[str]:
        """Spell the options of Kafka's verifiable consumer; writes the rest of the settings to a file."""
        config: dict[str, object] = {"client.id": seat, "auto.commit.interval.ms": _COMMIT_MS[self.protocol]}
        if self.protocol is GroupProtocol.CLASSIC:
            config["heartbeat.interval.ms"] = round(self.heartbeat_seconds * 1000)
        properties.write_text("".join(f"{name}={value}\n" for name, value in config.items()), encoding="utf-8")
        options = ["--topic", self.topic, "--group-id", self.name, "--enable-autocommit"]
        options += ["--group-protocol", str(self.protocol), "--command-config", str(properties)]
        if self.protocol is GroupProtocol.CLASSIC:
            options += ["--assignment-strategy", _CLASSES[self.assignor]]
            options += ["--session-timeout", str(round(self.session_seconds * 1000))]
        else:
            options += ["--group-remote-assignor", self.assignor]
        if self.is_static:
            options += ["--group-instance-id", seat]
        return options


def broker_settings(heartbeat_seconds: float, session_seconds: float) -> dict[str, object]:
    """Return the server properties for groups of the consumer protocol that beat and end so fast."""
    heartbeat_ms, session_ms = round(heartbeat_seconds * 1000), round(session_seconds * 1000)
    return {
        "group.consumer.heartbeat.interval.ms": heartbeat_ms,
        "group.consumer.min.heartbeat.interval.ms": min(heartbeat_ms, 500),
        "group.consumer.session.timeout.ms": session_ms,
        "group.consumer.min.session.timeout.ms": min(session_ms, 6000),
    }


def group_cluster(workdir: Path, *, heartbeat_seconds: float = 5.0, session_seconds: float = 10.0) -> KafkaCluster:
    """Make a cluster of three brokers that say what they do with groups."""
    return KafkaCluster(workdir, RACKS, settings=broker_settings(heartbeat_seconds, session_seconds), log4j=LOG4J)
