"""The parts of the Java runtime that Kafka's answers rest on: Random, hashCode, HashMap order, string order."""

from kafka_capacity.kafka.java.hash_map import JavaHashMap, JavaHashSet, computed_order, put_order
from kafka_capacity.kafka.java.random import JavaRandom

__all__ = ["JavaHashMap", "JavaHashSet", "JavaRandom", "computed_order", "put_order"]
