"""The runbook of a schedule."""

from dataclasses import asdict

from kafka_capacity.kafka.reassignment.kafka_json import files_of, wave_rows
from kafka_capacity.kafka.reassignment.problem import Throttle
from kafka_capacity.kafka.reassignment.runbook import runbook_page
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.properties.move_problems import move_problem_of

SERVERS = "--bootstrap-server $BOOTSTRAP $COMMAND_CONFIG"
REASSIGN = f"kafka-reassign-partitions.sh {SERVERS} --reassignment-json-file"
ELECT = f"kafka-leader-election.sh {SERVERS} --election-type preferred --path-to-json-file"


def pages(before, after, **given):
    schedule = plan_waves(move_problem_of(before, after, **given))
    return tuple(runbook_page(schedule, wave, files_of(wave_rows(schedule, wave))) for wave in schedule.waves)


def commands(steps, does):
    return [command for step in steps if step.does == does for command in step.commands]


def test_a_wave_is_executed_watched_and_verified():
    (page,) = pages([[1, 2]], [[1, 3]], size=10**6, throttle=1000.7)

    assert [step.does for step in page.steps] == ["start", "check", "execute", "watch", "verify"]
    assert commands(page.steps, "execute") == [f"{REASSIGN} waves/01-copy.json --execute --throttle 1000"]
    assert commands(page.steps, "verify") == [f"{REASSIGN} waves/01-copy.json --verify"]
    assert commands(page.steps, "check")[0] == f'echo "{page.files[0][1]}  waves/01-copy.json" | sha256sum --check'
    assert commands(page.steps, "check")[-1].endswith("--describe --under-replicated-partitions")


def test_a_wave_without_a_throttle_that_leaves_the_headroom_has_no_command():
    throttle = Throttle(bytes_per_second=50.0, is_automatic=True, headroom_ratio=0.2)
    (page,) = pages([[1, 2]], [[1, 3]], rate=10, read=60, network=[100.0, 100.0, 200.0], throttle=throttle)

    # Nothing that would follow, nor a way back.
    assert ([step.does for step in page.steps], page.back) == (["start", "check", "execute"], ())
    assert commands(page.steps, "execute") == []
    assert page.throttle_bytes_per_second is None


def test_it_can_be_cancelled_and_rolled_back():
    (page,) = pages([[1, 2]], [[2, 3]], throttle=1000)

    assert commands(page.back, "cancel") == [f"{REASSIGN} waves/01-copy.json --cancel"]
    assert commands(page.back, "roll back") == [
        f"{REASSIGN} waves/01-copy-rollback.json --execute --throttle 1000",
        f"{REASSIGN} waves/01-copy-rollback.json --verify",
        f"{ELECT} waves/01-copy-rollback-election.json",
    ]


def test_going_back_copies_what_was_deleted_under_the_throttle():
    (page,) = pages([[1, 2, 3]], [[1, 2]], throttle=1000)

    assert commands(page.steps, "execute") == [f"{REASSIGN} waves/01-drop.json --execute"]
    assert commands(page.back, "roll back")[0] == (f"{REASSIGN} waves/01-drop-rollback.json --execute --throttle 1000")


def test_what_copies_nothing_has_no_throttle_and_elects():
    (page,) = pages([[1, 2]], [[2, 1]])

    assert commands(page.steps, "execute") == [f"{REASSIGN} waves/01-reorder.json --execute"]
    assert commands(page.steps, "elect") == [f"{ELECT} waves/01-reorder-election.json"]
    assert page.throttle_bytes_per_second is None


def test_a_wave_waits_until_its_disk_space_is_free_unless_it_is_the_last():
    first, last = pages([[1, 2]] * 2, [[1, 3]] * 2, max_concurrent_moves_per_broker=1, pause_seconds=60.0)

    assert (first.steps[-1].does, first.steps[-1].seconds) == ("wait", 60.0)
    assert last.steps[-1].does == "verify"


def test_brokers_with_more_room_get_larger_throttles():
    throttle = Throttle(bytes_per_second=1.0, is_automatic=True, headroom_ratio=0.0)
    (page,) = pages([[1, 2]], [[1, 3]], network=[10.0, 10.0, 20.0], throttle=throttle)

    assert commands(page.steps, "execute") == [f"{REASSIGN} waves/01-copy.json --execute --throttle 10"]
    assert commands(page.steps, "throttle") == [
        f"kafka-configs.sh {SERVERS} --entity-type brokers --entity-name 3 --alter "
        "--add-config follower.replication.throttled.rate=20"
    ]


def test_the_way_back_has_the_throttle_of_those_who_copy_then():
    # Broker 2 gets it back, with a network of 4; broker 1 sends, forth and back, with one of 10.
    throttle = Throttle(bytes_per_second=1.0, is_automatic=True, headroom_ratio=0.0)
    (page,) = pages([[1, 2]], [[1, 3]], network=[10.0, 4.0, 20.0], throttle=throttle)

    assert page.throttle_bytes_per_second == 10
    assert commands(page.back, "roll back")[0] == f"{REASSIGN} waves/01-copy-rollback.json --execute --throttle 4"


def test_what_only_deletes_has_no_way_back_by_a_throttle_that_nobody_uses():
    throttle = Throttle(bytes_per_second=50.0, is_automatic=True, headroom_ratio=0.5)
    (page,) = pages([[1, 2, 3]], [[1, 2]], rate=30, network=[100.0, 100.0, 50.0], throttle=throttle)

    assert commands(page.back, "roll back") == [f"{REASSIGN} waves/01-drop-rollback.json --verify"]


def test_a_page_is_plain_data():
    (page,) = pages([[1, 2]], [[1, 3]])

    assert asdict(page)["steps"][0]["does"] == "start"


def test_replicas_of_unknown_size_are_copied_under_a_throttle_too():
    (page,) = pages([[1, 2]], [[1, 3]], size=0, throttle=1000)

    assert commands(page.steps, "execute") == [f"{REASSIGN} waves/01-copy.json --execute --throttle 1000"]
