"""The store behind the Airflow connection."""

from __future__ import annotations

from urllib.parse import urlsplit

from airflow.providers.amazon.aws.hooks.s3 import S3Hook

from kafka_capacity.errors import RequestError
from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity_airflow.settings import AWS_CONN_ID, store_uri


def airflow_store(uri: str | None = None) -> ObjectStore:
    """Open the deployment's store, or another address with the same connection.

    S3 is reached through the S3 hook: the connection's credentials, role, region and endpoint count, and without any
    of them the usual AWS chain. Raises RequestError where the connection makes no client.
    """
    address = uri or store_uri()
    try:
        client = S3Hook(aws_conn_id=AWS_CONN_ID).get_conn() if urlsplit(address).scheme in {"s3", "s3a"} else None
    except ValueError as error:  # botocore's, of an endpoint or a region
        msg = f"Airflow connection {AWS_CONN_ID!r}: {error}; correct its extra (an endpoint_url is https://host:port)"
        raise RequestError(msg) from error
    return open_store(address, s3_client=client)
