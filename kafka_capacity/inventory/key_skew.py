"""How evenly the keys of a live topic fill its partitions, and what more of them or a salted key would change.

Keys are sampled from its logs and hashed as Kafka's default partitioner does. A partition's records count as much as
its log has offsets, so that busy partitions weigh as much as they do. Rare keys are met by chance: shares of partitions
are as uneven as those of the sample, a little more than those of all records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.inventory.batch_sampling import PartitionSample, sample_topics
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.record_batches import records_in
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.producer.key_hashing import Keys, murmur2_of_keys, partitions_of_hashes

MOST_PARTITIONS = 32  # of a topic that are looked at
FACTORS = (1, 2, 4)  # of today's count of partitions that are tried
SALTS = 4  # keys that one key is spread over, where salting is tried
_TOP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySkew:
    """The keys of a topic."""

    topic: str
    partition_count: int
    record_count: int  # that were sampled
    without_key_ratio: float  # of all bytes, what has no key: producers spread it as they like
    keys: int  # that were met
    top: tuple[tuple[bytes, float], ...]  # the keys with the most bytes, and their shares of the bytes that have a key
    fullest: dict[int, float]  # by the count of partitions, the share of the fullest one
    salted: dict[int, float]  # the same where the largest key is spread over `SALTS`

    @property
    def is_bound_by_a_key(self) -> bool:
        """Whether the largest key alone is more than an even partition of today's."""
        return bool(self.top) and self.top[0][1] > 1 / self.partition_count


def skew_of(topic: str, partition_count: int, parts: Sequence[PartitionSample]) -> KeySkew:
    """Weigh the keys of the sampled partitions of a topic, at least one."""
    weights: defaultdict[bytes, float] = defaultdict(float)
    without, sampled = 0.0, 0
    for part in parts:
        records = [record for batch in part.batches for record in records_in(batch.plain())]
        sampled += len(records)
        for key, size in records:
            weight = size * part.offsets / len(records)
            if key is None:
                without += weight
            else:
                weights[key] += weight
    total = sum(weights.values())
    ranked = sorted(weights, key=lambda key: (-weights[key], key))
    shares = np.array([weights[key] / total for key in ranked], dtype=np.float64)
    counts = [partition_count * factor for factor in FACTORS]
    salted = [ranked[0] + b"-%d" % number for number in range(SALTS)] if ranked else []
    return KeySkew(
        topic=topic,
        partition_count=partition_count,
        record_count=sampled,
        without_key_ratio=without / (without + total) if without + total else 0.0,
        keys=len(ranked),
        top=tuple(zip(ranked[:_TOP], shares[:_TOP].tolist(), strict=True)),
        fullest=_fullest(ranked, shares, counts),
        salted=_fullest(
            [*salted, *ranked[1:]], np.concatenate([np.full(len(salted), shares[:1].sum() / SALTS), shares[1:]]), counts
        ),
    )


def _fullest(keys: Sequence[bytes], shares: Floats, counts: Sequence[int]) -> dict[int, float]:
    if not keys:
        return {}
    hashes = murmur2_of_keys(Keys.of(keys))
    return {
        count: float(np.bincount(partitions_of_hashes(hashes, count), weights=shares, minlength=count).max())
        for count in counts
    }


def sample_keys(
    connection: KafkaConnection, patterns: Sequence[str] = (), *, progress: Callable[[str], None] = lambda _: None
) -> list[KeySkew]:
    """Sample topics as :func:`~kafka_capacity.inventory.batch_sampling.sample_topics` does; empty ones are left out."""
    sampled = sample_topics(connection, patterns, most_partitions=MOST_PARTITIONS, progress=progress)
    return [skew_of(name, count, parts) for name, count, parts in sampled if parts]
