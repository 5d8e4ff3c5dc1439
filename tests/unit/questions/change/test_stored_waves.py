"""Wave files from stored tables: refused where they are not what was planned."""

import pyarrow as pa
import pytest

from kafka_capacity.errors import StorageError
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.questions.change.move_tables import schedule_tables
from kafka_capacity.questions.change.stored_waves import stored_wave_files
from tests.properties.move_problems import move_problem_of


def tables():
    made = schedule_tables("four", plan_waves(move_problem_of([[1, 2], [2, 1]], [[2, 3], [1, 2]])))
    return made["waves"], made["wave_moves"]


def test_every_wave_has_its_files():
    waves, moves = tables()

    assert [[each.name for each in files.listed()] for files in stored_wave_files(waves, moves)] == [
        ["01-copy.json", "01-copy-rollback.json", "01-copy-rollback-election.json"],
        [
            "02-reorder.json",
            "02-reorder-election.json",
            "02-reorder-rollback.json",
            "02-reorder-rollback-election.json",
        ],
    ]


def test_a_list_that_was_not_planned_is_refused():
    waves, moves = tables()
    rows = moves.to_pylist()
    rows[0]["replicas_after"] = [9, 3]

    with pytest.raises(StorageError) as refused:
        stored_wave_files(waves, pa.Table.from_pylist(rows, schema=moves.schema))
    message = str(refused.value)
    assert message.startswith("01-copy.json of scenario 'four' would differ from the planned file (expected sha256 ")
    assert message.endswith("; simulate the plan again")


def test_an_election_that_was_not_planned_is_refused():
    waves, moves = tables()
    rows = moves.to_pylist()
    rows[0]["elects"] = True

    with pytest.raises(
        StorageError, match=r"^01-copy-election\.json of scenario 'four' would .* \(expected sha256 none, got "
    ):
        stored_wave_files(waves, pa.Table.from_pylist(rows, schema=moves.schema))
