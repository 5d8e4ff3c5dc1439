"""A group that reads one topic, from which tests of groups start, and what is asked of it."""

import dataclasses

from kafka_capacity.kafka.groups.model import StreamsTopology
from kafka_capacity.questions.consumers.parameters import USUAL_EVENTS
from tests.plain_groups import plain_group, plain_scenario, plain_streams_group


def group(partitions=12, members=4, *, capacity=None, **changes):
    facts = plain_group({"orders": partitions}, members=members, capacity_bytes_per_second=capacity)
    if "start_lag_bytes" in changes:
        changes["start_lag_seconds"] = float((changes["start_lag_bytes"] / facts.mean_bytes_per_second).max())
    return dataclasses.replace(facts, **changes)


def given(facts, **changes):
    """The scenario of a group as it is, the capacity given instead of estimated."""
    capacity = facts.estimated_capacity_bytes_per_second
    return usual(facts, **{"member_capacity_bytes_per_second": capacity, **changes})


def usual(facts, **changes):
    """The scenario of a group as it is, with the events that are simulated where nothing else is asked for."""
    return plain_scenario(facts, **{"events": USUAL_EVENTS, **changes})


def outcome(result, event):
    return next(one for one in result.events if one.event is event)


def streams(members=4, *, standbys=0, tasks=16):
    """A streams group whose tasks take a minute each to restore, with more state the fewer members there are."""
    topology = StreamsTopology(
        sources={"0": ("orders",)}, state_bytes={"0": (600.0,) * tasks}, standby_replicas=standbys
    )
    return plain_streams_group({"orders": tasks}, topology, members=members, capacity_bytes_per_second=1e6)
