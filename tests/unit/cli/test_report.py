"""``kafka-capacity report``: the page without Airflow."""

import json
import re

import pytest

from kafka_capacity.cli.report_files import snapshot_sha256
from kafka_capacity.plan.request import DELIVERY_FIELDS
from tests.unit.cli.plan_folders import write_small_snapshot

FILES = {"index.html", "report.json", "email.html", "email.txt"}
NINE = [{"id": i, "rack": "abc"[(i - 1) % 3]} for i in range(1, 10)]


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def reported(run, tmp_path_factory):
    """A report on a snapshot: the snapshot's folder, the report's, and what the command said."""
    snapshot, out = write_small_snapshot(tmp_path_factory.mktemp("cluster")), tmp_path_factory.mktemp("report")
    done = run("report", "--snapshot", snapshot, "--broker-counts", "6,9", "--out", out)
    assert done.exit_code == 0, done.output
    return snapshot, out, done


def test_a_report_is_written_and_its_verdict_printed(reported):
    _, out, done = reported

    assert set(contents(out)) >= FILES
    report = json.loads((out / "report.json").read_text())
    assert report["cluster"] == "payments"
    assert report["links"]["report_uri"] == str(out / "index.html")
    assert done.stdout.splitlines() == [report["verdict"]["subject"], str(out / "index.html")]


@pytest.mark.usefixtures("drawn_anew")
def test_the_same_input_and_its_own_data_give_the_same_bytes(reported, run, tmp_path):
    snapshot, out, _ = reported
    before = contents(out)
    run("report", "--snapshot", snapshot, "--broker-counts", "6,9", "--out", out)
    assert contents(out) == before

    done = run("report", "--from", out / "report.json", "--out", tmp_path / "again")
    assert done.exit_code == 0
    del before["decision.json"]  # was written when the report was
    assert contents(tmp_path / "again") == before


def test_a_report_of_another_cluster_or_of_a_later_day_is_refused_before_anything_is_simulated(reported, run, tmp_path):
    snapshot, out, _ = reported
    report = json.loads((out / "report.json").read_text())
    for name, other, why in [
        ("cluster", "other", "--last: this is a report of cluster 'other', not of 'payments'"),
        (
            "ds",
            "9999-01-01",
            f"--last: this is the report of 9999-01-01, which is after the snapshot, of {report['ds']}",
        ),
    ]:
        (tmp_path / "last.json").write_text(json.dumps({**report, name: other}))
        done = run("report", "--snapshot", snapshot, "--last", tmp_path / "last.json", "--out", tmp_path / "out")
        assert (done.exit_code, done.stderr.strip()) == (2, f"error: {why}")
    assert not (tmp_path / "out").exists()


def fractions(data):
    if isinstance(data, dict | list):
        for entry in data.values() if isinstance(data, dict) else data:
            yield from fractions(entry)
    elif isinstance(data, float) and not data.is_integer():
        yield data


def test_fractions_have_no_digits_in_which_processors_differ(reported):
    _, out, _ = reported
    for name in ("report.json", "decision.json"):
        found = list(fractions(json.loads((out / name).read_text())))
        assert found
        assert all(one == float(f"{one:.9g}") for one in found)


def test_plan_and_report_recommend_the_same(reported, run):
    snapshot, out, _ = reported
    plan = json.loads(run("plan", "--snapshot", snapshot, "--broker-counts", "6,9", "--json").stdout)

    verdict = json.loads((out / "report.json").read_text())["verdict"]
    assert verdict["recommended_scenario_id"] == plan["recommended"] == "006-brokers.fewest-bytes"


