"""Make the bucket that everything is stored in, and let browsers open reports where that is asked for.

    BUCKET=kafka-capacity PREFIX=capacity REPORTS_WITHOUT_SIGN_IN=yes python make_bucket.py

Endpoint and credentials are those of the usual AWS variables. Safe to run again.
"""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING, Any

import boto3

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

log = logging.getLogger("make_bucket")


def reports_policy(bucket: str, prefix: str) -> dict[str, Any]:
    """Give the policy by which anyone who reaches the endpoint may read reports, and nothing else."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "ReadReports",
                "Effect": "Allow",
                "Principal": "*",
                "Action": ["s3:GetObject"],
                "Resource": [f"arn:aws:s3:::{bucket}/{prefix}/reports/*"],
            }
        ],
    }


def make_bucket(client: S3Client, bucket: str) -> None:
    """Make the bucket unless we have it."""
    try:
        client.create_bucket(Bucket=bucket)
        log.info("made bucket %s", bucket)
    except client.exceptions.BucketAlreadyOwnedByYou:
        log.info("bucket %s is there", bucket)


def set_report_access(client: S3Client, bucket: str, prefix: str, *, is_public: bool) -> None:
    """Set or remove the policy for reports."""
    if is_public:
        client.put_bucket_policy(Bucket=bucket, Policy=json.dumps(reports_policy(bucket, prefix)))
        log.info("reports below %s/%s can be read without signing in", bucket, prefix)
    else:
        client.delete_bucket_policy(Bucket=bucket)
        log.info("nothing in %s can be read without signing in", bucket)


def main() -> None:
    """Do both, as the environment says."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    bucket, prefix = os.environ["BUCKET"], os.environ["PREFIX"]
    wish = os.environ["REPORTS_WITHOUT_SIGN_IN"].strip().lower()
    if wish not in {"yes", "no"}:
        msg = f"REPORTS_WITHOUT_SIGN_IN is {wish!r}; write yes or no"
        raise ValueError(msg)
    client: S3Client = boto3.client("s3")
    make_bucket(client, bucket)
    set_report_access(client, bucket, prefix, is_public=wish == "yes")


if __name__ == "__main__":
    main()
