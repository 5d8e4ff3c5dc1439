"""Predictions of stored plans against a later inventory, and in the next plan."""

import datetime
import json
import re

import numpy as np
import pytest

from kafka_capacity.errors import InventoryError
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_document, read_manifest, read_table
from kafka_capacity.objects.keys import list_plans, plan_prefix
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.pinned import pin_plan, read_plan_inputs
from kafka_capacity.plan.publish import publish_report, report_inputs
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.scoreboard import find_predictions, observed_figures, score_cluster
from kafka_capacity.questions.accuracy.decide import drift_problems
from kafka_capacity.questions.accuracy.executed_moves import planned_times
from kafka_capacity.questions.accuracy.scores import MoveScore
from kafka_capacity.questions.accuracy.stored_scores import newest_scores, read_score_document, read_scored_day
from kafka_capacity.questions.capacity.document import SIZING_DOCUMENT
from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.text import format_duration
from tests.builders import cluster, rows_of, topic, with_rows
from tests.report.decided import build_report, render_all
from tests.sized_plans import simulated_plan, write_shares

REQUEST = {
    "cluster": "payments",
    "broker_counts": [6],
    "placers": ["fewest-bytes"],
    "horizon_months": 3,
    "max_savings_sets": 0,
}
GIB = 2**30


def inventory(ds, rate=300_000.0, size=200 * GIB, **tables):
    # 300 kB/s for seven days are the 200 GiB that are there: the log is full and grows with its traffic.
    made = topic("orders", partitions=12, size_bytes=size, bytes_in=rate, bytes_out=2 * rate)
    return cluster(ds=ds, topics=[made], **tables)


def processors(ds, factor=1.0, days=7):
    """Hours of brokers up to a day: so many times 0.5 cores and 30, 10 and 20 milliseconds a MiB."""
    rng = np.random.default_rng(11)
    end = datetime.datetime.fromisoformat(f"{ds}T00:00:00+00:00")
    rows = []
    for broker in range(1, 7):
        for hours in range(days * 24, 0, -1):
            rates = rng.uniform(1, 100, 3)
            rows.append(
                {
                    "broker_id": broker,
                    "hour": end - datetime.timedelta(hours=hours),
                    "cpu_cores_used": factor * (0.5 + float(rates @ [0.03, 0.01, 0.02])) + rng.normal(0, 0.05),
                    "leader_in_bytes_per_second": rates[0] * 2**20,
                    "follower_in_bytes_per_second": rates[1] * 2**20,
                    "out_bytes_per_second": rates[2] * 2**20,
                }
            )
    return rows


