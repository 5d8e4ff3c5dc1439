"""``kafka-capacity size``: sizing on a laptop."""

import datetime
import json

import pytest

from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import GIB, cluster, topic, with_rows
from tests.unit.inventory.inventories_with_groups import group, member


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """A folder with an example of 9 brokers."""
    folder = tmp_path_factory.mktemp("uneven")
    write_snapshot_files(make_example("metrics-uneven"), folder)
    return folder


QUICK = ("--broker-counts", "9,12", "--horizon", "3")


def sized(run, folder, *arguments):
    done = run("size", "--snapshot", folder, *QUICK, *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_options_and_the_recommendation_are_shown(run, uneven):
    priced = "--broker-price", "1.5", "--rack-traffic-price", "0"
    done = run("size", "--snapshot", uneven, *QUICK[:-1], "4", *priced, "--shapes", "kafka.m7g.*")
    assert done.exit_code == 0, done.output
    for words in (
        "metrics-uneven on ",
        "do-nothing",
        "006-brokers.today",
        "recommended now: 009-brokers.kafka.m7g.large",
        "recommended by 2027-02-04: 012-brokers.kafka.m7g.large",
        "When resources exceed their limit: doing nothing, 9 brokers",
        "Calculator: Amazon’s sizing script for MSK",
        "Calculator: a plain calculator",
        "real placement",
    ):
        assert words in done.stdout


def test_the_file_holds_what_is_printed_as_json_and_is_the_same_each_time(run, uneven, tmp_path):
    document = sized(run, uneven, "--broker-price", "1.5", "--rack-traffic-price", "0", "--out", tmp_path)
    first = (tmp_path / "size.json").read_bytes()
    assert json.loads(first) == document
    sized(run, uneven, "--broker-price", "1.5", "--rack-traffic-price", "0", "--out", tmp_path)
    assert (tmp_path / "size.json").read_bytes() == first
    assert [option["option_id"] for option in document["options"]] == [
        "do-nothing",
        "006-brokers.today",
        "009-brokers.today",
        "012-brokers.today",
    ]
    assert document["dates"][0] == document["ds"]
    assert len(document["dates"]) == 4
    assert document["options"][0]["usd_per_month"]["total"] == pytest.approx(9 * 1.5 * 730)
    assert document["advice"]["recommended"] in {
        option["option_id"] for option in document["options"] if option["fits"]
    }
    for waterfall in document["waterfalls"]:
        assert waterfall["theirs"]["brokers"] + sum(step["change"] for step in waterfall["steps"]) == waterfall["ours"]


def test_growth_is_that_which_is_asked_for(run, uneven):
    still, doubled = (
        sized(run, uneven, "--growth", growth, "--growth-high", growth)["options"][0] for growth in ("0", "1500%")
    )
    assert doubled["headroom_ratio"] < still["headroom_ratio"]


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        (("--growth", "0.3"), "Growth as asked: +30 % by 2027-11-15, +60 % in the high estimate."),
        ((), "Growth forecast: +40 % in the busiest week up to 2027-11-15, +113 % in the high estimate."),
        (("--no-forecast",), "Growth assumed: +30 % by 2027-11-15, +60 % in the high estimate."),
        (
            ("--class-growth", "web=0", "--topic-class", "web=*"),
            "Growth as requested for web: 0 % by 2027-11-15, +23 % in the high estimate.",
        ),
    ],
)
def test_the_first_line_says_which_growth_it_rests_on(run, uneven, given, ends):
    done = run("size", "--snapshot", uneven, "--quiet", *given)
    assert done.stdout.strip().endswith(ends)


