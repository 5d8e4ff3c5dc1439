"""Tell Airflow what a task reads and writes, for whoever keeps lineage: OpenLineage's provider, where it is installed.

A dataset is what is stored of one kind of one cluster, whatever the day, so that it has one name from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence

from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from airflow.sdk.lineage import get_hook_lineage_collector

from kafka_capacity.objects.keys import Kind, cluster_prefix
from kafka_capacity_airflow.settings import AWS_CONN_ID, store_uri


def record_lineage(cluster: str, *, read: Sequence[Kind] = (), written: Sequence[Kind] = ()) -> None:
    """Record what was read and written of a cluster; does nothing where nobody keeps it."""
    root = store_uri().rstrip("/").replace("s3a://", "s3://", 1)
    collector, hook = get_hook_lineage_collector(), S3Hook(aws_conn_id=AWS_CONN_ID)
    for kinds, add in ((read, collector.add_input_asset), (written, collector.add_output_asset)):
        for kind in kinds:
            add(context=hook, uri=f"{root}/{cluster_prefix(kind, cluster).rstrip('/')}")
