"""Read a cluster by its setting: over the admin API, from snapshot files, or one of the examples; then its rates."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from typing import TYPE_CHECKING

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from kafka_capacity.errors import InventoryError, RequestError, SourceError
from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import read_snapshot_files
from kafka_capacity.inventory.metrics_files import PROMETHEUS_FAILED
from kafka_capacity_airflow.settings import CLUSTERS, ClusterSetting
from kafka_capacity_airflow.store import airflow_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from airflow.sdk import Connection

    from kafka_capacity.inventory.raw import RawInventory


LATE_HOURS = 6
"""So long after its end a day may still be read of a live cluster: a run that was due in it may have had to wait."""


def read_inventory(
    setting: ClusterSetting, *, ds: str, now: datetime.datetime, progress: Callable[[str], None]
) -> RawInventory:
    """Read one cluster, with the rates that a server or files of metrics know.

    A server of metrics that cannot be read is a warning in the inventory, which is given without new rates.

    It stands for the day ``ds``; snapshot files at one address for every day may be of an earlier one, and keep that.
    ``now`` has a time zone, and ``progress`` is told what has been read.

    Raises:
        InventoryError: the source could not be read, or is of another cluster or day.
        RequestError: the setting or the connection is incomplete, or a live cluster is asked for another day.
    """
    return _with_rates(_read_topology(setting, ds, now, progress), setting, now, progress)


def _read_topology(
    setting: ClusterSetting, ds: str, now: datetime.datetime, progress: Callable[[str], None]
) -> RawInventory:
    if setting.source == "example":
        return make_example(setting.name, ds=ds)
    if setting.source == "files":
        if not setting.uri:
            raise RequestError(f"cluster {setting.name!r}: a files source needs a uri; give the folder of its snapshot")
        raw = read_snapshot_files(airflow_store(setting.uri.replace("{ds}", ds)))
        if raw.cluster != setting.name:
            msg = f"the snapshot at {setting.uri} is of cluster {raw.cluster!r}, not {setting.name!r}; fix one of them"
            raise RequestError(msg)
        if raw.ds != ds and "{ds}" in setting.uri:
            msg = f"the snapshot at {setting.uri} for {ds} says that it is for {raw.ds}; write it again, or fix its day"
            raise InventoryError(msg)
        return raw
    _check_that_it_is_that_day(setting.name, ds, now)
    from kafka_capacity.inventory.kafka_admin import read_cluster
    from kafka_capacity.inventory.kafka_connection import KafkaConnection

    with _connection(setting.name, setting.connection_id) as found:
        connection = KafkaConnection.from_airflow_extra(found.extra_dejson)
        try:
            connection.ssl_context()
        except SourceError as error:  # no further try brings a file that is missing
            raise RequestError(str(error)) from error
        return read_cluster(connection, cluster=setting.name, ds=ds, progress=progress)


@contextlib.contextmanager
def _connection(cluster: str, conn_id: str) -> Iterator[Connection]:
    """Give an Airflow connection, and name it in each error that is about it, or met with it."""
    try:
        found = BaseHook.get_connection(conn_id)
    except AirflowNotFoundException as error:
        msg = f"cluster {cluster!r}: there is no Airflow connection {conn_id!r}; add it, or name another in {CLUSTERS}"
        raise RequestError(msg) from error
    try:
        yield found
    except (RequestError, SourceError) as error:
        kind = RequestError if isinstance(error, RequestError) else SourceError
        raise kind(f"{error} (cluster {cluster!r}, Airflow connection {conn_id!r})") from error


def _check_that_it_is_that_day(name: str, ds: str, now: datetime.datetime) -> None:
    """Refuse to read a live cluster, as it is now, for another day: that would falsify its history."""
    late = now - datetime.timedelta(hours=LATE_HOURS)
    today, still = (when.astimezone(datetime.UTC).date().isoformat() for when in (now, late))
    if ds not in {today, still}:
        raise RequestError(
            f"ds: {ds} is invalid: cluster {name!r} is read as it is now, on {today} (UTC); leave ds empty, or "
            "provide that day's snapshot as a files source"
        )


def _with_rates(
    raw: RawInventory, setting: ClusterSetting, now: datetime.datetime, progress: Callable[[str], None]
) -> RawInventory:
    from kafka_capacity.inventory.prometheus import window_end, with_prometheus
    from kafka_capacity.inventory.prometheus_connection import PrometheusConnection

    end = window_end(raw.ds, now)
    if setting.prometheus is not None:
        with _connection(setting.name, setting.prometheus_connection_id) as given:
            own = {name: getattr(given, name) for name in ("host", "schema", "port", "login", "password")}
            connection = PrometheusConnection.from_airflow(**own, extra=given.extra_dejson)
        found = with_prometheus(raw, connection, setting.prometheus, end=end, progress=progress)
        where = f" (Airflow connection {setting.prometheus_connection_id!r})"
        remarks = (
            dataclasses.replace(one, message=one.message + where) if one.code == PROMETHEUS_FAILED else one
            for one in found.remarks
        )
        return dataclasses.replace(found, remarks=tuple(remarks))
    if setting.metrics_uri is not None:
        from kafka_capacity.inventory.metrics_files import split_address, with_metrics_files

        folder, name = split_address(setting.metrics_uri.replace("{ds}", raw.ds))
        return with_metrics_files(raw, airflow_store(folder), name=name, end=end, days=setting.metrics_days)
    return raw
