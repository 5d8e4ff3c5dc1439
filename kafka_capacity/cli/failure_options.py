"""The options of ``report`` about failures, by the fields of the request."""

from __future__ import annotations

from kafka_capacity.cli.plan_options import FieldOption, split_names, split_pairs
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks

_TIMEOUTS = "--controller-timeout"


def _timeouts(typed: list[str]) -> dict[str, int | str]:
    """Read ``NAME=MS``; what is no number is left for the model to refuse."""
    pairs = split_pairs(_TIMEOUTS, "NAME=MILLISECONDS")(typed)
    return {name: int(text) if text.isascii() and text.isdecimal() else text for name, text in pairs.items()}


FAILURE_OPTIONS = (
    FieldOption(
        field="failure_kinds",
        name="--losses",
        kind=str,
        metavar="KIND,…",
        parse=split_names,
        more="Here with commas between them.",
    ),
    FieldOption(
        field="failure_sets", name="--lost-together", kind=list[str], metavar="ID,rack:NAME,…", more="May be repeated."
    ),
    FieldOption(field="failure_placements", name="--lost-of", kind=str, metavar="recommended|all"),
    FieldOption(field="most_failure_sets", name="--most-losses", kind=int),
    FieldOption(field="election_rules", name="--election-rules", kind=ElectionRules),
    FieldOption(
        field="controllers",
        name="--controllers",
        kind=str,
        metavar="ID:RACK,…",
        parse=split_names,
        more="Here with commas between them.",
    ),
    FieldOption(
        field="controller_properties",
        name=_TIMEOUTS,
        kind=list[str],
        metavar="NAME=MS",
        parse=_timeouts,
        more="Here as NAME=MS. May be repeated.",
    ),
    FieldOption(field="controller_up_ratio", name="--controller-up", kind=float, metavar="RATIO"),
    FieldOption(field="rack_up_ratio", name="--rack-up", kind=float, metavar="RATIO"),
    FieldOption(field="failover_runs", name="--failover-runs", kind=int),
    FieldOption(field="producer_acks", name="--acks", kind=Acks),
    FieldOption(field="is_producer_idempotent", name="--idempotence/--no-idempotence", kind=bool),
    FieldOption(field="disk_mttf_days", name="--mttf", kind=float, metavar="DAYS"),
    FieldOption(field="crash_mttf_days", name="--crash-mttf", kind=float, metavar="DAYS"),
    FieldOption(field="rack_mttf_days", name="--rack-mttf", kind=float, metavar="DAYS"),
    FieldOption(field="replacement_hours", name="--replacement", kind=float, metavar="HOURS"),
    FieldOption(field="replica_lag_seconds", name="--replica-lag", kind=float, metavar="SECONDS"),
    FieldOption(field="copyset_scatter_width", name="--scatter-width", kind=int, metavar="N"),
)
"""``failures``, ``doctor`` and ``durability`` have their own, which leave the plan out."""
