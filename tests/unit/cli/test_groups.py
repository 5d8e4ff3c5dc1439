"""``kafka-capacity groups``: consumer groups on a laptop."""

import csv
import functools
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_capacity.cli.documents import csv_table
from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.plan.request import PlanRequest
from kafka_capacity.questions.consumers.tables import GROUP_TABLES
from tests.builders import GIB, cluster, topic

GROUP = "app-stock-dashboards"
QUICK = ("--group", GROUP, "--protocols", "classic", "--events", "scale,rolling-restart", "--static", "as-is")


@pytest.fixture(scope="module")
def clicks(tmp_path_factory):
    """A folder with an example that has twelve groups."""
    folder = tmp_path_factory.mktemp("clicks")
    write_snapshot_files(make_example("metrics-uneven"), folder)
    return folder


def planned(run, folder, *arguments):
    done = run("groups", "--snapshot", folder, *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_group_is_shown_with_its_variants_events_and_members(run, clicks):
    done = run("groups", "--snapshot", clicks, *QUICK)
    assert done.exit_code == 0, done.output
    for words in ("roundrobin (today", "cooperative-sticky", "Rolling restart", "assignment, today", "advice: "):
        assert words in done.stdout
    assert f"{GROUP}: 3 members, 16 partitions" in done.stdout


def test_of_many_groups_the_worst_are_printed(run, clicks):
    done = run("groups", clicks, *QUICK[2:], "--rows", 1)
    assert done.exit_code == 0, done.output
    assert "Consumer groups, the worst 1 of 12" in done.stdout
    assert [line[:9] for line in done.stdout.splitlines()].count("at risk: ") == 1
    assert "and 1 more are at risk: --group NAME shows how; groups.json has them all" in " ".join(done.stdout.split())


@pytest.mark.parametrize(("events", "verdict"), [("scale,crash", "fits"), ("crash,slow-member", "does-not-fit")])
def test_what_fits_keeps_the_objective_in_every_event_of_its_table(run, clicks, events, verdict):
    asked = ("--group", GROUP, "--protocols", "classic", "--static", "as-is", "--lag-slo", 60, "--events", events)
    (group,) = planned(run, clicks, *asked)["groups"]
    assert group["verdict"] == verdict
    for scenario in group["scenarios"]:
        lags = [event["lag_max_seconds"] for event in scenario["events"]]
        assert scenario["verdict"] == ("fits" if all(lag is not None and lag <= 60 for lag in lags) else "does-not-fit")
    # The advice and the tables are printed as they are decided.
    printed = run("groups", clicks, *asked).stdout
    assert f"advice: {group['advice']}" in printed
    assert ("the worst max lag is" in printed) == (verdict == "fits")


def test_the_files_hold_what_is_printed_as_json(run, clicks, tmp_path):
    out = tmp_path / "groups"
    document = planned(run, clicks, *QUICK, "--out", out)
    assert {path.name for path in out.iterdir()} == {"groups.json", *(f"{name}.parquet" for name in GROUP_TABLES)}
    assert json.loads((out / "groups.json").read_text()) == document
    (group,) = document["groups"]
    rows = pq.read_table(out / "group_scenarios.parquet").to_pylist()
    assert [row["scenario_id"] for row in rows] == [row["scenario_id"] for row in group["scenarios"]]
    assert group["today"] == f"{GROUP}.003.classic-roundrobin.dynamic"
    assert group["recommended"] in {row["scenario_id"] for row in rows}
    assert [event["event"] for event in group["scenarios"][0]["events"]] == ["scale", "rolling-restart"]
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    planned(run, clicks, *QUICK, "--out", out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_tables_may_be_csv_and_replace_the_others(run, clicks, tmp_path):
    out = tmp_path / "groups"
    planned(run, clicks, *QUICK, "--out", out)
    planned(run, clicks, *QUICK, "--out", out, "--format", "csv")
    assert {path.suffix for path in out.iterdir()} == {".csv", ".json"}
    with (out / "group_scenarios.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert json.loads(rows[0]["events"]) == ["scale", "rolling-restart"]
    assert rows[0]["member_capacity_bytes_per_second"] == ""


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_of_a_csv_file_is_a_formula(start):
    table = pa.table({"group_id": [f"{start}cmd|' /C calc'!A0", "a=b"], "lag": [-1.5, None], "of": [["=a"], []]})
    rows = list(csv.reader(io.StringIO(csv_table(table).decode(), newline="")))
    assert rows == [["group_id", "lag", "of"], [f"'{start}cmd|' /C calc'!A0", "-1.5", '["=a"]'], ["a=b", "", "[]"]]


OPTIONS = {
    "consumer_counts": ("--consumer-counts", "2,5", [2, 5], "member_counts"),
    "group_assignors": ("--assignors", "sticky,range", ["sticky", "range"], "assignors"),
    "group_protocols": ("--protocols", "classic", ["classic"], "protocols"),
    "static_membership": ("--static", "static", "static", "static_membership"),
    "group_events": ("--events", "crash", ["crash"], "events"),
    "lag_slo_seconds": ("--lag-slo", 30, 30.0, "lag_slo_seconds"),
    "catch_up_limit_seconds": ("--catch-up-limit", 60, 60.0, "catch_up_limit_seconds"),
    "consumer_failures": ("--failures", 2, 2, "failure_count"),
    "member_capacity_bytes_per_second": ("--member-capacity", 1e6, 1e6, "member_capacity_bytes_per_second"),
    "partitions_factor": ("--partitions-factor", 3, 3, "partitions_factor"),
    "broker_heap_bytes": ("--broker-heap", 10, 10.0, "broker_heap_bytes"),
    "heartbeat_interval_seconds": ("--heartbeat-interval", 1, 1.0, None),
    "session_timeout_seconds": ("--session-timeout", 10, 10.0, None),
    "server_heartbeat_interval_seconds": ("--server-heartbeat-interval", 1, 1.0, None),
    "server_session_timeout_seconds": ("--server-session-timeout", 10, 10.0, None),
    "max_poll_interval_seconds": ("--max-poll-interval", 60, 60.0, None),
    "auto_commit_interval_seconds": ("--commit-interval", 1, 1.0, None),
    "metadata_max_age_seconds": ("--metadata-max-age", 30, 30.0, None),
    "poll_seconds": ("--poll-time", 2, 2.0, None),
    "restart_seconds": ("--restart-time", 9, 9.0, None),
    "settle_seconds": ("--settle-time", 0, 0.0, None),
    "slow_seconds": ("--slow-time", 999, 999.0, None),
    "standby_replicas": ("--standbys", 1, 1, "standby_replicas"),
    "restore_bytes_per_second": ("--restore-rate", 1e7, 1e7, None),
    "record_processing_seconds": ("--record-time", 0.5, 0.5, "record_processing_seconds"),
    "max_poll_records": ("--max-poll-records", 50, 50, "share.max_poll_records"),
    "share_lock_seconds": ("--share-lock", 40, 40.0, "share.lock_seconds"),
    "share_record_locks": ("--share-locks", 300, 300, "share.max_record_locks"),
    "share_delivery_limit": ("--share-deliveries", 3, 3, "share.delivery_limit"),
    "seed": ("--seed", 5, 5, "seed"),
}


def test_every_option_reaches_the_simulation(run, clicks):
    arguments = [str(part) for option, value, _, _ in OPTIONS.values() for part in (option, value)]
    request = planned(run, clicks, "--group", GROUP, *arguments)["request"]
    for field, (_, _, value, name) in OPTIONS.items():
        found = functools.reduce(lambda part, key: part[key], (name or f"settings.{field}").split("."), request)
        assert found == value, field
    assert request["groups"] == [GROUP]


def test_every_parameter_about_groups_is_an_option():
    about_groups = [
        name
        for name, field in PlanRequest.model_fields.items()
        if str(field.json_schema_extra["section"]).startswith("Consumer")
    ]
    assert set(about_groups) == {*OPTIONS, "groups"} - {"seed"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lag-slo", "0"), "error: --lag-slo: 0.0 is invalid: give more than 0"),
        (
            ("--heartbeat-interval", "60"),
            "error: --session-timeout: 45.0 is invalid: it must be above --heartbeat-interval, which is 60, or "
            "Kafka rejects it; change one of them",
        ),
        (
            ("--assignors", "best"),
            "error: --assignors: ['best'] is invalid: 'best' is not an assignor for consumer groups; choose from "
            "cooperative-sticky, range, roundrobin, sticky, uniform",
        ),
        (
            ("--group", "app-stock-dashboard"),
            "error: --group: 'app-stock-dashboard' is invalid: cluster 'metrics-uneven' has no such group; "
            "did you mean 'app-stock-dashboards'?",
        ),
    ],
)
def test_wrong_options_are_told_by_their_name(run, clicks, arguments, message):
    done = run("groups", "--snapshot", clicks, *arguments)
    assert done.exit_code == 2
    assert done.stderr.splitlines()[0] == message


def test_what_does_not_fit_ends_with_0_unless_that_is_asked_for(run, clicks):
    tight = (*QUICK, "--consumer-counts", "1", "--member-capacity", "1000")
    assert run("groups", "--snapshot", clicks, *tight).exit_code == 0
    done = run("groups", "--snapshot", clicks, *tight, "--fail-if-unfit")
    assert done.exit_code == 3
    assert f"no option fits {GROUP}: " in done.stdout
    assert run("groups", "--snapshot", clicks, *QUICK, "--fail-if-unfit").exit_code == 0


def test_the_snapshot_is_given_once(run, clicks):
    assert planned(run, clicks, *QUICK) == json.loads(run("groups", clicks, *QUICK, "--json").stdout)
    for arguments, what in (
        ((), "is required; give the folder"),
        ((clicks, "--snapshot", clicks), "the snapshot is given twice;"),
    ):
        done = run("groups", *arguments)
        assert done.exit_code == 2
        assert done.stderr.startswith(f"error: --snapshot: {what}")


def test_a_cluster_without_groups_is_none(run, snapshot):
    assert planned(run, snapshot)["groups"] == []


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    """A folder with a cluster that has one streams group: two threads, four tasks with 4 GiB of state each."""
    folder = tmp_path_factory.mktemp("application")
    parts = [{"subtopology": "0", "topics": ["orders"], "changelogs": ["app-changelog"]}]
    members = [
        {
            "group_id": "app",
            "member_id": f"m{i}",
            "process_id": f"p{i}",
            "assigned": [{"topic": "orders", "partition": 2 * i + place} for place in range(2)],
        }
        for i in range(2)
    ]
    group = {"group_id": "app", "state": "Stable", "group_type": "streams", "subtopologies": parts}
    topics = (topic("orders", partitions=4, bytes_in=1e6), topic("app-changelog", partitions=4, size_bytes=4 * GIB))
    lags = [{"group_id": "app", "topic": "orders", "partition": 0, "lag_records": 0}]
    write_snapshot_files(cluster(topics=topics, groups=[group], members=members, lags=lags), folder)
    return folder


@pytest.mark.parametrize(
    ("arguments", "verdict", "seconds"),
    [((), "not-judged", None), (("--restore-rate", 2**26), "does-not-fit", 128.0)],
)
def test_a_streams_group_restores_its_state(run, application, arguments, verdict, seconds):
    asked = ("--group", "app", "--events", "crash", "--member-capacity", 1e8, *arguments)
    (group,) = planned(run, application, *asked)["groups"]
    (event,) = group["scenarios"][0]["events"]

    assert group["verdict"] == verdict
    assert group["today"] == "app.002.streams-sticky.dynamic.standbys-0"
    assert (event["moved"], event["restored_bytes"], event["restore_seconds"]) == (2, 8 * GIB, seconds)
    assert any(sentence.startswith("Its 4 tasks run in 2 processes") for sentence in group["known"])


def test_remedies_name_options_where_people_read_and_fields_where_programs_do(run, application):
    printed = run("groups", application, "--group", "app", "--member-capacity", 1e8).stdout
    assert "how fast a member restores moved state is unknown; give --restore-rate" in printed
    assert "restore_bytes_per_second" not in printed
    (group,) = planned(run, application, "--group", "app")["groups"]
    assert "give restore_bytes_per_second" in group["advice"]


def test_standbys_that_nobody_tried_are_named_where_nothing_fits(run, application):
    asked = ("--group", "app", "--member-capacity", 1e8, "--restore-rate", 2**26, "--lag-slo", 60)
    printed = run("groups", application, *asked).stdout
    assert "standbys would spare it restoring state, try --standbys 1" in printed
    assert "standbys would spare" not in run("groups", application, *asked, "--standbys", 1).stdout


def test_what_a_switch_saves_in_a_deploy_is_left_out_where_none_was_simulated(run, application):
    asked = ("--group", "app", "--member-capacity", 1e8, "--restore-rate", 2**26, "--standbys", 1, "--events", "crash")
    (group,) = planned(run, application, *asked)["groups"]
    assert "; it takes giving each task of app with state 1 standby instead of 0" in group["advice"]


def test_standbys_are_tried_beside_those_of_today(run, application):
    asked = ("--group", "app", "--member-capacity", 1e8, "--restore-rate", 2**26, "--standbys", 1)
    (group,) = planned(run, application, *asked)["groups"]

    assert group["recommended"] == "app.002.streams-sticky.dynamic.standbys-1"
    assert "giving each task of app with state 1 standby instead of 0" in group["advice"]
    printed = run("groups", application, *asked).stdout
    assert "app: 2 members, 4 tasks" in printed
    assert "sticky (KIP-1071), 1 standby" in printed


def test_a_share_group_has_a_row_and_what_there_is_to_say(run, tmp_path):
    members = [
        {"group_id": "mailers", "member_id": f"m-{number}", "subscribed": ["orders"], "assigned": []}
        for number in range(2)
    ]
    shares = [{"group_id": "mailers", "state": "Stable", "group_type": "share", "protocol_type": "share"}]
    write_snapshot_files(cluster(groups=shares, members=members), tmp_path)
    done = run("groups", tmp_path, "--record-time", "1ms")
    assert done.exit_code == 0, done.output
    assert "1 share group: " in done.stdout
    assert "mailers: when a member is killed, up to 500 records are delivered again at once" in done.stdout
    (row,) = planned(run, tmp_path, "--record-time", "1ms")["shared"]
    assert (row["group_id"], row["member_count"], row["record_processing_seconds"]) == ("mailers", 2, 0.001)
