"""Runs over an S3 whose answers are broken, with the tries that Airflow gives each task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import boto3

from kafka_capacity.errors import StorageError
from kafka_capacity.objects.store import ObjectStore, S3Store
from local.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, LocalS3
from tests.reliability.faulty_s3 import FaultyS3
from tests.reliability.kills import inventory_phase, phases

TRIES = 3
"""Of a task: the first and two more."""


def _client(endpoint: str) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
    )


def _tried(task: Callable[[], Any], counts: Counter[str]) -> Any:
    for number in range(TRIES):
        try:
            return task()
        except StorageError:
            counts["tries again"] += 1
            if number == TRIES - 1:
                raise
    raise AssertionError


def run(store: ObjectStore, counts: Counter[str], *, is_whole_run: bool) -> None:
    """Do what the tasks of a run do, each tried again as Airflow would."""
    pinned = _tried(lambda: inventory_phase(store), counts)
    for name, phase in phases(pinned).items():
        if is_whole_run and name != "stage, history, pin":
            _tried(lambda phase=phase: phase(store), counts)


def contents(s3: LocalS3, prefix: str) -> dict[str, bytes]:
    """Return what stands below a prefix, read without faults."""
    store = S3Store(BUCKET, prefix, s3.client())
    return {key: store.read_bytes(key) for key in store.list_objects("")}


def run_with_faults(s3: LocalS3, prefix: str, *, ratio: float, seed: int, is_whole_run: bool) -> Counter[str]:
    """Run once with broken answers; returns how many there were of each kind, and what was tried again."""
    with FaultyS3(s3.endpoint, ratio=ratio, seed=seed) as faulty:
        run(S3Store(BUCKET, prefix, _client(faulty.endpoint)), faulty.made, is_whole_run=is_whole_run)
        return faulty.made
