"""Who reads what in a consumer group: Kafka's assignors by name, users' own, and a group's life through rebalances."""

from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group, Member, Topic, TopicPartition, TopicPartitions, UserData
from kafka_capacity.kafka.groups.registry import Assignor, GroupProtocol, assignor, assignor_names

__all__ = [
    "Assignment",
    "Assignor",
    "Group",
    "GroupProtocol",
    "Member",
    "Topic",
    "TopicPartition",
    "TopicPartitions",
    "UserData",
    "assignor",
    "assignor_names",
]
