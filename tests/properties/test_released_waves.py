"""Released files, made from stored tables: carried out in order they are the target, and back in order the start."""

import json

import pyarrow.compute as pc
import pytest
from hypothesis import given

from kafka_capacity.kafka.cluster.assignment import replica_lists
from kafka_capacity.kafka.reassignment.kafka_json import files_of, wave_rows
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.plan.released_files import wave_documents
from kafka_capacity.questions.change.move_tables import MOVE_TABLES, schedule_tables
from tests.properties.move_problems import move_problem_of, move_problems
from tests.properties.strategies import repeatable


def released(schedule):
    """Store a schedule beside another one, and release it."""
    other = plan_waves(move_problem_of([[1, 2]] * 3, [[1, 3]] * 3))
    bundles = [schedule_tables("other", other), schedule_tables("this", schedule)]
    tables = merge_tables(bundles, MOVE_TABLES)
    return wave_documents({name: table.filter(pc.field("scenario_id") == "this") for name, table in tables.items()})


def applied(lists, content):
    """Do what Kafka does with a reassignment file."""
    for each in json.loads(content)["partitions"]:
        lists[each["partition"]] = each["replicas"]
    return lists


def forward_files(documents):
    kinds = ("-rollback.json", "-election.json")
    return sorted(name for name in documents if name.startswith("waves/") and not name.endswith(kinds))


@repeatable(50)
@given(move_problems())
def test_what_is_released_is_what_was_planned_to_the_byte(problem):
    schedule = plan_waves(problem)
    documents = released(schedule)
    runbook = documents.pop("runbook.md").decode()

    files = [each for wave in schedule.waves for each in files_of(wave_rows(schedule, wave)).listed()]
    assert documents == {f"waves/{each.name}": each.content for each in files}
    for each in files:
        assert f"waves/{each.name}" in runbook
        assert each.sha256 in runbook


@repeatable(50)
@given(move_problems())
def test_all_released_waves_in_order_are_the_target_and_back_in_order_the_start(problem):
    schedule = plan_waves(problem)
    documents = released(schedule)
    before, target = replica_lists(problem.before), replica_lists(problem.after)
    refused = {row for refusal in schedule.refusals for row in refusal.rows}

    lists = [list(row) for row in before]
    for name in forward_files(documents):
        applied(lists, documents[name])
    assert lists == [before[row] if row in refused else target[row] for row in range(len(before))]
    for name in reversed(forward_files(documents)):
        applied(lists, documents[name.replace(".json", "-rollback.json")])
    assert lists == before


@pytest.mark.parametrize("count", [3, 120])
def test_names_sort_as_the_waves_do(count):
    problem = move_problem_of([[1, 2]] * count, [[1, 3]] * count, max_concurrent_moves_per_broker=1)
    documents = released(plan_waves(problem))
    lists = [json.loads(documents[name]) for name in forward_files(documents)]

    assert [len(each["partitions"]) for each in lists] == [1] * count
    assert [each["partitions"][0]["partition"] for each in lists] == list(range(count))
