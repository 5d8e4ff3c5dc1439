"""Where replicas go: Kafka's own placers, reproduced, and one that moves the fewest bytes."""

from kafka_capacity.placement.problem import Balance, PlacementProblem, RackRule
from kafka_capacity.placement.registry import Placer, placer, placer_names, register

__all__ = ["Balance", "PlacementProblem", "Placer", "RackRule", "placer", "placer_names", "register"]
