"""The states of a replica, and what a leader keeps of fetches that wait."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from kafka_capacity.kafka.controller.quorum.messages import Request, Response


class State(StrEnum):
    """The states of a replica, by Kafka's names."""

    UNATTACHED = "Unattached"
    PROSPECTIVE = "Prospective"
    CANDIDATE = "Candidate"
    FOLLOWER = "Follower"
    LEADER = "Leader"
    RESIGNED = "Resigned"


class ParkedFetch(NamedTuple):
    """A fetch that waits for records.

    Attributes:
        request: as it came.
        answer: what is said when nothing comes.
        expires_at: when that is said.
    """

    request: Request
    answer: Response
    expires_at: float
