"""Kafka's placement today: ``org.apache.kafka.metadata.placement.StripedReplicaPlacer`` (4.3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_capacity.errors import PlacementError
from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import NO_BROKER
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.striped_arrays import place_stripes, stripe_patterns, stripe_rows
from kafka_capacity.kafka.placement.striped_draws import StripeDraws, draw_stripes
from kafka_capacity.kafka.placement.striped_walk import StripeLayout, StripeWalk
from kafka_capacity.kafka.placement.topics import (
    INVALID_REPLICATION_FACTOR,
    check_factor_fits,
    check_factor_is_positive,
    cut_to_factor,
    topic_counts,
    topic_factors,
)


class StripedReplicaPlacer:
    """Places topics as a KRaft controller does when they are created.

    Goals, in this order:
        1. The replicas of a partition in as many racks as there are.
        2. Leaders even over the racks, then over the brokers of a rack.
        3. Replicas even over the brokers of a rack.
        4. Not the same sets of brokers over and over.

    Constraints:
        No broker holds two replicas of a partition. The first replica is on a broker that is not fenced.

    Algorithm:
        The racks stand in a circle, and each has a circle of its unfenced brokers and one of its fenced ones. The
        rack after that of the last partition leads and gives its next unfenced broker; then the racks in turn give
        one broker each, the leading one not in the first round, until there are enough. A rack gives its fenced
        brokers when it has given all others. Each circle of brokers begins one place further in the next
        partition that uses it. Where the circles begin is drawn at random for each topic. After as many partitions
        as there are unfenced brokers (more than one) the racks and all circles are shuffled.

        Racks of different size weigh the same: a rack of one broker gets as many replicas as one of ten.
        Size, load and the replicas already there play no part.

    Worked example, seven brokers in racks a (0 to 3), b (4, 5) and c (6). The racks lead in turn: a, b, c, a; the
    circle of a gives 2, 3, 0, 1, that of b 5, 4, 5, 4, and the lone broker of c is in every partition:

    >>> placer = StripedReplicaPlacer([0, 1, 2, 3, 4, 5, 6], ["a", "a", "a", "a", "b", "b", "c"], random=JavaRandom(11))
    >>> placer.place(4, 3).tolist()
    [[2, 5, 6], [4, 6, 3], [6, 0, 5], [1, 4, 6]]

    Args:
        ids: broker ids, in the order in which the controller lists them.
        racks: the rack of each broker, all ``None`` by default.
        is_fenced: whether each broker is fenced, none by default.
        random: source of the draws; successive topics go on with it.
    """

    __slots__ = ("_layout", "_random")

    def __init__(
        self,
        ids: Sequence[int],
        racks: Sequence[str | None] | None = None,
        is_fenced: Sequence[bool] | None = None,
        *,
        random: JavaRandom,
    ) -> None:
        self._layout = StripeLayout.of(ids, racks or [None] * len(ids), is_fenced or [False] * len(ids))
        self._random = random

    @classmethod
    def over(cls, brokers: Brokers, random: JavaRandom) -> StripedReplicaPlacer:
        """Place over the brokers of a list, ascending by id, but for the cordoned ones (``UsableBrokerIterator``)."""
        listed = zip(brokers.ids.tolist(), brokers.racks, brokers.is_fenced.tolist(), strict=True)
        kept = [each for each, is_cordoned in zip(listed, brokers.is_cordoned, strict=True) if not is_cordoned]
        ids, racks, is_fenced = zip(*kept, strict=True) if kept else ((), (), ())
        return cls(ids, racks, is_fenced, random=random)

    def place(self, partition_count: int, replication_factor: int) -> Int32s:
        """Place the partitions of one topic: int32[partition_count, replication_factor], broker ids.

        Raises:
            PlacementError: the factor is not positive or larger than the number of brokers, or all are fenced.
        """
        return self.place_topics(np.array([partition_count]), np.array([replication_factor]))

    def place_topics(self, counts: Ints, factors: Ints) -> Int32s:
        """Place topics one after another, int64[T] partitions and replicas of each; else as :meth:`place`."""
        for factor in np.unique(factors).tolist():
            self._check(factor)
        row_topic = np.repeat(np.arange(len(counts)), counts)
        placed = np.full((len(row_topic), int(factors.max(initial=0))), NO_BROKER, dtype=np.int32)
        if not len(counts):
            return placed
        draws = draw_stripes(self._layout, counts, self._random)
        for factor in np.unique(factors).tolist():
            topics = np.flatnonzero(factors == factor)
            replicas = self._place_alike(draws, topics, counts[topics], factor)
            if len(topics) == len(counts):
                return replicas
            placed[(factors == factor)[row_topic], :factor] = replicas
        return placed

    def _place_alike(self, draws: StripeDraws, topics: Ints, counts: Ints, factor: int) -> Int32s:
        """Place topics of one factor; walk those that the arrays cannot tell."""
        rows = stripe_rows(self._layout, draws, topics, counts)
        patterns = stripe_patterns(self._layout, draws.racks, factor)
        placed, walked = place_stripes(self._layout, draws, rows, patterns)
        ends = np.cumsum(counts)
        for index in np.searchsorted(topics, walked).tolist():
            begin = int(ends[index] - counts[index])
            placed[begin : int(ends[index])] = self._walk(draws, int(topics[index]), int(counts[index]), factor)
        return placed

    def _walk(self, draws: StripeDraws, topic: int, count: int, factor: int) -> Int32s:
        walk = StripeWalk(self._layout, draws.list_offsets[topic].tolist(), int(draws.rack_offsets[topic]))
        period = self._layout.unfenced_count if self._layout.unfenced_count > 1 else count
        placed: list[int] = []
        for shuffle, begin in enumerate(range(0, count, period)):
            row = int(draws.first_shuffles[topic]) + shuffle - 1 if shuffle else 0
            racks, brokers = draws.racks[row].tolist(), draws.brokers[row].tolist()
            placed += walk.place(min(period, count - begin), factor, racks, brokers)
        return np.array(placed, dtype=np.int32).reshape(count, factor)

    def _check(self, replication_factor: int) -> None:
        check_factor_is_positive(replication_factor)
        if not self._layout.unfenced_count:
            raise PlacementError(
                f"all {len(self._layout.brokers)} brokers are fenced, so none can lead; unfence a broker",
                kafka_type=INVALID_REPLICATION_FACTOR,
            )
        check_factor_fits(replication_factor, len(self._layout.brokers))


def place_striped(problem: PlacementProblem) -> Int32s:
    """Place every topic afresh, in the order of names, as if all had been created one after another.

    One generator, started with the problem's seed, serves all topics. A topic is placed with the largest factor
    wanted in it. Sizes, the rack rule and the replicas there now are not looked at.
    """
    if len(problem.target) and problem.target.is_cordoned.all():
        raise PlacementError(
            f"all {len(problem.target)} brokers are cordoned, so none takes a replica; uncordon a broker",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )
    placer = StripedReplicaPlacer.over(problem.target, JavaRandom(problem.seed))
    replicas = placer.place_topics(topic_counts(problem), topic_factors(problem))
    return cut_to_factor(replicas, problem.replication_factor)
