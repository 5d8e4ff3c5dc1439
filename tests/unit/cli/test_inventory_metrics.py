"""``inventory metrics``: rates added to a snapshot, from a server and from files."""

import pytest

from kafka_capacity.inventory.files import read_snapshot_files, write_snapshot_files
from tests.made_up_metrics import World
from tests.prometheus_stand_in import StandIn


@pytest.fixture
def snapshot(tmp_path):
    folder = tmp_path / "snapshot"
    write_snapshot_files(World().inventory(), folder)
    return folder


def test_rates_of_a_server_are_added_in_place(run, snapshot):
    samples = [({**labels, "env": "prod"}, moments, values) for labels, moments, values in World().jmx()]
    with StandIn(samples) as server:
        done = run(
            *("inventory", "metrics", snapshot, "--prometheus", server.url, "--days", "1", "--label", "env=prod"),
            *("--dialect", "jmx", "--header", "X-Scope-OrgID=tenant"),
            env={"KAFKA_CAPACITY_PROMETHEUS_TOKEN": "hush"},
        )
        assert server.headers[0]["authorization"] == "Bearer hush"
        assert server.headers[0]["x-scope-orgid"] == "tenant"
    assert done.exit_code == 0, done.output
    assert "it has 168 partition-hours and 72 broker-hours" in done.stderr
    assert len(read_snapshot_files(snapshot).table("metrics")) == 168


def test_a_server_that_is_away_leaves_the_snapshot_as_it_was(run, snapshot):
    before = sorted((path.name, path.read_bytes()) for path in snapshot.iterdir())
    done = run(
        *("inventory", "metrics", snapshot, "--prometheus", "http://127.0.0.1:9"),
        env={"KAFKA_CAPACITY_PROMETHEUS_USERNAME": "me", "KAFKA_CAPACITY_PROMETHEUS_PASSWORD": "hush"},
    )
    assert done.exit_code == 2
    assert "error: 0 of 14 days of metrics could be read" in done.stderr
    assert "hush" not in done.output
    assert before == sorted((path.name, path.read_bytes()) for path in snapshot.iterdir())


def test_rates_of_files_are_written_elsewhere(run, snapshot, tmp_path):
    file = tmp_path / "metrics.csv"
    file.write_text("topic,partition,hour,bytes_in_bytes_per_second\norders,0,2026-11-20T00:00:00Z,5\n")
    done = run("inventory", "metrics", snapshot, "--files", file, "--out", tmp_path / "out", "--format", "json")
    assert done.exit_code == 0, done.output
    assert len(read_snapshot_files(tmp_path / "out").table("metrics")) == 1
    assert not len(read_snapshot_files(snapshot).table("metrics"))


METRICS = "topic,partition,hour,bytes_in_bytes_per_second\norders,0,2026-11-20T00:00:00Z,5\n"


def test_tables_keep_the_format_that_they_have_unless_another_is_asked_for(run, tmp_path):
    (tmp_path / "metrics.csv").write_text(METRICS)
    folder = tmp_path / "snapshot"
    write_snapshot_files(World().inventory(), folder, file_format={"brokers": "json", "replicas": "parquet"})
    before = sorted(path.name for path in folder.iterdir())
    done = run("inventory", "metrics", folder, "--files", tmp_path / "metrics.csv")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in folder.iterdir()) == sorted([*before, "metrics.json"])
    run("inventory", "metrics", folder, "--files", tmp_path / "metrics.csv", "--format", "parquet")
    assert {path.suffix for path in folder.iterdir()} == {".parquet", ".json"}
    assert (folder / "metrics.parquet").exists()


def test_tables_in_csv_are_replaced_only_by_a_format_that_was_asked_for(run, snapshot, tmp_path):
    (tmp_path / "metrics.csv").write_text(METRICS)
    (snapshot / "topics.parquet").unlink()
    (snapshot / "topics.csv").write_text("topic\norders\n")
    before = sorted((path.name, path.read_bytes()) for path in snapshot.iterdir())
    typed = ("inventory", "metrics", snapshot, "--files", tmp_path / "metrics.csv")
    done = run(*typed)
    assert (done.exit_code, done.stderr) == (
        2,
        f"error: {snapshot}/topics.csv: would be replaced, and CSV cannot be written; give --format, or --out to keep "
        "it\n",
    )
    assert before == sorted((path.name, path.read_bytes()) for path in snapshot.iterdir())
    assert run(*typed, "--out", tmp_path / "out").exit_code == 0
    assert run(*typed, "--format", "json").exit_code == 0
    assert not (snapshot / "topics.csv").exists()


def test_files_count_for_90_days_and_what_is_left_out_is_said(run, snapshot, tmp_path):
    old = "".join(METRICS.splitlines(keepends=True)[1:]).replace("2026-11-20", "2026-08-23")
    older = old.replace("08-23", "08-22")
    (tmp_path / "metrics.csv").write_text(METRICS + old + older)
    done = run("inventory", "metrics", snapshot, "--files", tmp_path / "metrics.csv")
    assert done.exit_code == 0, done.output
    assert len(read_snapshot_files(snapshot).table("metrics")) == 2
    assert "\n1 row of the files at " in done.stderr
    assert " from before the last 90 days, or from after the day; they are left out\n" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "error: --files, --prometheus: give exactly one of the two"),
        (["--files", "x", "--prometheus", "http://x"], "error: --files, --prometheus: give exactly one of the two"),
        (
            ["--files", "no/such"],
            "error: --files: no/such is no folder; give a .parquet or .csv file, or a folder of them",
        ),
        (["--prometheus", "http://x", "--label", "cluster"], "error: --label: 'cluster' has no '='; write NAME=VALUE"),
        (["--prometheus", "http://x", "--label", "a-b=c"], "'a-b' is not a label name"),
        (["--prometheus", "http://x", "--name", "bytes=c"], "error: --name is 'bytes': choose 'topic_bytes_in'"),
        (["--prometheus", "http://x", "--broker-label", "9x"], "error: --broker-label is '9x': it is not a label name"),
        (
            ["--files", "x", "--dialect", "jmx", "--header", "a=b"],
            "error: --dialect, --header: no effect on --files; leave out, or give --prometheus instead",
        ),
        (["--prometheus", "x"], "error: prometheus connection: url: write http://host:port or https://host:port"),
    ],
)
def test_wrong_options_are_named(run, snapshot, options, said):
    done = run("inventory", "metrics", snapshot, *options)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_wrong_dialect_is_named_once(run, snapshot):
    done = run("inventory", "metrics", snapshot, "--prometheus", "http://x", "--dialect", "foo")
    said = "error: --dialect is 'foo': choose 'jmx', 'kminion', 'kafka_exporter' or 'clients'\n"
    assert (done.exit_code, done.stderr) == (2, said)
