"""How much processor time traffic costs: stated figures, or the user's own.

    cores = base + leader_in × MiB/s produced + follower_in × MiB/s replicated to it + out × MiB/s sent

The stated figures (:data:`STATED`) are per MiB: 30 ms of a core for what is produced and 40 ms for what is sent, the
middle values of Netflix's Kafka model (service-capacity-modeling, ``models/org/netflix/kafka.py``: 20/30/75 and
20/40/75), and for a follower 0.15 ÷ 0.70 of a leader's, the weights of LinkedIn's Cruise Control
(``ModelParameters.java``). With replication factor 3 and fan-out 3 that is 243 ms a produced MiB; AKalculator's rule of
thumb, 5 MiB/s produced and 15 read per vCPU, is 200 ms. Such figures differ three to five times between users (message
sizes, compression, TLS), which is why one's own samples are worth a lot.

A core is not a core: the stated figures are taken to be of an m5's (Intel Skylake), the slowest of the catalogue, and
those of one's own samples are of the brokers they were taken on. Other cores take less time by their speed
(:func:`on_cores`).

Worked example: one leader that takes in 100 MiB/s and sends 500
    >>> round(float(cores(STATED, 100 * MIB, 0.0, 500 * MIB)), 6)
    23.0
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.limits import MIB
from kafka_capacity.kafka.arrays import Flags, Floats
from kafka_capacity.text import whole_percent
from kafka_capacity.text.files import read_text_file
from kafka_capacity.text.wording import first_lines

LEAST_SAMPLES = 50  # four figures are fitted: fewer samples say little

LEAST_R_SQUARED = 0.8  # below that traffic does not explain processor time, and the stated figures are the better guess
DAY_HOURS = 24
FIGURES = ("base_cores", "leader_in_seconds_per_mib", "follower_in_seconds_per_mib", "out_seconds_per_mib")
"""Of :class:`CpuCosts`, in the order in which they are fitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuCosts:
    """Cores without any traffic, core-seconds a MiB produced, replicated and sent, and where the figures are from."""

    base_cores: float
    leader_in_seconds_per_mib: float
    follower_in_seconds_per_mib: float
    out_seconds_per_mib: float
    source: str
    core_speed_ratio: float = 1.0  # how much the core does that the seconds are of, over one of an m5; NaN for unknown


STATED = CpuCosts(
    base_cores=0.0,
    leader_in_seconds_per_mib=0.030,
    follower_in_seconds_per_mib=0.030 * 0.15 / 0.70,
    out_seconds_per_mib=0.040,
    source="stated: Netflix's Kafka model for leaders, Cruise Control's weights for followers",
)


def speed_factor(costs: CpuCosts, core_speed_ratio: float) -> float:
    """Return how many times the cores of the costs the same traffic takes of others; 1 where a speed is not known."""
    factor = costs.core_speed_ratio / core_speed_ratio
    return 1.0 if math.isnan(factor) else factor


