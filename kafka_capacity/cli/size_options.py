"""The options of ``size``, by the fields of its request."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kafka_capacity.cli.plan_options import ALL_OPTIONS, FieldOption, split_counts, split_names
from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.limits import FailureTolerance
from kafka_capacity.kafka.placement import Balance, RackRule

_COMMAS = "Here with commas between them."


def _option(field: str, name: str, kind: Any, metavar: str | None = None, **more: Any) -> FieldOption:
    return FieldOption(field=field, name=name, kind=kind, metavar=metavar, **more)


def _list(field: str, name: str, metavar: str, *, is_number: bool) -> FieldOption:
    parse = split_counts if is_number else split_names
    return _option(field, name, str, metavar, parse=parse, more=_COMMAS)


def events_from_file(path: str, option: str = "--events") -> Any:
    """Read the list of planned events; what is in it is left for the model to refuse.

    Raises:
        RequestError: the file cannot be read, or is not JSON.
    """
    try:
        found = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise RequestError(f"{option}: {path!r} cannot be read ({error.strerror}); name a JSON file") from error
    except ValueError as error:
        raise RequestError(f"{option}: {path!r} is not JSON ({error}); mend it") from error
    if not isinstance(found, list):
        raise RequestError(f"{option}: {path!r} holds no list; write a list of events, [{{…}}, …]")
    return found


SIZE_OPTIONS = (
    _option("horizon_months", "--horizon", int, "MONTHS"),
    _option("growth_per_year_ratio", "--growth", float, "RATIO"),
    _option("growth_high_per_year_ratio", "--growth-high", float, "RATIO"),
    _option("is_forecast", "--forecast/--no-forecast", bool),
    _option("high_quantile", "--high-quantile", float, "RATIO"),
    _option("topic_classes", "--topic-class", list[str], "NAME=PATTERN", more="May be repeated."),
    _option("planned_events", "--events", str, "FILE", parse=events_from_file, more="Here in a JSON file."),
    _option("sized_estimate", "--estimate", str, "high|middle"),
    _list("shapes", "--shapes", "NAME,…", is_number=False),
    _list("sizing_broker_counts", "--broker-counts", "N,…", is_number=True),
    _list("extra_racks", "--extra-racks", "N,…", is_number=True),
    _list("sizing_replication_factors", "--replication-factors", "N,…", is_number=True),
    _option("failure_tolerance", "--tolerate", FailureTolerance),
    _option("is_move_sized", "--while-moving", bool),
    _option("is_catch_up_sized", "--while-catching-up", bool),
    _option("network_limit_ratio", "--network-limit", float, "RATIO"),
    _option("cpu_limit_ratio", "--cpu-limit", float, "RATIO"),
    _option("disk_limit_ratio", "--disk-limit", float, "RATIO"),
    _option("disk_io_limit_ratio", "--disk-io-limit", float, "RATIO"),
    _option("client_limit_ratio", "--client-limit", float, "RATIO"),
    _option("lost_limit_ratio", "--lost-limit", float, "RATIO"),
    _option("is_follower_fetching", "--follower-fetching", bool),
    _option("reread_ratio", "--reread", float, "RATIO"),
    _option("current_shape", "--current-shape", str, "NAME"),
    _option("broker_vcpu", "--broker-vcpu", float, "CORES"),
    _option("broker_disk_bytes_per_second", "--broker-disk-rate", float, "BYTES/S"),
    _option("broker_replica_limit", "--broker-replicas", int),
    _option("broker_usd_per_hour", "--broker-price", float, "USD/H"),
    _option("usd_per_gib_between_racks", "--rack-traffic-price", float, "USD/GIB"),
    _option("partition_in_bytes_per_second", "--partition-in", float, "BYTES/S"),
    _option("partition_out_bytes_per_second", "--partition-out", float, "BYTES/S"),
    _option("throttle_bytes_per_second", "--throttle", float, "BYTES/S"),
    _option("broker_heap_bytes", "--broker-heap", int, "BYTES"),
    _option("rack_rule", "--rack-rule", RackRule),
    _option("balance", "--balance", Balance),
    _option("seed", "--seed", int),
)

_PLANNED_EVENTS = "--planned-events"
_OTHERWISE_NAMED: dict[str, dict[str, Any]] = {
    "sizing_broker_counts": {"name": "--size-broker-counts"},
    "planned_events": {"name": _PLANNED_EVENTS, "parse": partial(events_from_file, option=_PLANNED_EVENTS)},
}
REPORT_SIZE_OPTIONS = tuple(
    dataclasses.replace(option, **_OTHERWISE_NAMED.get(option.field, {}))
    for option in SIZE_OPTIONS
    if option.field not in {other.field for other in ALL_OPTIONS}
)
"""Those that a report takes beside the options of plan and groups, which have some of the same names."""

ShapesFile = Annotated[
    Path | None,
    typer.Option(
        "--shapes-file",
        exists=True,
        dir_okay=False,
        metavar="SHAPES.json",
        help="Shapes and prices of your own, in the form of the shipped catalogue; they take the place of shipped "
        "ones of the same name.",
    ),
]
CpuSamples = Annotated[
    Path | None,
    typer.Option(
        "--cpu-samples",
        exists=True,
        dir_okay=False,
        metavar="SAMPLES.csv",
        help="What your brokers use: the columns cores_used, leader_in_bytes_per_second, "
        "follower_in_bytes_per_second and out_bytes_per_second, one row a broker and moment. Fitted and used "
        "where they explain enough; the output says so.",
    ),
]
