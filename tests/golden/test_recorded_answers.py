"""Every recorded answer of Kafka's comes out the same."""

from pathlib import Path

import pytest

from kafka_capacity.conformance.compare import case_files, read_cases, tally
from kafka_capacity.conformance.registry import load_answers

CASES = Path(__file__).parent / "cases"
TOTALS = {
    "admin_assign_replicas": 303,
    "admin_assign_replicas_0_10": 301,
    "builtin_partitioner": 300,
    "builtin_partitioner_rack": 300,
    "consumer_cooperative_sticky": 301,
    "consumer_range": 306,
    "consumer_roundrobin": 303,
    "consumer_sticky": 303,
    "group_consumer_sequence": 304,
    "group_server_sequence": 300,
    "java_hash": 120,
    "java_hashmap_order": 300,
    "java_random": 120,
    "kraft_partition_change": 900,
    "kraft_reassignment_replicas": 300,
    "murmur2": 151,
    "reassign_generate": 300,
    "reassign_moves": 300,
    "roundrobin_partitioner": 300,
    "scala_range": 303,
    "scala_roundrobin": 301,
    "server_range": 300,
    "server_simple": 300,
    "server_uniform": 300,
    "sticky_partition_cache": 300,
    "streams_sticky_tasks_4_3_1": 300,
    "streams_sticky_tasks_4_4_0": 300,
    "striped_replica_placer": 301,
    "zk_controller_sequence": 301,
    "zk_election": 600,
    "zk_leader_algorithms": 600,
    "zk_valid_previous_states": 1,
}


@pytest.mark.parametrize("function", TOTALS)
def test_all_recorded_answers_match(function):
    entry = tally(read_cases(CASES / f"{function}.jsonl.gz"), load_answers(), frozenset())[function]

    assert entry.first_mismatch is None
    assert (entry.matched, entry.total) == (TOTALS[function], TOTALS[function])


def test_every_file_of_cases_has_a_total_here_or_in_a_test_of_its_own():
    counted = {file.name.removesuffix(".jsonl.gz") for file in case_files(CASES)}

    assert set(TOTALS) <= counted
