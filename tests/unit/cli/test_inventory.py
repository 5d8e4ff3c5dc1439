"""``example``, and ``inventory`` but for metrics: what is written, checked, imported and exported."""

import json
from pathlib import Path

import pytest

from kafka_capacity.cli.commands.inventory import connection_settings
from kafka_capacity.errors import RequestError, SourceError
from kafka_capacity.inventory.files import read_snapshot_files, write_snapshot_files
from tests.builders import cluster, rows_of, with_rows

DATA = Path(__file__).parents[1] / "inventory" / "data"


def test_examples_are_listed_and_written(run, tmp_path):
    listed = run("example")
    assert listed.exit_code == 0
    assert "metrics-uneven" in listed.stdout

    done = run("example", "metrics-uneven", "--out", tmp_path / "e", "--ds", "2026-11-18", "--seed", "3")
    assert done.exit_code == 0
    raw = read_snapshot_files(tmp_path / "e")
    assert (raw.cluster, raw.ds) == ("metrics-uneven", "2026-11-18")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "--out", "x"], "error: example: 'nothing' is not known; choose one of metrics-uneven, shop-eu\n"),
        (["shop-eu"], "error: --out: is required; name the folder to write the snapshot to\n"),
        (["shop-eu", "--out", "x", "--ds", "today"], "error: ds 'today' is not a day; write it as YYYY-MM-DD\n"),
    ],
)
def test_an_example_that_cannot_be_made_is_refused(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = run("example", *arguments)

    assert (done.exit_code, done.stderr) == (2, message)
    assert list(tmp_path.iterdir()) == []


def test_a_sound_snapshot_has_no_findings(run, snapshot):
    write_snapshot_files(cluster(), snapshot)
    done = run("inventory", "check", snapshot)

    assert (done.exit_code, done.stdout) == (0, "payments on 2026-11-20: no problems found\n")


def test_findings_are_listed_and_fatal_ones_end_with_1(run, tmp_path):
    raw = cluster(hours=0)
    rows = rows_of(raw, "replicas")
    rows[0]["broker_id"] = 99
    write_snapshot_files(with_rows(raw, "replicas", rows), tmp_path / "s")
    done = run("inventory", "check", tmp_path / "s")
    listed = json.loads(run("inventory", "check", tmp_path / "s", "--json").stdout)["findings"]

    assert done.exit_code == 1
    assert {row["severity"] for row in listed} >= {"fatal", "warning"}
    assert "99" in done.stdout
    for row in listed:
        assert row["code"] in done.stdout


def test_warnings_alone_end_with_0(run, tmp_path):
    write_snapshot_files(cluster(hours=0), tmp_path / "s")

    assert run("inventory", "check", tmp_path / "s").exit_code == 0


def test_what_is_no_snapshot_ends_with_2(run, tmp_path):
    done = run("inventory", "check", tmp_path)

    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {tmp_path}/cluster.json is missing")


def test_what_kafkas_tools_print_is_imported(run, tmp_path):
    done = run(
        "inventory", "import", "--assignment", DATA / "generate.txt", "--log-dirs", DATA / "log-dirs.txt",
        "--brokers", DATA / "brokers.json", "--cluster", "pasted", "--ds", "2026-11-20", "--out", tmp_path / "s",
    )  # fmt: skip
    raw = read_snapshot_files(tmp_path / "s")

    assert done.exit_code == 0, done.output
    assert (raw.cluster, raw.ds, raw.source) == ("pasted", "2026-11-20", "kafka_tools")
    assert done.stderr.startswith("wrote ")


def test_capacities_stand_beside_a_list_of_brokers(run, tmp_path):
    run(
        "inventory", "import", "--assignment", DATA / "generate.txt", "--brokers", DATA / "brokers.json",
        "--capacity", DATA / "capacity.json", "--cluster", "pasted", "--ds", "2026-11-20", "--out", tmp_path / "s",
    )  # fmt: skip
    brokers = rows_of(read_snapshot_files(tmp_path / "s"), "brokers")

    assert all(row["disk_capacity_bytes"] for row in brokers)
    assert any(row["rack"] for row in brokers)


def test_capacities_tell_the_sizes_of_log_dirs_and_which_are_others_whoever_lists_the_brokers(run, tmp_path):
    capacity = tmp_path / "capacity.json"
    capacity.write_text((DATA / "capacity.json").read_text().replace("/data/b", "/data/c"))
    lists = {
        "alone": ("--brokers", capacity),
        "beside": ("--brokers", DATA / "brokers.json", "--capacity", capacity),
    }
    for name, given in lists.items():
        run(
            "inventory", "import", "--assignment", DATA / "generate.txt", "--log-dirs", DATA / "log-dirs.txt", *given,
            "--cluster", "pasted", "--ds", "2026-11-20", "--out", tmp_path / name,
        )  # fmt: skip
    read = [read_snapshot_files(tmp_path / name) for name in lists]
    alone, beside = (rows_of(raw, "log_dirs") for raw in read)

    assert all("capacity_of_other_log_dirs" in {one.code for one in raw.remarks} for raw in read)
    assert {(row["broker_id"], row["path"]): row["total_bytes"] for row in beside}[1, "/data/a"] == 500000 * 2**20
    assert beside == alone


def test_a_list_is_no_capacity_file(run, tmp_path):
    done = run(
        "inventory", "import", "--assignment", DATA / "generate.txt", "--brokers", DATA / "brokers.json",
        "--capacity", DATA / "brokers.json", "--cluster", "pasted", "--out", tmp_path / "s",
    )  # fmt: skip

    assert done.exit_code == 2
    assert "is not Cruise Control's capacity.json" in done.stderr
    assert not (tmp_path / "s").exists()


def test_an_export_reads_the_cluster_and_writes_it(run, tmp_path, monkeypatch):
    seen = {}

    def read_cluster(connection, *, cluster, ds, progress):
        seen.update(connection=connection, ds=ds)
        progress("3 brokers")
        return _sound(cluster, ds)

    monkeypatch.setattr("kafka_capacity.inventory.kafka_admin.read_cluster", read_cluster)
    config = tmp_path / "connection.json"
    config.write_text(
        json.dumps({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "me"})
    )
    done = run(
        "inventory", "export", "--bootstrap-servers", "a:1,b:2", "--config", config, "--cluster", "live",
        "--ds", "2026-11-20", "--out", tmp_path / "s",
        env={"KAFKA_CAPACITY_SASL_PASSWORD": "hunter2"},
    )  # fmt: skip

    assert done.exit_code == 0, done.output
    assert seen["connection"].bootstrap_servers == ("a:1", "b:2")
    assert seen["connection"].password.get_secret_value() == "hunter2"
    assert "hunter2" not in done.output
    assert read_snapshot_files(tmp_path / "s").cluster == "live"


def _sound(name, ds):
    return cluster(cluster=name, ds=ds)


def test_a_cluster_that_cannot_be_reached_ends_with_2(run, tmp_path, monkeypatch):
    def read_cluster(connection, **_):
        raise SourceError(f"{connection.servers} cannot be reached")

    monkeypatch.setattr("kafka_capacity.inventory.kafka_admin.read_cluster", read_cluster)
    done = run("inventory", "export", "--bootstrap-servers", "a:1", "--cluster", "live", "--out", tmp_path / "s")

    assert (done.exit_code, done.stderr) == (2, "error: a:1 cannot be reached\n")
    assert not (tmp_path / "s").exists()


def test_a_secret_in_the_file_wins_over_the_environment(tmp_path):
    config = tmp_path / "c.json"
    config.write_text('{"metadata.broker.list": "old:1", "sasl.password": "file"}')
    given = {"KAFKA_CAPACITY_SASL_PASSWORD": "env", "KAFKA_CAPACITY_SASL_USERNAME": "me"}

    assert connection_settings("new:1", config, given) == {
        "bootstrap.servers": "new:1",
        "sasl.password": "file",
        "sasl.username": "me",
    }
    assert connection_settings(None, config, {}) == {"metadata.broker.list": "old:1", "sasl.password": "file"}


@pytest.mark.parametrize("text", ['{"sasl.password": "hunter2"', '"hunter2"', "hunter2"])
def test_a_wrong_connection_file_is_told_without_what_is_in_it(tmp_path, text):
    config = tmp_path / "c.json"
    config.write_text(text)

    with pytest.raises(RequestError) as refused:
        connection_settings(None, config, {})
    assert str(refused.value).startswith(f"--config: {config} is not ")
    assert "hunter2" not in str(refused.value)


def test_nobody_to_ask_is_refused():
    with pytest.raises(RequestError, match=r"^--bootstrap-servers: is required"):
        connection_settings(None, None, {})
