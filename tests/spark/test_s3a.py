"""A profile of a history in a bucket that Spark reads by itself."""

from __future__ import annotations

import pytest

from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.load_profile import read_profile_manifest
from local.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, LocalS3
from tests.spark.conftest import run_job
from tests.spark.histories import DS, stage_history
from tests.spark.s3a_jars import JARS

pytestmark = [pytest.mark.spark, pytest.mark.s3a]

STORE = f"s3://{BUCKET}/capacity"
BY_ITSELF = "Spark reads the 9 history files itself"


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    """An S3 endpoint with a staged history, the store in it, and the inventory."""
    with LocalS3(tmp_path_factory.mktemp("s3")) as server:
        store = open_store(STORE, s3_client=server.client())
        raw, _ = stage_history(store)
        yield server, store, raw.cluster


@pytest.fixture(scope="module")
def expected(profiled_folder):
    """The manifest of the same profile, made in another run and from a folder."""
    store, raw, _ = profiled_folder
    return read_profile_manifest(store, raw.cluster, DS)


@pytest.fixture
def profiled(bucket, environment, bare_python, master, tmp_path):
    """Runs the job on the bucket, with what Airflow gives it; returns its log and the manifest of what it stored."""
    server, store, cluster = bucket

    def run(*settings):
        aws = {
            "AWS_ENDPOINT_URL_S3": server.endpoint,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        }
        job = ("load_profile", {**environment, **aws}, master, tmp_path, None, bare_python)
        done = run_job(*job, "--cluster", cluster, "--ds", DS, store_uri=STORE, settings=settings)
        assert done.returncode == 0, done.stderr[-6000:]
        return done.stdout + done.stderr, read_profile_manifest(store, cluster, DS)

    return run


def test_spark_reads_a_bucket_by_itself_and_finds_what_it_finds_in_a_folder(profiled, expected):
    log, found = profiled("--jars", ",".join(map(str, JARS.paths())))
    assert BY_ITSELF in log
    assert found.sha256 == expected.sha256
    assert found.tables == expected.tables
