"""Whether the figures that a plan reckoned with still hold: what traffic costs of processors, and of disks.

Both are measured again on later days. A figure has drifted when it is off by :data:`TOLERANCE_RATIO` or more and by
more than :data:`LEAST_ERRORS` standard errors of the difference: the one asks whether it matters, the other whether
it is more than chance.

Single CPU figures hang together, as what is produced is also replicated and sent, so that one may rise as another
falls. What is judged is what they come to together: the cores of a broker with the mean traffic of the later days.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.hardware.cpu import FIGURES, CpuCalibration, CpuCosts
from kafka_capacity.hardware.overhead import TopicOverhead
from kafka_capacity.text import format_percent, plural

CPU, DISK = "cpu", "disk"
TOLERANCE_RATIO = 0.1
LEAST_ERRORS = 3.0


@dataclass(frozen=True, slots=True)
class CoefficientScore:
    """What a plan reckoned with, against what later days say."""

    figure: str  # `CPU` or `DISK`
    plan_id: str  # of the plan
    made_on: str  # the day of its inventory
    scored_on: str  # the day of the later one
    used: float  # by the plan's figures: cores of a broker with the later traffic, or stored bytes per produced byte
    now: float  # the same, measured on later days
    error: float | None  # standard error of the difference; `None` where one topic alone tells
    change_ratio: float  # how much more that is
    has_drifted: bool  # whether it is more than tolerance and chance
    sentence: str  # all that in words


def score_cpu(
    plan_id: str,
    made_on: str,
    scored_on: str,
    used: CpuCosts,
    covariance: Sequence[Sequence[float]],
    later: CpuCalibration,
) -> CoefficientScore | None:
    """Hold a plan's CPU figures, and their covariance if they were fitted, against those fitted to the days since.

    There is no score where these do not explain what processors do.
    """
    if not later.is_used:
        return None
    at = np.array([1.0, *later.mean_mib_per_second])
    old, new = (np.array([getattr(costs, name) for name in FIGURES]) for costs in (used, later.costs))
    spread = np.array(later.covariance) + (np.array(covariance) if len(covariance) else 0.0)
    before, now = float(at @ old), float(at @ new)
    error = math.sqrt(max(0.0, float(at @ spread @ at)))
    change = now / before - 1.0 if before > 0 else math.inf
    text = (
        f"The traffic of later days uses {now:.2f} cores per broker (± {error:.2f}); the figures of the plan of "
        f"{made_on} predict {before:.2f}: {_changed(change)}"
    )
    names = ("produced", "replicated", "sent")
    parts = [f"{name} {a * 1e3:.1f} → {b * 1e3:.1f}" for name, a, b in zip(names, old[1:], new[1:], strict=True)]
    drifted = (
        f". Milliseconds of a core per MiB: {', '.join(parts)}; cores without traffic {old[0]:.2f} → {new[0]:.2f}. "
        "Plans fit these figures to their own inventory, so the sizes in that plan are outdated."
    )
    return _score((CPU, plan_id, made_on, scored_on), before, now, error, change, text, drifted)


def _score(
    of: tuple[str, str, str, str],
    used: float,
    now: float,
    error: float | None,
    change_ratio: float,
    text: str,
    drifted: str,
) -> CoefficientScore:
    """Return a score, whose sentence ends in what a drift means where there is one."""
    off = abs(now - used)
    has_drifted = off >= TOLERANCE_RATIO * used and off > LEAST_ERRORS * (error or 0.0)
    sentence = text + (drifted if has_drifted else ", within tolerance or noise.")
    return CoefficientScore(*of, used, now, error, change_ratio, has_drifted, sentence)


def score_disk(
    plan_id: str, made_on: str, scored_on: str, used: Sequence[TopicOverhead], later: Sequence[TopicOverhead]
) -> CoefficientScore | None:
    """Hold stored bytes per produced byte against those of a later day, by the topics that both tell of.

    A topic counts whose logs were full for the plan and whose retention is the same; ``None`` where none does.
    """
    by_name = {one.topic: one for one in later}
    pairs = [
        (one, by_name[one.topic])
        for one in used
        if one.is_full
        and one.topic in by_name
        and math.isclose(one.retention_seconds, by_name[one.topic].retention_seconds)
    ]
    if not pairs:
        return None
    weight = np.array([after.produced_bytes for _, after in pairs])
    weight /= weight.sum()
    before = np.array([one.ratio for one, _ in pairs])
    now = np.array([after.ratio for _, after in pairs])
    change = float(weight @ now) / float(weight @ before) - 1.0
    error = None
    if len(pairs) > 1:
        # Topics are what varies independently; of a ratio of sums the residuals are taken about the common change.
        residual = now - (1.0 + change) * before
        error = math.sqrt(float((weight**2 * residual**2).sum()) * len(pairs) / (len(pairs) - 1))
    old, new = float(weight @ before), float(weight @ now)
    chance = "" if error is None else f" (± {error:.3f})"
    text = (
        f"Logs of {plural(len(pairs), 'topic')} hold {new:.3f} bytes{chance} for each byte produced within their "
        f"retention; on {made_on} it was {old:.3f}: {_changed(change)}"
    )
    drifted = ". Plans use the sizes in their own inventory, so the disk sizes in that plan are outdated."
    return _score((DISK, plan_id, made_on, scored_on), old, new, error, change, text, drifted)


def _changed(ratio: float) -> str:
    return f"{format_percent(abs(ratio))} {'more' if ratio >= 0 else 'less'}"
