"""What commands print as JSON is what the documented schema says, and the documents about it are what is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kafka_capacity.cli.json_documents import DOCUMENTS
from kafka_capacity.cli.json_schema import comments_of, document_schema, json_schema
from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import with_rows

FROZEN = Path(__file__).parents[2] / "frozen" / "answers"
DOCS = Path(__file__).parents[3] / "docs"
ASKED = (
    ("doctor.json", ("doctor", "--controllers", "1,2,3")),
    ("plan.json", ("plan", "--broker-counts", "9", "--window", "22:00-06:00")),
    ("plan.json", ("plan", "--broker-counts", "2,11", "--placer", "fewest-bytes")),
    ("size.json", ("size", "--broker-counts", "9")),
    ("failures.json", ("failures", "--controllers", "1,2,3", "--brokers", "1010,1011", "--failover-runs", "10")),
    ("groups.json", ("groups", "--group", "app-payments-alerts", "--events", "crash")),
    ("idle.json", ("idle",)),
    ("chargeback.json", ("chargeback",)),
    ("durability.json", ("durability",)),
    ("savings.json", ("savings", "--max-savings", "8")),
    ("savings.json", ("savings", "--max-savings", "0")),
)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    write_snapshot_files(make_example("metrics-uneven"), folder)
    return folder


def mistakes(name, document):
    return [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        for error in Draft202012Validator(document_schema(name)).iter_errors(document)
    ]


@pytest.mark.parametrize(("name", "arguments"), ASKED, ids=[" ".join(asked[1][:3]) for asked in ASKED])
def test_what_commands_print_is_as_documented(run, example, tmp_path, name, arguments):
    out = ("--out", tmp_path) if arguments[0] == "plan" else ()
    done = run(arguments[0], example, *arguments[1:], "--json", *out)
    assert done.exit_code == 0, done.output
    assert mistakes(name, json.loads(done.stdout)) == []
    if out:
        assert mistakes("decision.json", json.loads((tmp_path / "decision.json").read_text())) == []


def test_what_no_throttle_helps_is_null_as_documented(run, tmp_path):
    raw = make_example("metrics-uneven")
    slow = [{**row, "network_in_bytes_per_second": 1e6} for row in raw.table("brokers").to_pylist()]
    write_snapshot_files(with_rows(raw, "brokers", slow), tmp_path)
    done = run("plan", tmp_path, "--broker-counts", "9", "--placer", "fewest-bytes", "--json")
    document = json.loads(done.stdout)
    assert [one["needed"] for one in document["excuses"] if one["constraint"] == "throttle"] == [None]
    assert mistakes("plan.json", document) == []


def test_what_is_printed_of_snapshots_examples_and_parameters_is_as_documented(run, example, tmp_path):
    def printed(*arguments):
        done = run(*arguments, "--json")
        assert (done.exit_code, done.stderr) == (0, "")
        return json.loads(done.stdout)

    checked = printed("inventory", "check", example)
    assert mistakes("inventory check --json", checked) == []
    assert (checked["address"], checked["brokers"]) == (str(example), 9)
    made = printed("example", "metrics-uneven", "--out", tmp_path)
    assert mistakes("example --json", made) == []
    assert made["findings"] == checked["findings"]
    assert mistakes("example --json", printed("example")) == []
    parameters = printed("parameters")
    assert mistakes("parameters --json", parameters) == []
    assert {one["name"]: one["options"] for one in parameters["parameters"]}["throttle_bytes_per_second"] == [
        "--throttle"
    ]


def test_the_decision_of_a_whole_report_is_as_documented():
    answer = (FROZEN / "uneven-report.txt").read_text().split("--- decision.json\n")[1]
    decision, _ = json.JSONDecoder().raw_decode(answer)
    assert decision["sizing"] is not None
    assert mistakes("decision.json", decision) == []


def test_a_name_that_nobody_documented_or_that_is_gone_is_a_mistake():
    head = {"schema_version": 2, "code_version": "1", "model_version": "1", "cluster": "c", "ds": "2026-11-20"}
    problem = {"severity": "serious", "code": "a", "where": "b", "message": "c"}
    assert mistakes("doctor.json", {**head, "problems": [problem]}) == []
    wrong = mistakes("doctor.json", {**head, "problems": [{**problem, "mend": "x", "severity": "bad"}]})
    assert len(wrong) == 2
    assert len(mistakes("doctor.json", head)) == 1


def test_every_field_says_what_it_is():
    schema = json_schema()
    assert set(schema["properties"]) == set(DOCUMENTS)
    Draft202012Validator.check_schema(schema)
    silent = [
        f"{name}.{field}"
        for name, definition in schema["$defs"].items()
        for field, kind in definition["properties"].items()
        if not kind["description"]
    ]
    assert silent == []


class Noted:
    """Two fields."""

    behind: int  # what is behind
    # what is above,
    # on two lines
    above: int


def test_a_comment_stands_behind_a_field_or_above_it():
    assert comments_of(Noted) == {"behind": "what is behind", "above": "what is above, on two lines"}


@pytest.mark.parametrize(("name", "options"), [("json.md", ()), ("json-schema.json", ("--json",))])
def test_the_documents_about_json_are_what_the_classes_say(run, name, options):
    assert run("schema", *options).stdout == (DOCS / name).read_text()
