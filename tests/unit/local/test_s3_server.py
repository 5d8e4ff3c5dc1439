"""The embedded S3 endpoint keeps its objects between runs, whatever their keys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

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


def test_another_process_finds_objects_as_old_as_they_are(tmp_path):
    with LocalS3(tmp_path) as s3:
        s3.client().put_object(Bucket=BUCKET, Key="old", Body=b"1")
        s3.client().put_object(Bucket=BUCKET, Key="new", Body=b"2")
    os.utime(tmp_path / BUCKET / "old", (1.7e9, 1.7e9))
    with LocalS3(tmp_path) as s3:
        listed = {item["Key"]: item["LastModified"] for item in s3.client().list_objects_v2(Bucket=BUCKET)["Contents"]}
    assert listed["old"].timestamp() == 1.7e9
    assert listed["new"] > listed["old"]


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


REPORT = "capacity/reports/cluster=x/index.html"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
)
def test_what_a_page_of_another_origin_sends_is_refused(tmp_path, headers):
    with LocalS3(tmp_path) as s3:
        s3.client().put_object(Bucket=BUCKET, Key=REPORT, Body=b"ours")
        port = s3.endpoint.rpartition(":")[2]
        headers = {name: value.format(port=port) for name, value in headers.items()}
        for method in ("OPTIONS", "GET", "HEAD", "PUT", "POST", "DELETE"):
            answer = httpx.request(method, f"{s3.endpoint}/{BUCKET}/{REPORT}", headers=headers, content=b"theirs")
            assert answer.status_code == 403, method
            assert not any(name.startswith("access-control") for name in answer.headers), method
            assert "ours" not in answer.text
        assert (tmp_path / BUCKET / REPORT).read_bytes() == b"ours"


def test_a_link_to_a_report_can_be_followed_and_no_page_is_let_in_by_a_header(tmp_path):
    from_a_mail = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    with LocalS3(tmp_path) as s3:
        s3.client().put_object(Bucket=BUCKET, Key=REPORT, Body=b"ours")
        for address in (s3.endpoint, s3.endpoint.replace("127.0.0.1", "localhost")):
            answer = httpx.get(f"{address}/{BUCKET}/{REPORT}", headers=from_a_mail)
            assert answer.text == "ours"
            assert not any(name.startswith("access-control") for name in answer.headers)
        assert httpx.post(f"{s3.endpoint}/{BUCKET}/{REPORT}", headers=from_a_mail).status_code == 403


@pytest.mark.parametrize("path", ["moto-api/reset", "moto-api/data.json", "moto-api/", "latest/meta-data/a"])
def test_it_answers_nothing_but_s3(tmp_path, path):
    with LocalS3(tmp_path) as s3:
        s3.client().put_object(Bucket=BUCKET, Key="kept", Body=b"x")
        for method in ("GET", "POST"):
            assert httpx.request(method, f"{s3.endpoint}/{path}").status_code >= 400, method
        assert s3.client().get_object(Bucket=BUCKET, Key="kept")["Body"].read() == b"x"


ON_A_FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from botocore.exceptions import ClientError
from local.s3_server import *

def end(write):
    try:
        write()
    except ClientError as error:
        print(error.response["Error"]["Code"])

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
with LocalS3(Path(sys.argv[1])) as s3:
    client = s3.client()
    print(len(client.get_object(Bucket=BUCKET, Key="large")["Body"].read()))
    end(lambda: client.put_object(Bucket=BUCKET, Key="large", Body=b"x"))
    end(lambda: client.put_object(Bucket=BUCKET, Key="new", Body=b"x"))
    print(len(client.get_object(Bucket=BUCKET, Key="large")["Body"].read()))
    print([one["Key"] for one in client.list_objects_v2(Bucket=BUCKET)["Contents"]])
"""


def test_on_a_full_disk_it_starts_and_takes_back_what_it_cannot_keep(tmp_path):
    (tmp_path / BUCKET).mkdir()
    (tmp_path / BUCKET / "large").write_bytes(bytes(6_000_000))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ON_A_FULL_DISK, str(tmp_path)],
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
    )
    refused = "InsufficientStorage"
    assert done.stdout.split("\n")[:-1] == ["6000000", refused, refused, "6000000", "['large']"], done.stderr
    assert [path.name for path in (tmp_path / BUCKET).iterdir()] == ["large"]
