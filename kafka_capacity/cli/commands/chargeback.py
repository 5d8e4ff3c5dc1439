"""``kafka-capacity chargeback``: what topics, groups and owners cost a month, and what crosses racks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.cli.commands.size import OF_OTHER_SECTIONS
from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import CpuSamples, MaxRows, OwnersFile, ShapesFile
from kafka_capacity.cli.plan_options import fields_of
from kafka_capacity.questions.chargeback.parameters import ChargebackParameters

_PRICED_BY = (
    "failure_tolerance",
    "is_move_sized",
    "is_catch_up_sized",
    "network_limit_ratio",
    "cpu_limit_ratio",
    "disk_io_limit_ratio",
    "client_limit_ratio",
    "lost_limit_ratio",
    "is_follower_fetching",
    "reread_ratio",
    "current_shape",
    "broker_vcpu",
    "broker_disk_bytes_per_second",
    "broker_replica_limit",
    "broker_usd_per_hour",
    "usd_per_gib_between_racks",
    "commitment_discount_ratio",
    "recovery_hours",
    "object_store_usd_per_gib_month",
)
"""What today's cluster and the smallest size are priced and judged by, beside what sizing takes of other sections."""


@asks("chargeback", *fields_of(ChargebackParameters), *_PRICED_BY, *OF_OTHER_SECTIONS, version=1)
def chargeback(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    owners: OwnersFile = None,
    shapes_file: ShapesFile = None,
    cpu_samples: CpuSamples = None,
    max_rows: MaxRows = 20,
) -> Found:
    """Split the monthly cost of today's cluster among topics, consumer groups, client ids and owners.

    Reads a native snapshot and prices the cluster as size does. Shares add up to the bill to the cent; headroom and
    idle capacity are listed separately. A share is an average cost; for the most expensive topics and for every owner
    it also shows the marginal cost: how much smaller the bill would be without them, found by sizing what is left. It
    also adds up the traffic between racks, and what follower fetching (KIP-392) and rack-aware producers (KIP-1123)
    would save. docs/chargeback.md has the rules and assumptions.

    With --out it writes chargeback.json and each table as CSV and Parquet into DIR.
    """
    from kafka_capacity.cli.pieces import run_step_by_step
    from kafka_capacity.cli.sizing import ask_sized
    from kafka_capacity.plan.handing import handed_to_all
    from kafka_capacity.questions.answer import as_far_as_known
    from kafka_capacity.questions.chargeback.decide import decide_chargeback
    from kafka_capacity.questions.chargeback.share import CHARGEBACK

    asked = ask_sized(snapshot, given, begin, shapes_file, cpu_samples, owners)
    begin("splitting the bill")
    tables = CHARGEBACK.simulate(asked, handed_to_all(asked), run_step_by_step(begin, begun=2)).tables
    answer = as_far_as_known(decide_chargeback(tables), asked.basis.unknown_traffic)
    return Found(
        of=asked.basis.snapshot,
        answer=lambda: answer.headline,
        document=lambda: {
            "sentences": [answer.headline, *answer.reasons],
            **{name: table.to_pylist() for name, table in sorted(tables.items())},
        },
        show=lambda: _print(answer.reasons, tables, max_rows),
        write=lambda out, document: _write(out, document, tables),
    )


def _print(reasons: Sequence[str], tables: Mapping[str, Any], max_rows: int) -> None:
    from kafka_capacity.cli.console import print_data, print_lines
    from kafka_capacity.hardware.shape_catalogue import estimated_price_sentence
    from kafka_capacity.questions.chargeback.section.chargeback import all_tables
    from kafka_capacity.questions.chargeback.tables import scope_of

    scope = scope_of(tables)
    estimated = estimated_price_sentence(scope["priced_as"], scope["priced_on"])
    print_lines([*reasons, *([estimated] if estimated else [])])
    for table in all_tables(tables, most=max_rows).values():
        print_data(table)


def _write(out: str, document: Mapping[str, Any], tables: Mapping[str, Any]) -> None:
    """Write the document, and each table as it is stored."""
    from kafka_capacity.cli.documents import csv_table, write_files
    from kafka_capacity.objects.dataset import canonical_json, parquet_bytes
    from kafka_capacity.objects.store import open_store

    written = (("csv", csv_table), ("parquet", parquet_bytes))
    files = {f"{name}.{ending}": write(tables[name]) for name in sorted(tables) for ending, write in written}
    write_files(open_store(out), {**files, "chargeback.json": canonical_json(document)})
