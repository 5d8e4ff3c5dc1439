"""What a plan was asked, in one line: everything that is not left to its default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka_capacity.proposal.constraints.registry import maxima_sentence
from kafka_capacity.proposal.pins import RACK_PREFIX
from kafka_capacity.text import format_throttle, listed, plural
from kafka_capacity.text.wording import few_names

_MAX_NAMED = 6


def asked_sentence(request: Mapping[str, Any]) -> str | None:
    """Name the changes that a request asks for; ``None`` where it asks for none, or does not tell.

    >>> asked_sentence({"broker_counts": [12, 15], "replaced_brokers": {"3": 13}, "replication_factor": 2})
    'Requested: 12 or 15 brokers; broker 3 replaced by 13; replication factor 2.'
    """
    asked = asked_clause(request)
    return f"Requested: {asked}." if asked else None


def asked_clause(request: Mapping[str, Any]) -> str:
    """Return what :func:`asked_sentence` names, as a clause; empty for nothing."""
    return "; ".join(part for part in _parts(request) if part)


def _parts(request: Mapping[str, Any]) -> Iterator[str]:
    """Return a phrase for each parameter, empty for one left to its default."""

    def given(name: str) -> Sequence[Any]:
        return request.get(name) or ()

    def pairs(name: str, *, of: type = str) -> list[tuple[Any, Any]]:
        return sorted((of(key), value) for key, value in (request.get(name) or {}).items())

    if counts := [f"{count:,}" for count in sorted(set(given("broker_counts")))]:
        yield f"{listed(counts, 'or')} {'broker' if counts == ['1'] else 'brokers'}"
    if brokers := given("brokers"):
        yield f"a list of {plural(len(brokers), 'broker')}"
    if racks := given("new_broker_racks"):
        yield f"new brokers in rack {_named(racks)}"
    if removed := [*dict.fromkeys(given("removed_brokers"))]:
        yield f"{'broker' if len(removed) == 1 else 'brokers'} {_named(removed)} removed"
    if replaced := pairs("replaced_brokers", of=int):
        yield f"broker {_named([f'{old} replaced by {new}' for old, new in replaced])}"
    if renamed := pairs("rack_names"):
        yield f"rack {_named([f'{old} renamed to {new}' for old, new in renamed])}"
    if (factor := request.get("replication_factor")) is not None:
        yield f"replication factor {factor}"
    yield _named([f"{count:,} partitions of {topic}" for topic, count in pairs("partition_counts")])
    if pins := pairs("pinned_topics"):
        yield f"pinned {_named([f'{topic} on {_named([*map(_place, places)])}' for topic, places in pins])}"
    yield maxima_sentence(request)
    yield from _of_the_move(request)


def _of_the_move(request: Mapping[str, Any]) -> Iterator[str]:
    if throttles := sorted(set(request.get("throttles_bytes_per_second") or ())):
        yield f"throttles of {_named([format_throttle(rate) for rate in throttles])}"
    if (window := request.get("window")) is not None:
        yield f"copying from {str(window).replace('-', ' to ')} UTC only"


def _named(names: Sequence[object]) -> str:
    return few_names(names, _MAX_NAMED)


def _place(place: object) -> str:
    text = str(place)
    return f"rack {text.removeprefix(RACK_PREFIX)}" if text.startswith(RACK_PREFIX) else text
