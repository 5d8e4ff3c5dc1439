"""Answers of :mod:`kafka_capacity.kafka.groups` to the recorded cases of the group coordinator's assignors."""

from __future__ import annotations

from kafka_capacity.conformance.answers.group_cases import server_group, server_output
from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.groups import GroupProtocol, assignor


@answers_to("server_uniform")
def server_uniform(given: Case) -> Case:
    """Assign with ``uniform``."""
    return {"assignment": server_output(assignor("uniform", GroupProtocol.CONSUMER).assign(server_group(given)))}


@answers_to("server_range")
def server_range(given: Case) -> Case:
    """Assign with the coordinator's ``range``."""
    return {"assignment": server_output(assignor("range", GroupProtocol.CONSUMER).assign(server_group(given)))}


@answers_to("server_simple")
def server_simple(given: Case) -> Case:
    """Assign with ``simple``."""
    return {"assignment": server_output(assignor("simple", GroupProtocol.SHARE).assign(server_group(given)))}
