from __future__ import annotations

import math
from pathlib import Path

import pytest

from kafka_capacity.errors import InventoryError
from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.brokers_file import brokers_of, listed_brokers_table, parse_brokers_file
from kafka_capacity.inventory.checks.brokers import check_brokers

DATA = Path(__file__).parent / "data"


def read_target_brokers(text, file):
    table = listed_brokers_table(parse_brokers_file(text, file), file)
    fatal = Problems.of(check_brokers(table)).fatal
    if fatal:
        raise InventoryError("\n".join(f"{file}: {finding.message}" for finding in fatal))
    return brokers_of(table)


def fails(text):
    with pytest.raises(InventoryError) as caught:
        read_target_brokers(text, "B.json")
    return str(caught.value)


def test_a_list_becomes_brokers_in_order_of_id():
    brokers = read_target_brokers(
        '[{"id": 7, "rack": "b", "is_fenced": true}, '
        '{"id": 3, "rack": "a", "disk_capacity_bytes": 4e12, "cpu_cores": 8, "memory_bytes": 68719476736}]',
        "B.json",
    )
    assert brokers.ids.tolist() == [3, 7]
    assert brokers.racks == ("a", "b")
    assert brokers.is_fenced.tolist() == [False, True]
    assert brokers.disk_capacity_bytes[0] == 4e12
    assert math.isnan(brokers.disk_capacity_bytes[1])
    assert brokers.memory_bytes[0] == 64 * 2**30
    assert math.isnan(brokers.memory_bytes[1])


def test_capacity_json_lists_the_brokers_that_it_names():
    brokers = read_target_brokers((DATA / "capacity.json").read_text(), "C.json")
    assert brokers.ids.tolist() == [1]
    assert brokers.disk_capacity_bytes.tolist() == [750000 * 2**20]
    assert brokers.network_in_bytes_per_second.tolist() == [1000 * 1024]


def test_every_mistake_names_its_entry():
    text = '[{"id": 1, "rak": "a"}, {"id": "7"}, 3, {"id": 7, "disk_capacity_bytes": "4T"}, {"rack": "b"}]'
    assert fails(text) == (
        "B.json: entry 1 (id 1): rak is 'a': no such field; remove it or correct its name\nB.json: entry 2 (id 7): "
        "id is '7': write a whole number\nB.json: entry 3: is 3: write an object, {…}\nB.json: entry 4 (id 7): "
        "disk_capacity_bytes is '4T': write a number\nB.json: entry 5: id is missing; add it"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "B.json: is not JSON (Expecting value: line 1 column 2 (char 1)); fix it"),
        (
            '{"id": 1}',
            'B.json: is not a list of brokers; write [{"id": 1, "rack": "a"}, …] or give Cruise Control\'s '
            "capacity.json",
        ),
        ("[]", "B.json: there are no brokers; list at least one"),
        (
            '[{"id": 1}, {"id": 1}, {"id": -2, "disk_capacity_bytes": 0}]',
            "B.json: disk_capacity_bytes must be above 0, got 0 on broker -2; correct or drop it\n"
            "B.json: 1 broker id given more than once (1); keep one entry each\n"
            "B.json: 1 broker id below 0 (-2); Kafka's start at 0",
        ),
        (
            '{"brokerCapacities": [{"brokerId": "-1", "capacity": {"DISK": 1, "CPU": 100, "NW_IN": 1, "NW_OUT": 1}}]}',
            "B.json: has only the default capacity, so it names no broker; list each broker with its brokerId",
        ),
        (
            '{"brokerCapacities": ['
            '{"brokerId": "x", "capacity": {"DISK": "lots", "CPU": {"cores": 2}, "NW_IN": true, "NW_OUT": "1"}},'
            '{"brokerId": "2", "capacity": {"DISK": {"/d": "NaN"}, "CPU": "all", "NW_OUT": 1}, "rack": "a"}]}',
            "B.json: brokerCapacities.0.brokerId is 'x': write a whole number\nB.json: "
            "brokerCapacities.0.capacity.DISK is 'lots': write a number of MB, or {\"/log/dir\": MB, …}\nB.json: "
            "brokerCapacities.0.capacity.CPU is {'cores': 2}: write a percentage, or {\"num.cores\": "
            "number}\nB.json: brokerCapacities.0.capacity.NW_IN is True: write a number\nB.json: "
            "brokerCapacities.1.capacity.DISK is {'/d': 'NaN'}: write a number of MB, or {\"/log/dir\": MB, "
            "…}\nB.json: brokerCapacities.1.capacity.CPU is 'all': write a percentage, or {\"num.cores\": "
            "number}\nB.json: brokerCapacities.1.capacity.NW_IN is missing; add it\nB.json: brokerCapacities.1.rack "
            "is 'a': no such field; remove it or correct its name",
        ),
        (
            '{"brokerCapacities": ['
            '{"brokerId": "2", "capacity": {"DISK": 1, "CPU": 100, "NW_IN": 1, "NW_OUT": 1}},'
            '{"brokerId": 2, "capacity": {"DISK": 1, "CPU": 100, "NW_IN": 1, "NW_OUT": 1}}]}',
            "B.json: brokerId 2 is listed twice; keep one",
        ),
    ],
)
def test_a_wrong_file_is_refused(text, message):
    assert fails(text) == message


def test_an_infinite_capacity_is_refused():
    with pytest.raises(InventoryError, match="disk_capacity_bytes is inf: write a finite number"):
        parse_brokers_file('[{"id": 1, "disk_capacity_bytes": Infinity}]', "B.json")
