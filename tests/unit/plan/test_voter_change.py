"""Voters of an inventory, what is wrong with them, and a change of them through a plan."""

import dataclasses

import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.health.controllers import check_quorum, leaving_voters
from kafka_capacity.inventory.snapshot import read_quorum
from kafka_capacity.inventory.validation import inventory_problems
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from kafka_capacity.kafka.controller.quorum.voters import parse_voters
from kafka_capacity.plan.handing import failures_today
from kafka_capacity.questions.failures.section.controllers import voter_change
from kafka_capacity.questions.failures.share import failures_document
from tests.asking import ask, simulate_here
from tests.builders import cluster, topic
from tests.failovers import fail_leader

REQUEST = {"cluster": "payments", "broker_counts": [6], "failover_runs": 10, "failure_kinds": ["rack"]}


def voter(node_id, **known):
    row = {"node_id": node_id, "is_voter": True, "directory_id": f"disk-{node_id}", "host": "c", "port": 9093}
    return {**row, "lag_records": 0, "behind_seconds": 0.0, "kraft_version": 1, "is_active": node_id == 3001, **known}


def observer(node_id, **known):
    return voter(node_id, is_voter=False, **known)


THREE = [voter(3001, rack="a"), voter(3002, rack="b"), voter(3003, rack="c")]


def inventory(*replicas):
    # Brokers observe as well.
    voting = {one["node_id"] for one in replicas}
    rows = [*replicas, *(observer(broker, kraft_version=None) for broker in range(1, 7) if broker not in voting)]
    return cluster(topics=[topic("orders")], hours=24, quorum_replicas=rows)


def changed(replicas, wanted, **given):
    found = failures_today(ask(inventory(*replicas), {**REQUEST, "wanted_controllers": wanted, **given}))
    tables = simulate_here(found)
    return failures_document(found, [], tables)["controllers"], tables


def codes(*replicas):
    return {one.code: one for one in check_quorum(read_quorum(inventory(*replicas)))}


def test_voters_come_from_the_inventory_and_parameters_go_before_it():
    for given, racks in (((), ["a", "b", "c"]), (["3001:x", "3002", "3003:z"], ["x", "b", "z"])):
        controllers, _ = changed(THREE, [], controllers=given)
        assert [one["rack"] for one in controllers["voters"]] == racks
        assert "change" not in controllers


def test_three_become_five_step_by_step():
    wanted = ["3001", "3002", "3003", "3004:a", "3005:b"]
    controllers, tables = changed(THREE, wanted)
    steps = controllers["change"]["steps"]
    assert [(step["does"], step["node_id"], step["majority"], step["tolerated"]) for step in steps] == [
        ("add", 3004, 3, 1),
        ("add", 3005, 3, 1),
    ]
    assert [step["fatal_racks"] for step in steps] == [["a"], ["a"]]
    assert steps[0]["commands"][-1] == (
        "kafka-metadata-quorum.sh --bootstrap-server $BOOTSTRAP --command-config controller.properties add-controller"
    )
    rows = {(row["failure"], row["voters"]): row for row in tables["quorum_failovers"].to_pylist()}
    for count in (4, 5):
        expected = fail_leader(count, FailureKind.VANISHED, runs=10, seed=0)
        assert rows["vanished", count]["leaderless_p50_seconds"] == expected.quantile(0.5)
    # What is not about the change is as without it.
    assert tables["quorum"].equals(changed(THREE, [])[1]["quorum"])


def test_the_active_controller_is_replaced_and_hands_over():
    controllers, tables = changed(THREE, ["3002", "3003", "3004:a"])
    added, removed = controllers["change"]["steps"]
    assert (added["node_id"], removed["node_id"], removed["is_active"]) == (3004, 3001, True)
    assert removed["commands"][1] == (
        "kafka-metadata-quorum.sh --bootstrap-server $BOOTSTRAP $COMMAND_CONFIG remove-controller --controller-id 3001 "
        "--controller-directory-id=disk-3001"
    )
    section = voter_change(controllers, tables["quorum_failovers"].to_pylist())
    times = fail_leader(4, FailureKind.REMOVED, runs=10, seed=0)
    shown = [row["handover"] for row in section["table"]["rows"]]
    assert shown[0] == "not at all"
    assert shown[1] == f"{1000 * times.quantile(0.5):.0f} ms, at 99 % {1000 * times.quantile(0.99):.0f} ms"
    assert section["sentences"] == [
        "From 3 voters to 3 in 2 steps, one at a time: one controller may fail at the worst moment. During the "
        "change, losing rack a takes the quorum down."
    ]


