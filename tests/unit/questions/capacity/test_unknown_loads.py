"""What is not known, or cannot be, is not called enough: no scale-in, no deletion and no silence rests on it."""

from __future__ import annotations

import pytest

from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.plan.handing import sized_cluster
from kafka_capacity.questions.capacity.approval import approval
from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.questions.capacity.sizing_steps import view_sizing
from kafka_capacity.questions.capacity.sizing_words import headline
from kafka_capacity.questions.question import Handed, run_here
from tests.builders import rows_of, topic, with_rows
from tests.unit.questions.savings.small import GIB, PRODUCED, asked_of, inventory, logs

ONE = {"sizing_broker_counts": [3, 6, 9]}


def sized(raw, **more):
    """The view of sizing, with its document."""
    asked = asked_of(raw, **(ONE | more))
    share = CAPACITY.simulate(asked, Handed(sized=lambda: sized_cluster(asked)), run_here)
    document = share.documents["sizing.json"]
    return view_sizing(share.tables, document, asked.request)


def with_rates(raw, **columns):
    """The inventory with other rates of some topics: a value for all rows, or a function of the row."""
    return with_rows(
        raw,
        "metrics",
        [
            row | {name: value(row) if callable(value) else value for name, value in columns.items()}
            for row in rows_of(raw, "metrics")
        ],
    )


def small():
    """Logs that fit three of the six brokers."""
    return logs(size_bytes=20 * GIB, bytes_in=PRODUCED / 5, bytes_out=PRODUCED / 5)


def test_fewer_brokers_are_enough_where_all_is_known():
    assert sized(inventory(small())).recommended["broker_count"] == 3


@pytest.mark.parametrize(
    "reads", [None, lambda row: None if row["topic"] == "logs" else row["bytes_out_bytes_per_second"]]
)
def test_reads_that_are_unknown_are_no_reads_that_fit(reads):
    raw = inventory(small(), topic("tiny", partitions=3, size_bytes=GIB, bytes_in=10.0, bytes_out=10.0))
    view = sized(with_rates(raw, bytes_out_bytes_per_second=reads))

    count = 12 if reads else 15
    assert view.recommended["broker_count"] == 6
    assert headline(view).startswith("As far as known, ")
    unknown = f"consumer traffic of {count} of 15 partitions"
    assert view.unknown_traffic == unknown
    reason = view.document["advice"]["reason"]
    assert reason.endswith(f"; fewer brokers are not recommended where {unknown} is unknown")
    assert " fits" not in reason


def test_a_little_that_is_unknown_is_left_alone():
    raw = inventory(small(), topic("tiny", partitions=3, size_bytes=GIB, bytes_in=10.0, bytes_out=10.0))

    def reads(row):
        return None if row["topic"] == "tiny" else row["bytes_out_bytes_per_second"]

    assert sized(with_rates(raw, bytes_out_bytes_per_second=reads)).recommended["broker_count"] == 3


@pytest.mark.parametrize(
    ("rates", "why"),
    [
        ({"bytes_in_bytes_per_second": None}, "no rates are known"),
        ({"bytes_in_bytes_per_second": -1.0}, "no rates are known"),
        (
            {"bytes_in_bytes_per_second": 0.0, "bytes_out_bytes_per_second": 0.0},
            "every rate is 0 although data is stored",
        ),
    ],
)
def test_nothing_is_judged_where_nothing_is_known_to_be_produced(rates, why):
    raw = with_rates(inventory(small()), **rates)
    view = sized(raw)

    assert view.recommended is None
    assert view.is_unknown
    # Nor by any other question.
    assert asked_of(raw).basis.traffic.basis is PeakBasis.UNKNOWN
    assert f"Not judged how many brokers are needed: {why}, so no option can be said to fit" in headline(view)


def test_fewer_brokers_are_not_enough_where_a_size_is_unknown():
    raw = inventory(small(), topic("compacted", partitions=1, size_bytes=GIB, bytes_in=1.0, bytes_out=1.0))
    rows = [row | {"size_bytes": None} if row["topic"] == "compacted" else row for row in rows_of(raw, "replicas")]
    view = sized(with_rows(raw, "replicas", rows))

    assert view.recommended["broker_count"] == 6
    reason = view.document["advice"]["reason"]
    assert reason.endswith("; fewer brokers are not recommended where the size of 1 of 13 partitions is unknown")


def test_a_broker_that_is_down_changes_nothing():
    """Counts are judged as if it were back: a restart while the inventory was taken buys no broker, and saves none."""
    up = inventory(logs(size_bytes=150 * GIB, bytes_in=1.5 * PRODUCED))
    down = with_rows(up, "brokers", [row | {"is_fenced": row["broker_id"] == 3} for row in rows_of(up, "brokers")])
    views = [sized(raw) for raw in (up, down)]

    assert views[0].recommended["broker_count"] == 9
    told = [[(row["option_id"], row["fits_until"], row["headroom_ratio"]) for row in view.options] for view in views]
    assert told[0] == told[1]


def test_no_other_count_is_judged_by_how_long_it_lasts_where_none_can_be_placed():
    full = inventory(logs(size_bytes=140 * GIB))
    racks = [row | {"rack": "a" if row["broker_id"] == 1 else None} for row in rows_of(full, "brokers")]
    view = sized(with_rows(full, "brokers", racks), growth_per_year_ratio=0.5, growth_high_per_year_ratio=0.5)

    assert view.why_none_placed is not None
    fix = "give the rack, or set the rack rule to off."
    assert approval(view).partition(" and no other count ")[2].startswith("can be placed until this is fixed: broker")
    assert approval(view).endswith(fix)
