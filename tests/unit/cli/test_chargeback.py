"""``kafka-capacity chargeback``: who pays what."""

import json

import pyarrow.parquet as pq
import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import cluster, with_rows
from tests.unit.questions.chargeback.clusters import groups, hand_made, members

GIVEN = ("--broker-price", 1, "--rack-traffic-price", 0.02, "--broker-vcpu", 9.5, "--broker-replicas", 30)


@pytest.fixture
def folder(tmp_path):
    raw = hand_made(groups=groups("billing"), members=members([("orders", 0), ("orders", 1), ("orders", 2)]))
    write_snapshot_files(raw, tmp_path / "snapshot")
    return tmp_path / "snapshot"


@pytest.fixture
def owners(tmp_path):
    file = tmp_path / "owners.json"
    file.write_text('{"orders": "=team@example.net"}')
    return file


def test_the_bill_and_who_pays_it_are_shown(run, folder, owners):
    done = run("chargeback", folder, *GIVEN, "--owners", owners)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(
        "payments on 2026-11-20: Today’s cluster of 3 brokers costs $5,783 per month at today’s traffic, "
        "of which $164 is headroom and $1,095 is idle capacity; disk space decides how many brokers are "
        "needed."
    )
    # The group, whose reads are 14 of the 70 MiB/s between racks: 2,190 × 0.425 × 0.1491 / 1.4 + 3,592.97 / 5 dollars.
    assert "$818 of it has no known owner (18.1 %): orders." in done.stdout
    for title in ("Bill", "Owners", "Topics", "Consumer groups", "Client ids", "Racks", "Brokers"):
        assert f"\n{title}\n" in done.stdout


def test_what_is_printed_is_what_is_written_as_csv_and_parquet_too(run, folder, owners, tmp_path):
    out = tmp_path / "out"
    printed = run("chargeback", folder, *GIVEN, "--owners", owners, "--json", "--out", out).stdout
    assert printed == (out / "chargeback.json").read_text()
    document = json.loads(printed)
    assert sum(row["cents"] for row in document["chargeback_bill"]) == document["chargeback_scope"][0]["total_cents"]
    assert pq.read_table(out / "chargeback.parquet").to_pylist() == document["chargeback"]
    head, *rows = (out / "chargeback.csv").read_text().splitlines()
    assert head.split(",")[:4] == ["topic", "group_id", "client_id", "owner"]
    # What spreadsheets take for a formula is text.
    assert [row.split(",")[:4] for row in rows] == [
        ["orders", "billing", "billing-app", ""],
        ["orders", "", "", "'=team@example.net"],
    ]


def test_owners_that_are_none_are_refused(run, folder, owners):
    owners.write_text("[]")
    done = run("chargeback", folder, "--owners", owners)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith('write patterns with owners: {"payments-*": "team@example.com"}\n')


def test_what_may_decide_instead_is_named_where_its_capacity_is_not_known(run, tmp_path):
    raw = cluster(disk_capacity_bytes=None)
    write_snapshot_files(with_rows(raw, "log_dirs", []), tmp_path)
    said = " ".join(run("chargeback", tmp_path, "--broker-price", 1, "--rack-traffic-price", 0).stdout.split())
    assert "the number of replicas decides how many brokers are needed, as far as known (unknown: disk space; " in said
