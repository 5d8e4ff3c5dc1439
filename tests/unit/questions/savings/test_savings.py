"""What sets of actions save, by hand; the arithmetic stands beside each figure."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.demand.changed import ClusterChange, all_of, changed_cluster
from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.plan.handing import sized_cluster
from kafka_capacity.questions.answer import as_far_as_known
from kafka_capacity.questions.capacity import resize
from kafka_capacity.questions.capacity.simulate import placement_results, simulate_sizing
from kafka_capacity.questions.question import Handed, run_here
from kafka_capacity.questions.savings.decide import because, decide_savings, instead, offered, read_savings
from kafka_capacity.questions.savings.section.savings import sets_table
from kafka_capacity.questions.savings.share import SAVINGS
from kafka_capacity.questions.savings.simulate import NOTHING, Judge
from tests.builders import rows_of, with_rows
from tests.unit.questions.savings.small import (
    DAY,
    DOLLARS,
    GIB,
    action_rows,
    asked_of,
    idle,
    inventory,
    logs,
    savings_of,
    set_rows,
)

RETENTION, IDLE, TIERED = frozenset({"retention"}), frozenset({"idle"}), frozenset({"tiered-storage"})


@pytest.fixture(scope="module")
def tables():
    """3,600 GiB of logs and 2,880 of old on six brokers: 1,080 each, and 850 are allowed. Nine hold 720."""
    return savings_of(inventory(logs(), idle()))


def test_single_actions(tables):
    found = action_rows(tables)
    assert set(found) == {"retention:logs", "idle:old", "tiered-storage:logs"}
    # Without old six brokers hold 600 each; three would hold 1,200.
    assert (found["idle:old"]["saved_brokers"], found["idle:old"]["freed_bytes"]) == (3, 2880 * GIB)
    assert found["idle:old"]["saved_usd_per_month"] == pytest.approx(3 * DOLLARS)
    # A day of logs is 100 / 7 GiB, and a segment of 1: 36 x 15.29 = 550, with old 3,430 on six brokers are 572.
    assert found["retention:logs"]["saved_brokers"] == 3
    assert found["retention:logs"]["freed_bytes"] == pytest.approx((3600 - 36 * (100 / 7 + 1)) * GIB)
    assert found["retention:logs"]["saved_usd_per_month"] == pytest.approx(3 * DOLLARS)
    # The same, and twelve times 100 GiB in the object store at $0.023.
    assert found["tiered-storage:logs"]["saved_usd_per_month"] == pytest.approx(3 * DOLLARS - 1200 * 0.023)
    # Three brokers would hold 3,430 / 3 GiB.
    assert found["retention:logs"]["binds"] == "disk"
    assert found["retention:logs"]["because"].startswith("3 brokers would not be enough: all replicas hold 3.3 TiB")


def test_what_is_removed_is_not_changed_as_well():
    """Nobody reads `logs`: without them there is nothing to cut or to tier."""
    tables = savings_of(inventory(logs(bytes_out=0.0), idle()))
    assert "retention:logs" in action_rows(tables)
    together = [row["actions"] for row in tables["savings_sets"].to_pylist() if "write-only:logs" in row["actions"]]
    assert together
    assert not [one for one in together if {"retention:logs", "tiered-storage:logs"} & {*one}]


def test_fewer_brokers_than_are_known_to_be_enough_are_so_as_far_as_known(tables):
    assert {tuple(row["unknown"]) for row in tables["savings_sets"].to_pylist()} == {()}
    rows = [{**row, "unknown": ["disk throughput"]} for row in tables["savings_sets"].to_pylist()]
    answer = decide_savings({**tables, "savings_sets": pa.Table.from_pylist(rows)})
    assert answer.headline.endswith("; as far as known, since disk throughput was not judged.")
    assert answer.details.endswith("; as far as known, since disk throughput was not judged.")


def test_two_together_save_what_neither_does_alone(tables):
    found = set_rows(tables)
    assert len(found) == 1 + 7
    # 550 GiB on three brokers are 183 each: six of nine are not needed.
    both = found[RETENTION | IDLE]
    assert (both["saved_brokers"], both["broker_count_now"]) == (6, 3)
    assert both["saved_usd_per_month"] == pytest.approx(6 * DOLLARS)
    assert [row["actions"] for row in tables["savings_sets"].to_pylist() if row["is_on_front"]] == [
        ["retention:logs"],
        ["retention:logs", "idle:old"],
    ]
    (scope,) = tables["savings_scope"].to_pylist()
    assert (scope["sets_tried"], scope["is_exhaustive"], scope["brokers_today"]) == (7, True, 6)


def test_of_sets_that_last_as_long_the_one_of_the_least_effort_is_offered_also_behind_the_front(tables):
    view = read_savings(tables)
    none, some = ({**row, "first_purchase": "2026-12-01"} for row in view.sets[:2])
    sets = [none]
    for name, effort, until, usd, is_on_front in (
        ("cuts", 4, "2027-04-11", 3285.0, True),
        ("tiered", 8, "2027-05-14", 3225.0, False),
        ("both", 10, "2027-05-14", 3292.0, True),
        ("dear", 2, "2027-06-01", -5.0, False),
    ):
        row = {"set_id": name, "effort": effort, "first_purchase": until, "saved_usd_per_month": usd}
        sets.append({**some, **row, "is_on_front": is_on_front})
    changed = dataclasses.replace(view, sets=sets)
    assert offered(changed)["set_id"] == "tiered"
    assert [row["effort"] for row in sets_table(changed)["rows"]] == [4, 8, 10]


def test_the_front_is_that_of_all_subsets(tables):
    """Every subset is judged by itself, without the search."""
    asked = asked_of(inventory(logs(), idle()))
    cluster = sized_cluster(asked)
    rows = tables["savings_actions"].to_pylist()
    count = len(cluster.workload.partitions)
    partitions = cluster.workload.partitions
    is_logs = partitions.topic == partitions.topics.index("logs")
    nothing = ClusterChange.nothing(count)
    cut = np.where(is_logs, DAY, np.inf)
    changes = {
        "retention:logs": dataclasses.replace(nothing, kept_seconds=cut),
        "idle:old": dataclasses.replace(nothing, is_removed=~is_logs),
        "tiered-storage:logs": dataclasses.replace(nothing, local_seconds=cut, is_tiered=is_logs),
    }
    points = {}
    (base,) = cluster.resize([nothing], run_here)
    for size in range(1, 4):
        for some in itertools.combinations(range(3), size):
            (one,) = cluster.resize([all_of([changes[rows[place]["action_id"]] for place in some], count)], run_here)
            usd = np.array(base.usd_per_month) - one.usd_per_month - np.array(one.remote_bytes) / GIB * 0.023
            points[some] = (sum(rows[place]["effort"] for place in some), float(usd.mean()))
    front = {
        tuple(rows[place]["action_id"] for place in some)
        for some, (effort, usd) in points.items()
        if not any(
            (e < effort and u >= usd - 1e-6)
            or (e <= effort and u > usd + 1e-6)
            or ((e, u) == (effort, usd) and s < some)
            for s, (e, u) in points.items()
        )
    }
    stored = {tuple(row["actions"]) for row in tables["savings_sets"].to_pylist() if row["is_on_front"]}
    assert stored == front


def test_the_page_offers_it_instead_of_buying(tables):
    """The answer is the set that the box offers, and not another one that saves more for more effort."""
    answer = decide_savings(tables)
    assert answer.headline == (
        "Cut the retention of logs to 1 day: that saves up to 3 brokers and $2,190 per month on average until January "
        "2027."
    )
    assert answer.reasons[0] == (
        "Another set saves the most. Cut the retention of logs to 1 day and remove old, which nobody uses: that saves "
        "up to 6 brokers and $4,380 per month on average until January 2027."
    )
    assert answer.details == (
        "Cut the retention of logs to 1 day, and buy no brokers up to 2027-01-20; saves $2,190 per month on average."
    )


def test_dollars_of_today_alone_are_no_average(tables):
    view = read_savings(tables)
    none, best = view.sets[:2]
    changed = dataclasses.replace(view, sets=[none, {**best, "known_until": "2026-11-20"}])
    assert changed.saves(changed.sets[1]) == "saves up to 3 brokers and $2,190 per month at today’s size"
    assert instead(changed).endswith("saves $2,190 per month at today’s size.")


@pytest.mark.parametrize(
    ("usd", "said"), [(0.0, "saves nothing"), (-0.4, "saves nothing"), (-117.0, "costs $117 more per month")]
)
def test_what_costs_more_is_not_said_to_save_nothing(tables, usd, said):
    action = {**read_savings(tables).judged[0], "saved_usd_per_month": usd, "freed_bytes": 1024, "because": None}
    assert because(action) == f"frees 1.0 KiB and {said}; fewer brokers were not tried."
    why = {"because": "3 brokers would not be enough: full", "saved_brokers": 0}
    # What stands in the way of fewer brokers does not make anything dearer.
    link = ": it saves no broker, because" if said.startswith("costs") else ", because"
    assert because(action | why) == f"frees 1.0 KiB and {said}{link} 3 brokers would not be enough: full."


def test_a_plan_says_as_the_command_does_that_savings_rest_on_what_is_known_of_traffic(tables):
    facts = {"unknown_rate_partitions": 20, "unknown_rate_stored_ratio": 0.5, "partition_count": 24}
    unknown, known = (
        SAVINGS.decide(SimpleNamespace(tables=tables, snapshot_facts=given), Handed()) for given in (facts, {})
    )
    assert known == decide_savings(tables)
    assert unknown == as_far_as_known(known, facts)
    assert unknown.headline.startswith("As far as known, ")


def test_half_of_it_deleted_saves_nothing_where_the_network_binds():
    """800 MB/s, read twice, on disks of 40 TiB: the network of three brokers is too little, whatever they store."""
    size, rate = 100 * GIB, 800e6 / 12
    busy = logs(bytes_in=rate, bytes_out=2 * rate, settings={"retention_ms": int(size / rate * 1000)})
    raw = inventory(busy, idle(size_bytes=size), disk_gib=40_000, brokers={"cpu_cores": None})
    tables = savings_of(raw)
    (old,) = action_rows(tables).values()
    # Three brokers send 2 x 800 to consumers and 2 x 800 to followers: 1,067 each, and 875 of 1,250 are allowed.
    assert (old["action_id"], old["saved_brokers"], old["saves_nothing"]) == ("idle:old", 0, True)
    assert old["freed_bytes"] == 3600 * GIB == tables_stored(raw) / 2
    assert old["binds"] == "network_out"
    answer = decide_savings(tables)
    assert answer.headline == "1 set of actions evaluated: none saves a broker or a dollar."
    assert answer.reasons[0].startswith(
        "1 of 1 action looks like a saving but saves nothing alone. Remove old, which nobody uses: that frees 3.5 "
        "TiB and saves nothing, because 3 brokers would not be enough: broker "
    )
    assert "would send 1,017.3 MiB/s at peak on 2026-11-20, but 834.5 MiB/s are allowed" in answer.reasons[0]
    assert answer.details is None


def test_sums_in_another_order_save_nothing():
    def resized(*usd):
        return SimpleNamespace(usd_per_month=usd, remote_bytes=(0.0,) * 3)

    free_store = SimpleNamespace(object_store_usd_per_gib_month=0.0)
    found = {NOTHING: resized(0.1 + 0.2, 30.0, 5.25), frozenset([0]): resized(0.3, 27.5, 5.0)}
    judge = Judge(cluster=None, actions=(), settings=free_store, run=None, resized=found)
    assert 0.1 + 0.2 != 0.3
    assert judge.saved_usd(frozenset([0])).tolist() == [0.0, 2.5, 0.25]


GROWING = {"growth_per_year_ratio": 9.0, "growth_high_per_year_ratio": 9.0}
"""600 GiB a broker become 882 in two months, where 850 are allowed."""


def test_what_is_saved_on_average_is_what_steps_cost_less():
    tables = savings_of(inventory(logs()), **GROWING)
    nothing, cut = set_rows(tables)[frozenset()], set_rows(tables)[RETENTION]
    days = ("2026-11-20", nothing["first_purchase"], "2027-01-20")
    start, day, end = map(datetime.date.fromisoformat, days)
    late = (end - day) / (end - start)
    assert 0 < late < 0.2
    # Six brokers, and nine from that day on, which is no date that is judged; three with the logs of a day alone.
    assert (cut["broker_count_now"], cut["broker_count_at_horizon"], cut["known_until"]) == (3, 3, None)
    assert cut["saved_usd_per_month"] == pytest.approx((3 + 3 * late) * DOLLARS, rel=1e-6)


def test_an_action_that_makes_something_last_is_the_answer_where_nothing_does_without():
    tables = savings_of(inventory(logs()), **GROWING, sizing_broker_counts=[6])
    nothing, cut = set_rows(tables)[frozenset()], set_rows(tables)[RETENTION]
    assert (nothing["first_purchase"], nothing["broker_count_at_horizon"], cut["is_on_front"]) == (None, None, True)
    assert cut["known_until"] == "2026-12-20"
    answer = decide_savings(tables)
    assert answer.headline.startswith(
        "Cut the retention of logs to 1 day: that makes 3 brokers last up to 2027-01-20, which without it nothing does"
    )
    assert answer.details.startswith(
        "Cut the retention of logs to 1 day, go down to 3 brokers, and buy no brokers up to 2027-01-20"
    )
    (row, _) = (row for row in tables["savings_actions"].to_pylist())
    assert not row["saves_nothing"]


def test_what_is_tiered_already_is_uploaded_beside_what_is_read():
    """As above, and leaders send 800 MB/s to the object store: 1,333 MB/s each, 1.24 GiB/s."""
    size, rate = 100 * GIB, 800e6 / 12
    settings = {"retention_ms": int(size / rate * 1000), "remote_storage_enable": True}
    busy = logs(bytes_in=rate, bytes_out=2 * rate, settings=settings)
    raw = inventory(busy, idle(size_bytes=size), disk_gib=40_000, brokers={"cpu_cores": None})
    (old,) = action_rows(savings_of(raw)).values()
    assert "would send 1.2 GiB/s at peak on 2026-11-20" in old["because"]
    # Half as much is written: so it is with both. Nobody reads: what is produced is sent nevertheless.
    cluster = sized_cluster(asked_of(raw))
    count = len(cluster.workload.partitions)
    assert cluster.workload.read_hours().sum(axis=1)[0] == pytest.approx(168 * 2 * rate)
    for field, value, sent in (("written_ratio", 0.5, 1.5), ("read_ratio", 0.0, 1.0)):
        change = dataclasses.replace(ClusterChange.nothing(count), **{field: np.full(count, value)})
        after = changed_cluster(cluster.snapshot, cluster.workload, partition_sizes(cluster.workload), change)
        assert after.workload.traffic.bytes_out[0] == pytest.approx(np.full(168, sent * rate))


def tables_stored(raw):
    return sum(row["size_bytes"] for row in raw.table("replicas").to_pylist())


def test_cordoned_brokers_stand_in_the_way_of_fewer_on_no_day_in_particular():
    raw = inventory(logs(size_bytes=GIB), idle())
    dirs = [{**row, "is_cordoned": row["broker_id"] > 2} for row in rows_of(raw, "log_dirs")]
    found = action_rows(savings_of(with_rows(raw, "log_dirs", dirs)))["idle:old"]
    assert found["because"].startswith("3 brokers would not be enough: topic 'logs' needs replication factor 3 but ")
    assert "has only 2 brokers that take new replicas" in found["because"]


def test_without_prices_there_are_no_dollars():
    raw = inventory(logs(), idle(), brokers={"cpu_cores": None})
    tables = savings_of(raw, broker_usd_per_hour=None)
    assert {row["saved_usd_per_month"] for row in tables["savings_sets"].to_pylist()} == {None}
    assert {row["usd_per_month"] for row in tables["savings_dates"].to_pylist()} == {None}
    # Sets are held against each other by brokers: one action saves three. Of fewer than today's six nobody knows
    # whether their processors are enough.
    front = [row["saved_brokers"] for row in tables["savings_sets"].to_pylist() if row["is_on_front"]]
    assert front == [3]
    assert "$" not in decide_savings(tables).headline


def test_fewer_brokers_of_unknown_capacity_save_nothing():
    raw = inventory(logs(size_bytes=GIB), idle(), disk_gib=10_000, brokers={"cpu_cores": None})
    found = action_rows(savings_of(raw))["idle:old"]
    assert (found["saved_brokers"], found["because"]) == (0, "3 brokers cannot be judged: the capacity is unknown: CPU")
    priceless = decide_savings(savings_of(raw, broker_usd_per_hour=None)).headline
    assert priceless.endswith(": none saves a broker, and dollars are unknown without prices.")


def test_it_is_off_where_nobody_wants_it():
    tables = savings_of(inventory(logs(), idle()), max_savings_sets=0)
    assert {table.num_rows for table in tables.values()} == {0}


def test_one_set_is_not_all_that_there_are():
    tables = savings_of(inventory(logs(), idle()), max_savings_sets=1)
    (scope,) = tables["savings_scope"].to_pylist()
    assert (scope["sets_tried"], scope["is_exhaustive"]) == (1, False)
    judged, left_out = decide_savings(tables).reasons[-2:]
    assert "2 more actions were not evaluated" in judged
    assert left_out.startswith("The inventory has no consumer groups: how far back topics are read is seen in ")
    assert instead(read_savings(tables)) is not None


def test_the_judge_answers_as_sizing_does(monkeypatch):
    """What is not looked at could not have been chosen."""
    cluster = sized_cluster(asked_of(inventory(logs(), idle()), sizing_broker_counts=[3, 6, 8, 9, 12]))
    count = len(cluster.workload.partitions)
    nothing = ClusterChange.nothing(count)
    changes = [
        nothing,
        dataclasses.replace(nothing, kept_seconds=np.full(count, 4.0 * DAY)),
        dataclasses.replace(nothing, kept_seconds=np.full(count, DAY)),
        dataclasses.replace(nothing, written_ratio=np.full(count, 0.3)),
        dataclasses.replace(nothing, max_replicas=np.full(count, 2, dtype=np.int32)),
    ]
    found = cluster.resize(changes, run_here)

    def every_option(inputs):
        def run(given, keys):
            return [placement_results(given, key) for key in keys]

        return inputs, simulate_sizing(inputs, run).results

    monkeypatch.setattr(resize, "_results", every_option)
    for one, other in zip(found, cluster.resize(changes, run_here), strict=True):
        assert one.broker_counts == other.broker_counts
        assert one.usd_per_month == pytest.approx(other.usd_per_month)
        assert one.steps == other.steps
