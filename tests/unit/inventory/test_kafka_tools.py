from __future__ import annotations

import contextlib
import json
import re
import tempfile
from pathlib import Path

import pytest

from kafka_capacity.errors import InventoryError
from kafka_capacity.inventory.kafka_tools import read_kafka_tools
from kafka_capacity.inventory.validation import validate

DATA = Path(__file__).parent / "data"
BROKERS = ('[{"id": 1}, {"id": 2}, {"id": 3}]', "B.json")
PLAIN = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}'


def read(assignment="generate.txt", brokers="brokers.json", log_dirs="log-dirs.txt"):
    return read_kafka_tools(
        cluster="payments",
        ds="2026-11-20",
        assignment=DATA / assignment,
        brokers=DATA / brokers,
        log_dirs=DATA / log_dirs if log_dirs else None,
    )


def import_text(assignment=PLAIN, brokers=BROKERS, log_dirs=None):
    texts = {"assignment": (assignment, "A.json"), "brokers": brokers}
    texts |= {"log_dirs": (log_dirs, "L.json")} if log_dirs else {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for text, name in texts.values():
            Path(name).write_text(text)
        return read_kafka_tools(cluster="c", ds="2026-11-20", **{of: Path(name) for of, (_, name) in texts.items()})


def fails(**texts):
    with pytest.raises(InventoryError) as caught:
        import_text(**texts)
    return str(caught.value)


def test_the_current_assignment_of_generate_counts_not_the_proposed_one():
    replicas = read().table("replicas").to_pylist()
    lists = {}
    for row in replicas:
        lists.setdefault((row["topic"], row["partition"]), []).append(row["broker_id"])
    assert lists == {
        ("__consumer_offsets", 0): [2, 3, 1],
        ("card-payments", 0): [1, 2, 3],
        ("card-payments", 1): [2, 3, 4],
        ("card-payments", 2): [3, 4, 1],
    }
    assert [row["is_leader"] for row in replicas[:3]] == [True, False, False]
    assert {row["is_in_sync"] for row in replicas} == {None}


def test_sizes_come_from_the_log_dirs_and_future_copies_do_not_count():
    rows = {(r["topic"], r["partition"], r["broker_id"]): r for r in read().table("replicas").to_pylist()}
    leader = rows["card-payments", 0, 1]
    assert (leader["size_bytes"], leader["log_dir"], leader["offset_lag"]) == (5368709120, "/data/a", 0)
    assert rows["card-payments", 2, 1]["offset_lag"] == 12
    assert rows["card-payments", 2, 4]["size_bytes"] is None
    assert rows["card-payments", 2, 4]["log_dir"] is None


def test_topics_are_those_of_the_assignment():
    topics = [(row["topic"], row["is_internal"]) for row in read().table("topics").to_pylist()]
    assert topics == [("__consumer_offsets", True), ("card-payments", False)]


def test_what_the_tools_cannot_tell_is_said():
    assert [(f.severity.value, f.code, f.message) for f in validate(read())] == [
        (
            "serious",
            "log_dir_offline",
            "1 log dir offline: '/data/b' of broker 2; replicas there cannot be read and stay out of sync, "
            "replace the disks",
        ),
        (
            "warning",
            "future_replica",
            "1 replica moving between log dirs (card-payments-0 on broker 1); the new copies are left out, wait until "
            "the move is done",
        ),
        (
            "warning",
            "min_isr_assumed",
            "min.insync.replicas of 2 topics is unknown; Kafka's default, 1, is assumed",
        ),
        (
            "warning",
            "no_metrics",
            "there are no rates; where earlier inventories of the cluster had none either, all traffic counts as 0 and "
            "only the disks of today are judged: add the table of metrics",
        ),
        (
            "warning",
            "retention_assumed",
            "retention of 1 topic is unknown (card-payments); Kafka's default of 7 days is assumed, give retention_ms",
        ),
        (
            "warning",
            "unassigned_log",
            "1 replica of 1 topic on disk missing from the assignment (audit-log-2026), 700 bytes in total; they "
            "are left out, name every topic in --topics-to-move-json-file",
        ),
        (
            "info",
            "isr_assumed",
            "the ISR of 4 partitions is unknown; all replicas are assumed in sync",
        ),
        (
            "info",
            "leader_assumed",
            "the tools do not show the leader of 4 partitions; the first replica is assumed to lead",
        ),
        (
            "info",
            "sizes_estimated",
            "the size of 1 replica is unknown; it counts as much as other replicas of the same partition",
        ),
    ]


def test_the_rollback_document_of_execute_counts_and_its_log_dirs_too():
    rows = read("execute.txt", log_dirs=None).table("replicas").to_pylist()
    assert [(row["broker_id"], row["log_dir"]) for row in rows] == [(1, "/data/a"), (2, None), (3, None)]


def test_capacity_json_names_the_brokers_and_their_log_dirs():
    raw = read(brokers="capacity.json")
    brokers = raw.table("brokers").to_pylist()
    assert [row["broker_id"] for row in brokers] == [1, 2, 3, 4]
    assert brokers[0]["disk_capacity_bytes"] == 750000 * 2**20
    assert brokers[0]["cpu_cores"] == 16
    assert brokers[0]["network_out_bytes_per_second"] == 2000.5 * 1024
    assert brokers[3]["disk_capacity_bytes"] == 1000000 * 2**20
    assert brokers[3]["cpu_cores"] is None
    totals = {(row["broker_id"], row["path"]): row["total_bytes"] for row in raw.table("log_dirs").to_pylist()}
    assert totals[1, "/data/a"] == 500000 * 2**20
    assert totals[2, "/data/a"] is None


def test_an_unlisted_broker_is_a_finding_and_no_crash():
    raw = import_text('{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,9]}]}')
    assert [f.message for f in validate(raw).fatal] == [
        "1 replica on brokers that are not listed (9), of 1 partition (t-0); add a row for each to the table of "
        "brokers, with is_fenced true where it is down"
    ]


def test_a_partition_given_twice_is_a_finding():
    entry = '{"topic":"t","partition":0,"replicas":[1,2]}'
    raw = import_text(f'{{"version":1,"partitions":[{entry},{entry}]}}')
    assert {f.code for f in validate(raw).fatal} >= {"duplicate_replica", "replica_positions"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_are_read_as_shells_save_them(tmp_path, encoding):
    file = tmp_path / "A.json"
    file.write_text(PLAIN.replace("\n", "\r\n"), encoding=encoding)
    (tmp_path / "B.json").write_text(BROKERS[0])
    raw = read_kafka_tools(cluster="c", ds="2026-11-20", assignment=file, brokers=tmp_path / "B.json")
    assert raw.table("replicas").num_rows == 2


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InventoryError, match=re.escape(f"{tmp_path}/no: cannot be read (No such file or directory)")):
        read_kafka_tools(cluster="c", ds="2026-11-20", assignment=tmp_path / "no", brokers=tmp_path / "no")


def test_a_binary_file_is_refused(tmp_path):
    file = tmp_path / "A.json"
    file.write_bytes(b"{\xff\xfe}")
    with pytest.raises(InventoryError) as caught:
        read_kafka_tools(cluster="c", ds="2026-11-20", assignment=file, brokers=file)
    assert str(caught.value) == f"{file}: is not utf-8 text (byte 1); save it as UTF-8"


def test_pretty_printed_json_is_taken():
    raw = import_text('{\n  "version": 1,\n  "partitions": [\n {"topic": "t", "partition": 0, "replicas": [1]}\n]\n}\n')
    assert raw.table("replicas").num_rows == 1


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (
            "Status of partition reassignment:\nReassignment of partition t-0 is completed.\n",
            "A.json: has no JSON object; save the whole output of the tool",
        ),
        (
            '{"version":1,"topics":[{"topic":"t"}]}',
            "A.json: has no current assignment, a JSON object with 'partitions'; give the output of "
            "kafka-reassign-partitions --generate",
        ),
        (
            f"Proposed partition reassignment configuration\n{PLAIN}\n",
            "A.json: has no current assignment, a JSON object with 'partitions'; give the output of "
            "kafka-reassign-partitions --generate",
        ),
        (
            f"{PLAIN}\n{PLAIN}\n",
            "A.json: has 2 assignments and nothing says which one is current; keep only that one",
        ),
        (
            'Current partition replica assignment\n{"version":1,"partitions":[',
            "A.json: the JSON that starts on line 2 cannot be read (Expecting value: line 2 column 28 (char 64)); "
            "save the tool's whole output",
        ),
        ('{"version":2,"partitions":[]}', "A.json: version is 2: choose 1"),
        (
            '{"version":1,"partitions":[{"topic":"t","partition":"0","replicas":[1.5]},{"topic":"\\ud800"}]}',
            "A.json: partitions.0.partition is '0': write a whole number\nA.json: partitions.0.replicas.0 is 1.5: "
            "write a whole number\nA.json: partitions.1.topic is '\\ud800': it contains half of a surrogate pair, "
            "which is not valid text; fix it\nA.json: partitions.1.partition is missing; add it\nA.json: "
            "partitions.1.replicas is missing; add it",
        ),
        (
            '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any"]}]}',
            "A.json: t-0 has 2 replicas and 1 log_dirs; give one log dir per replica, or none at all",
        ),
    ],
)
def test_a_wrong_assignment_is_refused(assignment, message):
    assert fails(assignment=assignment) == message


