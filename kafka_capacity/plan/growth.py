"""Whether a problem is more than it was: beyond its limit, of partitions, or of brokers, groups and racks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from kafka_capacity.health.problem import DOWN_NOW, Code
from kafka_capacity.questions.accuracy.decide import PREDICTION_DRIFT

Row = Mapping[str, Any]  # a problem or an action of `decision.json`

_SPREADING = frozenset({*DOWN_NOW, Code.UNDER_REPLICATED, Code.FENCED})  # are worse with every partition more
_KINDS = frozenset({"broker", "group", "rack", "controller"})
_MORE = re.compile(r",? and [\d,]+ more$")
_GROWN_RATIO = 1.05  # beyond what it was, that a problem has grown by: less is how figures go up and down
_LAG_GROWN_RATIO = 2.0  # the same of times, which rise and fall by the hour


def has_grown(row: Row, then: Row) -> bool:
    """Return whether a problem is far more beyond its limit than it was; false where either has no figure.

    Of what there should be nothing of, such as lost records, it is whether there is far more.
    """
    figures = [one.get("figure") or {} for one in (row, then)]
    now, before = ((one.get("needed") or 0.0) / (one.get("available") or 1.0) for one in figures)
    if row.get("code") == PREDICTION_DRIFT and min(now, before) > 0:  # too little is as far off as too much
        now, before = max(now, 1 / now), max(before, 1 / before)
    grown = _LAG_GROWN_RATIO if figures[0].get("unit") == "seconds" else _GROWN_RATIO
    return 0.0 < before < math.inf and now > before * grown


def has_spread(row: Row, then: Row) -> bool:
    """Return whether a problem is of far more partitions than it was, or of any more that are down.

    One with a figure grows by that.
    """
    now, before = row.get("partitions", 0), then.get("partitions", 0)
    if row.get("code") in _SPREADING:
        return bool(now > before)
    return not row.get("figure") and bool(now > before * _GROWN_RATIO)


def is_within(where: str, then: str) -> bool:
    """Return whether what is named was all named before, so far as it is named: ``broker 1`` of ``brokers 1, 2``."""
    if where == then:
        return True
    kind, *names = where.split(" ", 1)
    kind_then, *names_then = _MORE.sub("", then).split(" ", 1)
    is_alike = kind.rstrip("s") in _KINDS and kind.rstrip("s") == kind_then.rstrip("s") and not _MORE.search(where)
    return is_alike and {*", ".join(names).split(", ")} <= {*", ".join(names_then).split(", ")}
