"""``runbook.md``: what it says of a schedule as a whole."""

from kafka_capacity.kafka.reassignment.problem import Throttle
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.plan.released_files import RUNBOOK, wave_documents
from kafka_capacity.questions.change.move_tables import schedule_tables
from tests.properties.move_problems import move_problem_of


def runbook(before, after, warnings=(), **given):
    made = schedule_tables("015-brokers.fewest-bytes", plan_waves(move_problem_of(before, after, **given)))
    return wave_documents(made, warnings)[RUNBOOK].decode()


def test_waves_follow_each_other_with_their_times():
    lines = runbook(
        [[1, 2]] * 2, [[1, 3]] * 2, size=10**6, throttle=10**5, max_concurrent_moves_per_broker=1
    ).splitlines()

    assert lines[0] == "# Runbook: 015-brokers.fewest-bytes"
    assert lines[2] == (
        "2 waves, 1.9 MiB to copy at 100 kB/s per broker and direction, in the order relief-first. Total: 20 s."
    )
    assert "## Wave 1 of 2: copy" in lines
    assert "Starts immediately; 1 partition, 976.6 KiB to copy." in lines
    assert "Starts after 10 s; 1 partition, 976.6 KiB to copy." in lines
    assert [line for line in lines if line.startswith("export ")] == [
        "export BOOTSTRAP=broker-1.example.com:9092",
        'export COMMAND_CONFIG="--command-config admin.properties"',
    ]


def test_what_stays_is_said_with_its_reason():
    text = runbook([[1, 2], [1, 2]], [[1, 3], [1, 4]], leader=[-1, 1])

    assert (
        "1 partition is not in any wave and stays where it is, although `moves.json` and `target.json` include it"
        in text
    )
    assert "- 1 partition (orders-0): there is no leader to copy from" in text


def test_where_nothing_can_move_there_is_no_wave():
    text = runbook([[1, 2]], [[1, 3]], leader=[-1])

    assert "No wave can be executed." in text
    assert "## Wave" not in text


def test_what_never_ends_says_which_throttle_would():
    text = runbook([[1, 2]], [[1, 3]], rate=5 * 10**6, size=10**6, throttle=10**6)

    assert "**It never finishes with this throttle**: it needs more than 10 MB/s." in text


def test_where_no_throttle_helps_none_is_named():
    text = runbook([[1, 2]], [[1, 3]], rate=10, read=15, network=[20.0, 50.0, 50.0], throttle=100)

    assert "**It never finishes with this throttle**: no throttle helps: a network or fetcher has nothing left " in text


def test_automatic_throttles_that_are_too_small_are_not_to_be_raised():
    throttle = Throttle(bytes_per_second=50.0, is_automatic=True, headroom_ratio=0.2)
    text = runbook([[1, 2]], [[1, 3]], rate=10, read=60, network=[100.0, 100.0, 200.0], throttle=throttle)

    assert "**: headroom leaves too little; use a smaller headroom or a fixed throttle." in text


def test_automatic_throttles_are_named_as_such():
    throttle = Throttle(bytes_per_second=1.0, is_automatic=True, headroom_ratio=0.25)
    text = runbook([[1, 2]], [[1, 3]], network=[10.0, 10.0, 20.0], throttle=throttle)

    assert "the largest throttle per broker that leaves 25 % free at its peak" in text


def test_what_is_not_certain_stands_before_the_first_wave():
    text = runbook(
        [[1, 2]], [[1, 3]], size=10**6, throttle=10**5, warnings=["The disk of 3 of 3 brokers is not known."]
    )

    before, _ = text.split("## Wave 1 of 1")
    assert "## Before you begin\n\n- The disk of 3 of 3 brokers is not known.\n" in before
    assert "not certain" not in runbook([[1, 2]], [[1, 3]])


def test_a_time_that_is_the_same_at_every_rate_is_said_once():
    text = runbook([[1, 2]], [[1, 3]], size=10**6, throttle=10**5)

    assert "It takes 10 s; the bottleneck is broker" in text
    assert "without writes" not in text
