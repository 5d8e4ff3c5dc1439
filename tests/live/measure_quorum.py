"""Kill the active controller of real quorums of three and of five, again and again; for by hand.

    python -m tests.live.measure_quorum OUT                       20 kills each, some twelve minutes
    python -m tests.live.measure_quorum OUT --voters 5 --kills 4
    python -m tests.live.measure_quorum OUT --again quorum.json   no kills: those of an earlier run, simulated anew

Controllers have nodes of their own. Before anything is killed it is measured how long flushes and answers take here;
with these, and with nothing that was learnt from kills, failures are simulated. Writes ``OUT/quorum.json`` and
``OUT/quorum.md``, which it prints as well. Fails where more times lie outside the band that is to hold 99 % of them
than chance explains once in a thousand runs.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from kafka_capacity.controller.quorum import Failovers, FailureKind, Network, Storage, failovers
from tests.live.cluster import KafkaCluster
from tests.live.quorum_probe import measure_network, measure_storage

BAND = (0.005, 0.995)
CHANCE = 0.001
RUNS = 400
QUIET_SECONDS = 3.0
"""From the moment that a restarted controller follows: its code is warm by then."""
LOG4J = Path(__file__).with_name("controller_log4j2.xml")
_STATE = re.compile(r"^(\d+) INFO +.*Completed transition to (Leader|Follower)\w*\(.*?\bepoch=(\d+)", re.MULTILINE)
_ACTIVE = re.compile(r"^(\d+) INFO +.*Becoming the active controller at epoch (\d+)", re.MULTILINE)


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """All kills of one quorum beside the simulated ones."""

    voters: int
    network: Network
    storage: Storage
    kills: list[Kill]
    predicted: Failovers

    def pairs(self) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
        """Give what was measured and what was simulated."""
        leaderless = np.array([kill.leaderless_seconds for kill in self.kills])
        inactive = np.array([kill.inactive_seconds for kill in self.kills])
        yield "no leader", leaderless, self.predicted.leaderless_seconds
        yield "not active", inactive, self.predicted.inactive_seconds

    @property
    def is_as_predicted(self) -> bool:
        """Whether no more times are outside of the band than chance explains."""
        outside = [int((~within_band(measured, simulated)).sum()) for _, measured, simulated in self.pairs()]
        share = BAND[0] + 1 - BAND[1]
        return all(stats.binom.sf(count - 1, len(self.kills), share) > CHANCE for count in outside)


def within_band(measured: NDArray[np.float64], simulated: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which times lie where 99 % of the simulated ones do."""
    low, high = np.quantile(simulated, BAND)
    return np.asarray((measured >= low) & (measured <= high), dtype=np.bool_)


def measure(voters: int, kills: int, runs: int, seed: int) -> Measured:
    """Start a quorum, look how fast it is, kill its leaders, simulate the same."""
    ids = tuple(range(1, voters + 1))
    moments = random.Random(seed)
    done: list[Kill] = []
    with (
        tempfile.TemporaryDirectory() as name,
        KafkaCluster(Path(name) / "kafka", {}, log4j=LOG4J, controller_ids=ids, heap="96m") as cluster,
    ):
        cluster.wait_for(lambda: bool(_active(cluster)), "an active controller")
        for node_id in ids:
            _wait_until_it_follows(cluster, node_id)
        time.sleep(QUIET_SECONDS)
        storage = measure_storage(cluster.workdir)
        network = measure_network([cluster.nodes[node_id].ports["CONTROLLER"] for node_id in ids])
        for _ in range(kills):
            # A moment that knows nothing of the leader's timers.
            time.sleep(QUIET_SECONDS + moments.random())
            done.append(_killed(cluster))
            sys.stdout.write(f"{voters} voters: {done[-1]}\n")
            sys.stdout.flush()
    predicted = failovers(voters, FailureKind.KILLED, runs=runs, seed=seed, network=network, storage=storage)
    return Measured(voters=voters, network=network, storage=storage, kills=done, predicted=predicted)


def again(row: Mapping[str, Any], runs: int, seed: int) -> Measured:
    """Simulate anew what an earlier run has measured and written."""
    network = Network(measured_delays_seconds=tuple(row["measured_delays_seconds"]))
    storage = Storage(measured_flushes_seconds=tuple(row["measured_flushes_seconds"]))
    voters, kills = row["voters"], [Kill(**kill) for kill in row["kills"]]
    predicted = failovers(voters, FailureKind.KILLED, runs=runs, seed=seed, network=network, storage=storage)
    return Measured(voters=voters, network=network, storage=storage, kills=kills, predicted=predicted)


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


Found = tuple[float, int, int]
"""When, in which epoch, on which node."""


