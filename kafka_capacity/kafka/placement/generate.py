"""What ``kafka-reassign-partitions.sh --generate`` proposes (4.3.1, ``ReassignPartitionsCommand``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_capacity.errors import PlacementError
from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.java.hash_map import computed_order, put_order
from kafka_capacity.kafka.java.hashing import string_hash, topic_partition_hashes
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.problem import PlacementProblem, RackRule
from kafka_capacity.kafka.placement.striped import StripedReplicaPlacer
from kafka_capacity.kafka.placement.topics import topic_counts


def generate_order(topic_names: Sequence[str], topic: Int32s, partition: Int32s) -> tuple[Ints, Ints]:
    """Describe in which order ``calculateAssignment`` places topics, and which partition decides their factor.

    The current assignment is a ``HashMap`` of topic partitions, walked to group them by topic; the groups are a
    ``HashMap`` too, filled by ``computeIfAbsent``. A topic gets the factor of the partition met first.

    ``topic``, positions in ``topic_names``, and ``partition`` are int32[P], in the order in which partitions were put
    in the map, none twice. Returned are int64[T], topics in the order of placing, and the row of the partition that
    decides of each.
    """
    hashes = np.array([string_hash(name) for name in topic_names], dtype=np.int32)
    visited = put_order(topic_partition_hashes(hashes[topic], partition))
    numbers, first_visits = np.unique(topic[visited], return_index=True)
    met = np.argsort(first_visits)
    is_called_again = bool(len(met)) and int(first_visits[met[-1]]) < len(visited) - 1
    placed = met[computed_order(hashes[numbers[met]], is_called_again=is_called_again)]
    return numbers[placed].astype(np.int64), visited[first_visits[placed]].astype(np.int64)


def place_as_generate(problem: PlacementProblem) -> Int32s:
    """Place what ``--generate`` would propose: every topic afresh by the striped placer.

    Kafka's generator is seeded by the clock; here the problem's seed starts it. Kafka's order of topics follows from
    the order in which the answers of the cluster came in; here the partitions are put in the map sorted by topic and
    number. A topic gets the wanted factor of the partition that Kafka would look at, so a topic of mixed factors
    becomes one of a single factor. The tool takes no broker for fenced. With the rack rule ``off`` racks are
    ignored, as with ``--disable-rack-aware``.

    Raises:
        PlacementError: Kafka refuses the factor, or racks that only some brokers have.
    """
    names, topic = problem.partitions.topics, problem.partitions.topic
    order, deciding = generate_order(names, topic, problem.partitions.partition)
    target = problem.target
    racks = [None] * len(target) if problem.rack_rule is RackRule.OFF else list(target.racks)
    _check_racks(racks)
    placer = StripedReplicaPlacer(target.ids.tolist(), racks, random=JavaRandom(problem.seed))
    counts = topic_counts(problem)
    factors = problem.replication_factor[deciding].astype(np.int64)
    placed = placer.place_topics(counts[order], factors)
    proposed = np.empty_like(placed)
    # Rows of the problem, topic by topic in the order of placing.
    begins = (np.cumsum(counts) - counts)[order]
    placed_begins = np.cumsum(counts[order]) - counts[order]
    proposed[np.arange(len(placed)) + np.repeat(begins - placed_begins, counts[order])] = placed
    return proposed


def _check_racks(racks: Sequence[str | None]) -> None:
    with_rack = sum(rack is not None for rack in racks)
    if 0 < with_rack < len(racks):
        raise PlacementError(
            f"{with_rack} of {len(racks)} brokers {'has' if with_rack == 1 else 'have'} a rack; give every broker a "
            "rack, or switch the rack rule off",
            kafka_type="org.apache.kafka.server.common.AdminOperationException",
        )
