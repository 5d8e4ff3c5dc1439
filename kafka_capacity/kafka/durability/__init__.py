"""What can be lost, duplicated or put out of order: every course of a small set of replicas and its producer."""

from kafka_capacity.kafka.durability.explore import Explored, explore
from kafka_capacity.kafka.durability.settings import Acks, Bounds, Configuration, FailureKind, Outcome, Truncation

__all__ = ["Acks", "Bounds", "Configuration", "Explored", "FailureKind", "Outcome", "Truncation", "explore"]
