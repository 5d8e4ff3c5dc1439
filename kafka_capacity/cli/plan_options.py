"""The options of a plan: the fields of the request model under the names that people type.

Defaults, limits and descriptions are the model's; the table below only says what each field is called here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kafka_capacity.errors import RequestError
from kafka_capacity.placement import Balance, RackRule
from kafka_capacity.request.plan_request import PlanRequest, parse_plan_request

OPTION_OF_FIELD = {
    "broker_counts": "--broker-counts",
    "new_broker_racks": "--new-broker-racks",
    "placers": "--placer",
    "replication_factor": "--replication-factor",
    "rack_rule": "--rack-rule",
    "balance": "--balance",
    "tolerance_ratio": "--tolerance",
    "disk_limit_ratio": "--disk-limit",
    "throttle_bytes_per_second": "--throttle",
    "seed": "--seed",
}


def request_option(field: str, *, metavar: str | None = None, more: str = "") -> Any:
    """Make the option of one field of the request; not given, the model's default holds."""
    described = PlanRequest.model_fields[field]
    text = f"{described.description or ''} {more}".strip()
    if described.default not in (None, ()):
        default = described.default
        shown = ", ".join(default) if isinstance(default, tuple) else f"{default}"
        text += f" Default: {shown}."
    return typer.Option(OPTION_OF_FIELD[field], metavar=metavar, help=text, show_default=False)


def request_of(cluster: str, ds: str, given: Mapping[str, Any]) -> PlanRequest:
    """Parse the options that were given, with the model that every plan is parsed with.

    Args:
        cluster: of the snapshot.
        ds: of the snapshot.
        given: fields of the request; ``None`` and empty ones were not given.

    Raises:
        RequestError: one line for each wrong option, under its name.
    """
    fields = {name: value for name, value in given.items() if value not in (None, [], ())}
    try:
        return parse_plan_request({"cluster": cluster, "ds": ds, **fields})
    except RequestError as error:
        raise RequestError(in_names_of_options(str(error))) from None


def in_names_of_options(text: str) -> str:
    """Say ``--throttle`` where a complaint begins with ``throttle_bytes_per_second``."""
    for field, option in OPTION_OF_FIELD.items():
        text = re.sub(rf"^{field}\b(\.\d+)?", option, text, flags=re.MULTILINE)
    return text


def split_counts(text: str | None) -> list[int | str]:
    """Split ``12,15``; what is no number is left for the model to refuse."""
    parts = split_names(text)
    return [int(part) if part.isascii() and part.isdecimal() else part for part in parts]


def split_names(text: str | None) -> list[str]:
    """Split ``a,b``."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


Snapshot = Annotated[str, typer.Option(metavar="DIR", help="The folder of a native snapshot, or an s3:// address.")]
BrokersFile = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        metavar="B2.json",
        help='The whole list of brokers wanted, [{"id": 1, "rack": "a"}, …] with optional disk_capacity_bytes and '
        "network_in/out_bytes_per_second: one that is not listed is removed, one that is new does not exist yet. "
        "What is left out stays as observed; a new broker has the median capacities. Instead of --broker-counts.",
    ),
]
BrokerCounts = Annotated[str | None, request_option("broker_counts", metavar="N,…")]
NewBrokerRacks = Annotated[
    str | None, request_option("new_broker_racks", metavar="RACK,…", more="Here with commas between them.")
]
Placers = Annotated[list[str] | None, request_option("placers", metavar="NAME", more="May be repeated.")]
Throttle = Annotated[float | None, request_option("throttle_bytes_per_second", metavar="BYTES/S")]
ReplicationFactor = Annotated[int | None, request_option("replication_factor")]
WantedRackRule = Annotated[RackRule | None, request_option("rack_rule")]
WantedBalance = Annotated[Balance | None, request_option("balance")]
Tolerance = Annotated[float | None, request_option("tolerance_ratio", metavar="RATIO")]
DiskLimit = Annotated[float | None, request_option("disk_limit_ratio", metavar="RATIO")]
Seed = Annotated[int | None, request_option("seed")]


def given_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of the request among a command's arguments, under the model's names."""
    return {
        "broker_counts": split_counts(options["broker_counts"]),
        "new_broker_racks": split_names(options["new_broker_racks"]),
        "placers": options["placers"],
        "throttle_bytes_per_second": options["throttle"],
        "replication_factor": options["replication_factor"],
        "rack_rule": options["rack_rule"],
        "balance": options["balance"],
        "tolerance_ratio": options["tolerance"],
        "disk_limit_ratio": options["disk_limit"],
        "seed": options["seed"],
    }
