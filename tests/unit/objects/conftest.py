"""The same contract for objects in a folder and in S3."""

import boto3
import pytest
from moto import mock_aws

from kafka_capacity.objects.store import LocalStore, S3Store


@pytest.fixture
def s3_client(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="planning")
        yield client


@pytest.fixture(params=["local", "s3"])
def store(request, tmp_path):
    if request.param == "local":
        return LocalStore(tmp_path / "objects")
    return S3Store("planning", "team/kafka", request.getfixturevalue("s3_client"))