def _later(found: Sequence[Found], epoch: int) -> list[Found]:
    return [each for each in found if each[1] > epoch]


def _leaders(cluster: KafkaCluster) -> list[Found]:
    """Give every leader that any node has logged to be."""
    return [
        (int(at) / 1000, int(epoch), node_id)
        for node_id in cluster.nodes
        for at, state, epoch in _STATE.findall(cluster.log(node_id))
        if state == "Leader"
    ]


def _active(cluster: KafkaCluster) -> list[Found]:
    """Give every controller that has taken up its work."""
    return [
        (int(at) / 1000, int(epoch), node_id)
        for node_id in cluster.nodes
        for at, epoch in _ACTIVE.findall(cluster.log(node_id))
    ]


def _wait_until_it_follows(cluster: KafkaCluster, node_id: int) -> None:
    """Wait until a node has taken its place in the newest epoch."""

    def is_there() -> bool:
        newest = max(epoch for _, epoch, _ in _leaders(cluster))
        return any(int(epoch) == newest for _, _, epoch in _STATE.findall(cluster.log(node_id)))

    cluster.wait_for(is_there, f"controller {node_id} follows")


def table(results: Sequence[Measured]) -> str:
    """Draw a table, two rows for each quorum."""
    rows = [
        "| voters | time in which there is | | least | median | most | more than one election | within the band "
        "| Kolmogorov-Smirnov, p |",
        "|---:|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for result in results:
        for what, measured, simulated in result.pairs():
            split = sum(kill.epochs > 1 for kill in result.kills)
            within = int(within_band(measured, simulated).sum())
            p = float(stats.ks_2samp(measured, simulated).pvalue)
            low, high = np.quantile(simulated, BAND)
            rows += [
                f"| {result.voters} | {what} | measured, s | {_spread(measured)} | {split} of {len(measured)} "
                f"| {within} of {len(measured)} | {p:.2f} |",
                f"| | | predicted, s | {_spread(simulated)} | {result.predicted.split_vote_ratio:.0%} "
                f"| {low:.2f} – {high:.2f} | |",
            ]
    notes = [_note(result) for result in results]
    return "\n".join([*rows, "", *notes]) + "\n"


def _spread(seconds: NDArray[np.float64]) -> str:
    return " | ".join(f"{np.quantile(seconds, share):.2f}" for share in (0, 0.5, 1))


def _note(result: Measured) -> str:
    delays, flushes = (_milliseconds(measured) for measured in _surroundings(result))
    load = np.mean([kill.load for kill in result.kills])
    return (
        f"{result.voters} voters, beforehand: {delays} ms one way, {flushes} ms a flush (5 %, median, 95 %); on "
        f"average {load:.1f} processes wanted one of {os.cpu_count()} cores."
    )


def _surroundings(result: Measured) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return result.network.measured_delays_seconds, result.storage.measured_flushes_seconds


def _milliseconds(seconds: tuple[float, ...]) -> str:
    return ", ".join(f"{each * 1000:.2f}" for each in np.quantile(seconds, (0.05, 0.5, 0.95)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--voters", type=int, nargs="+", default=[3, 5], help="how many, one quorum each")
    parser.add_argument("--kills", type=int, default=20, help="of each quorum")
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, help="the quorum.json of an earlier run: simulate it anew, kill nothing")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    results, rows = [], []
    for result in _results(given):
        results.append(result)
        rows.append(_plain(results[-1]))
        (given.out / "quorum.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    drawn = table(results)
    (given.out / "quorum.md").write_text(drawn, encoding="utf-8")
    sys.stdout.write(drawn)
    return 0 if all(result.is_as_predicted for result in results) else 1


def _results(given: argparse.Namespace) -> Iterator[Measured]:
    if given.again is None:
        for voters in given.voters:
            yield measure(voters, given.kills, given.runs, given.seed)
    else:
        for row in json.loads(given.again.read_text(encoding="utf-8")):
            yield again(row, given.runs, given.seed)


def _plain(result: Measured) -> dict[str, object]:
    shares = (0, *BAND, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
    return {
        "voters": result.voters,
        "measured_delays_seconds": result.network.measured_delays_seconds,
        "measured_flushes_seconds": result.storage.measured_flushes_seconds,
        "kills": [dataclasses.asdict(kill) for kill in result.kills],
        "predicted_seconds": {
            what: {str(share): float(np.quantile(simulated, share)) for share in sorted(shares)}
            for what, _, simulated in result.pairs()
        },
        "predicted_more_than_one_election_ratio": result.predicted.split_vote_ratio,
    }


if __name__ == "__main__":
    sys.exit(main())
