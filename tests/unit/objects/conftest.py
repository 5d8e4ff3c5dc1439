"""The same contract for objects in a folder and in S3."""

import boto3
import pytest
from moto import mock_aws

from kafka_capacity.objects.store import LocalStore, S3Store


@pytest.fixture(scope="session")
def client_of_s3():
    """A client for whichever S3 is made up at the time; to make one takes longer than most tests with it."""
    with pytest.MonkeyPatch.context() as patch:
        use_made_up_s3(patch)
        return boto3.client("s3", region_name="us-east-1")


def use_made_up_s3(patch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        patch.setenv(name, "testing")
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"):
        patch.delenv(name, raising=False)


@pytest.fixture
def s3_client(monkeypatch, client_of_s3):
    use_made_up_s3(monkeypatch)
    with mock_aws():
        client_of_s3.create_bucket(Bucket="planning")
        yield client_of_s3


@pytest.fixture(params=["local", "s3"])
def store(request, tmp_path):
    if request.param == "local":
        return LocalStore(tmp_path / "objects")
    return S3Store("planning", "team/kafka", request.getfixturevalue("s3_client"))
