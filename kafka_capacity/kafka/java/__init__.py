"""The parts of Java that Kafka's answers rest on: Random, hashCode, order of strings, HashMap and PriorityQueue."""

from kafka_capacity.kafka.java.hash_map import JavaHashMap, JavaHashSet, computed_order, put_order
from kafka_capacity.kafka.java.priority_queue import JavaPriorityQueue
from kafka_capacity.kafka.java.random import JavaRandom

__all__ = ["JavaHashMap", "JavaHashSet", "JavaPriorityQueue", "JavaRandom", "computed_order", "put_order"]
