"""A voter of a real quorum is replaced, and three become five, by the commands of the plan, each step as predicted."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.snapshot import read_quorum
from kafka_capacity.kafka.controller.quorum.change import spare_voters, voter_steps
from kafka_capacity.kafka.controller.quorum.runbook import step_commands, upgrade_commands
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from kafka_capacity.kafka.controller.quorum.voters import Quorum
from tests.failovers import fail_leader
from tests.live import quorum_kills
from tests.live.clients import make_topics
from tests.live.cluster import KafkaCluster
from tests.live.quorum_probe import measure_network, measure_storage

pytestmark = pytest.mark.live

_CLASSES = {
    "kafka-features.sh": "org.apache.kafka.tools.FeatureCommand",
    "kafka-metadata-quorum.sh": "org.apache.kafka.tools.MetadataQuorumCommand",
}
_NEW = 4
_GROWN = (5, 6)


def _observed(cluster: KafkaCluster) -> Quorum:
    connection = KafkaConnection(bootstrap_servers=cluster.bootstrap_servers())
    return read_quorum(read_cluster(connection, cluster="live", ds="2026-11-20"))


def _run(cluster: KafkaCluster, command: str, *, on: int | None = None) -> None:
    """Run a command of the plan, whose brokers are those of the cluster, on a controller where it says so."""
    script, *arguments = shlex.split(command, comments=True)
    text = " ".join(arguments).removeprefix("--bootstrap-server $BOOTSTRAP ").removeprefix("$COMMAND_CONFIG ")
    if on is not None:
        text = text.replace("controller.properties", str(cluster.nodes[on].settings))
    cluster.tool(_CLASSES[script], *text.split())


def _is_upgraded(cluster: KafkaCluster, command: str) -> bool:
    """Upgrade, unless voters have just started and have not told the leader yet what they support."""
    try:
        _run(cluster, command)
    except AssertionError as error:
        if "not all of the voters support it" not in str(error):
            raise
        return False
    return True


def _catch_up(cluster: KafkaCluster, node_id: int) -> Quorum:
    """Start a controller that observes, and wait until it has all that there is."""
    cluster.start_observer(node_id)

    def has_all() -> bool:
        return any(one.node_id == node_id and one.lag_records == 0 for one in _observed(cluster).observers)

    cluster.wait_for(has_all, f"{node_id} has caught up")
    return _observed(cluster)


def test_the_active_controller_is_replaced_and_three_become_five(tmp_path: Path) -> None:
    with KafkaCluster(
        tmp_path / "kafka", {9: "a"}, log4j=quorum_kills.LOG4J, controller_ids=(1, 2, 3), heap="128m"
    ) as cluster:
        before = _observed(cluster)
        assert [(one.node_id, one.is_voter) for one in before.replicas] == [(1, True), (2, True), (3, True), (9, False)]
        assert before.kraft_version == 0
        assert all(one.is_named for one in before.voters)
        cluster.wait_for(lambda: _is_upgraded(cluster, upgrade_commands(before)[0]), "voters tell what they support")
        quorum = _catch_up(cluster, _NEW)
        assert quorum.kraft_version == 1
        assert not quorum.down
        active = quorum.active
        assert active is not None
        delay, flush = measure_network(cluster), measure_storage(cluster.workdir)
        wanted = [*(one.node_id for one in quorum.voters if one.node_id != active), _NEW]
        added, removed = voter_steps((1, 2, 3), wanted, down=quorum.down, active=active)

        _run(cluster, step_commands(added, quorum)[-1], on=_NEW)
        assert [one.node_id for one in _observed(cluster).voters] == [1, 2, 3, 4]
        (last,) = [command for command in step_commands(removed, quorum) if "remove-controller" in command]
        _run(cluster, last)
        cluster.wait_for(lambda: _observed(cluster).active not in (None, active), "another active controller")
        after = _observed(cluster)
        assert [one.node_id for one in after.voters] == sorted(wanted)
        assert after.active != active
        (leaderless,) = quorum_kills.handovers(cluster)
        expected = fail_leader(4, FailureKind.REMOVED, runs=200, seed=0, delay=delay, flush=flush)
        low, high = expected.quantile(0.005), expected.quantile(0.995)
        print(f"nobody led for {leaderless:.2f} s, {low:.2f} to {high:.2f} predicted")
        # A busy machine may take longer; another election takes a second.
        assert low <= leaderless <= high + 1.0

        five = [*sorted(wanted), *_GROWN]
        for step in voter_steps(sorted(wanted), five, active=after.active):
            assert step.does == "add"
            quorum = _catch_up(cluster, step.node_id)
            _run(cluster, step_commands(step, quorum)[-1], on=step.node_id)
            grown = _observed(cluster)
            assert [one.node_id for one in grown.voters] == sorted(step.after)
            assert grown.active == after.active
        # Adding a voter ends nobody's leadership.
        assert quorum_kills.handovers(cluster) == [leaderless]
        assert spare_voters(five) == 2
        kept = [one for one in grown.voters if one.node_id != grown.active]
        cluster.kill_broker(*(one.node_id for one in kept[:2]))
        make_topics(cluster, {"committed-by-three": (1, 1)})
