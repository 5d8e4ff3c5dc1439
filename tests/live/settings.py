"""The server.properties of one node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.live.certificates import Certificates

CLUSTER_ID = "Y2FwYWNpdHktbGl2ZS10ZQ"
SCRAM_USER = "planner"
SCRAM_PASSWORD = "scram-secret-73"
PLAIN_PASSWORD = "plain-secret-29"


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its place in the cluster, its folder and its ports by protocol."""

    broker_id: int
    rack: str | None
    folder: Path
    ports: dict[str, int]
    is_controller: bool
    is_broker: bool = True

    @property
    def roles(self) -> str:
        names = (("broker", self.is_broker), ("controller", self.is_controller))
        return ",".join(name for name, is_so in names if is_so)

    @property
    def settings(self) -> Path:
        return self.folder / "server.properties"


def server_properties(
    node: Node,
    nodes: Sequence[Node],
    log_dirs: int,
    certificates: Certificates | None,
    others: Mapping[str, object],
) -> str:
    """Spell the settings of a node: small, patient on a busy machine, with nothing made behind the test's back."""
    controllers = [each for each in nodes if each.is_controller]
    voters = ",".join(f"{each.broker_id}@127.0.0.1:{each.ports['CONTROLLER']}" for each in controllers)
    copies = max(1, min(3, sum(each.is_broker for each in nodes)))
    spoken = [name for name in node.ports if name != "CONTROLLER"]
    offered = [f"{name}://127.0.0.1:{node.ports[name]}" for name in spoken if node.is_broker]
    controller = [f"CONTROLLER://127.0.0.1:{node.ports['CONTROLLER']}"] if node.is_controller else []
    settings: dict[str, object] = {
        "node.id": node.broker_id,
        "process.roles": node.roles,
        "controller.quorum.voters": voters,
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(offered + controller),
        "listener.security.protocol.map": ",".join(f"{name}:{name}" for name in spoken) + ",CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": ",".join(str(node.folder / f"data{i}") for i in range(log_dirs)),
        "auto.create.topics.enable": "false",
        "offsets.topic.num.partitions": 3,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": 1,
        "share.coordinator.state.topic.num.partitions": 1,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
        "group.consumer.heartbeat.interval.ms": 500,
        "group.consumer.min.heartbeat.interval.ms": 500,
        "broker.session.timeout.ms": 12000,
        "broker.heartbeat.interval.ms": 500,
        "num.network.threads": 2,
        "num.io.threads": 2,
        "background.threads": 2,
        "log.index.size.max.bytes": 131072,
        "log.cleaner.dedupe.buffer.size": 4194304,
        "log.initial.task.delay.ms": 3600000,
    }
    if all(each.is_broker for each in controllers):
        # A process that gets no processor for some seconds does not cost its place as the active controller.
        settings |= {"controller.quorum.fetch.timeout.ms": 10000}
    if offered:
        settings["advertised.listeners"] = ",".join(offered)
    if node.rack is not None:
        settings["broker.rack"] = node.rack
    settings |= {**_security(spoken, certificates), **others}
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _security(spoken: Sequence[str], certificates: Certificates | None) -> dict[str, str]:
    settings: dict[str, str] = {}
    if certificates is not None:
        settings |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(certificates.broker),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(certificates.ca),
        }
    if "SSL" in spoken:
        settings["listener.name.ssl.ssl.client.auth"] = "required"
    module = "org.apache.kafka.common.security"
    for name in spoken:
        if name.startswith("SASL_"):
            prefix = f"listener.name.{name.lower()}"
            settings[f"{prefix}.sasl.enabled.mechanisms"] = "SCRAM-SHA-512,PLAIN"
            settings[f"{prefix}.scram-sha-512.sasl.jaas.config"] = f"{module}.scram.ScramLoginModule required;"
            user = f'user_{SCRAM_USER}="{PLAIN_PASSWORD}"'
            settings[f"{prefix}.plain.sasl.jaas.config"] = f"{module}.plain.PlainLoginModule required {user};"
    return settings
