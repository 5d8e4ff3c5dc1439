"""The tables of a plan about its controllers: which losses leave a majority, and how long nobody leads."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.hardware.plain import plain_number
from kafka_capacity.kafka.controller.quorum.failover import ControllerLoss, Failover
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from kafka_capacity.kafka.controller.quorum.voters import Quorum, Voter, majority, racks_of
from kafka_capacity.objects.profile_tables import QUANTILES
from kafka_capacity.objects.tables import Int32, Tables, schema_of, table_of_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class VotersLost:
    """One row a set of voters that are lost together, each set once: ``racks`` are those that it empties.

    ``living`` are the others that are not down already. ``active_lost_ratio`` is the chance that the active controller
    is among them, where it is not known which it is and each voter that lives is as likely. Seconds are those without
    a leader if it is, null where none follows.
    """

    position: Int32
    lost: tuple[Int32, ...]
    racks: tuple[str, ...]
    living: Int32
    needed: Int32
    has_majority: bool
    active_lost_ratio: float
    leaderless_p50_seconds: float | None
    leaderless_p95_seconds: float | None
    leaderless_p99_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverRow:
    """One row a way to lose the active controller and number of other voters that are gone already.

    Seconds are those without a leader, and those until the next one can act; null for never. ``voters`` are how many
    there are before; null in plans of the version before, where they are those of today.
    """

    failure: str
    lost_before: Int32
    runs: int
    leaderless_p50_seconds: float | None
    leaderless_p95_seconds: float | None
    leaderless_p99_seconds: float | None
    inactive_p50_seconds: float | None
    inactive_p95_seconds: float | None
    inactive_p99_seconds: float | None
    elections_mean: float
    elections_max: int
    split_vote_ratio: float
    rpcs_mean: float
    rpcs_max: int
    voters: Int32 | None = None


QUORUM, QUORUM_FAILOVERS = schema_of(VotersLost), schema_of(FailoverRow)

QUORUM_TABLES: Tables = {
    "quorum": (QUORUM, ("position",)),
    "quorum_failovers": (QUORUM_FAILOVERS, ("failure", "lost_before", "voters")),
}

HOST_LOST = FailureKind.VANISHED
"""What losing a voter is taken to be: its host is gone, and requests to it run into their timeout."""


RUNS = "failover_runs"  # what executors give: one row a simulated failover, on the way to `quorum_failovers`


def run_table(voters: int, loss: ControllerLoss, first_run: int, found: Sequence[Failover]) -> pa.Table:
    """Return one row a simulated failover."""
    count = len(found)
    return pa.table(
        {
            "voters": pa.array([voters] * count, pa.int32()),
            "failure": pa.array([str(loss.failure)] * count, pa.string()),
            "lost_before": pa.array([loss.lost_before] * count, pa.int32()),
            "run": pa.array(range(first_run, first_run + count), pa.int64()),
            "leaderless_seconds": pa.array([one.leaderless_seconds for one in found], pa.float64()),
            "inactive_seconds": pa.array([one.inactive_seconds for one in found], pa.float64()),
            "epochs": pa.array([one.epochs for one in found], pa.int64()),
            "rpcs": pa.array([sum(one.rpcs.values()) for one in found], pa.int64()),
        }
    )


def failover_table(bundles: Iterable[Mapping[str, pa.Table]]) -> pa.Table:
    """Return the rows of ``quorum_failovers``: the distribution of each kind of failover, whoever ran which."""
    parts = [bundle[RUNS] for bundle in bundles if RUNS in bundle]
    if not parts:
        return QUORUM_FAILOVERS.empty_table()
    names = ("failure", "lost_before", "voters")
    runs = pa.concat_tables(parts).sort_by([(name, "ascending") for name in (*names, "run")]).to_pylist()
    alike = itertools.groupby(runs, key=operator.itemgetter(*names))
    rows = [{**dict(zip(names, key, strict=True)), **_distribution(list(mine))} for key, mine in alike]
    return table_of_rows(QUORUM_FAILOVERS, rows)


def _distribution(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    epochs, rpcs = (np.array([run[name] for run in runs]) for name in ("epochs", "rpcs"))
    return {
        "runs": len(epochs),
        **{
            f"{time}_{name}_seconds": plain_number(
                float(np.quantile([run[f"{time}_seconds"] for run in runs], share, method="inverted_cdf"))
            )
            for time in ("leaderless", "inactive")
            for name, share in QUANTILES.items()
        },
        "elections_mean": float(epochs.mean()),
        "elections_max": int(epochs.max()),
        "split_vote_ratio": float((epochs > 1).mean()),
        "rpcs_mean": float(rpcs.mean()),
        "rpcs_max": int(rpcs.max()),
    }


def quorum_table(voters: Sequence[Voter], failovers: pa.Table, quorum: Quorum) -> pa.Table:
    """Lose every set of voters, the small ones first; ``failovers`` are rows of ``quorum_failovers``.

    Those that are down already by what an inventory tells are gone whoever else is lost.
    """
    times = {
        row["lost_before"] + 1: row
        for row in failovers.to_pylist()
        if row["failure"] == str(HOST_LOST) and row["voters"] in (None, len(voters))
    }
    ids = sorted(voter.node_id for voter in voters)
    up, needed = set(ids) - quorum.down, majority(len(ids))
    subsets = [lost for size in range(1, len(ids) + 1) for lost in itertools.combinations(ids, size)]
    rows: list[dict[str, Any]] = []
    for lost in subsets:
        living = len(up.difference(lost))
        left = {voter.rack for voter in voters if voter.node_id not in lost}
        found = times.get(len(ids) - living, {}) if living >= needed and not up.isdisjoint(lost) else {}
        chance = len(up.intersection(lost)) / max(1, len(up)) if quorum.active is None else float(quorum.active in lost)
        row = {
            "position": len(rows),
            "lost": list(lost),
            "racks": sorted({*racks_of(voters)} - left),
            "living": living,
            "needed": needed,
            "has_majority": living >= needed,
            "active_lost_ratio": chance,
            **{name: found.get(name) for name in (f"leaderless_{name}_seconds" for name in QUANTILES)},
        }
        rows.append(row)
    return table_of_rows(QUORUM, rows)
