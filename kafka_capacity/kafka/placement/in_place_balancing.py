"""Level what brokers hold between replicas that are there already, which copies nothing.

Where a factor falls, which replicas of a partition stay is free to choose: any of those it has now, as far as the racks
go. Brokers above their shares give up replicas of partitions that another broker, below its share, gave up before.

Algorithm
    Rounds over all partitions at once: each gives and takes no more than separates it from its share, until a round
    changes little.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.placement.apportionment import one_a_row, within_amount
from kafka_capacity.kafka.placement.layout import Layout

_ROUNDS = 40
_WORTHWHILE_RATIO = 1e-3


def level_between_homes(layout: Layout) -> None:
    """Change which of the replicas there are now stay."""
    kept = ((layout.held >= 0).sum(axis=1) > 0) & (layout.missing() == 0)
    has_other = kept & ((layout.home >= 0).sum(axis=1) > layout.factor)
    rows = np.nonzero(has_other & (layout.limits.unit > 0))[0]
    if not len(rows):
        return
    width, homes = layout.held.shape[1], layout.home.shape[1]
    each = np.repeat(rows, width * homes)
    columns = np.tile(np.repeat(np.arange(width), homes), len(rows))
    receiver = layout.home[each, np.tile(np.arange(homes), len(rows) * width)]
    unit = layout.limits.unit[each]
    leader = layout.problem.target.index_of(layout.problem.leader)[each]
    known = receiver >= 0
    for turn in range(_ROUNDS):
        give = np.maximum(0.0, layout.load - layout.limits.fair)
        take = np.maximum(0.0, layout.limits.fair - layout.load)
        donor = layout.held[each, columns]
        can = known & (donor >= 0) & (donor != leader) & (give[donor] > 0) & (take[receiver] > 0)
        chosen = np.nonzero(can)[0]
        chosen = chosen[layout.may_go(each[chosen], columns[chosen], receiver[chosen])]
        chosen = chosen[layout.has_room(each[chosen], receiver[chosen])]
        # Turned a little from round to round, so that the same replicas do not stand in front each time.
        chosen = np.roll(chosen, -turn * (len(chosen) // _ROUNDS))
        chosen = chosen[one_a_row(each[chosen])]
        chosen = chosen[within_amount(layout.held[each[chosen], columns[chosen]], unit[chosen], give)]
        chosen = chosen[within_amount(receiver[chosen], unit[chosen], take)]
        layout.move(each[chosen], columns[chosen], receiver[chosen])
        if float(unit[chosen].sum()) <= _WORTHWHILE_RATIO * float(give.sum()):
            return
