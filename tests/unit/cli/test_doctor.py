"""``kafka-capacity doctor``: what is wrong before anything fails."""

import json

import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import cluster, topic


@pytest.fixture
def single(tmp_path):
    """A folder with a topic of one replica."""
    folder = tmp_path / "single"
    write_snapshot_files(
        cluster(topics=[topic("audit", rf=1, min_insync_replicas=1), topic("orders")], hours=168), folder
    )
    return folder


def test_problems_and_remedies_are_shown(run, single, tmp_path):
    done = run("doctor", single, "--controllers", "1,4,2", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "payments on 2026-11-20: 2 serious, 1 warning" in done.stdout
    assert "raise the replication factor to 3" in done.stdout
    document = json.loads((tmp_path / "out" / "doctor.json").read_bytes())
    assert [one["code"] for one in document["problems"]] == ["single-replica", "controllers-share-rack", "rack-loss"]


def test_nothing_wrong_is_said_so(run, tmp_path):
    write_snapshot_files(cluster(hours=168), tmp_path)
    done = run("doctor", tmp_path, "--fail-on", "info")
    assert done.exit_code == 0, done.output
    assert done.stdout == "payments on 2026-11-20: no problems found\n"


@pytest.mark.parametrize(("limit", "status"), [("serious", 1), ("warning", 1), ("info", 1)])
def test_what_is_serious_can_fail_the_command(run, single, limit, status):
    assert run("doctor", single, "--fail-on", limit).exit_code == status


def test_a_severity_that_there_is_not_is_refused_with_those_that_there_are(run, single):
    done = run("doctor", single, "--fail-on", "nonsense")
    said = "error: --fail-on: 'nonsense' is not one of 'fatal', 'serious', 'warning', 'info'\n"
    assert (done.exit_code, done.stderr) == (2, said)


def test_a_warning_does_not_fail_what_asks_for_serious_things(run, tmp_path):
    write_snapshot_files(cluster(topics=[topic("orders", min_insync_replicas=3)], hours=168), tmp_path)
    assert run("doctor", tmp_path, "--fail-on", "serious").exit_code == 0
    assert run("doctor", tmp_path, "--fail-on", "warning").exit_code == 1


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("a", "--controllers: 'a' is not a voter: write node id and rack, such as 1:a"),
        ("1:", "--controllers: '1:' is not a voter: write node id and rack, such as 1:a"),
        ("1,1", "--controllers: 1 is given more than once; name each voter once"),
        (
            "1:b,2,3",
            "--controllers: voter 1 is broker 1, which is in rack a, not b; leave its rack out, or correct one of them",
        ),
        ("", "--controllers: is empty; name the voters, such as 1:a,2:b,3:c, or leave it out"),
    ],
)
def test_wrong_controllers_are_refused(run, single, typed, message):
    done = run("doctor", single, "--controllers", typed)
    assert done.exit_code == 2
    assert done.stderr == f"error: {message}\n"
