"""What topics could lose: which outcomes are possible after how many failures, and how often data are gone for good."""

from kafka_capacity.questions.failures.durability.evaluate import evaluate_durability
from kafka_capacity.questions.failures.durability.scenario import DurabilityResult, DurabilityScenario, PlacementLosses

__all__ = ["DurabilityResult", "DurabilityScenario", "PlacementLosses", "evaluate_durability"]