@pytest.mark.parametrize(
    ("log_dirs", "message"),
    [
        (
            PLAIN,
            "L.json: has no JSON object with 'brokers'; give the output of a single run of kafka-log-dirs --describe",
        ),
        (
            '{"version":1,"brokers":[]}\n{"version":1,"brokers":[]}',
            "L.json: has 2 JSON objects with 'brokers'; give the output of a single run of kafka-log-dirs --describe",
        ),
        (
            '{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","error":null,"partitions":'
            '[{"partition":"t-0","size":"big","offsetLag":0,"isFuture":false}]}]}]}',
            "L.json: brokers.0.logDirs.0.partitions.0.size is 'big': write a whole number",
        ),
    ],
)
def test_wrong_log_dirs_are_refused(log_dirs, message):
    assert fails(log_dirs=log_dirs) == message


def test_a_log_without_a_partition_number_is_left_out_and_said():
    raw = import_text(
        log_dirs='{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","error":null,"partitions":'
        '[{"partition":"odd","size":1,"offsetLag":0,"isFuture":false}]}]}]}'
    )
    assert raw.remarks[0].message == "1 log whose name is not topic-partition ('odd'); they are left out"


def log_dirs_of(*told):
    """What kafka-log-dirs prints of brokers: id, and what each log dir holds as name of a partition and bytes."""
    entry = {"offsetLag": 0, "isFuture": False}
    brokers = [
        {
            "broker": broker,
            "logDirs": [
                {
                    "logDir": path,
                    "error": None,
                    "partitions": [{**entry, "partition": name, "size": size} for name, size in held.items()],
                }
                for path, held in dirs.items()
            ],
        }
        for broker, dirs in told
    ]
    return json.dumps({"version": 1, "brokers": brokers})


