"""Make the bucket that everything is stored in.

    BUCKET=kafka-capacity python make_bucket.py

Endpoint and credentials are those of the usual AWS variables. Safe to run again.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

import boto3

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

log = logging.getLogger("make_bucket")


def main() -> None:
    """Make the bucket unless we have it."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    bucket = os.environ["BUCKET"]
    client: S3Client = boto3.client("s3")
    try:
        client.create_bucket(Bucket=bucket)
        log.info("made bucket %s", bucket)
    except client.exceptions.BucketAlreadyOwnedByYou:
        log.info("bucket %s is there", bucket)


if __name__ == "__main__":
    main()
