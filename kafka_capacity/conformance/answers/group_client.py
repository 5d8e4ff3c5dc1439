"""Answers of :mod:`kafka_capacity.kafka.groups` to the recorded cases of the client's assignors."""

from __future__ import annotations

from kafka_capacity.conformance.answers.group_cases import client_group, client_output
from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.groups import assignor


@answers_to("consumer_range")
def consumer_range(given: Case) -> Case:
    """Assign with ``range``."""
    return {"assignment": client_output(assignor("range").assign(client_group(given)))}


@answers_to("consumer_roundrobin")
def consumer_roundrobin(given: Case) -> Case:
    """Assign with ``roundrobin``."""
    return {"assignment": client_output(assignor("roundrobin").assign(client_group(given)))}


@answers_to("consumer_sticky")
def consumer_sticky(given: Case) -> Case:
    """Assign with ``sticky``."""
    return {"assignment": client_output(assignor("sticky").assign(client_group(given)))}


@answers_to("consumer_cooperative_sticky")
def consumer_cooperative_sticky(given: Case) -> Case:
    """Assign with ``cooperative-sticky``."""
    return {"assignment": client_output(assignor("cooperative-sticky").assign(client_group(given)))}
