"""Who sends to whom: what leaders copy to the replicas that are added, from rack to rack and broker to broker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.report.heat import Cell, amount_cell, heat
from kafka_capacity.text import format_bytes, format_percent, iec_unit

MAX_NAMES = 20  # rows and columns; of more, those that send and receive most, and the others together
OTHERS, ALL = "others", "in all"

Flows = Counter[tuple[str, str]]  # bytes by sender and receiver


def who_sends(moves: pa.Table, brokers: Sequence[Mapping[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Return how much is copied between racks, and the heat maps of racks and of brokers; neither if nothing is copied.

    ``brokers`` are all of them by rack and id, which is the order of rows and columns.
    """
    by_broker = _flows(moves)
    if not by_broker:
        return "", []
    note = "From each partition’s leader today to the replicas that are added."
    brokers_map = _map("Bytes copied between brokers", by_broker, [str(row["broker_id"]) for row in brokers], note)
    racks = {str(row["broker_id"]): f"rack {row['rack']}" if row["rack"] else "no rack" for row in brokers}
    if len({*racks.values()}) < 2:
        return "", [brokers_map]
    by_rack: Flows = Counter()
    for (sender, receiver), amount in by_broker.items():
        by_rack[racks[sender], racks[receiver]] += amount
    between = sum(amount for (sender, receiver), amount in by_rack.items() if sender != receiver)
    line = f"{format_percent(between / by_rack.total())} of {format_bytes(by_rack.total())} is copied between racks."
    return line, [_map("Bytes copied between racks", by_rack, list(dict.fromkeys(racks.values()))), brokers_map]


def _flows(moves: pa.Table) -> Flows:
    """Add up what each leader copies to each broker that gets a replica; all of a partition get the same."""
    moves = moves.filter(pc.and_(pc.greater(moves["moved_bytes"], 0), pc.greater_equal(moves["leader"], 0)))
    copies = pc.list_value_length(moves["added"]).to_numpy()
    senders = np.repeat(moves["leader"].to_numpy(), copies)
    receivers = pc.list_flatten(moves["added"]).to_numpy()
    amounts = np.repeat(moves["moved_bytes"].to_numpy() / np.maximum(copies, 1), copies)
    pairs, place = np.unique(np.stack([senders, receivers]), axis=1, return_inverse=True)
    sums = np.bincount(place.ravel(), weights=amounts, minlength=pairs.shape[1])
    return Counter({(str(a), str(b)): float(amount) for a, b, amount in zip(*pairs, sums, strict=True)})


def _map(caption: str, flows: Flows, order: Sequence[str], note: str = "") -> dict[str, Any]:
    sends, receives = Counter[str](), Counter[str]()
    for (sender, receiver), amount in flows.items():
        sends[sender] += amount
        receives[receiver] += amount
    rows, columns = (_named(sums, order) for sums in (sends, receives))
    shown: Flows = Counter()
    for (sender, receiver), amount in flows.items():
        row, column = (one if one in named else OTHERS for one, named in ((sender, rows), (receiver, columns)))
        for pair in ((row, column), (row, ALL), (ALL, column), (ALL, ALL)):
            shown[pair] += amount
    largest = max(amount for pair, amount in shown.items() if ALL not in pair)
    unit, scale = iec_unit(largest / 10)
    return heat(
        f"{caption}, {unit}",
        "From",
        [*columns, ALL],
        [(name, [_cell(shown, name, column, largest, scale) for column in (*columns, ALL)]) for name in (*rows, ALL)],
        note=note,
    )


def _named(sums: Counter[str], order: Sequence[str]) -> list[str]:
    most = {name for name, _ in sums.most_common(MAX_NAMES)}
    return [name for name in order if name in most] + ([OTHERS] if len(sums) > len(most) else [])


def _cell(shown: Flows, sender: str, receiver: str, largest: float, scale: float) -> Cell:
    amount = shown[sender, receiver]
    text = f"{amount / scale:,.0f}" if amount >= 10 * scale else f"{max(amount / scale, 0.1):.1f}"
    shaded = amount if ALL not in (sender, receiver) else min(amount, largest * 0.1)
    said = f"{sender} {'sends' if receiver == ALL else f'to {receiver}:'}" if sender != ALL else f"{receiver} gets"
    return amount_cell(shaded, largest, text, f"{said} {format_bytes(amount)}")
