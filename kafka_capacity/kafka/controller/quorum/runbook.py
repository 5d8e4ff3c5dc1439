"""The commands that change the voters of a metadata quorum, in a shell that knows the cluster."""

from __future__ import annotations

from kafka_capacity.kafka.controller.quorum.change import VoterStep
from kafka_capacity.kafka.controller.quorum.voters import Quorum
from kafka_capacity.kafka.reassignment.runbook import SERVERS

_TOOL = f"kafka-metadata-quorum.sh {SERVERS}"


def upgrade_commands(quorum: Quorum) -> tuple[str, ...]:
    """Return what lets voters be changed at all; nothing where they can be, or that is not known."""
    if quorum.kraft_version != 0:
        return ()
    return (
        f"kafka-features.sh {SERVERS} upgrade --feature kraft.version=1",
        "# then, on every node, controller.quorum.bootstrap.servers in place of controller.quorum.voters",
    )


def step_commands(step: VoterStep, quorum: Quorum) -> tuple[str, ...]:
    """Return the commands of one step, remarks among them as a shell takes them.

    A controller that is to leave is removed while it runs: stopped before, it would count in the majority still. One
    that adds itself again cannot be, so that has to be turned off.
    """
    node_id = step.node_id
    if step.does == "remove":
        voter = next((one for one in quorum.voters if one.node_id == node_id), None)
        directory = None if voter is None else voter.directory_id
        is_known_to_stay = voter is not None and voter.auto_joins is False
        return (
            *(() if is_known_to_stay else (f"# on {node_id}: no controller.quorum.auto.join.enable=true",)),
            *(() if directory else (f"{_TOOL} describe --replication  # the DirectoryId of {node_id}",)),
            f"{_TOOL} remove-controller --controller-id {node_id} "
            f"--controller-directory-id {directory or f'$DIRECTORY_ID_{node_id}'}",
            f"# stop {node_id}, and take it out of controller.quorum.bootstrap.servers of every node",
        )
    is_there = any(one.node_id == node_id and one.lag_records is not None for one in quorum.observers)
    return (
        *(
            ()
            if is_there
            else (
                f"# on {node_id}, then start it",
                "kafka-storage.sh format --cluster-id $CLUSTER_ID --config controller.properties "
                "--no-initial-controllers",
            )
        ),
        f"{_TOOL} describe --replication  # until {node_id} is an Observer with a lag of 0",
        f"# on {node_id}, with its own controller.properties",
        "kafka-metadata-quorum.sh --bootstrap-server $BOOTSTRAP --command-config controller.properties add-controller",
    )
