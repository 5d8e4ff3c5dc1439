"""A scenario in, a result out: what an option moves, how long it takes, whether it fits, and if not, why not."""

from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.scenario import PlacementMetrics, PlacementResult, PlacementScenario

__all__ = ["Excuse", "PlacementMetrics", "PlacementResult", "PlacementScenario", "evaluate_placement"]
