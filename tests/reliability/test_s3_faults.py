"""Broken answers of S3: a run ends with the same bytes as without them."""

from collections import Counter

import pytest

from kafka_capacity.objects.store import S3Store
from local.s3_server import BUCKET, LocalS3
from tests.reliability.s3_runs import contents, run, run_with_faults


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    with LocalS3(tmp_path_factory.mktemp("s3")) as endpoint:
        yield endpoint


@pytest.mark.parametrize("ratio", [0.15, 0.4])
def test_a_run_ends_with_the_same_bytes(s3, ratio):
    """The long form, ``make reliability``, goes up to 50 % and through whole plans."""
    run(S3Store(BUCKET, f"plain-{ratio}", s3.client()), Counter(), is_whole_run=False)
    made = run_with_faults(s3, f"faulty-{ratio}", ratio=ratio, seed=int(100 * ratio), is_whole_run=False)

    assert sum(made.values()) > made["answers"] > 20
    assert contents(s3, f"faulty-{ratio}") == contents(s3, f"plain-{ratio}")
