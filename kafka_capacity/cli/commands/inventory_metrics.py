"""``kafka-capacity inventory metrics``: add rates to a snapshot, from Prometheus or from files."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kafka_capacity.cli.commands.inventory import inventory, write_inventory
from kafka_capacity.cli.console import progress_bar, say
from kafka_capacity.cli.options import AsJson, KeptFormat, Quiet, file_option, option, takes_snapshot
from kafka_capacity.errors import RequestError, SourceError

if TYPE_CHECKING:
    from kafka_capacity.inventory.raw import RawInventory

SECRETS_IN_ENVIRONMENT = {
    "KAFKA_CAPACITY_PROMETHEUS_USERNAME": "username",
    "KAFKA_CAPACITY_PROMETHEUS_PASSWORD": "password",
    "KAFKA_CAPACITY_PROMETHEUS_TOKEN": "token",
}

Pairs = list[str] | None
Files = Annotated[
    str | None,
    option(
        "--files PATH", "Parquet or CSV with the columns of the table metrics: a file, a folder, or an s3:// address."
    ),
]
Server = Annotated[
    str | None,
    option(
        "--prometheus URL",
        "A server with Prometheus' HTTP API, such as http://prometheus:9090. Set secrets in the environment: "
        f"{', '.join(SECRETS_IN_ENVIRONMENT)}.",
    ),
]
Dialects = Annotated[
    Pairs,
    option(
        "--dialect NAME",
        "Whose metric names to look for, best first: jmx, kminion, kafka_exporter or clients. May be repeated. "
        "Default: all of them.",
    ),
]
Labels = Annotated[
    Pairs, option("--label NAME=VALUE", "A label that every series of this cluster has. May be repeated.")
]
OwnMetrics = Annotated[
    Pairs,
    option(
        "--name QUANTITY=METRIC",
        "Your own metric, such as topic_bytes_in=my_rule; docs/metrics.md lists the quantities.",
    ),
]
BrokerLabel = Annotated[
    str | None, option("--broker-label LABEL", "The label with the broker's id, host or pod. Default: detected.")
]
Headers = Annotated[
    Pairs, option("--header NAME=VALUE", "A header to send with every request, such as X-Scope-OrgID=tenant.")
]
Days = Annotated[
    int | None,
    option(
        "--days",
        "How many days, up to the day of the snapshot. Default: 90 of files, 14 of a server.",
        min=1,
        max=366,
    ),
]
CaFile = Annotated[Path | None, file_option("--ca-file CA.pem", "CA file for an https:// server.")]


@inventory.command("metrics")
@takes_snapshot()
def metrics(
    snapshot: str,
    files: Files = None,
    prometheus: Server = None,
    dialect: Dialects = None,
    label: Labels = None,
    name: OwnMetrics = None,
    broker_label: BrokerLabel = None,
    header: Headers = None,
    ca_file: CaFile = None,
    timeout_seconds: Annotated[float, option("--timeout-seconds", "Timeout of one request to the server.")] = 60.0,
    days: Days = None,
    out: Annotated[str | None, option("--out DIR", "Where to write. Default: into the snapshot itself.")] = None,
    file_format: KeptFormat = None,
    is_json: AsJson = False,
    is_quiet: Quiet = False,
) -> None:
    """Add the rates of partitions and the processors of brokers to a snapshot; hours that it has are replaced."""
    from kafka_capacity.inventory.files import formats_of, read_snapshot_files
    from kafka_capacity.inventory.metrics_files import REMARKS

    formats = file_format or formats_of(out or snapshot)
    with progress_bar(is_quiet=is_quiet or is_json) as begin:
        if files is not None and prometheus is None:
            of_server: dict[str, object] = {"--dialect": dialect, "--label": label, "--name": name, "--header": header}
            of_server |= {"--broker-label": broker_label, "--ca-file": ca_file}
            if idle := [one for one, value in of_server.items() if value]:
                raise RequestError(f"{', '.join(idle)}: no effect on --files; leave out, or give --prometheus instead")
            found = _from_files(read_snapshot_files(snapshot), files, days)
        elif prometheus is not None and files is None:
            given = {
                "dialects": tuple(dialect) if dialect else None,
                "labels": _pairs("--label", label),
                "names": _pairs("--name", name),
                "broker_label": broker_label,
                "days": days,
            }
            settings = prometheus_settings({key: value for key, value in given.items() if value})
            connection = {
                "url": prometheus,
                "headers": _pairs("--header", header),
                "ca_file": ca_file,
                "timeout_seconds": timeout_seconds,
            }
            found = _from_prometheus(read_snapshot_files(snapshot), connection, settings, begin)
        else:
            raise RequestError("--files, --prometheus: give exactly one of the two")
    write_inventory(found, out or snapshot, formats, is_json=is_json, is_quiet=is_quiet)
    for remark in found.remarks:
        if remark.code in REMARKS:
            say(remark.message, is_quiet=is_quiet or is_json)
    hours, brokers = len(found.table("metrics")), len(found.table("broker_metrics"))
    say(f"it has {hours:,} partition-hours and {brokers:,} broker-hours", is_quiet=is_quiet or is_json)


def _end_of(raw: RawInventory) -> int:
    import datetime

    from kafka_capacity.inventory.prometheus import window_end

    return window_end(raw.ds, datetime.datetime.now(datetime.UTC))


def _pairs(option: str, given: Pairs) -> dict[str, str]:
    found = {}
    for one in given or ():
        key, equals, value = one.partition("=")
        if not equals or not key:
            # The value is not shown: it may be a secret.
            raise RequestError(f"{option}: {key!r} has no '='; write NAME=VALUE")
        found[key] = value
    return found


def prometheus_settings(given: dict[str, Any]) -> Any:
    """Parse what to ask for; :class:`RequestError` names what is wrong."""
    from pydantic import ValidationError

    from kafka_capacity.inventory.prometheus_connection import PrometheusSettings
    from kafka_capacity.text.validation_errors import describe_mistakes

    try:
        return PrometheusSettings(**given)
    except ValidationError as error:
        raise RequestError("\n".join(map(_with_options, describe_mistakes(error)))) from None


def _with_options(mistake: str) -> str:
    """Name the option that a field comes from, as it was typed."""
    for field, name in {"dialects": "--dialect", "names": "--name", "labels": "--label"}.items():
        mistake = re.sub(rf"^{field}\b(\.\S+)?", name, mistake)
    return mistake.replace("broker_label", "--broker-label", 1)


def _from_files(raw: RawInventory, files: str, days: int | None) -> RawInventory:
    from kafka_capacity.inventory.metrics_files import split_address, with_metrics_files
    from kafka_capacity.inventory.prometheus_connection import FILES_DAYS
    from kafka_capacity.objects.store import open_store

    folder, name = split_address(files)
    if "://" not in folder and not Path(folder).is_dir():
        raise RequestError(f"--files: {folder} is no folder; give a .parquet or .csv file, or a folder of them")
    return with_metrics_files(raw, open_store(folder), name=name, end=_end_of(raw), days=days or FILES_DAYS)


def _from_prometheus(raw: RawInventory, connection: dict[str, Any], settings: Any, begin: Any) -> RawInventory:
    from kafka_capacity.inventory.metrics_files import PROMETHEUS_FAILED
    from kafka_capacity.inventory.prometheus import with_prometheus
    from kafka_capacity.inventory.prometheus_connection import PrometheusConnection

    secrets = {key: os.environ[name] for name, key in SECRETS_IN_ENVIRONMENT.items() if os.environ.get(name)}
    server = PrometheusConnection.of(**connection, **secrets)
    found = with_prometheus(raw, server, settings, end=_end_of(raw), progress=begin)
    failure = next((remark for remark in found.remarks if remark.code == PROMETHEUS_FAILED), None)
    if failure is not None:
        # Who sits before it can fix it now; only a run at night goes on with less.
        raise SourceError(failure.message)
    return found
