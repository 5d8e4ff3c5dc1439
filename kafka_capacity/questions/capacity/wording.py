"""Loads and limits in the sentences of excuses and recommendations."""

from __future__ import annotations

from kafka_capacity.hardware.limits import Condition, Resource, shown_amount

_WHAT = {
    Resource.NETWORK_IN: "would receive",
    Resource.NETWORK_OUT: "would send",
    Resource.CLIENT_IN: "would take from producers",
    Resource.CLIENT_OUT: "would serve to consumers",
    Resource.CPU: "would use",
    Resource.DISK: "would hold",
    Resource.DISK_IO: "would write and read",
    Resource.REPLICAS: "would hold",
    Resource.RECOVERY: "would take",
}

_WHEN = {
    Condition.NORMAL: "at peak",
    Condition.BROKER_LOST: "at peak after the loss of {lost}",
    Condition.RACK_LOST: "at peak after the loss of {lost}",
    Condition.MOVING: "at peak while a reassignment runs",
    Condition.BROKER_RETURNS: "at peak while a broker catches up",
    Condition.REREADING: "at peak while everything is read once more",
}

_STILL = {Resource.DISK: "", Resource.REPLICAS: "", Resource.RECOVERY: " to be re-replicated after its loss"}
"""What holds under every condition, and what is said instead of one."""


def limit_sentence(
    *,
    where: str,
    resource: Resource,
    condition: Condition,
    lost: str,
    date: str,
    needed: float,
    allowed: float,
    share: float,
    passed_on: str | None,
    burst: float | None = None,
) -> str:
    """Return which limit is passed, by whom, when and by how much; and what the hardware bursts to, if it does."""
    when = _STILL[resource] if resource in _STILL else " " + _WHEN[condition].format(lost=lost)
    of = "" if share == 1.0 else f" ({share:.0%} of {shown_amount(resource, allowed / share)})"
    first = "" if passed_on in (None, date) else f"; the limit is passed on {passed_on}"
    first += "" if burst is None or needed > burst else f"; bursts reach {shown_amount(resource, burst)}, for minutes"
    return (
        f"{where} {_WHAT[resource]} {shown_amount(resource, needed)}{when} on {date}, "
        f"but {shown_amount(resource, allowed)} are allowed{of}{first}"
    )
