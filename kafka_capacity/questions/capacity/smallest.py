"""The fewest of today's brokers that carry a cluster, or what is left of it without some topics, as it is today.

Brokers are taken away one of every rack at a time, from the count where the search starts, for as long as what is left
fits; where that count does not fit, they are added, to the smallest racks first, until it does, up to twice as many as
there are. Replicas are placed anew for each count, and judged as every option of sizing is. Volumes are as large as
they must be, and disks of the brokers' own as they are. What no number of brokers changes, such as a topic with a
single replica, speaks against none.

Executors have numpy, scipy and pyarrow; nothing here, nor what it imports, may ask for more.
"""

from __future__ import annotations

import dataclasses

import pyarrow as pa

from kafka_capacity.demand.changed import ClusterChange, changed_cluster
from kafka_capacity.hardware.bill import SmallestSize
from kafka_capacity.hardware.limits import RESOURCES
from kafka_capacity.hardware.plain import plain_number
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.questions.capacity.options import SizingInputs, are_disks_uneven, useful_counts
from kafka_capacity.questions.capacity.results import UNKNOWN, CapacityOption, CapacityResult, OptionKind, PlacementKey
from kafka_capacity.questions.capacity.simulate import evaluate_placed, packed


def smallest_after(given: tuple[SizingInputs, int], change: ClusterChange) -> dict[str, pa.Table]:
    """Do one piece of work: the smallest size of a cluster, searched from a count on, after a change, as a row."""
    inputs, start = given
    count: int | None = 0
    usd: float | None = 0.0
    if not change.is_removed.all():
        cluster = changed_cluster(inputs.snapshot, inputs.workload, inputs.sizes, change)
        left = dataclasses.replace(inputs, snapshot=cluster.snapshot, workload=cluster.workload, sizes=cluster.sizes)
        found = smallest(left, start)
        count = None if found is None else found.option.placement.broker_count
        usd = None if found is None else plain_number(found.cost.total)
    return packed([SmallestSize(broker_count=count, usd_per_month=usd)])


def smallest(inputs: SizingInputs, start: int) -> CapacityResult | None:
    """Return how the smallest size fares; ``None`` where none that was tried is enough."""
    brokers = inputs.snapshot.brokers
    counts = useful_counts(brokers, 2 * len(brokers))
    least = max(1, int(replication_factors(inputs.snapshot.replicas).max(initial=1)))
    found: CapacityResult | None = None
    for count in reversed([count for count in counts if least <= count < start]):
        if (fewer := _enough(inputs, count)) is None:
            break
        found = fewer
    more = (start, *(count for count in counts if count > start))
    return found or next(filter(None, (_enough(inputs, count) for count in more)), None)


def _enough(inputs: SizingInputs, count: int) -> CapacityResult | None:
    """Return how so many brokers fare on volumes no larger than they must be, ``None`` where they do not carry it."""
    key = PlacementKey(broker_count=count)
    key = dataclasses.replace(key, is_by_disk=are_disks_uneven(inputs, key))
    if not inputs.has_room(key)[0]:
        return None
    kind, shape = OptionKind.SHRINK_VOLUMES, inputs.request.today
    option = CapacityOption(option_id=f"{count:03d}-brokers", kind=kind, placement=key, shape=shape)
    (found,) = evaluate_placed(dataclasses.replace(inputs, options=(option,)), key)
    return found if is_enough(found) else None


def is_enough(result: CapacityResult) -> bool:
    """Return whether brokers carry it: Kafka takes the placement, and all that is known stays within its limit."""
    in_the_way = {*RESOURCES, *UNKNOWN}
    is_placed = result.headroom_ratio is not None
    return is_placed and not any(excuse.constraint in in_the_way for excuse in result.excuses)
