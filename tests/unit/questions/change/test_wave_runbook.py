"""The runbook in words."""

from __future__ import annotations

import dataclasses

import numpy as np

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KAFKA_4_1, KAFKA_4_3, KAFKA_4_4, KafkaRelease
from kafka_capacity.kafka.reassignment.kafka_json import files_of, wave_rows
from kafka_capacity.kafka.reassignment.problem import Order, Throttle
from kafka_capacity.kafka.reassignment.schedule import WaveKind
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.questions.change.move_tables import schedule_tables
from kafka_capacity.questions.change.move_view import read_move
from kafka_capacity.questions.change.wave_runbook import pages, wave_page
from tests.properties.move_problems import move_problem_of
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
    assert [step["does"] for step in first["steps"]] == ["Start", "Check", "Execute", "Watch", "Verify", "Wait"]
    assert [step["does"] for step in last["steps"]] == ["Check", "Execute", "Watch", "Verify"]
    watch = next(step["text"] for step in first["steps"] if step["does"] == "Watch")
    assert watch.startswith(
        "It takes 12.5 s (10 s without writes, 16.7 s at peak rates); the bottleneck is broker 1 (sending). Watch "
    )
    assert first["gist"] == "1 partition, 95.4 MiB, 12.5 s"


def test_a_wave_takes_as_long_after_one_that_never_ends():
    move = two_waves(rate=[3 * MB, 1 * MB], size=[50 * MB, 100 * MB], orders=(Order.SMALLEST_FIRST,))
    assert [wave["end_high_seconds"] for wave in move.waves] == [None, None]
    first, last = (step["text"] for page in pages(move) for step in page["steps"] if step["does"] == "Watch")
    assert "never at peak rates" in first
    assert "takes more than" not in first
    assert last.startswith("It takes 12.5 s (10 s without writes, 16.7 s at peak rates)")
    assert "or it takes more than 25 s." in last


def test_brokers_that_hold_nothing_yet_are_there_before_anything_is_copied():
    brokers = Brokers.of([1, 2, 3, 4, 5], racks=["a", "b", "a", "b", "b"])
    problem = move_problem_of([[1, 2], [1, 2]], [[3, 4], [1, 5]], size=MB, brokers=brokers)
    move = read_move(schedule_tables("one", plan_waves(problem)), "one")
    assert text_of(move, "Start") == (
        "Brokers 3 in rack a; 4 and 5 in rack b: they hold nothing yet and must be running before anything is copied "
        "to them. The command must list every one, in its rack."
    )
    (command,) = next(step["commands"] for step in pages(move)[0]["steps"] if step["does"] == "Start")
    assert command == (
        "kafka-broker-api-versions.sh --bootstrap-server $BOOTSTRAP $COMMAND_CONFIG | grep -E '\\(id: (3|4|5) '"
    )
    one = two_waves()
    assert text_of(one, "Start").startswith("Broker 3 without a rack: it holds nothing yet and must be running ")
    assert [step["does"] for page in pages(one) for step in page["steps"]].count("Start") == 1
    assert "Start" not in {step["does"] for step in pages(move_of([[1, 2]], [[2, 1]]))[0]["steps"]}


