"""Where a producer's records go: Kafka's own partitioners, reproduced, and the skew and remapping they cause."""

from kafka_capacity.kafka.producer.builtin import BuiltInPartitioner, LoadStats, load_stats
from kafka_capacity.kafka.producer.key_hashing import (
    Keys,
    murmur2,
    murmur2_of_keys,
    partition_of_key,
    partitions_of_keys,
)
from kafka_capacity.kafka.producer.remapping import Remapping, even_share_remapped, keys_remapped
from kafka_capacity.kafka.producer.roundrobin import RoundRobinPartitioner, roundrobin_partitions
from kafka_capacity.kafka.producer.skew import (
    PartitionLoad,
    ZipfSkew,
    load_of_keys,
    load_of_top_keys,
    zipf_shares,
    zipf_skew,
)
from kafka_capacity.kafka.producer.sticky_cache import StickyPartitionCache
from kafka_capacity.kafka.producer.thread_random import ThreadRandom
from kafka_capacity.kafka.producer.topic import TopicMetadata

__all__ = [
    "BuiltInPartitioner",
    "Keys",
    "LoadStats",
    "PartitionLoad",
    "Remapping",
    "RoundRobinPartitioner",
    "StickyPartitionCache",
    "ThreadRandom",
    "TopicMetadata",
    "ZipfSkew",
    "even_share_remapped",
    "keys_remapped",
    "load_of_keys",
    "load_of_top_keys",
    "load_stats",
    "murmur2",
    "murmur2_of_keys",
    "partition_of_key",
    "partitions_of_keys",
    "roundrobin_partitions",
    "zipf_shares",
    "zipf_skew",
]
