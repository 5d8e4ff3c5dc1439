"""``python -m kafka_capacity.conformance``: what it prints and how it exits."""

import gzip
import json

import pytest

from kafka_capacity.conformance.__main__ import main

HASH = {"fn": "java_hash", "input": {"type": "int", "keys": [7]}, "output": {"hashes": [7]}}
REFUSED = {
    "fn": "admin_assign_replicas",
    "input": {"brokers": [{"id": 0}], "partitions": 1, "replication_factor": 2, "fixed_start_index": 0},
    "output": {
        "error": {
            "type": "org.apache.kafka.common.errors.InvalidReplicationFactorException",
            "message": "worded otherwise",
        }
    },
}


def written(path, *records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def test_status_is_0_when_all_match(tmp_path, capsys):
    written(tmp_path / "java_hash.jsonl", HASH, HASH)
    with gzip.open(tmp_path / "admin_assign_replicas.jsonl.gz", "wt") as file:
        file.write(json.dumps(REFUSED))

    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "admin_assign_replicas  1/1",
        "java_hash              2/2",
        "all                    3/3",
    ]


def test_the_first_mismatch_is_shown(tmp_path, capsys):
    written(tmp_path / "java_hash.jsonl", HASH, HASH | {"output": {"hashes": [8]}})

    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "java_hash  1/2",
        f"  first mismatch: {tmp_path / 'java_hash.jsonl'}, line 2",
        '    input     {"type":"int","keys":[7]}',
        '    expected  {"hashes":[8]}',
        '    got       {"hashes":[7]}',
        "all        1/2",
    ]


@pytest.mark.parametrize("assignor", ["uniform", "simple"])
def test_nobody_is_listed_where_nobody_subscribes_to_anything(tmp_path, assignor):
    members = [{"id": "a", "topics": []}, {"id": "b", "topics": []}]
    record = {"fn": f"server_{assignor}", "input": {"topics": [], "members": members}, "output": {"assignment": {}}}
    written(tmp_path / "cases.jsonl", record)

    assert main([str(tmp_path)]) == 0


def test_racks_may_be_missing_where_there_are_no_load_statistics(tmp_path):
    given = {
        "num_partitions": 2,
        "sticky_batch_size": 1,
        "rack_aware": True,
        "client_rack": "a",
        "leader_racks": ["a", "b"],
        "available": [0, 1],
        "draws": [3],
        "ops": [{"queue_sizes": None}, {"bytes": 0, "enable_switch": True}],
    }
    output = {"partitions": [0], "draws_used": 1}
    written(tmp_path / "cases.jsonl", {"fn": "builtin_partitioner_rack", "input": given, "output": output})

    assert main([str(tmp_path)]) == 0


@pytest.mark.parametrize(
    "output",
    [
        {"assignment": [[0, [0, 0]]]},
        {"error": {"type": "java.lang.IllegalStateException", "message": ""}},
    ],
)
def test_an_error_matches_only_an_error_of_its_class(tmp_path, output):
    written(tmp_path / "a.jsonl", REFUSED | {"output": output})

    assert main([str(tmp_path)]) == 1


def test_a_crash_of_ours_is_a_mismatch_and_the_rest_still_runs(tmp_path, capsys):
    written(tmp_path / "a.jsonl", HASH | {"input": {"type": "no such type", "keys": []}}, HASH)

    assert main([str(tmp_path)]) == 1
    assert "KeyError" in capsys.readouterr().out


def test_a_function_without_an_answer_counts_as_unmatched(tmp_path, capsys):
    written(tmp_path / "a.jsonl", HASH | {"fn": "no_such_function"}, HASH)

    assert main([str(tmp_path)]) == 1
    assert "no_such_function  0/1  not implemented" in capsys.readouterr().out


def test_only_the_functions_named_are_compared(tmp_path, capsys):
    written(tmp_path / "a.jsonl", HASH, REFUSED)

    assert main([str(tmp_path), "java_hash"]) == 0
    assert "admin" not in capsys.readouterr().out


def test_a_long_input_is_shortened(tmp_path, capsys):
    written(tmp_path / "a.jsonl", HASH | {"input": {"type": "int", "keys": list(range(5000))}})

    assert main([str(tmp_path)]) == 1
    assert max(map(len, capsys.readouterr().out.splitlines())) < 700


def test_a_missing_directory_is_refused(tmp_path, capsys):
    assert main([str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"conformance: {tmp_path / 'none'}: there is no such directory\n"


def test_an_empty_directory_is_refused(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert "holds no recorded cases (*.jsonl.gz or *.jsonl)" in capsys.readouterr().err


def test_files_without_any_case_are_refused(tmp_path, capsys):
    written(tmp_path / "a.jsonl")

    assert main([str(tmp_path)]) == 2
    assert "hold no case at all" in capsys.readouterr().err


def test_a_function_without_cases_is_refused(tmp_path, capsys):
    written(tmp_path / "a.jsonl", HASH)

    assert main([str(tmp_path), "java_hash", "no_such"]) == 2
    assert capsys.readouterr().err == f"conformance: {tmp_path}: holds no case of no_such\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "a.jsonl, line 2: is not JSON"),
        ("[]", "a.jsonl, line 2: is not a JSON object"),
        ('{"fn": "x", "input": {}}', "a.jsonl, line 2: has no 'output' or a wrong one"),
        ('{"fn": 1, "input": {}, "output": {}}', "a.jsonl, line 2: has no 'fn' or a wrong one"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, capsys, line, message):
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(HASH)}\n{line}\n")

    assert main([str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_a_broken_gzip_file_is_named(tmp_path, capsys):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps(HASH).encode())[:-6])

    assert main([str(tmp_path)]) == 2
    assert "a.jsonl.gz, after line" in capsys.readouterr().err
