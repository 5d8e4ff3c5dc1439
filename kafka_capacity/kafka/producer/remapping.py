"""What a new partition count sends elsewhere: records of one key before and after it are on two partitions.

Kafka keeps the order of a key's records within a partition only, and moves no record when partitions are added. A key
that is remapped can be read out of order, and what was written before stays where it was.

Algorithm:
    Hashes are taken as even: of every least common multiple of the two counts in a row, as many hashes as the smaller
    count has partitions leave the same remainder twice, the lowest ones.

>>> round(even_share_remapped(12, 18), 3)
0.667
"""

from __future__ import annotations

import math

from kafka_capacity.kafka.producer.key_hashing import checked_count


def even_share_remapped(before: int, after: int) -> float:
    """Return the share of keys that a new partition count sends elsewhere if hashes are even.

    Raises:
        RequestError: a count is not positive.
    """
    return 1 - min(checked_count(before), checked_count(after)) / math.lcm(before, after)
