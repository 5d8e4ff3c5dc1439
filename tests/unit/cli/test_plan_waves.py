"""``kafka-capacity plan``: the move in waves, and its time."""

import dataclasses
import hashlib
import json

import pytest

from kafka_capacity.cli import planning
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.questions.change import move_schedule
from tests.unit.cli.plan_folders import NINE, all_names, read


def wave_names(folder):
    return sorted(name for name in all_names(folder) if "waves/" in name)


def replica_lists(path):
    return {(p["topic"], p["partition"]): p["replicas"] for p in read(path)["partitions"]}


def test_all_waves_in_order_are_the_target_and_back_in_order_the_start(run, snapshot, broker_list, tmp_path):
    start = ("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes")
    run(*start, "--moves-per-broker", "2", "--out", tmp_path)
    plan = read(tmp_path / "plan.json")
    waves = [next(iter(sorted(wave["files"], key=len))) for wave in plan["waves"]]
    lists = replica_lists(tmp_path / "rollback.json")

    assert {f"waves/{name}" for wave in plan["waves"] for name in wave["files"]} == set(wave_names(tmp_path))
    assert plan["schedule"]["wave_count"] == len(waves) > 2
    for name in waves:
        lists |= replica_lists(tmp_path / "waves" / name)
    assert lists == replica_lists(tmp_path / "moves.json")
    for name in reversed(waves):
        lists |= replica_lists(tmp_path / "waves" / name.replace(".json", "-rollback.json"))
    assert lists == replica_lists(tmp_path / "rollback.json")


def test_waves_of_an_earlier_plan_are_taken_away(run, snapshot, broker_list, tmp_path):
    start = ("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes")
    run(*start, "--moves-per-broker", "1", "--out", tmp_path)
    many = wave_names(tmp_path)
    run(*start, "--out", tmp_path)

    assert 0 < len(wave_names(tmp_path)) < len(many)
    assert wave_names(tmp_path) == sorted(
        f"waves/{name}" for wave in read(tmp_path / "plan.json")["waves"] for name in wave["files"]
    )


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (("--wave-order", "smallest-first"), "order", "smallest-first"),
        (("--throttle-auto",), "is_throttle_automatic", True),
        (("--headroom", "0.5"), "headroom_ratio", 0.5),
        (("--moves-per-broker", "3"), "max_concurrent_moves_per_broker", 3),
        (("--wave-hours", "2"), "max_wave_seconds", 7200.0),
        (("--pause", "5"), "pause_seconds", 5.0),
    ],
)
def test_every_option_of_the_move_reaches_the_schedule(run, snapshot, options, name, value):
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes", "--json")
    plan = json.loads(run(*start, *options).stdout)

    assert plan["schedule"][name] == value


def test_fetchers_and_leadership_first_show_in_the_schedule(run, snapshot, broker_list):
    fewer = ("--brokers", broker_list(NINE[:5]), "--placer", "fewest-bytes", "--json")
    start = ("plan", "--snapshot", snapshot, *fewer, "--rack-rule", "off")
    usual, slow, faster, plain = (
        json.loads(run(*start, *options).stdout)["schedule"]
        for options in (
            (),
            ("--fetcher-rate", "1e5"),
            ("--fetcher-rate", "1e5", "--fetchers", "4"),
            ("--no-leadership-first",),
        )
    )

    assert usual["leaders_moved_first"] > 0
    assert plain["leaders_moved_first"] is None
    assert usual["total_low_seconds"] < faster["total_low_seconds"] < slow["total_low_seconds"]


def test_waves_that_never_end_are_a_warning_of_plan_and_report_alike(run, snapshot, tmp_path):
    start = ("--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    waves = json.loads(run("plan", *start, "--json").stdout)["schedule"]
    below = ("--throttle", str(waves["smallest_throttle_expected_bytes_per_second"] * 0.9))
    plan, report = run("plan", *start, *below), run("report", *start, *below, "--out", tmp_path)
    warned = [line.partition(": ")[2] for line in plan.stdout.splitlines() if line.startswith("serious, 009-brokers.")]

    assert any(text.startswith("The move never finishes at this throttle") for text in warned)
    assert any("in waves above" in text for text in warned)
    assert {f"serious: {text}" for text in warned} <= set(report.stderr.splitlines())


def test_the_table_says_how_many_waves_and_how_long(run, snapshot):
    done = run(
        "plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes", "--throttle", "1kB/s"
    )

    assert "time in waves" in done.stdout
    assert "never" in done.stdout


def test_an_explanation_has_bound_limits_orders_and_waves(run, snapshot):
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "6,9", "--placer", "fewest-bytes", "--throttle", "1e8")
    lines = run(*start, "--explain", "--moves-per-broker", "2").stdout.splitlines()
    own = lines[lines.index("009-brokers.fewest-bytes:") :]

    assert "006-brokers.fewest-bytes:" in lines
    for beginning in (
        "  lower bound: ", "  limiting: ", "  The move has ", "  Order: ", "│ relief-first", "│ smallest-first",
        "│ hottest-first", "│ 1 ", "│ 2 ",
    ):  # fmt: skip
        assert any(line.startswith(beginning) for line in own), beginning
    for word in ("bottleneck", "finishes above", "fullest disk,", "Throttle: 100 MB/s"):
        assert any(word in line for line in own), word
    assert run(*start, "--explain", "--json").exit_code == 2


