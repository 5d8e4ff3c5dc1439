"""Read a cluster by its setting: over the admin API, from snapshot files, or one of the examples."""

from __future__ import annotations

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
    """Read one cluster.

    Args:
        setting: which, and how.
        ds: the day that the inventory stands for.
        progress: is told what has been read.

    Raises:
        InventoryError: the source could not be read, or is of another cluster or day.
        RequestError: the setting or the connection is incomplete.
    """
    if setting.source == "example":
        return make_example(setting.name, ds=ds)
    if setting.source == "files":
        if not setting.uri:
            msg = f"cluster {setting.name!r}: a files source needs a uri; give the folder of its snapshot"
            raise RequestError(msg)
        raw = read_snapshot_files(airflow_store(setting.uri.replace("{ds}", ds)))
        if raw.cluster != setting.name:
            msg = f"the snapshot at {setting.uri} is of cluster {raw.cluster!r}, not {setting.name!r}; mend one of them"
            raise RequestError(msg)
        return raw
    from kafka_capacity.inventory.kafka_admin import read_cluster
    from kafka_capacity.inventory.kafka_connection import KafkaConnection

    connection = BaseHook.get_connection(setting.connection_id)
    return read_cluster(
        KafkaConnection.from_airflow_extra(connection.extra_dejson), cluster=setting.name, ds=ds, progress=progress
    )
