"""Kills of the active controller of a real quorum, and when others took its place, by the controllers' logs."""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.live.cluster import KafkaCluster

QUIET_SECONDS = 3.0
"""From the moment that a restarted controller follows."""
LOG4J = Path(__file__).with_name("controller_log4j2.xml")
_STATE = re.compile(r"^(\d+) INFO +.*Completed transition to (\w+?)(?:State)?\(.*?\bepoch=(\d+)", re.MULTILINE)
_ACTIVE = re.compile(r"^(\d+) INFO +.*Becoming the active controller at epoch (\d+)", re.MULTILINE)
Found = tuple[float, int, int]
"""When, in which epoch, on which node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One kill of an active controller.

    Attributes:
        leaderless_seconds: until another voter has become leader.
        inactive_seconds: until it has taken up its work, with a record of its own committed.
        epochs: that were used up; more than one where an election failed.
        load: processes that ran or waited to run in the last minute.
    """

    leaderless_seconds: float
    inactive_seconds: float
    epochs: int
    load: float


@contextmanager
def running_quorum(voters: int) -> Iterator[KafkaCluster]:
    """Start controllers on nodes of their own, and wait until all of them follow one."""
    with (
        tempfile.TemporaryDirectory() as name,
        KafkaCluster(
            Path(name) / "kafka", {}, log4j=LOG4J, controller_ids=tuple(range(1, voters + 1)), heap="96m"
        ) as cluster,
    ):
        cluster.wait_for(lambda: bool(_active(cluster)), "an active controller")
        for node_id in cluster.nodes:
            _wait_until_it_follows(cluster, node_id)
        time.sleep(QUIET_SECONDS)
        yield cluster


def kill_leaders(cluster: KafkaCluster, kills: int, moments: random.Random) -> Iterator[Kill]:
    """Kill one leader after another, each at a moment that knows nothing of its timers."""
    for _ in range(kills):
        time.sleep(QUIET_SECONDS + moments.random())
        yield _killed(cluster)


def _killed(cluster: KafkaCluster) -> Kill:
    """Kill the leader, wait for the next to be active, start the old one again."""
    _, epoch, leader = max(_active(cluster), key=lambda found: found[1])
    killed_at = time.time()
    cluster.kill_broker(leader)
    cluster.wait_for(lambda: any(found[1] > epoch for found in _active(cluster)), "another controller", seconds=60)
    at, next_epoch, _ = min(_later(_leaders(cluster), epoch), key=lambda found: found[1])
    active_at, _, _ = min(_later(_active(cluster), epoch), key=lambda found: found[1])
    load = os.getloadavg()[0]
    cluster.start_again(leader)
    _wait_until_it_follows(cluster, leader)
    return Kill(
        leaderless_seconds=round(at - killed_at, 3),
        inactive_seconds=round(active_at - killed_at, 3),
        epochs=next_epoch - epoch,
        load=round(load, 1),
    )


def handovers(cluster: KafkaCluster) -> list[float]:
    """Return how long nobody led after each leader that resigned, in seconds."""
    resigned = [
        (at, epoch)
        for node_id in cluster.nodes
        for at, state, epoch in _states(cluster, node_id)
        if state == "Resigned"
    ]
    return [round(min(_later(_leaders(cluster), epoch))[0] - at, 3) for at, epoch in resigned]


def _states(cluster: KafkaCluster, node_id: int) -> list[tuple[float, str, int]]:
    """Return when a node became what, in which epoch."""
    found = _STATE.findall(cluster.log(node_id))
    return [(int(at) / 1000, state, int(epoch)) for at, state, epoch in found]


def _later(found: Sequence[Found], epoch: int) -> list[Found]:
    return [each for each in found if each[1] > epoch]


def _leaders(cluster: KafkaCluster) -> list[Found]:
    """Return every leader that any node has logged to be."""
    return [
        (at, epoch, node_id)
        for node_id in cluster.nodes
        for at, state, epoch in _states(cluster, node_id)
        if state == "Leader"
    ]


def _active(cluster: KafkaCluster) -> list[Found]:
    """Return every controller that has taken up its work."""
    return [
        (int(at) / 1000, int(epoch), node_id)
        for node_id in cluster.nodes
        for at, epoch in _ACTIVE.findall(cluster.log(node_id))
    ]


def _wait_until_it_follows(cluster: KafkaCluster, node_id: int) -> None:
    """Wait until a node has taken its place in the newest epoch."""

    def is_there() -> bool:
        newest = max(epoch for _, epoch, _ in _leaders(cluster))
        states = _states(cluster, node_id)
        return any(epoch == newest and state in ("Leader", "Follower") for _, state, epoch in states)

    cluster.wait_for(is_there, f"controller {node_id} follows")
