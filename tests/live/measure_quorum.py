"""Kill the active controller of real quorums of three and of five, again and again; for by hand.

    python -m tests.live.measure_quorum OUT                       20 kills each, some seven minutes
    python -m tests.live.measure_quorum OUT --voters 5 --kills 4
    python -m tests.live.measure_quorum OUT --again quorum.json   no kills: those of an earlier run, simulated again

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
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from kafka_capacity.kafka.controller.quorum.settings import Spread
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from tests.failovers import Failovers, fail_leader
from tests.live.quorum_kills import Kill, kill_leaders, running_quorum
from tests.live.quorum_probe import measure_network, measure_storage

BAND = (0.005, 0.995)
CHANCE = 0.001
RUNS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What was measured beforehand."""

    delay: Spread
    flush: Spread

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Environment:
        """Take them from what :meth:`plain` gave."""
        return cls(
            delay=Spread.measured(tuple(row["measured_delays_seconds"])),
            flush=Spread.measured(tuple(row["measured_flushes_seconds"])),
        )

    def plain(self) -> dict[str, tuple[float, ...]]:
        """Return them for a file."""
        return {
            "measured_delays_seconds": self.delay.measured_seconds,
            "measured_flushes_seconds": self.flush.measured_seconds,
        }

    def predict(self, voters: int, runs: int, seed: int) -> Failovers:
        """Simulate kills."""
        return fail_leader(voters, FailureKind.KILLED, runs=runs, seed=seed, delay=self.delay, flush=self.flush)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """All kills of one quorum beside the simulated ones."""

    voters: int
    environment: Environment
    kills: list[Kill]
    predicted: Failovers

    def pairs(self) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
        """Return what was measured and what was simulated."""
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
    """Return which times lie where 99 % of the simulated ones do."""
    low, high = np.quantile(simulated, BAND)
    return np.asarray((measured >= low) & (measured <= high), dtype=np.bool_)


def measure(voters: int, kills: int, runs: int, seed: int) -> Measured:
    """Start a quorum, look how fast it is, kill its leaders, simulate the same."""
    done: list[Kill] = []
    with running_quorum(voters) as cluster:
        environment = Environment(delay=measure_network(cluster), flush=measure_storage(cluster.workdir))
        for kill in kill_leaders(cluster, kills, random.Random(seed)):
            done.append(kill)
            sys.stdout.write(f"{voters} voters: {kill}\n")
            sys.stdout.flush()
    predicted = environment.predict(voters, runs, seed)
    return Measured(voters=voters, environment=environment, kills=done, predicted=predicted)


def again(row: Mapping[str, Any], runs: int, seed: int) -> Measured:
    """Simulate again what an earlier run has measured and written."""
    environment, kills = Environment.read(row), [Kill(**kill) for kill in row["kills"]]
    predicted = environment.predict(row["voters"], runs, seed)
    return Measured(voters=row["voters"], environment=environment, kills=kills, predicted=predicted)


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
    delays, flushes = (_milliseconds(measured) for measured in result.environment.plain().values())
    load = np.mean([kill.load for kill in result.kills])
    return (
        f"{result.voters} voters, beforehand: {delays} ms one way, {flushes} ms a flush (5 %, median, 95 %); on "
        f"average {load:.1f} processes wanted one of {os.cpu_count()} cores."
    )


def _milliseconds(seconds: tuple[float, ...]) -> str:
    return ", ".join(f"{each * 1000:.2f}" for each in np.quantile(seconds, (0.05, 0.5, 0.95)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--voters", type=int, nargs="+", default=[3, 5], help="how many, one quorum each")
    parser.add_argument("--kills", type=int, default=20, help="of each quorum")
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, help="the quorum.json of an earlier run: simulate it again, kill nothing")
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
        **result.environment.plain(),
        "kills": [dataclasses.asdict(kill) for kill in result.kills],
        "predicted_seconds": {
            what: {str(share): float(np.quantile(simulated, share)) for share in sorted(shares)}
            for what, _, simulated in result.pairs()
        },
        "predicted_more_than_one_election_ratio": result.predicted.split_vote_ratio,
    }


if __name__ == "__main__":
    sys.exit(main())