def test_the_way_back_leaves_out_what_was_on_a_broker_that_is_down(tmp_path):
    # Kafka's tool refuses a whole file that names it (`ReassignPartitionsCommand.verifyBrokerIds`).
    brokers = Brokers.of([1, 2, 3, 4], is_fenced=[False, False, True, False])
    problem = move_problem_of([[1, 3], [1, 2], [1, 3]], [[1, 2], [4, 2], [1, 3]], size=MB, brokers=brokers)
    schedule = plan_waves(problem)
    (page,) = pages(read_move(schedule_tables("one", schedule), "one"))
    (step,) = (one for one in page["back"] if one["does"] == "Leave out")
    assert step["text"] == (
        "Broker 3 is down, and kafka-reassign-partitions.sh refuses a whole file that names it. Start it first, or "
        "leave the partitions that were on it where they are now, with these commands. The whole file is kept beside "
        "the one that is left."
    )
    files = files_of(wave_rows(schedule, schedule.waves[0]))
    assert b"[1,3]" in files.rollback.content
    assert b"3" not in files.execute.content.replace(b'"', b"").split(b"replicas")[-1]
    assert step["commands"] == [
        "cp -n waves/01-copy-rollback.json waves/01-copy-rollback.json.whole",
        "jq '.partitions |= map(select(any(.replicas[]; . == 3) | not))' waves/01-copy-rollback.json.whole > "
        "waves/01-copy-rollback.json",
    ]
    (check,) = (one["text"] for one in page["steps"] if one["does"] == "Check")
    assert check.endswith(
        "must print nothing, except for partitions on broker 3, which is down: start it first, unless it is gone for "
        "good."
    )
    # Throttles are set on brokers that are down, too: the tool gives up before anything is moved.
    (execute,) = (one for one in page["steps"] if one["does"] == "Execute")
    first, second = execute["commands"]
    assert first.startswith(f"{second} --throttle ")
    assert second.endswith("waves/01-copy.json --execute")
    assert (
        " Broker 3 is down: Kafka sets the throttle on it too, waits, and ends with a TimeoutException"
        in execute["text"]
    )
    # Kafka's tool refuses a file of nothing, too.
    alone = move_problem_of([[1, 3], [3, 1]], [[1, 2], [2, 1]], size=MB, brokers=brokers)
    (all_down,) = pages(read_move(schedule_tables("one", plan_waves(alone)), "one"))
    (step,) = (one for one in all_down["back"] if one["does"] == "Leave out")
    assert step["commands"] == []
    assert step["text"].endswith(
        "Start it first: every partition of this wave was on it, so that nothing can be rolled back without it."
    )
    whole = dataclasses.replace(problem, brokers=Brokers.of([1, 2, 3, 4]))
    (page,) = pages(read_move(schedule_tables("one", plan_waves(whole)), "one"))
    assert "Leave out" not in {one["does"] for one in page["back"]}
    assert [len(one["commands"]) for one in page["steps"] if one["does"] == "Execute"] == [1]


def test_an_election_is_a_step():
    (page,) = pages(move_of([[1, 2]], [[2, 1]]))
    elect = next(step for step in page["steps"] if step["does"] == "Elect")
    assert elect["text"] == "1 partition has a new first replica while another one still leads."
    assert elect["commands"][0].startswith("kafka-leader-election.sh ")
    assert page["gist"] == "1 partition, nothing to copy"


def test_the_option_for_signing_in_is_that_of_the_release():
    def elect(release):
        problem = dataclasses.replace(move_problem_of([[1, 2]], [[2, 1]]), release=release)
        (page,) = pages(read_move(schedule_tables("one", plan_waves(problem)), "one"))
        return next(step["commands"][0] for step in page["steps"] if step["does"] == "Elect")

    assert " $BOOTSTRAP $COMMAND_CONFIG --election-type " in elect(KafkaRelease(4, 2))
    assert " $BOOTSTRAP $(echo $COMMAND_CONFIG | sed s/--command-config/--admin.config/) --election-type " in elect(
        KAFKA_4_1
    )


def test_what_is_copied_is_said_and_what_not():
    assert text_of(two_waves(), "Execute") == "1 partition moves, 95.4 MiB to copy."
    move = move_of([[1, 2]], [[2, 1]])
    assert text_of(move, "Execute") == "1 partition gets another order of replicas; nothing is copied."
    assert text_of(move, "Watch") == "It finishes within seconds."


def test_what_never_ends_says_which_throttle_would():
    move = move_of([[1, 2]], [[1, 3]], rate=5 * MB, size=MB, throttle=MB)
    assert text_of(move, "Watch").startswith(
        "It does not finish at 1 MB/s: it needs more than 10 MB/s; the bottleneck is broker 1 (sending)."
    )


