"""The quorum of KRaft controllers: how it elects, how long it is away, and how much of the time it is there.

* :mod:`~kafka_capacity.kafka.controller.quorum.availability`: closed forms and losses.
* :mod:`~kafka_capacity.kafka.controller.quorum.failover`: the time without a leader after a failure, as a distribution.
* :mod:`~kafka_capacity.kafka.controller.quorum.simulation`: the election protocol in time, by Kafka's rules (4.3.1).
"""

from kafka_capacity.kafka.controller.quorum.availability import (
    LossKind,
    QuorumLoss,
    down_minutes_per_year,
    majority,
    quorum_losses,
    quorum_unavailability,
    rack_correlated_unavailability,
    tolerated_losses,
)
from kafka_capacity.kafka.controller.quorum.events import Election, Outage
from kafka_capacity.kafka.controller.quorum.failover import Failovers, Surroundings, failovers, failovers_of_each
from kafka_capacity.kafka.controller.quorum.failover_runs import ControllerLoss, FailureKind
from kafka_capacity.kafka.controller.quorum.messages import Rpc
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts, timeouts_of
from kafka_capacity.kafka.controller.quorum.simulation import QuorumSimulation
from kafka_capacity.kafka.controller.quorum.surroundings import Network, Storage
from kafka_capacity.kafka.controller.quorum.voters import MAX_VOTERS, Voter, checked_voters, parse_voters

__all__ = [
    "MAX_VOTERS",
    "ControllerLoss",
    "Election",
    "Failovers",
    "FailureKind",
    "LossKind",
    "Network",
    "Outage",
    "QuorumLoss",
    "QuorumSimulation",
    "QuorumTimeouts",
    "Rpc",
    "Storage",
    "Surroundings",
    "Voter",
    "checked_voters",
    "down_minutes_per_year",
    "failovers",
    "failovers_of_each",
    "majority",
    "parse_voters",
    "quorum_losses",
    "quorum_unavailability",
    "rack_correlated_unavailability",
    "timeouts_of",
    "tolerated_losses",
]
