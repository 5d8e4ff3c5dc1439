"""``kafka-capacity inventory``: export a live cluster, import what Kafka's tools print, check a snapshot."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafka_capacity.cli.app import EXIT_FATAL_FINDINGS, Application, app
from kafka_capacity.cli.console import print_answer, print_json, print_problem_rows, progress_bar, say
from kafka_capacity.cli.options import (
    AsJson,
    ClusterName,
    Day,
    NeededFolder,
    Quiet,
    SnapshotFormat,
    day_or_today,
    file_option,
    option,
    takes_snapshot,
)
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.errors import RequestError
from kafka_capacity.text import plural

if TYPE_CHECKING:
    from kafka_capacity.health.problem import Problems
    from kafka_capacity.inventory.kafka_connection import KafkaConnection
    from kafka_capacity.inventory.raw import RawInventory

SECRETS_IN_ENVIRONMENT = {
    "KAFKA_CAPACITY_SASL_USERNAME": "sasl.username",
    "KAFKA_CAPACITY_SASL_PASSWORD": "sasl.password",
    "KAFKA_CAPACITY_SSL_KEY_PASSWORD": "ssl.key.password",
}
"""What need not stand in a file; a value in the file wins."""

Servers = Annotated[str | None, option("--bootstrap-servers HOST:PORT,…", "One or more brokers of the cluster.")]
Config = Annotated[
    Path | None,
    file_option(
        "--config FILE.json",
        "Additional client settings, as in the extra of an Airflow Kafka connection: security.protocol, "
        "sasl.mechanism, ssl.ca.location and so on. Secrets can be set in the environment instead, as "
        f"{', '.join(SECRETS_IN_ENVIRONMENT)}.",
    ),
]
Patterns = Annotated[
    list[str] | None, option("--topic PATTERN", "Topics to sample, such as clicks.*. Default: all but Kafka's own.")
]

inventory = Application(help="Export, import and check inventories (native snapshots).")
app.add_typer(inventory, name="inventory")


def connection_settings(bootstrap_servers: str | None, config: Path | None, environment: dict[str, str]) -> Any:
    """Put together how to reach a cluster, in the keys of an Airflow connection's extra.

    Args:
        bootstrap_servers: ``host:port,…``; they win over those of the file.
        config: a JSON file of an object with such keys.
        environment: for the secrets of :data:`SECRETS_IN_ENVIRONMENT` that the file does not have.

    Raises:
        RequestError: the file holds no JSON object, or nobody names a server.
    """
    settings: dict[str, Any] = {}
    if config is not None:
        try:
            settings = json.loads(config.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            # The text is not shown: it may hold secrets.
            raise RequestError(f"--config: {config} is not JSON; fix it") from None
        if not isinstance(settings, dict):
            raise RequestError(
                f'--config: {config} is not a JSON object; write {{"bootstrap.servers": "host:9092", …}}'
            )
    for variable, key in SECRETS_IN_ENVIRONMENT.items():
        if environment.get(variable):
            settings.setdefault(key, environment[variable])
    if bootstrap_servers:
        settings.pop("metadata.broker.list", None)
        settings["bootstrap.servers"] = bootstrap_servers
    if not {"bootstrap.servers", "metadata.broker.list"} & set(settings):
        msg = "--bootstrap-servers: is required; give host:port of one or more brokers, here or in --config"
        raise RequestError(msg)
    return settings


@inventory.command("export")
def export(
    cluster: ClusterName,
    out: NeededFolder,
    bootstrap_servers: Servers = None,
    config: Config = None,
    ds: Day = None,
    file_format: SnapshotFormat = "parquet",
    is_json: AsJson = False,
    is_quiet: Quiet = False,
) -> None:
    """Read a live cluster over Kafka's admin protocol and write it as a native snapshot."""
    from kafka_capacity.inventory.kafka_admin import read_cluster

    day = day_or_today(ds)
    connection = _connection(bootstrap_servers, config)
    with progress_bar(is_quiet=is_quiet or is_json) as begin:
        begin(f"reading {cluster}")
        raw = read_cluster(connection, cluster=cluster, ds=day, progress=begin)
    write_inventory(raw, out, file_format, is_json=is_json, is_quiet=is_quiet)


def _connection(bootstrap_servers: str | None, config: Path | None) -> KafkaConnection:
    import os

    from kafka_capacity.inventory.kafka_connection import KafkaConnection

    return KafkaConnection.from_airflow_extra(connection_settings(bootstrap_servers, config, dict(os.environ)))


@inventory.command("compression")
def compression(
    bootstrap_servers: Servers = None,
    config: Config = None,
    patterns: Patterns = None,
    is_json: AsJson = False,
    is_quiet: Quiet = False,
) -> None:
    """Measure what compression would make of the records of a live cluster: batches sampled and compressed again.

    Reads some batches of each topic from its leaders (at most 2.3 MB a topic), and changes nothing. What is printed
    last is for kafka-capacity savings.
    """
    from kafka_capacity.cli.sampled_records import compression_document, print_samples
    from kafka_capacity.inventory.compression import sample_compression

    connection = _connection(bootstrap_servers, config)
    with progress_bar(is_quiet=is_quiet or is_json) as begin:
        samples = sample_compression(connection, patterns or (), progress=begin)
    if is_json:
        print_json(compression_document(samples))
    else:
        print_samples(samples, is_quiet=is_quiet)


