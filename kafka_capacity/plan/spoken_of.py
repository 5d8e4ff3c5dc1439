"""Which placement of a plan its report speaks of."""

from __future__ import annotations

import pyarrow as pa


def spoken_of_placement(judged: pa.Table) -> str | None:
    """Return the scenario that is recommended, or the nearest where none fits; ``None`` where there is no scenario.

    Args:
        judged: the table ``scenarios`` of a plan.
    """
    from kafka_capacity.report.options import choose, read_options

    options = read_options(judged)
    return choose(options)[1].scenario_id if options else None