def test_a_file_of_shapes_is_tried(run, uneven, tmp_path):
    own = tmp_path / "own.json"
    own.write_text(
        json.dumps(
            {
                "offers": [
                    {"name": "o", "provider": "us", "priced_on": "2026-11-01", "source": "finance", "disk": "own"}
                ],
                "shapes": [{"name": "r740", "offer": "o", "vcpu": 32, "disk_gib": 20_000, "usd_per_hour": 0.5}],
            }
        )
    )
    document = sized(run, uneven, "--shapes", "r740", "--shapes-file", own)
    shape = next(one for one in document["options"] if one["option_id"] == "009-brokers.r740")
    assert shape["not_judged"] == ["network_in", "network_out"]
    assert (shape["fits"], shape["status"]) == (True, "not_judged")  # what is not known is not said to fit
    assert {one["status"] for one in document["options"] if not one["not_judged"]} == {"fits", "does_not_fit"}
    assert shape["usd_per_month"]["brokers"] == pytest.approx(9 * 0.5 * 730)
    assert shape["usd_per_month"]["total"] is None  # traffic between racks has no price in that file


def test_hardware_of_unknown_cost_is_not_left_for_dear_one(run, uneven, tmp_path):
    """Machines of today have a price; traffic between racks has none in this file."""
    own = tmp_path / "own.json"
    offer = {"name": "o", "provider": "us", "priced_on": "2026-11-01", "source": "finance", "disk": "own"}
    figures = {"vcpu": 32, "network_mbit_per_second": 10_000, "disk_gib": 40_000, "usd_per_hour": 0.05}
    own.write_text(json.dumps({"offers": [offer], "shapes": [{"name": "r740", "offer": "o", **figures}]}))
    asked = ("--shapes-file", own, "--current-shape", "r740", "--shapes", "m7g.8xlarge")
    document = sized(run, uneven, *asked)
    fitting = {one["option_id"]: one["usd_per_month"]["total"] for one in document["options"] if one["fits"]}
    assert fitting["012-brokers.m7g.8xlarge"] > 0
    assert document["advice"]["recommended"] == "006-brokers.r740"
    assert document["advice"]["reason"].startswith(
        "006-brokers.r740 is the smallest number of today's brokers tried that fits; its cost is unknown; "
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--network-limit", "1.2"), "--network-limit: 1.2 is invalid: give at most 1"),
        (("--growth", "0.5", "--growth-high", "0.1"), "--growth-high: 0.1 is invalid: it is below --growth, 0.5"),
        (("--shapes", "m9.large"), "error: --shapes: 'm9.large' is not in the catalogue; choose from express.m7g.*, "),
        (
            ("--shapes", "today"),
            "error: --shapes: 'today' is always included and not a shape of the catalogue; leave it out",
        ),
        (
            ("--current-shape", "m9.large"),
            "error: --current-shape: 'm9.large' is not in the catalogue; choose from today, ",
        ),
        (
            ("--current-shape", "kafka.m7g.*"),
            "error: --current-shape: 'kafka.m7g.*' is invalid: it matches 7 sizes, but brokers run on one; name it, "
            "such as kafka.m7g.large",
        ),
        (
            ("--current-shape", "m5.large", "--broker-price", "2"),
            "error: --broker-price: 2.0 is invalid: the shape 'm5.large' has its own; ",
        ),
        (
            ("--current-shape", "m5.large", "--broker-replicas", "10"),
            "error: --broker-replicas: 10 is invalid: the shape 'm5.large' has its own, or none; leave it out",
        ),
        (("--estimate", "low"), "--estimate: 'low' is invalid"),
        (
            ("--core-speed", "m7g.*"),
            "is invalid: 'm7g.*' is not a core speed; write shape=ratio, such as m7g.*=1.2, from",
        ),
        (("--core-speed", "m9=1.2"), "error: --core-speed: 'm9' is not in the catalogue; choose from today, "),
        (("--broker-price", "0"), "error: --broker-price: '0' is invalid: give more than 0"),
    ],
)
def test_wrong_options_are_refused_by_their_names(run, uneven, arguments, message):
    done = run("size", "--snapshot", uneven, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_mistake_in_a_file_of_shapes_is_told_of_that_file(run, uneven, tmp_path, monkeypatch):
    """A file that is called as an option is, ``shapes.json``, is not mistaken for what was typed of it."""
    (tmp_path / "shapes.json").write_text('{"shapes": [{"name": "r740", "offer": "o"}]}')
    monkeypatch.chdir(tmp_path)
    done = run("size", "--snapshot", uneven, "--shapes-file", "shapes.json")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: --shapes-file shapes.json: shape 'r740' is of the offer 'o', which is not ")


def test_what_is_told_of_a_planned_event_names_the_file_s_option(run, uneven, tmp_path):
    events = tmp_path / "events.json"
    events.write_text(json.dumps([{"kind": "launch", "topics": "no.such*", "from_date": "2027-01-01", "factor": 2}]))
    done = run("size", "--snapshot", uneven, "--events", events)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: --planned-events")
    assert "planned_events" not in done.stderr


def test_an_option_that_leaves_one_replica_does_not_fit_and_topics_that_have_one_are_named(run, tmp_path):
    write_snapshot_files(cluster(topics=[topic("orders"), topic("trace", partitions=4, rf=1)]), tmp_path)
    asked = ("size", "--snapshot", tmp_path, "--broker-counts", "6", "--replication-factors", "1,3")
    document = json.loads(run(*asked, "--json").stdout)
    lost = next(one for one in document["options"] if one["option_id"] == "006-brokers.today.rf1")
    assert [one["constraint"] for one in lost["excuses"]] == ["replication_factor"]
    single = document["single_replicas"]
    assert (single["partitions"], single["topics"]) == (4, ["trace"])
    words = " ".join(run(*asked).stdout.split())
    assert f"serious: {single['reason']}" in words
    assert json.loads(run(*asked, "--tolerate", "none", "--json").stdout)["single_replicas"] is None
    raised = run(*asked[:-1], "3", "--current-shape", "m5.large", "--all").stdout
    assert ("serious: " in raised) == any(
        name in line and "recommended" in line
        for name in ("do-nothing", "shrink-volumes")
        for line in raised.splitlines()
    )


def test_without_rates_nothing_is_said_to_fit(run, tmp_path):
    write_snapshot_files(cluster(hours=0), tmp_path)
    done = run("size", "--snapshot", tmp_path, "--broker-counts", "6", "--fail-if-unfit", "--json")
    assert done.exit_code == 3
    document = json.loads(done.stdout)
    assert document["advice"]["recommended"] is None
    assert document["options"][0]["excuses"][0]["reason"] == (
        "no rates are known, so no option can be said to fit; stage an inventory with metrics"
    )
    assert {one["status"] for one in document["options"]} == {"not_judged"}
    # A move that is not judged for that is not said to fit either.
    move = ("plan", "--snapshot", tmp_path, "--broker-counts", "6", "--placer", "zk")
    planned = run(*move, "--fail-if-unfit")
    assert (planned.exit_code, planned.stdout.startswith("payments on 2026-11-20: Not judged")) == (3, True)
    plan = json.loads(run(*move, "--json").stdout)
    assert (plan["fits"], plan["status"]) == (True, "not_judged")
    assert document["advice"]["reason"] == (
        "no option can be judged: no rates are known, so no option can be said to fit; stage an inventory with metrics"
    )
    shown = run("size", "--snapshot", tmp_path, "--broker-counts", "6").stdout
    assert ": Not judged how many brokers are needed: no rates are known, so no option " in shown.splitlines()[0]
    (row,) = [line for line in shown.splitlines() if line.startswith("│ do-nothing")]
    assert [cell.strip() for cell in row.split("│")][2] == "not judged"


def test_samples_of_processors_change_the_figures_when_they_explain_enough(run, uneven, tmp_path):
    samples = tmp_path / "samples.csv"
    names = "cores_used,leader_in_bytes_per_second,follower_in_bytes_per_second,out_bytes_per_second"
    rows = [f"{1 + i % 7 + 2 * (i % 5)},{(i % 7) * 1e6},{(i % 5) * 1e6},{(i % 3) * 1e6}" for i in range(105)]
    samples.write_text("\n".join([names, *rows]))
    document = sized(run, uneven, "--cpu-samples", samples)
    assert document["cpu"]["samples"] == 105
    assert document["cpu"]["leader_in_seconds_per_mib"] == pytest.approx(1.048576)
    assert "the fit explains 100 % of the variance" in document["cpu"]["reason"]
    assert sized(run, uneven)["cpu"]["reason"] is None


def test_stated_figures_are_of_the_cores_that_todays_brokers_have(run, uneven):
    document = sized(run, uneven, "--core-speed", "today=1.25")
    assert document["cpu"]["leader_in_seconds_per_mib"] == pytest.approx(0.030 / 1.25)
    assert sized(run, uneven)["cpu"]["leader_in_seconds_per_mib"] == pytest.approx(0.030)


def test_the_hours_of_brokers_in_a_snapshot_are_samples_too(run, tmp_path):
    first = datetime.datetime(2026, 11, 18, tzinfo=datetime.UTC)
    rows = [
        {
            "broker_id": 1 + i % 9,
            "hour": first + datetime.timedelta(hours=i // 9),
            "cpu_cores_used": 1 + i % 7 + 2 * (i % 5),
            "leader_in_bytes_per_second": (i % 7) * 1e6,
            "follower_in_bytes_per_second": (i % 5) * 1e6,
            "out_bytes_per_second": (i % 3) * 1e6,
        }
        for i in range(105)
    ]
    write_snapshot_files(with_rows(make_example("metrics-uneven"), "broker_metrics", rows), tmp_path)
    cpu = sized(run, tmp_path)["cpu"]
    assert (cpu["samples"], cpu["source"]) == (105, "fitted to 105 samples, R² 1.000")
    assert cpu["leader_in_seconds_per_mib"] == pytest.approx(1.048576)


def test_what_the_inventory_does_not_tell_is_said(run, tmp_path):
    raw = cluster(hours=48)
    rows = [{**row, "bytes_out_bytes_per_second": None} for row in raw.table("metrics").to_pylist()]
    write_snapshot_files(with_rows(raw, "metrics", rows), tmp_path)
    warning = "inventory: no row has bytes_out_bytes_per_second: what consumers read counts as 0"
    assert any(one.startswith(warning) for one in sized(run, tmp_path)["warnings"])
    done = run("size", "--snapshot", tmp_path, *QUICK)
    assert warning in " ".join(done.stdout.split())
    assert "there is less than a day of rates" in done.stdout


@pytest.mark.parametrize(("last", "left"), [(3, None), (5, "3 of 5 voters are left")])
def test_a_smaller_cluster_that_gives_up_voters_says_so(run, tmp_path, last, left):
    told = {"is_voter": True, "lag_records": 0, "behind_seconds": 0.0, "kraft_version": 1}
    voters = [{"node_id": broker, "is_active": broker == 1, **told} for broker in range(1, last + 1)]
    write_snapshot_files(cluster(hours=48, quorum_replicas=voters), tmp_path)
    document = sized(run, tmp_path, "--broker-price", "1", "--growth", "0")
    assert document["advice"]["recommended"] == "003-brokers.today"
    said = [one for one in document["warnings"] if "vote" in one]
    assert bool(said) == bool(left)
    for one in said:
        assert one.startswith(
            "serious: controllers 4, 5 vote in the metadata quorum and are to be shut down as brokers"
        )
        assert left in one
        assert one.endswith("`kafka-capacity failures --wanted-controllers`, gives the steps")


def test_with_sizes_of_some_topics_nothing_is_said_to_fail_either(run, tmp_path):
    """What is known of the disks passes their limit in some months; all of it may now."""
    topics = [topic("known", partitions=6, size_bytes=500 * GIB, bytes_in=1e6), topic("unknown", size_bytes=None)]
    write_snapshot_files(cluster(topics=topics, disk_capacity_bytes=2e12), tmp_path)
    said = sized(run, tmp_path, "--growth", "0.5", "--no-forecast")
    nothing = next(one for one in said["options"] if one["kind"] == "do-nothing")
    assert {one["constraint"] for one in nothing["excuses"]} == {"sizes"}
    shown = run("size", tmp_path, "--growth", "0.5", "--no-forecast").stdout
    assert " Not judged how many brokers are needed: the sizes of 50 % of the partitions are unknown" in shown
    assert "not known" in next(line for line in shown.splitlines() if "do-nothing" in line)


def test_a_cluster_without_rates_is_neither_said_to_last_nor_to_fail(run, tmp_path):
    write_snapshot_files(cluster(hours=0), tmp_path)
    done = run("size", "--snapshot", tmp_path, *QUICK)
    assert "not known" in next(line for line in done.stdout.splitlines() if "do-nothing" in line)
    assert "not even today" not in done.stdout
    assert " only\n" not in done.stdout


def test_planned_events_come_from_a_file(run, uneven, tmp_path):
    events = tmp_path / "events.json"
    launch = {"kind": "launch", "topics": "web.*", "from_date": "2026-12-24", "factor": 2.5}
    events.write_text(json.dumps([launch]))
    arguments = ("--events", events, "--growth", "0", "--growth-high", "0", "--topic-class", "apps=app.*")
    demand = sized(run, uneven, *arguments, "--no-forecast")
    names = [one["name"] for one in demand["classes"]]
    assert names == ["apps", "other", "web (launch ×2.5 from 2026-12-24)"]
    # Three days later the logs hold nothing from before the launch.
    assert demand["dates"][2:5] == ["2026-12-23", "2026-12-24", "2026-12-27"]
    assert demand["classes"][2]["rate_ratio"] == [1, 1, 1, 2.5, 2.5, 2.5, 2.5]
    assert demand["classes"][0]["reason"].startswith("As requested: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"kind": "launch"', "is not JSON (Expecting ',' delimiter: line 1 column 19 (char 18)); fix it"),
        ("{}", "is not a list; write a list of events, [{…}, …]"),
    ],
)
def test_a_file_of_events_that_is_none_is_refused(run, uneven, tmp_path, text, message):
    events = tmp_path / "events.json"
    events.write_text(text)
    done = run("size", "--snapshot", uneven, "--events", events)
    assert done.exit_code != 0
    assert "".join(done.output.split()).endswith("".join(f"--planned-events: {str(events)!r} {message}".split()))


def test_the_event_and_field_that_are_wrong_are_named(run, uneven, tmp_path):
    events = tmp_path / "events.json"
    events.write_text('[{"kind": "launch", "topics": "web.*", "from_date": "2026-12-24", "factor": 0}]')
    done = run("size", "--snapshot", uneven, "--events", events)
    assert done.exit_code != 0
    assert "--planned-events 0.launch.factor: 0 is invalid: give more than 0" in " ".join(done.output.split())


def test_a_long_history_is_forecast(run, tmp_path):
    rows = [
        {"topic": "orders", "day": f"2026-{month:02d}-{day:02d}T00:00:00Z", "bytes_in_bytes_per_second": 6000.0 + day}
        for month in range(5, 11)
        for day in range(1, 31)
    ]
    raw = cluster(disk_capacity_bytes=4e12, ds="2026-11-01")
    write_snapshot_files(raw, tmp_path, file_format="json")
    (tmp_path / "history.json").write_text(json.dumps(rows))
    (basis,) = sized(run, tmp_path, "--current-shape", "m7g.xlarge")["classes"]
    assert basis["basis"] == "forecast"
    assert basis["history_days"] == 184


def test_topics_that_need_more_partitions_say_which_applications_more_would_stop(run, tmp_path):
    topics = (topic("orders", bytes_in=1000.0), topic("app-store-changelog", partitions=4))
    part = {"subtopology": "0", "topics": ["orders"], "changelogs": ["app-store-changelog"]}
    streams = group("app", group_type="Streams", protocol_type="streams", assignor=None) | {"subtopologies": [part]}
    write_snapshot_files(cluster(topics=topics, groups=[streams]), tmp_path)
    document = sized(run, tmp_path, "--partition-in", "100")
    advised, written = sorted(document["partitions"], key=lambda one: one["topic"], reverse=True)
    assert "Streams" not in written["reason"]
    assert advised["reason"].endswith("; more stop the Kafka Streams application app, which reads it, until a reset")
    # Without its topology only the name of its changelog tells that it keeps state.
    unknown = group("app", group_type="Classic", assignor="stream")
    reader = member("m0", ("orders", 0), group_id="app")
    write_snapshot_files(cluster(topics=topics, groups=[unknown], members=[reader]), tmp_path)
    written, advised = sorted(sized(run, tmp_path, "--partition-in", "100")["partitions"], key=lambda one: one["topic"])
    assert "; more may stop the Kafka Streams application app, which reads it" in advised["reason"]