def test_a_controller_that_observes_needs_no_format_and_a_voter_that_stays_away_no_warning():
    caught_up, leaving = observer(3004), voter(3003, auto_joins=False)
    controllers, _ = changed([*THREE[:2], leaving, caught_up], ["3001", "3002", "3004"])
    commands = [command for step in controllers["change"]["steps"] for command in step["commands"]]
    assert not any("format" in command or "auto.join" in command for command in commands)


def test_a_voter_on_another_disk_is_removed_and_added_again():
    lost = [voter(3001), voter(3002), voter(3003, behind_seconds=400.0), observer(3003, directory_id="new")]
    controllers, _ = changed(lost, ["3001", "3002", "3003"])
    steps = controllers["change"]["steps"]
    assert [(step["does"], step["node_id"], step["tolerated"]) for step in steps] == [
        ("remove", 3003, 0),
        ("add", 3003, 0),
    ]
    assert len(steps[0]["commands"]) == 1  # it runs on, and may make itself a voter again
    assert steps[0]["commands"][0].endswith("--controller-directory-id=disk-3003")
    assert steps[1]["commands"][0].endswith("until 3003 is an Observer with a lag of 0")
    found = codes(*lost)
    assert set(found) == {"voter-on-another-disk"}
    assert found["voter-on-another-disk"].message.endswith("but cannot vote; no more may be lost")


def test_a_controller_that_adds_itself_is_waited_for():
    joins = observer(3003, directory_id="new", auto_joins=True)
    controllers, _ = changed(
        [voter(3001), voter(3002), voter(3003, behind_seconds=400.0), joins], ["3001", "3002", "3003"]
    )
    (command,) = controllers["change"]["steps"][1]["commands"]
    assert command.endswith("until 3003 is a Follower: it adds itself")


def test_a_controller_that_is_not_wanted_and_adds_itself_is_named():
    replicas = [*THREE, observer(3004, auto_joins=True)]
    controllers, tables = changed(replicas, ["3001", "3002", "3003", "3005"])
    section = voter_change(controllers, tables["quorum_failovers"].to_pylist())
    assert section["sentences"][-1].startswith("▲ Controller 3004 is not a target voter but would add itself again")
    assert "returning" in changed(replicas, ["3001", "3002", "3003", "3004"])[0]["change"]
    assert not changed(replicas, ["3001", "3002", "3003", "3004"])[0]["change"]["returning"]


def test_steps_end_where_there_is_no_majority():
    dead = [voter(3001), *(voter(i, behind_seconds=400.0) for i in (3002, 3003))]
    controllers, tables = changed(dead, ["3001", "3004", "3005"])
    section = voter_change(controllers, tables["quorum_failovers"].to_pylist())
    (row,) = section["table"]["rows"]
    assert (row["handover"], row["leaderless"]) == ("the step is never committed",) * 2
    assert [(one["does"], one["commands"]) for one in section["runbook"]] == [("Stop", [])]
    assert section["runbook"][0]["text"] == (
        "To add 3004, 2 of the voters 3001, 3002 and 3003 must be up, and 3002 and 3003 are down. Bring 3002 or 3003 "
        "back with its old disk first, then plan again."
    )
    assert codes(*dead)["voters-behind"].remedy.startswith("bring back enough for a majority")


@pytest.mark.parametrize(
    ("replicas", "code"),
    [
        ([*THREE, voter(3001, is_active=False, directory_id="other")], "duplicate_voter"),
        ([*THREE[:2], voter(3003, is_active=True)], "several_active_controllers"),
    ],
)
def test_an_inventory_of_voters_that_cannot_be_is_refused(replicas, code):
    assert [one.code for one in inventory_problems(inventory(*replicas)).fatal] == [code]
    sound = inventory_problems(inventory(*THREE, observer(3001, directory_id="other", is_active=False)))
    assert not sound.fatal


