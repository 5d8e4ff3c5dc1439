"""The runbook in words."""

from __future__ import annotations

from kafka_capacity.kafka.reassignment.problem import Throttle
from kafka_capacity.questions.change.wave_runbook import pages, wave_page
from tests.unit.questions.change.test_waves import MB, move_of, two_waves


def text_of(move, does, part="steps"):
    return next(step["text"] for step in wave_page(move.waves[0])[part] if step["does"] == does)


def test_the_runbook_has_the_commands_of_each_wave():
    first, last = pages(two_waves(pause_seconds=60.0))
    servers = "--bootstrap-server $BOOTSTRAP $COMMAND_CONFIG"
    commands = {step["does"]: step["commands"] for step in [*first["steps"], *first["back"]]}
    (execute,) = commands["Execute"]
    assert execute.startswith(f"kafka-reassign-partitions.sh {servers} --reassignment-json-file ")
    assert execute.endswith(".json --execute --throttle 10000000")
    assert commands["Verify"][0].endswith(".json --verify")
    assert commands["Cancel"][0].endswith(".json --cancel")
    assert "-rollback.json --execute" in commands["Roll back"][0]
    assert [step["does"] for step in first["steps"]] == ["Check", "Execute", "Watch", "Verify", "Wait"]
    assert [step["does"] for step in last["steps"]] == ["Check", "Execute", "Watch", "Verify"]
    watch = next(step["text"] for step in first["steps"] if step["does"] == "Watch")
    assert watch.startswith(
        "It is done after 12.5 s (10 s if nobody writes, 16.7 s at peak rates); broker 1 (sending) decides. Look at "
    )
    assert first["gist"] == "1 partition, 95.4 MiB, 12.5 s"


def test_an_election_is_a_step():
    (page,) = pages(move_of([[1, 2]], [[2, 1]]))
    elect = next(step for step in page["steps"] if step["does"] == "Elect")
    assert elect["text"] == "1 partition has a new first replica while another one still leads."
    assert elect["commands"][0].startswith("kafka-leader-election.sh ")
    assert page["gist"] == "1 partition, nothing to copy"


def test_what_is_copied_is_said_and_what_not():
    assert text_of(two_waves(), "Execute") == "1 partition moves, 95.4 MiB to copy."
    move = move_of([[1, 2]], [[2, 1]])
    assert text_of(move, "Execute") == "1 partition gets another order of replicas; nothing is copied."
    assert text_of(move, "Watch") == "It is over within seconds."


def test_what_never_ends_says_which_throttle_would():
    move = move_of([[1, 2]], [[1, 3]], rate=5 * MB, size=MB, throttle=MB)
    assert text_of(move, "Watch").startswith(
        "It does not end at 1 MB/s: it takes more than 10 MB/s; broker 1 (sending) decides."
    )


def test_disks_are_said_where_there_is_a_limit():
    move = two_waves(limits=[1000.0 * MB, 1000.0 * MB, 400.0 * MB])
    assert " decides. Broker 3 holds up to 95.4 MiB on the way, 25.0 % of its disk limit. Look at " in text_of(
        move, "Watch"
    )
    assert "holds up to" not in text_of(two_waves(), "Watch")


def test_a_wait_is_as_long_as_was_planned():
    assert text_of(two_waves(pause_seconds=90.0), "Wait") == (
        "The disk space of removed replicas is free after 1 min 30 s."
    )


def test_every_step_has_its_words():
    throttle = Throttle(bytes_per_second=1.0 * MB, is_automatic=True)
    move = two_waves(throttle=throttle, network=[100.0 * MB, 100.0 * MB, 50.0 * MB], pause_seconds=60.0)
    page = wave_page(move.waves[0])
    does = [step["does"] for step in page["steps"] + page["back"]]
    assert does == ["Check", "Execute", "Throttle", "Watch", "Verify", "Wait", "Cancel", "Roll back"]
    assert all(step["text"].endswith(".") for step in page["steps"] + page["back"])
