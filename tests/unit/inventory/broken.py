"""Inventories with one fault each are made by these."""

from __future__ import annotations

import datetime

from kafka_capacity.health.problem import Severity
from kafka_capacity.inventory.validation import validate
from tests.builders import TopicSpec, cluster, rows_of, with_rows

FAULT = ("raw", "severity", "code", "message")


def change(raw, name, index, **values):
    """Change some columns of one row of one table."""
    rows = rows_of(raw, name)
    rows[index] |= values
    return with_rows(raw, name, rows)


def change_all(raw, name, **values):
    return with_rows(raw, name, [row | values for row in rows_of(raw, name)])


def drop(raw, name, *indexes):
    return with_rows(raw, name, [row for index, row in enumerate(rows_of(raw, name)) if index not in indexes])


def repeat(raw, name, index):
    rows = rows_of(raw, name)
    return with_rows(raw, name, [*rows, rows[index]])


def with_group(*members, lags=(), group_type="consumer"):
    return cluster(
        topics=[TopicSpec(name="orders"), TopicSpec(name="__consumer_offsets")],
        groups=[{"group_id": "g", "state": "Stable", "protocol_type": "consumer", "group_type": group_type}],
        members=[{"group_id": "g", "member_id": f"m{i}", "assigned": member} for i, member in enumerate(members)],
        lags=[{"group_id": "g", "topic": "orders", "partition": 0, "lag_records": 1} | lag for lag in lags],
    )


def on(partition, name="orders"):
    return {"topic": name, "partition": partition}


def hour(day, clock="00:00"):
    return datetime.datetime.fromisoformat(f"{day}T{clock}:00+00:00")


def assert_found(raw, severity, code, message):
    """See that a fault is found, said so, and as severe."""
    found = validate(raw)
    assert message in [f.message for f in found if f.code == code], list(found)
    assert {f.severity for f in found if f.code == code} == {Severity(severity)}


def ids(cases):
    """Name cases by what is found."""
    return [f"{i}-{case[2]}" for i, case in enumerate(cases)]