def test_a_broker_that_log_dirs_do_not_tell_of_is_serious_unless_it_is_said_to_be_down():
    told = log_dirs_of((1, {"/d": {"t-0": 1}}))
    (remark,) = [one for one in import_text(log_dirs=told).remarks if one.code == "log_dirs_unknown"]
    assert (remark.severity, remark.message) == (
        "serious",
        "kafka-log-dirs tells nothing of 2 brokers (2, 3), taken as up and in sync: where it is down, set is_fenced "
        "true in the list of brokers; else run kafka-log-dirs again, for all brokers",
    )
    down = ('[{"id": 1}, {"id": 2, "is_fenced": true}]', "B.json")
    for raw in (import_text(log_dirs=told, brokers=down), import_text()):
        assert "log_dirs_unknown" not in {one.code for one in raw.remarks}


def test_a_stray_log_of_an_assigned_topic_is_told_from_topics_that_are_missing_and_unknown_sizes_are_not_summed():
    told = log_dirs_of((1, {"/d": {"t-0": 1, "u-0": 5, "u-1": -1}}), (3, {"/d": {"t-0": -1}}), (4, {"/d": {"t-0": 8}}))
    remarks = {one.code: one.message for one in import_text(log_dirs=told).remarks}
    assert remarks["stray_log"] == (
        "2 replicas on disks of brokers that are not assigned them (t-0 on broker 3, t-0 on broker 4), 8 bytes in "
        "total; they are left out: run the tools again when no reassignment is under way, and look for logs to delete "
        "if they are still there"
    )
    assert remarks["unassigned_log"].startswith(
        "2 replicas of 1 topic on disk missing from the assignment (u), 5 bytes"
    )


def test_log_dirs_of_capacity_json_are_found_without_their_last_slash_and_others_are_said():
    disk = '{"brokerId": "-1", "capacity": {"DISK": {"/a/": 1, "/c": 2}, "CPU": 100, "NW_IN": 1, "NW_OUT": 1}}'
    raw = import_text(
        brokers=(f'{{"brokerCapacities": [{disk}]}}', "C.json"),
        log_dirs=log_dirs_of((1, {"/a": {}, "/b": {}}), (2, {"/a": {}, "/c": {}})),
    )
    assert [row["total_bytes"] for row in raw.table("log_dirs").to_pylist()] == [2**20, None, 2**20, 2**21]
    (remark,) = [one for one in raw.remarks if one.code == "capacity_of_other_log_dirs"]
    assert (remark.severity, remark.message) == (
        "warning",
        "2 log dirs not in both DISK of Cruise Control's capacities and kafka-log-dirs ('/b' of broker 1 only in "
        "kafka-log-dirs, '/c' of broker 1 only in DISK): the size of one that DISK lacks is unknown, and "
        "disk_capacity_bytes is the sum of DISK; correct the paths of DISK",
    )
