"""Where replicas go: Kafka's own placers, reproduced, and one that moves the fewest bytes."""

from kafka_capacity.kafka.placement.problem import Balance, BrokerLimits, PlacementProblem, RackRule, allowed_brokers
from kafka_capacity.kafka.placement.registry import Placer, placer, placer_names

__all__ = [
    "Balance",
    "BrokerLimits",
    "PlacementProblem",
    "Placer",
    "RackRule",
    "allowed_brokers",
    "placer",
    "placer_names",
]
