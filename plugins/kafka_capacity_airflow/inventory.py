"""Read a cluster by its setting: over the admin API, from snapshot files, or one of the examples; then its rates."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from airflow.sdk import BaseHook

from kafka_capacity.errors import RequestError
from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import read_snapshot_files
from kafka_capacity_airflow.settings import ClusterSetting
from kafka_capacity_airflow.store import airflow_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafka_capacity.inventory.raw import RawInventory


def read_inventory(setting: ClusterSetting, *, ds: str, progress: Callable[[str], None]) -> RawInventory:
    """Read one cluster, with the rates that a server or files of metrics know.

    A server of metrics that cannot be read is a warning in the inventory, which is given without new rates.

    Args:
        setting: which, and how.
        ds: the day that the inventory stands for.
        progress: is told what has been read.

    Raises:
        InventoryError: the source could not be read, or is of another cluster or day.
        RequestError: the setting or the connection is incomplete.
    """
    return _with_rates(_read_topology(setting, ds, progress), setting, progress)


def _read_topology(setting: ClusterSetting, ds: str, progress: Callable[[str], None]) -> RawInventory:
    if setting.source == "example":
        return make_example(setting.name, ds=ds)
    if setting.source == "files":
        if not setting.uri:
            msg = f"cluster {setting.name!r}: a files source needs a uri; give the folder of its snapshot"
            raise RequestError(msg)
        raw = read_snapshot_files(airflow_store(setting.uri.replace("{ds}", ds)))
        if raw.cluster != setting.name:
            msg = f"the snapshot at {setting.uri} is of cluster {raw.cluster!r}, not {setting.name!r}; fix one of them"
            raise RequestError(msg)
        return raw
    from kafka_capacity.inventory.kafka_admin import read_cluster
    from kafka_capacity.inventory.kafka_connection import KafkaConnection

    connection = BaseHook.get_connection(setting.connection_id)
    return read_cluster(
        KafkaConnection.from_airflow_extra(connection.extra_dejson), cluster=setting.name, ds=ds, progress=progress
    )


def _with_rates(raw: RawInventory, setting: ClusterSetting, progress: Callable[[str], None]) -> RawInventory:
    from kafka_capacity.inventory.prometheus import window_end, with_prometheus
    from kafka_capacity.inventory.prometheus_connection import PrometheusConnection

    end = window_end(raw.ds, datetime.datetime.now(datetime.UTC))
    if setting.prometheus is not None:
        found = BaseHook.get_connection(setting.prometheus_connection_id)
        connection = PrometheusConnection.from_airflow(
            host=found.host,
            schema=found.schema,
            port=found.port,
            login=found.login,
            password=found.password,
            extra=found.extra_dejson,
        )
        return with_prometheus(raw, connection, setting.prometheus, end=end, progress=progress)
    if setting.metrics_uri is not None:
        from kafka_capacity.inventory.metrics_files import split_address, with_metrics_files

        folder, name = split_address(setting.metrics_uri.replace("{ds}", raw.ds))
        return with_metrics_files(raw, airflow_store(folder), name=name, end=end, days=setting.metrics_days)
    return raw
