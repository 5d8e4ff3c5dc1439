"""What rests on traffic says so where that of many partitions is unknown: as no rate, or not in the table at all."""

import json

import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import GIB, cluster, rows_of, topic, with_rows

UNKNOWN = "the traffic of 24 of 30 partitions"
RATES = ("bytes_in_bytes_per_second", "bytes_out_bytes_per_second")


@pytest.fixture(scope="module", params=["null", "left out"])
def inventory(request, tmp_path_factory):
    """Rates of a fifth of the partitions."""
    orders = topic("orders", partitions=30, size_bytes=10 * GIB, bytes_in=2e6, bytes_out=2e6)
    raw, folder = cluster(brokers=3, topics=[orders]), tmp_path_factory.mktemp("unknown")
    rows = rows_of(raw, "metrics")
    kept = [row for row in rows if row["partition"] >= 24]
    if request.param == "null":
        kept += [{**row, **dict.fromkeys(RATES)} for row in rows if row["partition"] < 24]
    write_snapshot_files(with_rows(raw, "metrics", kept), folder)
    return folder


@pytest.fixture
def answer(run, inventory):
    def ask(*command):
        done = run(*command, inventory, "--quiet")
        assert done.exit_code in (0, 3), done.output
        return done.stdout

    return ask


def test_no_loss_is_called_harmless(run, answer, inventory):
    said = answer("failures")
    assert "may die" not in said
    assert "the busiest survivor uses at least " in said
    assert f"{UNKNOWN[0].upper()}{UNKNOWN[1:]} is unknown and counts as zero" in said
    assert json.loads(run("failures", inventory, "--json").stdout)["unknown_traffic"] == UNKNOWN


def test_chances_of_losing_data_are_the_least(run, answer, inventory):
    assert "within a year: at least one in" in answer("durability")
    assert f"per year: {UNKNOWN} is unknown." in answer("durability")
    assert json.loads(run("durability", inventory, "--json").stdout)["today"]["unknown_traffic"] == UNKNOWN


@pytest.fixture(scope="module")
def without_rates(tmp_path_factory):
    """No metrics at all, and one replica each, so that losses stop something."""
    orders = topic("orders", partitions=30, rf=1, size_bytes=10 * GIB)
    raw, folder = cluster(brokers=3, topics=[orders]), tmp_path_factory.mktemp("none")
    write_snapshot_files(with_rows(raw, "metrics", []), folder)
    return folder


def test_without_rates_no_figure_of_traffic_is_nothing(run, without_rates):
    (lost, *_) = json.loads(run("failures", without_rates, "--json").stdout)["sets"]
    assert (lost["offline"], lost["stopped_bytes_per_second"], lost["refused_bytes_per_second"]) == (20, None, 0.0)
    assert json.loads(run("chargeback", without_rates, "--json").stdout)["rack_brokers"] == []


def test_without_rates_no_headroom_is_told_of_what_is_not_judged(run, without_rates):
    options = json.loads(run("size", without_rates, "--json").stdout)["options"]
    assert "disk" in options[0]["not_judged"]
    # A broker's limit of replicas has nothing to do with traffic.
    tightest = [one["tightest"] and one["tightest"]["resource"] for one in options]
    assert set(tightest) <= {None, "replicas"}
    assert [one["headroom_ratio"] is None for one in options] == [resource is None for resource in tightest]
    assert {one["status"] for one in options} == {"not_judged"}


@pytest.mark.parametrize("command", ["chargeback", "savings", "size"])
def test_answers_are_as_far_as_known(answer, command):
    assert "as far as known" in answer(command).lower() or "not judged" in answer(command).lower()


def test_checks_count_partitions_without_rates_and_call_none_hot(run, answer, inventory):
    found = json.loads(run("inventory", "check", inventory, "--json").stdout)["findings"]
    (missing,) = [one for one in found if one["code"] == "partition_without_metrics"]
    assert missing["message"].startswith("no metrics of 24 of 30 partitions (")
    assert "hot-partitions" not in {one["code"] for one in found}
    problems = json.loads(run("doctor", inventory, "--json").stdout)["problems"]
    assert "hot-partitions" not in {one["code"] for one in problems}