@inventory.command("keys")
def keys(
    bootstrap_servers: Servers = None,
    config: Config = None,
    patterns: Patterns = None,
    is_json: AsJson = False,
    is_quiet: Quiet = False,
) -> None:
    """Measure how evenly the keys of a live cluster's topics fill partitions, and whether more partitions would help.

    Reads some batches of each topic from its leaders (at most 25 MB a topic), and changes nothing. Keys are printed:
    the largest one of topics that are uneven.
    """
    from kafka_capacity.cli.sampled_records import keys_document, print_skews
    from kafka_capacity.inventory.key_skew import sample_keys

    connection = _connection(bootstrap_servers, config)
    with progress_bar(is_quiet=is_quiet or is_json) as begin:
        skews = sample_keys(connection, patterns or (), progress=begin)
    if is_json:
        print_json(keys_document(skews))
    else:
        print_skews(skews, is_quiet=is_quiet)


@inventory.command("import")
def import_(
    assignment: Annotated[
        Path,
        file_option(
            "--assignment A.json",
            "The complete output of kafka-reassign-partitions --generate, or a reassignment file.",
        ),
    ],
    brokers: Annotated[
        Path,
        file_option(
            "--brokers B.json",
            'The brokers: a list of {"id", "rack"} with optional capacities, or Cruise Control\'s capacity.json.',
        ),
    ],
    cluster: ClusterName,
    out: NeededFolder,
    log_dirs: Annotated[
        Path | None,
        file_option("--log-dirs L.json", "The output of kafka-log-dirs --describe; without it sizes are unknown."),
    ] = None,
    capacity: Annotated[
        Path | None,
        file_option(
            "--capacity capacity.json",
            "Cruise Control's capacities, in addition to a list of brokers with their racks.",
        ),
    ] = None,
    ds: Day = None,
    file_format: SnapshotFormat = "parquet",
    is_json: AsJson = False,
    is_quiet: Quiet = False,
) -> None:
    """Turn what Kafka's own tools print into a native snapshot, without any access to the cluster."""
    from kafka_capacity.inventory.kafka_tools import read_kafka_tools

    raw = read_kafka_tools(
        cluster=cluster, ds=day_or_today(ds), assignment=assignment, brokers=brokers, log_dirs=log_dirs
    )
    if capacity is not None:
        raw = _with_capacities(raw, capacity)
    write_inventory(raw, out, file_format, is_json=is_json, is_quiet=is_quiet)


def _with_capacities(raw: RawInventory, file: Path) -> RawInventory:
    from kafka_capacity.inventory.brokers_file import parse_brokers_file
    from kafka_capacity.text.files import read_text_file

    found = parse_brokers_file(read_text_file(file), str(file)).capacities
    if found is None:
        raise RequestError(f"--capacity: {file} is not Cruise Control's capacity.json; pass a list with --brokers")
    merged = {
        "brokers": found.merge_into(raw.table("brokers")),
        "log_dirs": found.merge_into_dirs(raw.table("log_dirs")),
    }
    remarks = (*raw.remarks, *found.check_dirs(merged["log_dirs"]))
    return dataclasses.replace(raw, tables={**raw.tables, **merged}, remarks=remarks)


def write_inventory(
    raw: RawInventory,
    out: str,
    file_format: SnapshotFormat | Mapping[str, SnapshotFormat],
    *,
    is_json: bool = False,
    is_quiet: bool,
) -> None:
    """Write a snapshot, and say what is in it and whether something is wrong with it."""
    from kafka_capacity.inventory.files import write_snapshot_files
    from kafka_capacity.inventory.validation import inventory_problems

    write_snapshot_files(raw, out, file_format=file_format)
    findings = inventory_problems(raw)
    if is_json:
        print_json(snapshot_document(raw, out, findings))
        return
    counted = (("brokers", "broker"), ("topics", "topic"), ("replicas", "replica"))
    what = ", ".join(plural(len(raw.table(name)), one) for name, one in counted)
    say(f"wrote {what} to {out}", is_quiet=is_quiet)
    if findings.fatal or findings.warnings:
        say(
            f"{findings.summary}: run kafka-capacity inventory check {out} to list them",
            is_quiet=is_quiet and not findings.fatal,
        )


def snapshot_document(raw: RawInventory, address: str, findings: Problems) -> dict[str, Any]:
    """Return what a snapshot holds and what is wrong with it, as plain data."""
    from kafka_capacity.cli.documents import document_head

    return {
        **document_head(1, cluster=raw.cluster, ds=raw.ds),
        "address": address,
        **{name: len(raw.table(name)) for name in ("brokers", "topics", "replicas", "groups")},
        "partition_hours": len(raw.table("metrics")),
        "broker_hours": len(raw.table("broker_metrics")),
        "findings": findings.to_json(),
    }


@inventory.command("check")
@takes_snapshot()
def check(snapshot: str, is_json: AsJson = False, is_quiet: Quiet = False) -> None:
    """List everything that is wrong or odd about a snapshot. The exit status is 1 when planning is impossible."""
    from kafka_capacity.inventory.files import read_snapshot_files
    from kafka_capacity.inventory.validation import inventory_problems

    keep_pandas_out()
    raw = read_snapshot_files(snapshot)
    findings = inventory_problems(raw)
    if is_json:
        print_json(snapshot_document(raw, snapshot, findings))
    else:
        print_answer(
            f"{raw.cluster} on {raw.ds}: {findings.summary}",
            lambda: print_problem_rows("Findings", findings, has_codes=True) if len(findings) else None,
            is_quiet=is_quiet,
        )
    if findings.fatal:
        raise typer.Exit(EXIT_FATAL_FINDINGS)