def on_cores(costs: CpuCosts, core_speed_ratio: float) -> CpuCosts:
    """Return what the same traffic takes of other cores; see :func:`speed_factor`.

    >>> round(on_cores(STATED, 1.25).leader_in_seconds_per_mib, 6)
    0.024
    """
    factor = speed_factor(costs, core_speed_ratio)
    return dataclasses.replace(
        costs,
        **{name: factor * getattr(costs, name) for name in FIGURES},
        core_speed_ratio=costs.core_speed_ratio if math.isnan(core_speed_ratio) else core_speed_ratio,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuCalibration:
    """What came of fitting the user's samples."""

    costs: CpuCosts = STATED  # to be used: the fitted ones where they are good, else the stated ones
    is_used: bool = False  # whether `costs` are the fitted ones
    samples: int  # how many there were
    r_squared: float = math.nan  # share of the variance that the fit explains; NaN where there was none
    reason: str  # why it is used or not, with the figures
    # 4 × 4, of the errors of the fitted `FIGURES`, summed up by day, since its hours hang together; empty for no fit
    covariance: tuple[tuple[float, ...], ...] = ()
    mean_mib_per_second: tuple[float, ...] = ()  # of the samples: produced, replicated, sent; empty likewise


def cores(costs: CpuCosts, leader_in: Floats | float, follower_in: Floats | float, out: Floats | float) -> Floats:
    """Return the cores that traffic takes; rates in bytes per second."""
    used = (
        costs.leader_in_seconds_per_mib * np.asarray(leader_in)
        + costs.follower_in_seconds_per_mib * np.asarray(follower_in)
        + costs.out_seconds_per_mib * np.asarray(out)
    )
    return np.asarray(costs.base_cores + used / MIB, dtype=np.float64)


def calibrate(used_cores: Floats, leader_in: Floats, follower_in: Floats, out: Floats) -> CpuCalibration:
    """Fit the costs to samples, none below zero, and say whether they are to be trusted.

    Samples, float64[N] each, are cores that a broker used, and bytes per second produced to it, replicated to it and
    sent by it at the same time; those of one broker stand together, ascending by hour.
    """
    count = len(used_cores)
    if count < LEAST_SAMPLES:
        few = "1 sample is" if count == 1 else f"{count} samples are"
        reason = f"{few} too few to fit four figures; {LEAST_SAMPLES} are needed"
        return CpuCalibration(samples=count, reason=reason)
    if not np.ptp(used_cores) > 0:
        reason = (
            f"all {count:,} samples use {used_cores[0]:g} cores, which says nothing about the cost of traffic, so "
            "the stated figures are used; check the CPU measurement"
        )
        return CpuCalibration(samples=count, reason=reason)
    from scipy.optimize import nnls

    columns = np.stack([np.ones(count), leader_in / MIB, follower_in / MIB, out / MIB], axis=1)
    # Columns of very different size make the active-set method stop early.
    scale = np.abs(columns).max(axis=0)
    scale[~(scale > 0)] = 1.0
    solved, _ = nnls(columns / scale, used_cores)
    solved = solved / scale
    left = used_cores - columns @ solved
    spread = float(((used_cores - used_cores.mean()) ** 2).sum())
    r_squared = 1.0 - float((left**2).sum()) / spread
    error = float(np.sqrt((left**2).mean()))
    fitted = CpuCosts(
        **dict(zip(FIGURES, solved.tolist(), strict=True)), source=f"fitted to {count:,} samples, R² {r_squared:.3f}"
    )
    is_good = bool(r_squared >= LEAST_R_SQUARED and solved[1:].any())
    figures = f"the fit explains {whole_percent(r_squared)} of the variance and leaves {error:.2f} cores"
    wanted = f"at least {whole_percent(LEAST_R_SQUARED)} is required, so the stated figures are used"
    return CpuCalibration(
        costs=fitted if is_good else STATED,
        is_used=is_good,
        samples=count,
        r_squared=r_squared,
        reason=figures if is_good else f"{figures}; {wanted}",
        covariance=tuple(tuple(row) for row in _covariance(columns, left, solved > 0).tolist()),
        mean_mib_per_second=tuple(columns[:, 1:].mean(axis=0).tolist()),
    )


def _covariance(columns: Floats, left: Floats, is_free: Flags) -> Floats:
    """Return float64[4, 4], the variance of a fit whose errors hang together within a day; zero for figures at zero.

    The sandwich of Liang and Zeger (*Longitudinal data analysis using generalized linear models*, 1986), with the usual
    factor for few days.
    """
    free = columns[:, is_free]
    days = np.arange(len(left)) // DAY_HOURS
    scores = np.stack([np.bincount(days, weights=column) for column in (free * left[:, None]).T], axis=1)
    bread = np.linalg.pinv(free.T @ free)
    count = len(scores)
    found = np.zeros((columns.shape[1], columns.shape[1]))
    found[np.ix_(is_free, is_free)] = bread @ (scores.T @ scores) @ bread * count / max(1, count - 1)
    return found


COLUMNS = ("cores_used", "leader_in_bytes_per_second", "follower_in_bytes_per_second", "out_bytes_per_second")
_MAX_MISTAKES = 10


def read_cpu_samples(file: Path) -> CpuCalibration:
    """Read samples and fit them.

    Raises:
        RequestError: a column is missing, or a value is no number of zero or more, or one too many; one line each.
        InventoryError: the file cannot be read.
    """
    reader = csv.DictReader(io.StringIO(read_text_file(file), newline=""))
    try:
        return _fitted(reader, file)
    except csv.Error as error:
        line = f"{file}: line {reader.line_num + 1}"
        raise RequestError(f"{line}: is not CSV that can be read ({error}); fix the line") from error


def _fitted(reader: csv.DictReader[str], file: Path) -> CpuCalibration:
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise RequestError(f"{file}: has no column {', '.join(missing)}; the first line names {', '.join(COLUMNS)}")
    rows: list[list[float]] = []
    mistakes: list[str] = []
    for row in reader:
        if None in row:  # what there is beyond the last column
            mistakes.append(
                f"{file}: line {reader.line_num}: has more values than the first line has names; write numbers without "
                "commas in them, 3.1 and 41000000"
            )
            continue
        values = [_number(row[name]) for name in COLUMNS]
        mistakes += [
            f"{file}: line {reader.line_num}: {name} is {row[name]!r}; write a number of zero or more"
            for name, value in zip(COLUMNS, values, strict=True)
            if value is None
        ]
        rows.append([value for value in values if value is not None])
    if mistakes:
        raise RequestError(first_lines(mistakes, _MAX_MISTAKES))
    return calibrate(*np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS)).T)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
