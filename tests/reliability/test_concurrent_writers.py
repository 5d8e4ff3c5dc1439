"""Several writers of one dataset begin at the same moment: each reports success, and what stands is one version."""

import shutil

import pytest

from kafka_capacity.objects.store import LocalStore, S3Store
from local.s3_server import BUCKET, LocalS3
from tests.reliability.writers import KINDS, at_once

WRITERS, ROUNDS = 6, 2
"""The long form has 24 and 20: ``make reliability``."""


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    with LocalS3(tmp_path_factory.mktemp("s3")) as endpoint:
        yield endpoint


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_folder(kind, tmp_path):
    write, check = KINDS[kind]
    for _ in range(ROUNDS):
        assert at_once([LocalStore(tmp_path / "store") for _ in range(WRITERS)], write) == []
        check(LocalStore(tmp_path / "store"), WRITERS)
        shutil.rmtree(tmp_path / "store")


@pytest.mark.parametrize("kind", KINDS)
def test_in_s3(kind, s3):
    write, check = KINDS[kind]
    client = s3.client()
    for number in range(ROUNDS):
        prefix = f"{kind}/{number}"
        assert at_once([S3Store(BUCKET, prefix, client) for _ in range(WRITERS)], write) == []
        check(S3Store(BUCKET, prefix, client), WRITERS)