def test_an_explanation_says_what_would_relieve_a_full_disk(run, snapshot):
    done = run(
        "plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "fewest-bytes", "--disk-limit", "0.000001",
        "--explain",
    )  # fmt: skip

    assert "  limiting: the disk limit of brokers 1, 2, 3, 4, 5, 6, " in done.stdout
    assert "would be enough" in done.stdout


def test_a_placement_far_above_its_bound_is_said_to_be_a_multiple_of_it(run, snapshot):
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "generate")
    bound = next(line for line in run(*start, "--explain").stdout.splitlines() if line.startswith("  lower bound: "))

    assert bound.endswith("× the lower bound")
    assert "gap" not in bound


def test_waves_that_copy_nothing_of_what_is_to_be_copied_have_no_time(run, snapshot):
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "5", "--placer", "fewest-bytes")
    done = run(*start, "--disk-limit", "0.000001", "--explain")

    assert "  waves: none of the copies can be scheduled" in done.stdout.splitlines()
    assert "0 s, " not in done.stdout
    assert "smallest throttle" not in done.stdout


def test_automatic_throttles_say_that_they_know_nothing_of_disks(run, snapshot):
    start = ("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    said = "The automatic throttles leave headroom in networks only: what the disks write and read is not known."
    automatic = run(*start, "--throttle-auto").stdout
    assert said in automatic
    assert "leave headroom; copying alone is at 50 MB/s." in automatic
    assert said not in run(*start, "--throttle-auto", "--disk-rate", "400MB/s").stdout
    assert said not in run(*start).stdout


def test_the_closing_line_names_the_file_that_the_time_is_of(run, snapshot, broker_list, tmp_path):
    start = ("plan", "--snapshot", snapshot, "--placer", "fewest-bytes", "--throttle", "1e6")
    nine = ("--brokers", broker_list(NINE))
    one = run(*start, *nine, "--out", tmp_path / "one").stdout.splitlines()[-1]
    several = run(*start, "--broker-counts", "8,9", "--out", tmp_path / "several").stdout.splitlines()[-1]
    unfit = run(*start, "--broker-counts", "8,9", "--disk-limit", "1e-6", "--out", tmp_path / "unfit").stdout

    assert one == (
        "to execute it, run the 2 waves one after another, which the duration is for: runbook.md has the commands for "
        "each wave; moves.json has all of it at once, which disks must have room for; rollback.json undoes it"
    )
    assert "008-brokers.fewest-bytes/moves.json " in several
    # What does not fit is written to be looked at, and its runbook begins with why.
    assert unfit.splitlines()[-1] == "no option fits: the files show what each would do, and are not to be executed"
    runbook = (tmp_path / "unfit/009-brokers.fewest-bytes/runbook.md").read_text()
    assert "\n- This option does not fit: broker " in runbook
    assert "moves.json" not in run(*start, *nine).stdout
    refused = run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE[:2]), "--out", tmp_path / "refused")
    assert "moves.json" not in refused.stdout
    help_text = " ".join(run("plan", "--help").stdout.replace("│", " ").split())
    assert "for kafka-reassign-partitions.sh --execute --throttle" in help_text


@pytest.fixture
def slow(monkeypatch):
    """Let every move take a day at mean rates and what is said at peak."""

    def let(peak):
        def evaluate(*given, **traffic):
            result = evaluate_placement(*given, **traffic)
            figures = {"duration_seconds": 86_400.0, "duration_peak_seconds": peak}
            figures["smallest_throttle_peak_bytes_per_second"] = 61_000_000.0
            return dataclasses.replace(result, metrics=dataclasses.replace(result.metrics, **figures))

        monkeypatch.setattr(planning, "evaluate_placement", evaluate)
        # Its waves would have times of their own.
        monkeypatch.setattr(move_schedule, "is_scheduled", lambda result: False)

    return let


@pytest.mark.parametrize(
    ("peak", "shown", "is_warned"),
    [(151_200.0, "1 d to 1 d 18 h", False), (None, "1 d; never finishes at peak", True), (86_400.0, "1 d", False)],
)
def test_the_time_is_shown_at_mean_and_at_peak(run, snapshot, slow, peak, shown, is_warned):
    slow(peak)
    done = run("plan", "--snapshot", snapshot, "--broker-counts", "9", "--placer", "fewest-bytes")
    row = next(line for line in done.stdout.splitlines() if "│ 009-brokers.fewest-bytes" in line)
    warning = (
        "serious, 009-brokers.fewest-bytes: At peak rates the copies fall behind and the move never finishes: run "
        "it off-peak, or with a throttle above 61 MB/s."
    )

    assert row.strip("│ ").split("│")[-1].strip() == shown
    assert (warning in done.stdout.splitlines()) is is_warned


def test_a_full_disk_leaves_the_earlier_plan_as_it_was(planned, run, snapshot, monkeypatch):
    before = {name: (planned / name).read_bytes() for name in all_names(planned)}
    write, left = type(planned).write_bytes, [10]

    def full(path, data):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    done = run("plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "zk", "--out", planned)

    assert done.exit_code
    assert {name: (planned / name).read_bytes() for name in all_names(planned)} == before


def test_the_runbook_has_the_hash_of_every_file_beside_it(planned):
    runbook = (planned / "runbook.md").read_text()
    for name in ("moves.json", "rollback.json", "target.json", "reassignment.json", *wave_names(planned)):
        digest = hashlib.sha256((planned / name).read_bytes()).hexdigest()
        assert f'echo "{digest}  {name}" | sha256sum --check' in runbook
