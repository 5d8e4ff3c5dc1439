"""The store behind the Airflow connection."""

from __future__ import annotations

from urllib.parse import urlsplit

from airflow.providers.amazon.aws.hooks.s3 import S3Hook

from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity_airflow.settings import AWS_CONN_ID, store_uri


def airflow_store(uri: str | None = None) -> ObjectStore:
    """Open the deployment's store, or another address with the same connection.

    S3 is reached through the S3 hook: the connection's credentials, role, region and endpoint count, and without any
    of them the usual AWS chain.
    """
    address = uri or store_uri()
    client = S3Hook(aws_conn_id=AWS_CONN_ID).get_conn() if urlsplit(address).scheme in {"s3", "s3a"} else None
    return open_store(address, s3_client=client)
