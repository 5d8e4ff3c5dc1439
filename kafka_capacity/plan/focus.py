"""Which placement of a plan its answer is about."""

from __future__ import annotations

import pyarrow as pa

from kafka_capacity.questions.change.choice import choose, read_options


def focus_placement(judged: pa.Table, *, count_now: int | None) -> str | None:
    """Return the scenario that is recommended, or the nearest where none fits; ``None`` where there is no scenario.

    Args:
        judged: the table ``scenarios`` of a plan.
        count_now: how many brokers are needed now by sizing; ``None`` where it does not say.
    """
    options = read_options(judged)
    return choose(options, count_now=count_now).nearest.scenario_id if options else None
