"""Kill the active controller of a real quorum of three, again and again; for by hand.

    python -m tests.live.measure_quorum OUT --kills 20

Writes ``OUT/quorum.json``: the leaderless seconds that were measured and those that are predicted. Fails where one is
outside what 1,000 simulated kills span, with an allowance for a busy machine.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from pathlib import Path

from kafka_capacity.controller.quorum import FailureKind, failovers
from tests.live.cluster import KafkaCluster

VOTERS = (1, 2, 3)
ALLOWANCE_SECONDS = 0.3
_LEADS = re.compile(r"^(\d+) INFO +.*Completed transition to Leader\(.*\bepoch=(\d+)", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill the active controller again and again.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    log4j = Path(__file__).with_name("quorum_log4j2.xml")
    measured = []
    moments = random.Random(given.seed)
    with (
        tempfile.TemporaryDirectory() as name,
        KafkaCluster(Path(name) / "kafka", dict.fromkeys(VOTERS), log4j=log4j) as cluster,
    ):
        for _ in range(given.kills):
            # Long enough for the restarted node to follow, then a moment that knows nothing of the leader's timers.
            time.sleep(5 + moments.random())
            measured.append(_killed(cluster))
            print(measured[-1], flush=True)
    predicted = failovers(3, FailureKind.KILLED, runs=1000, seed=1)
    least, most = predicted.quantile(0) - ALLOWANCE_SECONDS, predicted.quantile(1) + ALLOWANCE_SECONDS
    within = [least <= kill["leaderless_seconds"] <= most for kill in measured]
    shares = {str(share): predicted.quantile(share) for share in (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)}
    result = {
        "measured": measured,
        "predicted_quantiles_seconds": shares,
        "predicted_epochs_mean": float(predicted.epochs.mean()),
        "within": sum(within),
    }
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "quorum.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(shares), f"{sum(within)} of {len(within)} within")
    return 0 if all(within) else 1


def _killed(cluster: KafkaCluster) -> dict[str, float]:
    """Kill the leader, wait for the next, start the old one again."""
    _, epoch, leader = max(_leaders(cluster), key=lambda found: found[1])
    killed_at = time.time()
    cluster.kill_broker(leader)
    cluster.wait_for(lambda: any(found[1] > epoch for found in _leaders(cluster)), "another leader", seconds=60)
    at, next_epoch, _ = min((found for found in _leaders(cluster) if found[1] > epoch), key=lambda found: found[1])
    cluster.start_broker(leader)
    return {"leaderless_seconds": round(at - killed_at, 3), "epochs": next_epoch - epoch}


def _leaders(cluster: KafkaCluster) -> list[tuple[float, int, int]]:
    """Give (when, epoch, node) of every leader that any node has logged to be."""
    found = []
    for node_id, node in cluster.nodes.items():
        text = (node.folder / "server.log").read_text(encoding="utf-8", errors="replace")
        found += [(int(at) / 1000, int(epoch), node_id) for at, epoch in _LEADS.findall(text)]
    return found


if __name__ == "__main__":
    sys.exit(main())
