"""Kafka messages that kafka-python does not bring: describing groups of the consumer protocol (KIP-848) and of streams.

kafka-python makes its message classes from schemas in Kafka's own notation; the schemas beside this file are read by
the same means. Fields are those of Kafka 4.3: versions 0 and 1, of streams groups (KIP-1071) version 0, of share groups
(KIP-932) version 1.
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage


class ConsumerGroupDescribeRequest(ApiMessage, load_json=__name__):  # type: ignore[call-arg, misc]  # kafka-python has no types
    """Asks a coordinator for groups, their members, and what each is to read."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=__name__):  # type: ignore[call-arg, misc]  # kafka-python has no types
    """The answer; one error code a group."""


class StreamsGroupDescribeRequest(ApiMessage, load_json=__name__):  # type: ignore[call-arg, misc]  # kafka-python has no types
    """Asks a coordinator for streams groups, what they run, their members, and the tasks of each."""


class StreamsGroupDescribeResponse(ApiMessage, load_json=__name__):  # type: ignore[call-arg, misc]  # kafka-python has no types
    """The answer; one error code a group."""


class ShareGroupDescribeRequest(ApiMessage, load_json=__name__):  # type: ignore[call-arg, misc]  # kafka-python has no types
    """Asks a coordinator for share groups and their members."""


class ShareGroupDescribeResponse(ApiMessage, load_json=__name__):  # type: ignore[call-arg, misc]  # kafka-python has no types
    """The answer; one error code a group."""