def test_a_list_of_brokers_is_named_as_what_was_asked(run, snapshot, broker_list, tmp_path):
    out = tmp_path / "report"
    run("report", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--out", out)
    report = json.loads((out / "report.json").read_text())
    asked = next(section for section in report["sections"] if section["name"] == "request")["data"]["parameters"]
    labels = {row["label"]: row["value"] for row in asked}

    assert labels["brokers"] == "1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert not {"broker_counts", "new_broker_racks", *DELIVERY_FIELDS} & set(labels)


def test_reports_of_other_requests_have_other_names(reported, run, tmp_path):
    snapshot, out, _ = reported
    done = run("report", "--snapshot", snapshot, "--broker-counts", "9", "--out", tmp_path)

    assert done.exit_code == 0
    assert len({json.loads((folder / "report.json").read_text())["plan_id"] for folder in (out, tmp_path)}) == 2


def test_a_snapshot_is_named_by_its_tables_in_every_format(snapshot):
    named = snapshot_sha256(str(snapshot))
    (snapshot / "broker_metrics.csv").write_text("broker_id,hour\n1,2026-01-05T00:00:00Z\n")
    with_metrics = snapshot_sha256(str(snapshot))
    (snapshot / "notes.txt").write_text("no table")

    assert named != with_metrics == snapshot_sha256(str(snapshot))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: --snapshot: give the folder of a snapshot, or use --from with a report.json\n"),
        (("--from", "{file}", "--seed", "1"), "error: --from: renders an earlier report as it is; leave out "),
        (("--from", "{file}"), "error: this is not the report.json of a report "),
        (("--snapshot", "/nowhere"), "error: /nowhere/cluster.json is missing"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_is_written(run, tmp_path, arguments, message):
    file = tmp_path / "wrong.json"
    file.write_text("{}")
    done = run("report", "--out", tmp_path / "out", *(argument.format(file=file) for argument in arguments))

    assert done.exit_code == 2
    assert done.stderr.startswith(message)
    assert not (tmp_path / "out").exists()


def test_it_sizes_with_options_of_its_own(run, snapshot, tmp_path):
    out = tmp_path / "report"
    done = run(
        "report", "--snapshot", snapshot, "--broker-counts", "6", "--size-broker-counts", "6,9", "--horizon", "3",
        "--broker-price", "1.5", "--out", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    report = json.loads((out / "report.json").read_text())
    sections = {section["name"]: section["data"] for section in report["sections"]}
    labels = [
        row["label"]
        for part in ("table", "others")
        for row in (sections["options_costs"][part] or {"rows": []})["rows"]
    ]
    assert {label.split()[0] for label in labels} == {"3", "6", "9"}
    assert report["verdict"]["sizing"]["figures"][2]["format"] == "usd"


def test_it_says_what_breaks_with_options_of_its_own(run, snapshot, tmp_path):
    out, plain = tmp_path / "report", tmp_path / "plain"
    arguments = ["report", "--snapshot", snapshot, "--broker-counts", "6", "--horizon", "1"]
    done = run(
        *arguments, "--losses", "rack", "--lost-together", "1,2", "--lost-together", "rack:a", "--most-losses", "9",
        "--election-rules", "zookeeper", "--controllers", "1:a", "--controller-timeout",
        "controller.quorum.fetch.timeout.ms=500", "--controller-up", "0.9", "--rack-up", "0.8", "--failover-runs", "10",
        "--out", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    run(*arguments, "--out", plain)
    reports = [json.loads((folder / "report.json").read_text()) for folder in (out, plain)]
    asked, usual = ({one["name"]: one["data"] for one in report["sections"]}["failures"] for report in reports)
    assert [part["caption"].split(":")[0] for part in asked["matrices"]] == ["One rack lost", "Given sets lost"]
    assert [row["name"] for row in asked["matrices"][1]["rows"]] == ["rack a", "brokers 1, 2"]
    assert "rules of zookeeper" in asked["notes"][-1]
    # One controller, up 0.9 of the time in a rack that is up 0.8: away 0.28 of a year of 365 days.
    assert "102 d 5 h a year if racks are up 80 % of the time" in asked["controllers"]["sentences"][1]
    assert [part["caption"].split(" lost")[0] for part in usual["matrices"]] == [
        "One broker",
        "One rack",
        "A rack and one more broker",
    ]
    assert (asked["pairs"], usual["pairs"]["caption"]) == (None, "Two brokers lost together")
    linked = {f"tables/{path.name}" for path in (plain / "tables").iterdir()}
    assert linked == set(re.findall(r'href="(tables/[^"]+)"', (plain / "index.html").read_text()))
    assert "Controllers are not covered" in usual["controllers"]["sentences"][0]
    assert len({report["plan_id"] for report in reports}) == 2


def test_a_wrong_option_of_sizing_is_named_as_typed(run, snapshot, tmp_path):
    done = run("report", "--snapshot", snapshot, "--horizon", "0", "--out", tmp_path / "report")
    assert done.exit_code == 2
    assert "--horizon" in done.output
    assert "horizon_months" not in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shapes", "m9.large"), "error: --shapes: 'm9.large' is not in the catalogue; "),
        (("--current-shape", "m5.large", "--broker-vcpu", "2"), "error: --broker-vcpu: 2.0 is invalid: "),
        (("--remove-brokers", "77"), "error: --remove-brokers: "),
        (("--group", "nobody"), "error: --group: 'nobody' is invalid: "),
        (("--partitions", "nothing=4"), "error: --partitions: "),
        (("--lost-together", "99"), "error: --lost-together: broker 99 in 'broker 99' is invalid: "),
        (("--controllers", "1:a,b"), "error: --controllers: ['1:a', 'b'] is invalid: 'b' is not a voter: "),
        (("--brokers", "{file}", "--broker-counts", "9"), "leave out --broker-counts\n"),
    ],
)
def test_what_is_refused_late_is_told_by_the_name_that_was_typed(run, snapshot, tmp_path, arguments, message):
    file = tmp_path / "brokers.json"
    file.write_text(json.dumps(NINE))
    typed = [argument.format(file=file) for argument in arguments]
    done = run("report", "--snapshot", snapshot, "--broker-price", "1", "--out", tmp_path / "report", *typed)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "report").exists()


def test_it_takes_the_files_of_size_and_says_the_same(run, snapshot, tmp_path):
    own, samples, out = tmp_path / "own.json", tmp_path / "samples.csv", tmp_path / "report"
    offer = {"name": "o", "provider": "us", "priced_on": "2026-11-01", "source": "finance", "disk": "own"}
    shape = {"name": "r740", "offer": "o", "vcpu": 32, "disk_gib": 20_000, "usd_per_hour": 0.5}
    own.write_text(json.dumps({"offers": [offer], "shapes": [shape]}))
    names = "cores_used,leader_in_bytes_per_second,follower_in_bytes_per_second,out_bytes_per_second"
    rows = [f"{1 + i % 7 + 2 * (i % 5)},{(i % 7) * 1e6},{(i % 5) * 1e6},{(i % 3) * 1e6}" for i in range(105)]
    samples.write_text("\n".join([names, *rows]))
    files = ("--shapes", "r740", "--shapes-file", own, "--cpu-samples", samples, "--horizon", "3")
    asked = ("report", "--snapshot", snapshot, "--size-broker-counts", "6", "--out", out)
    assert run(*asked, *files).exit_code == 0
    report = json.loads((out / "report.json").read_text())
    sized = json.loads(run("size", "--snapshot", snapshot, "--broker-counts", "6", *files, "--json").stdout)
    assert "fitted to 105 samples" in (out / "report.json").read_text()
    assert "6 × r740" in (out / "report.json").read_text()
    assert "006-brokers.r740" in {one["option_id"] for one in sized["options"]}
    assert report["verdict"]["sizing"]["recommended_option_id"] == sized["advice"]["recommended"]

    own.write_text(own.read_text().replace("0.5", "0.75"))
    assert run(*asked, *files).exit_code == 0
    assert json.loads((out / "report.json").read_text())["plan_id"] != report["plan_id"]

    done = run("report", "--from", out / "report.json", "--shapes-file", own, "--out", tmp_path / "again")
    assert done.exit_code == 2
    assert "--from: renders an earlier report as it is" in done.stderr
