"""What runs inside the images besides Airflow and Spark."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.docker.files import DOCKER, load_script

has_heartbeat = load_script("has_heartbeat").has_heartbeat
make_bucket = load_script("make_bucket")
with_passwords = load_script("with_passwords")


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "BUCKET": "kafka-capacity",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    with mock_aws():
        yield boto3.client("s3")


def test_the_bucket_is_made_and_can_be_made_again(client: Any) -> None:
    make_bucket.main()
    make_bucket.main()
    assert [bucket["Name"] for bucket in client.list_buckets()["Buckets"]] == ["kafka-capacity"]


def test_the_command_runs_with_the_file_and_without_the_password(tmp_path: Path) -> None:
    path = tmp_path / "passwords.json"
    path.write_text('{"planner": "an older one"}', encoding="utf-8")
    environment = {
        "AIRFLOW_USER": "planner",
        "AIRFLOW_PASSWORD": 'quite "long" enough',
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(path),
    }
    show = "import os, sys; print(sys.argv[1:], sorted(name for name in os.environ if name.startswith('AIRFLOW')))"
    command = [sys.executable, str(DOCKER / "with_passwords.py"), sys.executable, "-c", show, "api-server"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, timeout=600)
    assert done.stdout == "['api-server'] ['AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE']\n"
    assert json.loads(path.read_text(encoding="utf-8")) == {"planner": 'quite "long" enough'}
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_part_has_a_heartbeat_where_the_api_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"dag_processor": {"status": "healthy"}, "triggerer": {"status": "unhealthy"}}
    asked = []

    def answer(address: str, timeout: float) -> io.BytesIO:
        asked.append(address)
        return io.BytesIO(json.dumps(told).encode())

    monkeypatch.setattr("urllib.request.urlopen", answer)
    assert has_heartbeat("dag_processor", "http://airflow-api-server:8080")
    assert not has_heartbeat("triggerer", "http://airflow-api-server:8080")
    assert set(asked) == {"http://airflow-api-server:8080/api/v2/monitor/health"}


def test_a_short_password_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^AIRFLOW_PASSWORD has 5 characters; take 12 or more$"):
        with_passwords.write_passwords(tmp_path / "passwords.json", "admin", "admin")
    assert list(tmp_path.iterdir()) == []