def test_where_no_throttle_helps_none_is_named():
    move = move_of([[1, 2]], [[1, 3]], rate=10, read=15, network=[20.0, 50.0, 50.0], throttle=MB)
    assert text_of(move, "Watch").startswith("It does not finish at 1 MB/s: no throttle helps; the bottleneck is ")


def test_a_wave_that_headroom_leaves_no_throttle_for_says_so_instead_of_a_command():
    throttle = Throttle(bytes_per_second=50.0, is_automatic=True, headroom_ratio=0.2)
    move = move_of([[1, 2]], [[1, 3]], rate=10, read=60, network=[100.0, 100.0, 200.0], throttle=throttle)
    assert text_of(move, "Execute").endswith(
        " There is no command: no throttle leaves the headroom that was asked for. Plan again with a smaller headroom "
        "or a fixed throttle."
    )


def test_what_comes_after_a_wave_that_never_ends_never_starts():
    given = dict(rate=5 * MB, size=MB, throttle=MB, max_concurrent_moves_per_broker=1)
    move = move_of([[1, 2], [1, 2]], [[1, 3], [1, 3]], **given)
    first, second = (next(step["text"] for step in page["steps"] if step["does"] == "Watch") for page in pages(move))
    assert first.startswith("It does not finish at 1 MB/s: it needs more than 10 MB/s")
    assert second.startswith("It never starts, because an earlier wave does not finish; ")


def test_disks_are_said_where_there_is_a_limit():
    move = two_waves(limits=[1000.0 * MB, 1000.0 * MB, 400.0 * MB])
    assert (
        "broker 1 (sending). Broker 3 holds up to 95.37 MiB meanwhile, 25.0 % of what it may (its limit, or what is "
        "held there today where that is more). Watch "
    ) in text_of(move, "Watch")
    assert "holds up to" not in text_of(two_waves(), "Watch")


def test_a_wait_is_as_long_as_was_planned():
    assert text_of(two_waves(pause_seconds=90.0), "Wait") == (
        "The disk space of removed replicas is free after 1 min 30 s."
    )


def emptied(release, *, is_cordoned=False, is_fenced=False, after=((1, 3), (1, 3))):
    """Two partitions leave broker 2, which is shut down afterwards; the page of each wave, its commands by step."""
    brokers = Brokers.of([1, 2, 3], is_cordoned=[False, is_cordoned, False], is_fenced=[False, is_fenced, False])
    problem = move_problem_of([[1, 2], [1, 2]], after, size=MB, max_concurrent_moves_per_broker=1, brokers=brokers)
    problem = dataclasses.replace(problem, release=release, leaving=(2,))
    move = read_move(schedule_tables("one", plan_waves(problem)), "one")
    return [
        {step["does"]: step["commands"] for step in (*page["steps"], *page["back"])}
        for page in map(wave_page, move.waves)
    ]


def test_brokers_to_be_shut_down_are_cordoned_first_and_looked_at_last():
    first, last = emptied(KAFKA_4_4)
    configs = (
        "kafka-configs.sh --bootstrap-server $BOOTSTRAP $COMMAND_CONFIG --entity-type brokers --entity-name 2 --alter"
    )
    assert list(first)[:3] == ["Start", "Cordon", "Check"]
    assert first["Cordon"] == [f"{configs} --add-config 'cordoned.log.dirs=*'"]
    assert "Cordon" not in last
    # Kafka 4.4 refuses the lists of a rollback while the broker that they name is cordoned.
    assert list(last)[-3:] == ["Cancel", "Uncordon", "Roll back"]  # and it is opened for good
    assert first["Uncordon"] == last["Uncordon"] == [f"{configs} --delete-config cordoned.log.dirs"]
    assert "Confirm" not in first
    (confirm,) = last["Confirm"]
    assert confirm.endswith(" --describe --broker-list 2")