def test_only_the_active_controller_hands_over():
    replicas = [voter(3001), voter(3002), voter(3003, behind_seconds=400.0)]
    controllers, tables = changed(replicas, ["3001", "3004", "3005"])
    rows = voter_change(controllers, tables["quorum_failovers"].to_pylist())["table"]["rows"]
    shown = {row["what"]: row["handover"] for row in rows}
    assert (shown["remove 3003"], shown["remove 3002"]) == ("not at all", "not at all")
    unknown = [voter(i, is_active=None) for i in (3001, 3002, 3003)]
    controllers, tables = changed(unknown, ["3001", "3002", "3004"])
    rows = voter_change(controllers, tables["quorum_failovers"].to_pylist())["table"]["rows"]
    assert rows[1]["handover"].endswith(", if it is the active one")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["3001", "3002", "4"], "wanted_controllers: 4 is invalid: a broker has this id"),
        (["3001:b", "3002", "3003"], "wanted_controllers: 3001:b is invalid: it is in rack a today"),
    ],
)
def test_controllers_that_cannot_be_are_refused(wanted, message):
    with pytest.raises(RequestError, match=message):
        changed(THREE, wanted)


def test_ids_of_brokers_are_refused_without_an_inventory_of_voters_too():
    asked = {**REQUEST, "controllers": ["3001", "3002", "3003"], "wanted_controllers": ["3001", "3002", "4"]}
    with pytest.raises(RequestError, match="wanted_controllers: 4 is invalid: a broker has this id"):
        failures_today(ask(cluster(topics=[topic("orders")], hours=24), asked))


def test_brokers_are_known_without_an_inventory_of_voters_too():
    asked = {**REQUEST, "controllers": ["1:a", "2:b", "3:c"], "wanted_controllers": ["2", "3", "4"]}
    found = failures_today(ask(cluster(topics=[topic("orders")], hours=24), asked))
    added, removed = failures_document(found, [], simulate_here(found))["controllers"]["change"]["steps"]
    assert added["commands"][0] == "# on 4: process.roles=broker,controller, then restart it"
    assert any(one.startswith("# on 1, which stays a broker") for one in removed["commands"])


def test_a_broker_may_become_a_controller_where_others_are_both():
    both = [voter(1, is_active=True), voter(2), voter(3)]
    controllers, _ = changed(both, ["1", "2", "4"])
    assert (
        controllers["change"]["steps"][0]["commands"][0] == "# on 4: process.roles=broker,controller, then restart it"
    )


def test_a_broker_that_is_no_controller_any_more_stays_a_broker():
    both = [voter(1, is_active=True), voter(2), voter(3), observer(4, auto_joins=True)]
    change = changed(both, ["2", "3", "4"])[0]["change"]
    added, removed = change["steps"]
    assert not any("process.roles=broker,controller" in command for command in added["commands"])
    assert removed["commands"][-2].startswith("# on 1, which stays a broker: process.roles=broker, then restart it")
    controllers, tables = changed(both, ["1", "2", "3"])
    said = voter_change(controllers, tables["quorum_failovers"].to_pylist())["sentences"]
    assert said[0] == "The target controllers are already the voters."
    assert said[1].startswith("▲ Controller 4 is not a target voter")


def test_a_voter_without_its_disk_cannot_be_brought_back_to_vote():
    replicas = [voter(3001), voter(3002, behind_seconds=400.0), voter(3003, behind_seconds=400.0)]
    replicas += [observer(3003, directory_id="new")]
    controllers, tables = changed(replicas, ["3001", "3002", "3003"])
    (stop,) = voter_change(controllers, tables["quorum_failovers"].to_pylist())["runbook"]
    assert "3002 and 3003 are down. Bring 3002 back with its old disk first" in stop["text"]
    assert [step["commands"] for step in controllers["change"]["steps"]] == [[]] * len(controllers["change"]["steps"])


