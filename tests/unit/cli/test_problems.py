"""``kafka-capacity problems`` and ``kafka-capacity fleet``: what a store says of its clusters."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from kafka_capacity.cli.json_schema import document_schema
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.lifecycle import keep_observed
from tests.report.decided import decision_of
from tests.report.sized import sized_inputs
from tests.unit.plan.test_fleet import decide


@pytest.fixture(scope="module")
def decision():
    return decision_of(sized_inputs(disk_limit_ratio=0.7))


@pytest.fixture
def store(tmp_path, decision, monkeypatch):
    monkeypatch.setenv("LOGNAME", "ana")
    decide(LocalStore(tmp_path), decision, "shop", "2026-11-15", "p")
    return tmp_path


def test_what_is_open_is_listed_with_ids_and_states(run, store, decision):
    done = run("problems", store)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("shop on 2026-11-15: ")
    assert "disk-over-limit" in done.stdout
    assert "have-9-brokers" in done.stdout
    assert "next: --claim ID" in done.stderr
    assert run("problems", store, "--quiet").stdout.count("\n") == 1


def test_a_report_names_its_store_and_cluster(run, store, decision):
    decide(LocalStore(store), decision, "other", "2026-11-15", "p")
    missing = run("problems", store)
    assert (missing.exit_code, missing.stderr) == (2, "error: --cluster: is missing; choose from other, shop\n")
    place = f"{store}/reports/cluster=shop/ds=2026-11-15/plan=p/index.html"
    assert run("problems", place, "--claim", "disk-over-limit").exit_code == 0
    kept = json.loads((store / "lifecycle" / "cluster=shop.json").read_text())
    assert kept["entries"]["disk-over-limit"]["claimed"]["by"] == "ana"


def test_the_plan_of_a_report_is_shown_and_not_the_newest(run, store, decision):
    another = {**decision, "actions": [{**decision["actions"][0], "id": "have-99-brokers"}]}
    decide(LocalStore(store), another, "shop", "2026-11-15", "q")
    reports = f"{store}/reports/cluster=shop/ds=2026-11-15"
    assert "have-99-brokers" in run("problems", f"{reports}/plan=q/index.html").stdout
    assert "have-99-brokers" not in run("problems", f"{reports}/plan=p").stdout
    missing = run("problems", f"{reports}/plan=r/index.html")
    assert (missing.exit_code, missing.stderr) == (
        2,
        f"error: shop has no plan r on 2026-11-15; give the store {store} for its newest plan\n",
    )


def test_what_is_claimed_and_dismissed_is_listed_so(run, store):
    said = ("--claim", "have-9-brokers", "--dismiss", "disk-over-limit", "--reason", "it goes", "--until", "2027-01-31")
    done = run("problems", store, *said, "--by", "bo")
    assert done.exit_code == 0, done.output
    assert "new, claimed by bo on 20" in done.stdout
    assert "until 2027-01-31: it goes" in done.stdout
    assert "dismissed" not in run("problems", store, "--reopen", "disk-over-limit").stdout.partition("\n")[2]
    entries = json.loads(run("problems", store, "--json").stdout)["entries"]
    assert entries["have-9-brokers"]["claimed"]["by"] == "bo"


def test_what_only_another_plan_asked_for_is_not_counted_as_done(run, store, decision):
    what_if = {**decision, "actions": [{**decision["actions"][0], "id": "have-99-brokers"}]}
    keep_observed(LocalStore(store), {**what_if, "ds": "2026-11-15", "cluster": "shop"}, None)
    said = run("problems", store).stdout
    assert said.partition("\n")[0].endswith(" open or dismissed, 0 over, 1 of other plans")
    assert "last seen on 2026-11-15" in said


def test_a_reason_of_several_lines_is_kept_as_one(run, store):
    done = run("problems", store, "--claim", "disk-over-limit", "--reason", "disks are\n ordered ")
    assert done.exit_code == 0, done.output
    entries = json.loads(run("problems", store, "--json").stdout)["entries"]
    assert entries["disk-over-limit"]["claimed"]["reason"] == "disks are ordered"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (
            ("--claim", "disk-over-limt"),
            "--claim: there is no problem or recommendation 'disk-over-limt'; did you mean",
        ),
        (("--dismiss", "disk-over-limit"), "reason: is required; say why it is dismissed"),
        (
            ("--claim", "have-9-brokers", "--dismiss", "disk-over-limit"),
            "reason: is required; say why it is dismissed",
        ),
        (("--until", "2027-01-31"), "--until: is for dismissals"),
        (("--reason", "foo"), "--reason: is for claims and dismissals; give --claim or --dismiss as well"),
        (("--release", "disk-over-limit", "--reason", "foo"), "--reason: is for claims and dismissals"),
        (("--by", "ana"), "--by: is for a state that is set; give --claim or --dismiss as well"),
        (("--release", "disk-over-limit"), "--release: disk-over-limit is not claimed; leave it out"),
        (("--reopen", "disk-over-limit"), "--reopen: disk-over-limit is not dismissed; leave it out"),
        (("--dismiss", "disk-over-limit", "--reason", "x", "--until", "soon"), "--until: 'soon' is not a day"),
        (("--cluster", "elsewhere"), "--cluster: elsewhere is not there; choose from shop"),
    ],
)
def test_what_cannot_be_said_is_refused_and_nothing_is_kept(run, store, typed, words):
    done = run("problems", store, *typed)
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (store / "lifecycle").exists()


def test_a_folder_that_is_no_store_is_said_so(run, tmp_path):
    for command in ("problems", "fleet"):
        done = run(command, tmp_path)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "holds no clusters; give the folder or s3:// address where scheduled plans are stored" in done.stderr


def test_what_is_printed_as_json_is_as_documented(run, store):
    for command in ("fleet", "problems"):
        printed = json.loads(run(command, store, "--json").stdout)
        assert not list(Draft202012Validator(document_schema(f"{command} --json")).iter_errors(printed))


def test_all_clusters_are_listed_and_written_on_demand(run, store):
    done = run("fleet", store)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("1 cluster: 1 with too little capacity.\n")
    assert not (store / "reports" / "index.html").exists()
    assert run("fleet", store, "--write").stdout.endswith("reports/index.html\n")
    (store / "reports/index.html").unlink()
    assert run("fleet", store, "--write", "-q").stdout.count("\n") == 1
    assert (store / "reports/index.html").exists()
    assert "shop" in (store / "reports" / "index.html").read_text()