def test_what_is_cordoned_is_not_cordoned_again_and_old_brokers_know_no_cordons():
    first, _ = emptied(KAFKA_4_4, is_cordoned=True)
    assert "Cordon" not in first
    # It is opened for the rollback alone.
    assert list(first)[-3:] == ["Uncordon", "Roll back", "Cordon again"]
    assert first["Cordon again"][0].endswith("--entity-name 2 --alter --add-config 'cordoned.log.dirs=*'")
    assert not {"Uncordon", "Cordon again"} & set(emptied(KAFKA_4_3, is_cordoned=True)[0])
    # On 4.3 a rollback would be taken, but what came back would take no replicas any more.
    assert {"Cordon", "Uncordon"} <= set(emptied(KAFKA_4_3)[0])
    assert not {"Cordon", "Uncordon"} & set(emptied(KafkaRelease(4, 2))[0])
    assert "Confirm" in emptied(KafkaRelease(4, 2))[-1]


def test_directories_that_were_cordoned_are_so_again_after_a_rollback():
    problem = move_problem_of([[1, 2]], [[1, 3]], dirs=[2, 2, 3], log_dir=[[-1, 0]])
    dirs = dataclasses.replace(problem.log_dirs, is_cordoned=np.array([False, True, False]))
    problem = dataclasses.replace(problem, release=KAFKA_4_4, leaving=(2,), log_dirs=dirs)
    (wave,) = read_move(schedule_tables("one", plan_waves(problem)), "one").waves
    (command,) = next(step["commands"] for step in wave_page(wave)["back"] if step["does"] == "Uncordon")
    assert command.endswith("--entity-name 2 --alter --add-config 'cordoned.log.dirs=[/disk1]'")


def test_a_broker_that_is_down_is_told_and_asked_nothing():
    for is_cordoned in (False, True):
        for page in emptied(KAFKA_4_4, is_fenced=True, is_cordoned=is_cordoned):
            assert not {"Cordon", "Uncordon", "Confirm", "Cordon again"} & set(page)


def test_leaders_are_handed_over_before_their_broker_is_cordoned():
    # Brokers 1 and 2 leave; lists that hand over what broker 1 leads still name both.
    before, after = [[1, 2, 3], [1, 2, 4]] * 4, [[5, 6, 3], [6, 5, 4]] * 4

    def schedule(*, is_cordoned):
        brokers = Brokers.of(range(1, 7), is_cordoned=[is_cordoned, is_cordoned, False, False, False, False])
        problem = move_problem_of(before, after, size=100, brokers=brokers)
        return plan_waves(dataclasses.replace(problem, release=KAFKA_4_4, leaving=(1, 2)))

    plan = schedule(is_cordoned=False)
    assert [wave.kind for wave in plan.waves] == [WaveKind.LEADERSHIP, WaveKind.COPY]
    made = map(wave_page, read_move(schedule_tables("one", plan), "one").waves)
    assert ["Cordon" in [step["does"] for step in page["steps"]] for page in made] == [False, True]
    # A list with a broker that is cordoned already may not even change its order.
    assert [wave.kind for wave in schedule(is_cordoned=True).waves] == [WaveKind.COPY]


def test_every_step_has_its_words():
    throttle = Throttle(bytes_per_second=1.0 * MB, is_automatic=True)
    move = two_waves(throttle=throttle, network=[100.0 * MB, 100.0 * MB, 50.0 * MB], pause_seconds=60.0)
    page = wave_page(move.waves[0])
    does = [step["does"] for step in page["steps"] + page["back"]]
    assert does == ["Start", "Check", "Execute", "Throttle", "Watch", "Verify", "Wait", "Cancel", "Roll back"]
    assert all(step["text"].endswith(".") for step in page["steps"] + page["back"])
    # One throttle for all would take the headroom of some, and the speed of others.
    raises = " If it falls behind, raise the throttles of single brokers as under Throttle, at the price of their"
    assert raises in text_of(move, "Watch")
    assert " If it falls behind, run execute again with --additional " in text_of(two_waves(), "Watch")