def test_voters_that_are_down_count_as_lost_everywhere():
    dead = [voter(3001), voter(3002), voter(3003, behind_seconds=400.0)]
    controllers, tables = changed(dead, [])
    assert (controllers["tolerated"], controllers["down"]) == (0, [3003])
    rows = {tuple(row["lost"]): row for row in tables["quorum"].to_pylist()}
    assert (rows[3001,]["living"], rows[3001,]["has_majority"]) == (1, False)
    assert (rows[3003,]["living"], rows[3003,]["has_majority"]) == (2, True)
    assert [rows[lost]["active_lost_ratio"] for lost in ((3001,), (3002,), (3001, 3002))] == [1.0, 0.0, 1.0]


def test_brokers_that_vote_are_not_shut_down_without_a_word():
    quorum = read_quorum(inventory(voter(1, is_active=True), voter(2), voter(3)))
    (problem,) = leaving_voters(quorum, {1, 2, 6})
    assert problem.message == (
        "controllers 1, 2 vote in the metadata quorum and are to be shut down as brokers: no controller can be "
        "elected any more"
    )
    assert leaving_voters(quorum, {1})[0].message.endswith("a broker: 2 of 3 voters are left")
    assert leaving_voters(quorum, {6}) == ()
    # Who votes may be named, where no inventory tells; and a change of voters may be what comes first.
    (named,) = leaving_voters(read_quorum(inventory()), {7}, named=parse_voters(["7", "8", "9"]))
    assert named.message.startswith("controller 7 votes in the metadata quorum")
    (planned,) = leaving_voters(quorum, {1}, wanted=parse_voters(["2", "3", "4"]))
    assert (planned.severity, planned.remedy) == ("warning", "change the voters first, while they run")
    assert leaving_voters(quorum, {1}, wanted=parse_voters(["1", "2", "4"]))[0].severity == "serious"


def test_old_brokers_are_upgraded_before_the_feature():
    static = dataclasses.replace(
        inventory(*(voter(i, kraft_version=0, is_named=True) for i in (3001, 3002, 3003))), kafka_version="4.0.1"
    )
    found = failures_today(ask(static, {**REQUEST, "wanted_controllers": ["3001", "3002", "3004"]}))
    commands = failures_document(found, [], simulate_here(found))["controllers"]["change"]["commands"]
    assert commands[0] == "# upgrade every node to Kafka 4.1 or later first"


def test_voters_that_are_configured_take_an_upgrade_first():
    static = [voter(i, kraft_version=0, is_named=True) for i in (3001, 3002, 3003)]
    controllers, tables = changed(static, ["3001", "3002", "3004"])
    section = voter_change(controllers, tables["quorum_failovers"].to_pylist())
    assert section["sentences"][1].startswith("kraft.version is 0")
    assert section["runbook"][0]["commands"][0].endswith("upgrade --feature kraft.version=1")
    assert set(codes(*static)) == {"static-quorum"}


def test_what_is_wrong_with_voters_and_observers():
    assert codes() == {}
    assert codes(*THREE) == {}
    assert codes(*THREE[:2], voter(3003, behind_seconds=60.0))["voters-behind"].message == (
        "controller 3003 of 3 voters is down or behind: no more may be lost"
    )
    # Whoever has not fetched since the active controller was elected.
    assert set(codes(*THREE[:2], voter(3003, behind_seconds=None))) == {"voters-behind"}
    slow = observer(3004, lag_records=3000, behind_seconds=None)  # that has never caught up
    assert codes(*(voter(i, behind_seconds=None, lag_records=i - 3001) for i in (3001, 3002, 3003))) == {}
    assert "up to 3,000 records behind" in codes(*THREE, slow)["observer-behind"].message
    assert set(codes(*THREE, observer(3004, behind_seconds=60.0))) == {"observer-behind"}
    named = codes(*THREE, observer(3004, is_named=True, behind_seconds=None))["removed-voter-returns"]
    assert named.message.startswith("controller.quorum.voters names controller 3004, which does not vote")
    joins = codes(*THREE, observer(3004, auto_joins=True))["removed-voter-returns"]
    assert joins.message.endswith("does not vote: as soon as it runs it makes itself a voter again")


def test_a_change_without_voters_of_today_is_refused():
    with pytest.raises(RequestError, match="wanted_controllers: today's voters are unknown"):
        failures_today(ask(cluster(hours=24), {**REQUEST, "wanted_controllers": ["1", "2"]}))
