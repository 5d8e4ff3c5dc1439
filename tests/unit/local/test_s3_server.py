"""The embedded S3 endpoint keeps its objects between runs, whatever their keys."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx

from local.s3_server import BUCKET, LocalS3, file_of

KEYS = ["a.txt", "cluster=x/ds=2026-11-15/a b%2Fc.json", "dots/../../up.txt", "ünï/©.txt", "plus+and&more=1.txt"]


def test_an_object_is_a_file_while_the_server_runs(tmp_path):
    with LocalS3(tmp_path) as s3:
        s3.client().put_object(Bucket=BUCKET, Key="reports/index.html", Body=b"<p>")
        assert (tmp_path / BUCKET / "reports" / "index.html").read_bytes() == b"<p>"


def test_no_key_leaves_the_folder(tmp_path):
    for key in KEYS:
        assert tmp_path / BUCKET in file_of(tmp_path, BUCKET, key).resolve().parents


def test_another_process_finds_every_object_again(tmp_path):
    def run(code):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", f"{start}{code}", str(tmp_path), *KEYS],
            cwd=Path(__file__).resolve().parents[3],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    start = (
        "import sys; from pathlib import Path; from local.s3_server import *\n"
        "with LocalS3(Path(sys.argv[1])) as s:\n"
        "  for key in sys.argv[2:]:\n"
    )
    run("    s.client().put_object(Bucket=BUCKET, Key=key, Body=key.encode())")
    found = run("    print(ascii(s.client().get_object(Bucket=BUCKET, Key=key)['Body'].read().decode()))")
    assert found.splitlines() == [ascii(key) for key in KEYS]


def test_what_is_deleted_stays_deleted(tmp_path):
    with LocalS3(tmp_path) as s3:
        client = s3.client()
        for key in ("one", "two", "three"):
            client.put_object(Bucket=BUCKET, Key=key, Body=b"x")
        client.delete_object(Bucket=BUCKET, Key="one")
        client.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "two"}]})
    assert [path.name for path in (tmp_path / BUCKET).iterdir()] == ["three"]


def test_it_listens_on_loopback_only(tmp_path):
    with LocalS3(tmp_path) as s3:
        assert s3.endpoint.startswith("http://127.0.0.1:")


def test_a_browser_reads_reports_and_nothing_else(tmp_path):
    with LocalS3(tmp_path) as s3:
        for key in ("capacity/reports/cluster=x/index.html", "capacity/plans/cluster=x/manifest.json"):
            s3.client().put_object(Bucket=BUCKET, Key=key, Body=b"x")
        assert httpx.get(f"{s3.endpoint}/{BUCKET}/capacity/reports/cluster=x/index.html").text == "x"
        assert httpx.get(f"{s3.endpoint}/{BUCKET}/capacity/plans/cluster=x/manifest.json").status_code == 403
