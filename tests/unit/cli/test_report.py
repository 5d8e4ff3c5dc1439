"""``kafka-capacity report``: the page without Airflow."""

import json

import pytest

from kafka_capacity.workflow.pinned import DELIVERY_FIELDS

FILES = {"index.html", "report.json", "email.html", "email.txt"}
NINE = [{"id": i, "rack": "abc"[(i - 1) % 3]} for i in range(1, 10)]


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def reported(run, snapshot, tmp_path):
    out = tmp_path / "report"
    done = run("report", "--snapshot", snapshot, "--broker-counts", "6,9", "--out", out)
    assert done.exit_code == 0, done.output
    return out, done


def test_a_report_is_written_and_its_verdict_printed(reported):
    out, done = reported

    assert set(contents(out)) >= FILES
    report = json.loads((out / "report.json").read_text())
    assert report["cluster"] == "payments"
    assert report["links"]["report_uri"] == str(out / "index.html")
    assert done.stdout.splitlines() == [report["verdict"]["subject"], str(out / "index.html")]


def test_the_same_input_and_its_own_data_give_the_same_bytes(reported, run, snapshot, tmp_path):
    out, _ = reported
    before = contents(out)
    run("report", "--snapshot", snapshot, "--broker-counts", "6,9", "--out", out)
    assert contents(out) == before

    done = run("report", "--from", out / "report.json", "--out", tmp_path / "again")
    assert done.exit_code == 0
    assert contents(tmp_path / "again") == before


def test_plan_and_report_recommend_the_same(reported, run, snapshot):
    out, _ = reported
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


def test_reports_of_other_snapshots_have_other_names(run, snapshot, tmp_path):
    names = set()
    for number in ("6", "9"):
        run("report", "--snapshot", snapshot, "--broker-counts", number, "--out", tmp_path / number)
        names.add(json.loads((tmp_path / number / "report.json").read_text())["plan_id"])

    assert len(names) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: --snapshot: give the folder of a snapshot, or else --from with a report.json\n"),
        (("--from", "{file}", "--seed", "1"), "error: --from: draws an earlier report as it is; leave out "),
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


def test_a_wrong_option_of_sizing_is_named_as_typed(run, snapshot, tmp_path):
    done = run("report", "--snapshot", snapshot, "--horizon", "0", "--out", tmp_path / "report")
    assert done.exit_code == 2
    assert "--horizon" in done.output
    assert "horizon_months" not in done.output
