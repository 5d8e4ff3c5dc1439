"""What the replicas of the metadata log say to each other: the four RPCs of KIP-595, with the pre-vote of KIP-996."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

NOBODY = -1  # Kafka's mark where there is no leader, or where no vote was given

UNKNOWN_OFFSET = -1  # Kafka's mark of a high watermark that is not known yet


class Rpc(StrEnum):
    """The kinds of request; a pre-vote is a Vote with a flag and counted apart."""

    PRE_VOTE = "Vote (pre-vote)"
    VOTE = "Vote"
    BEGIN_QUORUM_EPOCH = "BeginQuorumEpoch"
    END_QUORUM_EPOCH = "EndQuorumEpoch"
    FETCH = "Fetch"

    __hash__ = str.__hash__  # an Enum's own is slow, and each request is counted


class Error(StrEnum):
    """The errors of an answer that the protocol knows, by Kafka's names."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    BROKER_NOT_AVAILABLE = "BROKER_NOT_AVAILABLE"


class LogEnd(NamedTuple):
    """Where a log, or an epoch of it, ends; the later of two logs is the one with the larger epoch, then offset."""

    epoch: int
    offset: int


class Request(NamedTuple):
    """A request."""

    rpc: Rpc  # its kind
    source: int  # who asks
    target: int  # who is asked
    correlation: int  # a number that its answer repeats
    epoch: int  # of who asks; a candidate's own new epoch in a Vote
    end: LogEnd = LogEnd(0, 0)  # of the log of who asks; what counts in a Vote or Fetch
    high_watermark: int = UNKNOWN_OFFSET  # that who asks knows; what counts in a Fetch
    successors: tuple[int, ...] = ()  # whom a resigning leader wants, the best first (EndQuorumEpoch)


class Response(NamedTuple):
    """An answer; ``epoch`` and ``leader`` are those that who answers knows."""

    rpc: Rpc
    source: int
    target: int
    correlation: int
    error: Error  # why it was refused
    epoch: int
    leader: int
    is_granted: bool = False  # whether the vote is given (Vote)
    high_watermark: int = UNKNOWN_OFFSET  # that who answers knows; what counts in a Fetch
    records: tuple[int, ...] = ()  # the epochs of those after the fetched offset (Fetch)
    diverging: LogEnd | None = None  # where the fetching replica must cut its log before it may go on (Fetch)
