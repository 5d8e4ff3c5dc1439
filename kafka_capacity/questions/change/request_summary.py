"""What a plan was asked, in one line: everything that is not left to its default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.proposal.constraints.registry import maxima_sentence
from kafka_capacity.text import format_throttle, plural

_MAX_NAMED = 6


def asked_sentence(request: Mapping[str, Any]) -> str | None:
    """Name the changes that a request asks for; ``None`` where it asks for none, or does not tell.

    >>> asked_sentence({"broker_counts": [12, 15], "replaced_brokers": {"3": 13}, "replication_factor": 2})
    'Asked: 12 or 15 brokers; broker 3 replaced by 13; replication factor 2.'
    """
    parts = [part for say in _PARTS if (part := say(request))]
    return f"Asked: {'; '.join(parts)}." if parts else None


def _listed(names: Sequence[object]) -> str:
    shown = [str(name) for name in names[:_MAX_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _counts(request: Mapping[str, Any]) -> str:
    counts = sorted(set(request.get("broker_counts") or ()))
    if not counts:
        return ""
    shown = [f"{count:,}" for count in counts]
    text = " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
    return f"{text} {'broker' if counts == [1] else 'brokers'}"


def _listed_brokers(request: Mapping[str, Any]) -> str:
    brokers = request.get("brokers") or ()
    return f"a list of {plural(len(brokers), 'broker')}" if brokers else ""


def _new_racks(request: Mapping[str, Any]) -> str:
    racks = request.get("new_broker_racks") or ()
    return f"new brokers in rack {_listed(racks)}" if racks else ""


def _removed(request: Mapping[str, Any]) -> str:
    removed = request.get("removed_brokers") or ()
    return f"{'broker' if len(removed) == 1 else 'brokers'} {_listed(removed)} removed" if removed else ""


def _replaced(request: Mapping[str, Any]) -> str:
    pairs = sorted((int(old), new) for old, new in (request.get("replaced_brokers") or {}).items())
    return f"broker {_listed([f'{old} replaced by {new}' for old, new in pairs])}" if pairs else ""


def _racks(request: Mapping[str, Any]) -> str:
    pairs = sorted((request.get("rack_names") or {}).items())
    return f"rack {_listed([f'{old} renamed to {new}' for old, new in pairs])}" if pairs else ""


def _factor(request: Mapping[str, Any]) -> str:
    factor = request.get("replication_factor")
    return "" if factor is None else f"replication factor {factor}"


def _pins(request: Mapping[str, Any]) -> str:
    pins = sorted((request.get("pinned_topics") or {}).items())
    named = [f"{topic} on {_listed([_place(one) for one in places])}" for topic, places in pins]
    return f"pinned {_listed(named)}" if named else ""


def _place(place: object) -> str:
    text = str(place)
    return f"rack {text.removeprefix('rack:')}" if text.startswith("rack:") else text


def _throttles(request: Mapping[str, Any]) -> str:
    throttles = sorted(set(request.get("throttles_bytes_per_second") or ()))
    return f"throttles of {_listed([format_throttle(rate) for rate in throttles])}" if throttles else ""


def _partitions(request: Mapping[str, Any]) -> str:
    counts = sorted((request.get("partition_counts") or {}).items())
    return _listed([f"{topic} with {count:,} partitions" for topic, count in counts])


_PARTS = (
    _counts,
    _listed_brokers,
    _new_racks,
    _removed,
    _replaced,
    _racks,
    _factor,
    _partitions,
    _pins,
    maxima_sentence,
    _throttles,
)
