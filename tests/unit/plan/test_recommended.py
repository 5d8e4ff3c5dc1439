"""Which option is recommended, and which is the nearest where none fits."""

from __future__ import annotations

import dataclasses
import json

import pyarrow as pa

from tests.report.decided import change_page, decision_of
from tests.report.plans import changed_rows, make_inputs


def excuse():
    return {
        "reason": "it is full",
        "constraint": "disk",
        "where": "broker 1",
        "needed": 2.0,
        "available": 1.0,
        "unit": "bytes",
    }


def test_an_option_within_its_limits_goes_before_one_that_is_no_worse_than_today():
    def full(row):
        row["standing"] = json.dumps([{"constraint": "disk", "broker_id": 3}] * (row["target_broker_count"] == 6))

    inputs = changed_rows(make_inputs(broker_counts=(6, 9), placers=("fewest-bytes",)), full)
    assert decision_of(inputs)["recommended_scenario_id"] == "009-brokers.fewest-bytes"


def test_a_planning_placer_is_recommended_over_a_baseline_that_moves_less():
    def cheap_baseline(row):
        if row["placer"] == "zk":
            row["moved_bytes"] = 1

    view = change_page(changed_rows(make_inputs(), cheap_baseline))
    assert view.recommended.placer == "fewest-bytes"


def test_a_baseline_is_recommended_where_nothing_else_fits():
    def only_baseline(row):
        row["fits"] = row["placer"] == "zk"
        if not row["fits"]:
            row["excuses"] = json.dumps([excuse()])

    view = change_page(changed_rows(make_inputs(), only_baseline))
    assert view.recommended.placer == "zk"


def test_fewer_brokers_come_before_fewer_bytes():
    verdict = decision_of(make_inputs(broker_counts=(6, 7, 9), placers=("fewest-bytes",), tolerance_ratio=0.02))
    assert verdict["recommended_scenario_id"] == "006-brokers.fewest-bytes"


def test_of_the_same_bytes_the_shorter_time_is_recommended():
    inputs = make_inputs(placers=("fewest-bytes",))
    rows = inputs.tables["scenarios"].to_pylist()
    slow = {**rows[0], "scenario_id": "a-slow-one", "duration_seconds": rows[0]["duration_seconds"] * 2}
    table = pa.Table.from_pylist([slow, rows[0]], schema=inputs.tables["scenarios"].schema)
    view = change_page(dataclasses.replace(inputs, tables={**inputs.tables, "scenarios": table}))
    assert view.recommended.scenario_id == "007-brokers.fewest-bytes"
    assert [option.label for option in view.options] == [
        "7 brokers, fewest-bytes (007-brokers.fewest-bytes)",
        "7 brokers, fewest-bytes (a-slow-one)",
    ]


def nearest_of(excuses):
    """Choose among options that do not fit; excuses by broker count and placer."""

    def unfit(row):
        row["fits"] = False
        row["excuses"] = json.dumps(excuses[row["target_broker_count"], row["placer"]])

    counts, placers = (sorted({key[part] for key in excuses}) for part in (0, 1))
    nearest = change_page(changed_rows(make_inputs(broker_counts=counts, placers=placers), unfit)).nearest
    return nearest.broker_count, nearest.placer


def test_the_nearest_breaks_the_fewest_different_constraints():
    network = {**excuse(), "constraint": "network", "needed": 1.01}
    assert nearest_of({(7, "fewest-bytes"): [excuse()] * 7, (8, "fewest-bytes"): [excuse(), network]})[0] == 7
    baseline = {(7, "fewest-bytes"): [excuse(), network], (7, "zk"): [excuse()]}
    assert nearest_of(baseline)[1] == "zk"


def test_of_as_many_constraints_the_nearest_lacks_the_least_then_has_the_fewest_brokers():
    close, none = {**excuse(), "needed": 1.2}, {**excuse(), "available": 0.0}
    assert nearest_of({(7, "fewest-bytes"): [excuse()], (8, "fewest-bytes"): [close] * 8})[0] == 8
    assert nearest_of({(7, "fewest-bytes"): [close, none], (8, "fewest-bytes"): [excuse()]})[0] == 8
    assert nearest_of({(7, "fewest-bytes"): [close], (8, "fewest-bytes"): [close]})[0] == 7
    assert nearest_of({(7, "fewest-bytes"): [excuse()], (7, "zk"): [close]})[1] == "fewest-bytes"