def plan(store, ds, **request):
    return simulated_plan(store, {**REQUEST, "ds": ds, **request})


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Two plans of one day, a later inventory with 30 % more of everything, and its scores."""
    store = LocalStore(tmp_path_factory.mktemp("objects"))
    stage(inventory("2026-11-20"), store)
    growth = {"growth_per_year_ratio": 0.0, "growth_high_per_year_ratio": 0.0}
    plan(store, "2026-11-20", **growth)
    plan(store, "2026-11-20", **growth, seed=1)
    stage(inventory("2026-12-20", 390_000.0, 260 * GIB), store)
    return store, score_cluster(store, "payments", "2026-12-20")


def test_plans_that_expected_the_same_count_once(scored):
    store, _ = scored
    assert len(list_plans(store, "payments")) == 2
    assert len(find_predictions(store, "payments", before="2026-12-20")) == 2  # traffic and stored bytes
    assert find_predictions(store, "payments", before="2026-11-20") == []


def test_what_was_expected_is_held_against_what_came(scored):
    store, manifest = scored
    rows = {row["figure"]: row for row in read_table(store, manifest, "scores").to_pylist()}
    assert rows["traffic"]["error_ratio"] == pytest.approx(1 / 1.3 - 1, rel=1e-3)
    assert not rows["traffic"]["is_below_high"]
    assert rows["traffic"]["age_days"] == 30
    assert rows["stored"]["observed"] == 12 * 3 * 260 * GIB
    assert rows["stored"]["error_ratio"] == pytest.approx(1 / 1.3 - 1, abs=0.02)
    assert manifest.facts["observed"]["stored"] == 12 * 3 * 260 * GIB


def test_of_a_day_the_plan_that_stands_for_the_cluster_is_scored_and_no_what_if(tmp_path):
    store = LocalStore(tmp_path)
    stage(inventory("2026-11-20"), store)
    usual = plan(store, "2026-11-20")[0].plan_id
    growing = {"growth_per_year_ratio": 3.0, "growth_high_per_year_ratio": 4.0}
    assert plan(store, "2026-11-20", **growing)[0].plan_id != usual
    assert {one.plan_id for one in find_predictions(store, "payments", before="2026-12-20")} == {usual}


def test_a_what_if_of_another_day_of_the_week_is_no_forecast(tmp_path):
    store = LocalStore(tmp_path)
    for day in ("2026-11-20", "2026-11-25", "2026-11-27", "2026-12-04"):
        stage(inventory(day), store)
    usual = [plan(store, day)[0].plan_id for day in ("2026-11-20", "2026-11-27")]
    launch = {"kind": "launch", "topics": "orders", "from_date": "2026-11-26", "factor": 3.0}
    plan(store, "2026-11-25", planned_events=[launch])
    assert {one.plan_id for one in find_predictions(store, "payments", before="2026-12-04")} == {*usual}
    # A launch that is planned for good is part of the forecast from then on.
    later = plan(store, "2026-12-04", planned_events=[{**launch, "from_date": "2026-12-10"}])[0].plan_id
    assert {one.plan_id for one in find_predictions(store, "payments", before="2026-12-05")} == {*usual, later}


def test_what_a_broker_that_is_down_holds_is_estimated():
    raw = inventory("2026-12-20")
    rows = [
        row | {"size_bytes": None if row["broker_id"] == 2 else row["size_bytes"]} for row in rows_of(raw, "replicas")
    ]
    assert any(row["size_bytes"] is None for row in rows)
    figures = []
    for one in (raw, with_rows(raw, "replicas", rows)):
        snapshot = build_snapshot(one)
        figures.append(observed_figures(one, snapshot, partition_load(one, snapshot)))
    assert figures[0]["stored"] == figures[1]["stored"] == 12 * 3 * 200 * GIB


def two_topics(ds, *, orders=12, **payments):
    """So many partitions of orders, and payments with half as much of everything."""
    made = [
        topic("orders", partitions=orders, size_bytes=200 * GIB, bytes_in=300_000.0),
        topic("payments", **{"partitions": 12, "size_bytes": 100 * GIB, "bytes_in": 150_000.0, **payments}),
    ]
    return cluster(ds=ds, topics=made)


def without_sizes(raw, *, brokers=(), topics=()):
    rows = rows_of(raw, "replicas")
    for row in rows:
        if row["broker_id"] in brokers or row["topic"] in topics:
            row["size_bytes"] = None
    return with_rows(raw, "replicas", rows)


def without_metrics(raw):
    return with_rows(raw, "metrics", [row for row in rows_of(raw, "metrics") if row["topic"] != "payments"])


@pytest.mark.parametrize(
    ("is_measured", "is_sized", "payments", "figures"),
    [
        (True, True, {}, {"traffic", "stored"}),
        (False, True, {}, {"stored"}),
        (True, False, {}, {"traffic"}),
        # One partition of 41 may hold much: what is produced to it tells.
        (True, False, {"orders": 40, "partitions": 1, "bytes_in": 1e7}, {"traffic"}),
        (True, False, {"orders": 40, "partitions": 1}, {"traffic", "stored"}),
        # What holds 0.4 % of everything is taken for idle.
        (False, True, {"partitions": 1, "size_bytes": 10 * GIB}, {"traffic", "stored"}),
    ],
)
def test_a_figure_of_which_much_is_unknown_is_not_scored(is_measured, is_sized, payments, figures):
    raw = two_topics("2026-12-20", **payments)
    raw = raw if is_measured else without_metrics(raw)
    raw = raw if is_sized else without_sizes(raw, topics=["payments"])
    snapshot = build_snapshot(raw)
    assert set(observed_figures(raw, snapshot, partition_load(raw, snapshot))) == figures


def test_a_plan_predicts_nothing_of_a_figure_of_which_much_was_unknown_to_it(tmp_path):
    store, days = LocalStore(tmp_path), ("2026-10-05", "2026-10-15", "2026-10-25")
    stage(two_topics(days[0]), store)
    stage(without_metrics(two_topics(days[1])), store)
    stage(without_sizes(two_topics(days[2]), topics=["payments"]), store)
    for day in days:
        plan(store, day)
    found = find_predictions(store, "payments", before="2026-12-20")
    assert [(one.made_on, one.figure) for one in found] == [
        (days[0], "traffic"),
        (days[0], "stored"),
        (days[1], "stored"),
        (days[2], "traffic"),
    ]


def test_a_day_without_the_metrics_of_a_topic_is_no_drop_of_traffic(tmp_path):
    store, first = LocalStore(tmp_path), "2026-08-03"
    stage(two_topics(first), store)
    plan(store, first)
    for week in range(1, 5):
        stage(without_metrics(two_topics(later(first, week))), store)
        assert drifts_of(store, later(first, week)) == {}
    assert {row["figure"] for row in scores_of(store, later(first, 4))} == {"stored"}


def test_logs_of_unknown_sizes_are_not_held_against_those_of_the_plan(tmp_path):
    store = LocalStore(tmp_path)
    stage(two_topics("2026-11-20"), store)
    plan(store, "2026-11-20")
    stage(without_sizes(two_topics("2026-12-01"), topics=["payments"]), store)
    (disk,) = read_score_document(store, score_cluster(store, "payments", "2026-12-01"))["coefficients"]
    assert (disk["figure"], disk["change_ratio"]) == ("disk", pytest.approx(0.0, abs=0.01))


def scores_of(store, ds):
    return read_table(store, score_cluster(store, "payments", ds), "scores").to_pylist()


def test_bytes_of_another_replication_factor_are_no_growth(tmp_path):
    """The plan raises the factor from 2 to 3, and that is carried out."""

    def replicated(ds, factor, more=()):
        made = topic("orders", partitions=12, rf=factor, min_insync_replicas=1, size_bytes=20 * GIB)
        return cluster(ds=ds, topics=[made, *more])

    store = LocalStore(tmp_path)
    stage(replicated("2026-08-03", 2), store)
    plan(store, "2026-08-03", replication_factor=3)
    stage(replicated("2026-08-10", 3), store)
    assert {row["figure"] for row in scores_of(store, "2026-08-10")} == {"traffic"}
    # Topics that are new were not there to be replicated otherwise.
    stage(replicated("2026-08-10", 2, [topic("new", rf=3, size_bytes=20 * GIB)]), store)
    assert {row["figure"]: row["observed"] for row in scores_of(store, "2026-08-10")}["stored"] == (24 + 18) * 20 * GIB


def test_a_plan_that_was_never_finished_stands_for_no_week(tmp_path):
    store = LocalStore(tmp_path)
    for day in ("2026-11-20", "2026-11-22"):
        stage(inventory(day), store)
    growing = plan(store, "2026-11-20", growth_per_year_ratio=0.0, growth_high_per_year_ratio=0.0)[0].plan_id
    begun = pin_plan(store, parse_plan_request({**REQUEST, "ds": "2026-11-22"}), run_date=datetime.date(2027, 1, 1))
    write_shares(store, begun, CAPACITY.share)
    assert len(list_plans(store, "payments")) == 2
    assert {one.plan_id for one in find_predictions(store, "payments", before="2026-12-20")} == {growing}


def test_what_a_drift_of_moves_does_is_told_of_the_last_plan_by_its_date(tmp_path, monkeypatch):
    store = LocalStore(tmp_path)
    stage(inventory("2026-11-20"), store)
    asked = {"ds": "2026-11-20", "broker_counts": [9], "throttle_bytes_per_second": 50e6}
    slow = {**asked, "throttle_bytes_per_second": 5e6, "seed": 1}
    usual, what_if = (simulated_plan(store, {**REQUEST, **one})[0] for one in (asked, slow))
    for one in (usual, what_if):
        publish_report(store, one)
    stage(inventory("2026-12-20"), store)
    late = [
        MoveScore(
            plan_id="of-summer",
            scenario_id="008-brokers.fewest-bytes",
            made_on="2026-06-01",
            seconds=86_400.0,
            peak_seconds=None,
            begun_after="2026-06-01",
            done_by=f"2026-06-0{day}",
            shortest_seconds=2 * 86_400.0,
            longest_seconds=4 * 86_400.0,
            is_consistent=False,
            took_seconds=2 * 86_400.0,
        )
        for day in (5, 6, 7)
    ]
    monkeypatch.setattr("kafka_capacity.plan.scoreboard.score_moves", lambda *_: late)
    drift = drifts_of(store, "2026-12-20")["moves"]
    planned = planned_times(store, read_manifest(store, usual.plan_prefix, kind="plan"))["009-brokers.fewest-bytes"][0]
    twice, once = format_duration(2 * planned), format_duration(planned)
    assert drift["effect"] == (
        f"By the plan of 2026-11-20, the move 009-brokers.fewest-bytes now takes {twice} instead of {once}"
    )


def test_scores_that_are_damaged_are_passed_over(tmp_path, caplog):
    store = LocalStore(tmp_path)
    for day in ("2026-11-20", "2026-12-04", "2026-12-20"):
        stage(inventory(day), store)
        manifest = score_cluster(store, "payments", day)
        plan(store, day)
        if day == "2026-12-04":
            (damaged,) = (tmp_path / manifest.prefix).glob("scores-*.json")
            damaged.write_bytes(b"{}")
    document = read_score_document(store, manifest)
    assert {one["scored_on"] for one in document["scores"]} == {"2026-12-20"}
    assert "the scores of 2026-12-04 are passed over" in caplog.text


def test_scoring_again_changes_nothing(scored):
    store, manifest = scored
    assert score_cluster(store, "payments", "2026-12-20").sha256 == manifest.sha256


def test_the_next_plan_carries_the_scores_and_is_another_plan(scored):
    store, manifest = scored
    without = pin_plan(store, parse_plan_request({**REQUEST, "ds": "2026-11-20"}), run_date=datetime.date(2027, 1, 1))
    assert read_plan_inputs(store, without.request_key).scores is None  # of a day before there were scores
    pinned, sealed = plan(store, "2026-12-20")
    inputs = read_plan_inputs(store, pinned.request_key)
    assert inputs.scores == read_score_document(store, manifest)
    told = json.loads(read_document(store, sealed, SIZING_DOCUMENT))["scores"]
    assert [one["figure"] for one in told["summaries"]] == ["stored", "traffic"]
    assert (
        "The last prediction of traffic at peak, 30 days ahead, was off by 23.1 %" in told["summaries"][1]["sentence"]
    )
    report = build_report(report_inputs(store, pinned, sealed))
    shown = next(one["data"] for one in report["sections"] if one["name"] == "scoreboard")
    assert shown["sentences"] == [one["sentence"] for one in told["summaries"]]
    rows = {row["figure"]: row for row in shown["table"]["rows"]}
    assert rows["traffic at peak"]["error"] == "−23.1 %"
    assert rows["traffic at peak"]["observed"] == "4.5 MiB/s"
    assert rows["stored bytes"]["made_on"] == "2026-11-20"
    request = parse_plan_request(REQUEST)
    same = {"ds": "2026-12-20", "inventory_sha256": pinned.inventory_sha256}
    assert request.plan_id(**same) != request.plan_id(**same, scores_sha256=manifest.sha256) == pinned.plan_id


def test_scores_add_up_over_the_days(scored):
    store, _ = scored
    stage(inventory("2027-01-10", 450_000.0, 300 * GIB), store)
    later = score_cluster(store, "payments", "2027-01-10")
    document = read_score_document(store, later)
    assert {one["scored_on"] for one in document["scores"]} == {"2026-12-20", "2027-01-10"}
    assert newest_scores(store, "payments", not_after="2027-01-01").facts["ds"] == "2026-12-20"
    assert newest_scores(store, "payments", not_after="2026-12-01") is None
    assert read_scored_day(store, "payments", "2026-01-01") == ([], {})


def test_a_day_without_an_inventory_is_refused(scored):
    store, _ = scored
    with pytest.raises(InventoryError, match="has no complete inventory of 2026-12-24"):
        score_cluster(store, "payments", "2026-12-24")


def test_what_a_plan_reckoned_with_is_held_against_later_days(tmp_path):
    store = LocalStore(tmp_path / "objects")
    stage(inventory("2026-11-20", broker_metrics=processors("2026-11-20")), store)
    made, sealed = plan(store, "2026-11-20")
    kept = json.loads(read_document(store, sealed, SIZING_DOCUMENT))
    assert kept["cpu"]["leader_in_seconds_per_mib"] == pytest.approx(0.03, rel=0.02)
    assert len(kept["cpu"]["covariance"]) == 4
    assert [one["topic"] for one in kept["stored_per_produced"]] == ["orders"]
    # A day too early, then nothing new, then processors that have more to do and logs that are kept smaller.
    stage(inventory("2026-11-26", broker_metrics=processors("2026-11-26")), store)
    assert read_score_document(store, score_cluster(store, "payments", "2026-11-26"))["coefficients"] == []
    stage(inventory("2026-12-01", broker_metrics=processors("2026-12-01", days=9)), store)
    cpu, disk = read_score_document(store, score_cluster(store, "payments", "2026-12-01"))["coefficients"]
    assert (cpu["figure"], cpu["has_drifted"], cpu["plan_id"]) == ("cpu", False, made.plan_id)
    assert (disk["figure"], disk["has_drifted"]) == ("disk", False)
    later = processors("2026-12-10", 1.4, days=9)
    stage(inventory("2026-12-10", size=140 * GIB, broker_metrics=later), store)
    cpu, disk = read_score_document(store, score_cluster(store, "payments", "2026-12-10"))["coefficients"]
    assert (cpu["has_drifted"], disk["has_drifted"]) == (True, True)
    assert cpu["change_ratio"] == pytest.approx(0.4, abs=0.01)
    assert disk["change_ratio"] == pytest.approx(-0.3, abs=0.01)
    # The next plan tells of it, and reckons with figures of its own.
    pinned, sealed = plan(store, "2026-12-10")
    assert json.loads(read_document(store, sealed, SIZING_DOCUMENT))["cpu"][
        "leader_in_seconds_per_mib"
    ] == pytest.approx(1.4 * 0.03, rel=0.02)
    report = build_report(report_inputs(store, pinned, sealed))
    page = render_all(report_inputs(store, pinned, sealed)).index_html.decode()
    assert page.count("<strong>Drifted:</strong>") == 2
    shown = next(one["data"] for one in report["sections"] if one["name"] == "scoreboard")
    assert shown["has_drifted"]
    assert shown["coefficients"] == [{"sentence": one["sentence"], "has_drifted": True} for one in (cpu, disk)]


def test_logs_of_tiered_topics_are_held_against_what_brokers_keep_of_them(tmp_path):
    def tiered(day, size):
        raw = inventory(day, size=size)
        local = {"retention_ms": 30 * 86_400_000, "local_retention_ms": 86_400_000, "remote_storage_enable": True}
        return with_rows(raw, "topics", [row | local for row in rows_of(raw, "topics")])

    store = LocalStore(tmp_path)
    stage(tiered("2026-11-20", 200 * GIB), store)
    plan(store, "2026-11-20")
    stage(tiered("2026-12-01", 140 * GIB), store)
    (disk,) = read_score_document(store, score_cluster(store, "payments", "2026-12-01"))["coefficients"]
    assert (disk["figure"], disk["change_ratio"]) == ("disk", pytest.approx(-0.3, abs=0.01))


def later(day, weeks):
    return (datetime.date.fromisoformat(day) + datetime.timedelta(weeks=weeks)).isoformat()


def drifts_of(store, ds):
    return {one["figure"]: one for one in read_score_document(store, score_cluster(store, "payments", ds))["drifts"]}


def test_a_step_is_flagged_although_each_weeks_plan_has_seen_it(tmp_path):
    """90 % a year are expected, and 30 % more than that come from the third week on; a plan is made each week."""
    store, first = LocalStore(tmp_path / "objects"), "2026-08-03"
    asked = {"horizon_months": 12, "broker_counts": [6, 9], "growth_per_year_ratio": 0.9}
    stage(inventory(first), store)
    plan(store, first, **asked)
    flagged = {}
    for week in range(1, 6):
        day, factor = later(first, week), 1.9 ** (week * 7 / 365) * (1.3 if week >= 3 else 1.0)
        stage(inventory(day, 300_000 * factor, int(200 * GIB * factor)), store)
        flagged[week] = drifts_of(store, day)
        pinned, sealed = plan(store, day, **asked)
    assert [sorted(flagged[week]) for week in (1, 2, 3, 4, 5)] == [
        [],
        [],
        [],
        ["stored", "traffic"],
        ["stored", "traffic"],
    ]
    drift = flagged[5]["traffic"]
    assert (drift["since"], drift["made_on"], drift["last"]) == (later(first, 3), first, later(first, 5))
    assert drift["ratio"] == pytest.approx(1.3, abs=0.01)
    # By the plan's own figures: 6 brokers are at 88 % of what disks may hold at its horizon, 9 at 59 %.
    stored = flagged[5]["stored"]
    path = json.loads(read_document(store, _plan_of(store, stored), SIZING_DOCUMENT))["stored"]["high"]
    (day,) = re.findall(
        r"By that plan, 6 brokers last until (\S+) instead of beyond 2027-08-03, or 9 instead of 6", stored["effect"]
    )
    assert later(first, 30) < day < "2027-08-03"
    assert path[0] * stored["ratio"] < path[-1]
    # Page, mail and decision say the same, in the same words.
    inputs = report_inputs(store, pinned, sealed)
    report, rendered = build_report(inputs), render_all(inputs)
    texts = [
        one.text for one in drift_problems(read_score_document(store, newest_scores(store, "payments", not_after=day)))
    ]
    assert len(texts) == 2
    assert [one["text"] for one in report["verdict"]["problems"] if one["code"] == "prediction-drift"] == texts
    assert all(text in rendered.email_text for text in texts)
    assert rendered.index_html.decode().count("<strong>Drifted:</strong>") == 2


@pytest.mark.parametrize("down", [(), (2, 3)])
def test_a_drift_says_which_classes_of_topics_it_is_in(tmp_path, down):
    """Twice as much of payments comes, a topic that nobody knew, and of orders what was expected."""
    store, first = LocalStore(tmp_path / "objects"), "2026-08-03"
    asked = {"growth_per_year_ratio": 0.0, "topic_classes": ["payments=pay*"]}

    def staged(ds, factor, more=()):
        made = [
            topic("orders", partitions=12, size_bytes=200 * GIB, bytes_in=300_000.0),
            topic("payments", partitions=12, size_bytes=int(100 * GIB * factor), bytes_in=150_000.0 * factor),
            *more,
        ]
        raw = cluster(ds=ds, topics=made)
        stage(raw if ds == first else without_sizes(raw, brokers=down), store)

    staged(first, 1.0)
    plan(store, first, **asked)
    for week in range(1, 6):
        new = [topic("clicks", partitions=12, size_bytes=0, bytes_in=100_000.0)] if week >= 3 else []
        staged(later(first, week), 2.0 if week >= 3 else 1.0, new)
        drifts = drifts_of(store, later(first, week))
    traffic, stored = (drifts[figure]["classes"] for figure in ("traffic", "stored"))
    assert [(one["name"], one["expected"], one["observed"]) for one in traffic] == [
        ("payments", pytest.approx(12 * 150_000), pytest.approx(12 * 300_000)),
        ("topics unknown to the plan", 0.0, pytest.approx(12 * 100_000)),
    ]
    # Three replicas of twelve partitions of 100 GiB, and twice that.
    (only,) = stored
    assert (only["name"], only["observed"]) == ("payments", 3 * 12 * 200 * GIB)
    assert only["expected"] == pytest.approx(3 * 12 * 100 * GIB)
    texts = {one.about: one.text for one in drift_problems({"drifts": drifts.values()})}
    assert re.search(r"\. Most of it comes from payments \(7\S* TiB instead of 3\.5\S* TiB\)\. \S", texts["stored"])
    assert re.search(
        r"payments \(3\.\S+ MiB/s instead of 1\.\S+ MiB/s\) and topics unknown to the plan \(1\.",
        texts["traffic"],
    )
    # A day of which the traffic is unknown tells of no class that it has less.
    last = later(first, 6)
    stage(without_metrics(two_topics(last)), store)
    drift = drifts_of(store, last)["traffic"]
    assert (drift["last"], drift.get("classes", [])) == (later(first, 5), [])


def _plan_of(store, drift):
    return read_manifest(store, plan_prefix("payments", drift["made_on"], drift["plan_id"]), kind="plan")


def test_processors_that_take_more_for_a_mib_are_flagged_although_each_plan_fits_them_again(tmp_path):
    store, first = LocalStore(tmp_path / "objects"), "2026-08-03"
    stage(inventory(first, broker_metrics=processors(first)), store)
    plan(store, first)
    for week in range(1, 5):
        day = later(first, week)
        stage(inventory(day, broker_metrics=processors(day, 1.3 if week >= 3 else 1.0)), store)
        drifts = drifts_of(store, day)
        assert ("cpu" in drifts) == (week == 4)
        plan(store, day)
    # What an idle broker takes is 0.5 cores for the plan and 0.65 now: it is told together with the traffic.
    assert drifts["cpu"]["ratio"] == pytest.approx(1.3, abs=0.1)
    assert drifts["cpu"]["made_on"] == first
