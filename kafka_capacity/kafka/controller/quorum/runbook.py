"""The commands that change the voters of a metadata quorum, in a shell that knows the cluster."""

from __future__ import annotations

from collections.abc import Collection

from kafka_capacity.kafka.cluster.release import KAFKA_4_1, KafkaRelease
from kafka_capacity.kafka.controller.quorum.change import VoterStep
from kafka_capacity.kafka.controller.quorum.voters import Quorum, QuorumReplica
from kafka_capacity.kafka.reassignment.runbook import SERVERS

_NO_JOIN = "# on {}: no controller.quorum.auto.join.enable=true; where it was set, take it out and restart it"
_TOOL = f"kafka-metadata-quorum.sh {SERVERS}"


def upgrade_commands(quorum: Quorum, release: KafkaRelease | None = None) -> tuple[str, ...]:
    """Return what lets voters be changed at all; nothing where they can be, or that is not known.

    ``release`` is what the nodes run, ``None`` where it is not known.
    """
    if quorum.kraft_version != 0:
        return ()
    is_older = release is not None and release < KAFKA_4_1
    return (
        *(("# upgrade every node to Kafka 4.1 or later first",) if is_older else ()),
        f"kafka-features.sh {SERVERS} upgrade --feature kraft.version=1",
        "# then, on every node, controller.quorum.bootstrap.servers in place of controller.quorum.voters",
    )


def _removal(step: VoterStep, voter: QuorumReplica | None, *, stays: bool) -> tuple[str, ...]:
    node_id, directory = step.node_id, None if voter is None else voter.directory_id
    is_known_to_stay = voter is not None and voter.auto_joins is False
    stays_away = () if step.is_renewal or is_known_to_stay else (_NO_JOIN.format(node_id),)
    stop = f"# stop {node_id}, and take it out of controller.quorum.bootstrap.servers of every node"
    if stays:
        stop = f"# on {node_id}, which stays a broker: process.roles=broker, then restart it, and take it out of\n"
        stop += "# controller.quorum.bootstrap.servers of every node"
    return (
        *stays_away,
        *(() if directory else (f"{_TOOL} describe --replication  # the DirectoryId of {node_id}",)),
        f"{_TOOL} remove-controller --controller-id {node_id} "
        f"--controller-directory-id={directory or f'$DIRECTORY_ID_{node_id}'}",  # an id may begin with a dash
        *(() if step.is_renewal else stop.split("\n")),
    )


def _start(node_id: int, found: QuorumReplica | None, *, is_broker: bool) -> tuple[str, ...]:
    """Return how a controller begins to observe, where it does not yet."""
    if found is not None and found.lag_records is not None:
        return ()
    if is_broker:
        return (f"# on {node_id}: process.roles=broker,controller, then restart it",)
    return (
        f"# on {node_id}, then start it",
        "kafka-storage.sh format --cluster-id $CLUSTER_ID --config controller.properties --no-initial-controllers",
    )


def step_commands(step: VoterStep, quorum: Quorum, brokers: Collection[int] = ()) -> tuple[str, ...]:
    """Return the commands of one step, remarks among them as a shell takes them.

    A controller that is to leave is removed while it runs: stopped before, it would count in the majority still. One
    that adds itself again cannot be, so that has to be turned off. One that came back with another disk runs on: only
    the vote of its old directory goes, and one of ``brokers``, ids, stays a broker. A step that is never agreed upon
    has no commands.
    """
    if step.tolerated < 0:
        return ()
    node_id = step.node_id
    if step.does == "remove":
        voter = next((one for one in quorum.voters if one.node_id == node_id), None)
        return _removal(step, voter, stays=node_id in brokers)
    found = next((one for one in quorum.observers if one.node_id == node_id), None)
    if found is not None and found.auto_joins:
        # It would not be told apart whose command was first.
        return (f"{_TOOL} describe --replication  # until {node_id} is a Follower: it adds itself",)
    return (
        *_start(node_id, found, is_broker=node_id in brokers),
        f"{_TOOL} describe --replication  # until {node_id} is an Observer with a lag of 0",
        f"# on {node_id}, with its own controller.properties",
        "kafka-metadata-quorum.sh --bootstrap-server $BOOTSTRAP --command-config controller.properties add-controller",
    )
