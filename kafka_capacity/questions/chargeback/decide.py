"""What a plan answers about costs and bytes between racks, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.hardware.limits import Resource, resource_name
from kafka_capacity.hardware.rack_traffic import usd_per_month
from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.chargeback.racks import CONSUME, FLOWS, PRODUCE, REPLICATE
from kafka_capacity.questions.chargeback.split import USED, Charge
from kafka_capacity.questions.chargeback.tables import Row, charged, crossing, paid_by, scope_of, summed
from kafka_capacity.text import format_bytes, format_percent, format_rate, format_usd, listed, plural
from kafka_capacity.text.wording import few_names

WORDS = {
    Charge.STORAGE: "storage",
    Charge.PRODUCE: "producing",
    Charge.REPLICATE: "replication",
    Charge.CONSUME: "consuming",
    Charge.CROSS_RACK: "traffic between racks",
    Charge.PARTITIONS: "partitions",
    Charge.HEADROOM: "headroom",
    Charge.IDLE: "idle capacity",
}
"""What each charge is called."""
_NAMED = 3  # topics that one sentence names
_DONE = {PRODUCE: "write", REPLICATE: "replicate", CONSUME: "read"}


def usd_of(cents: int | None) -> float | None:
    """Return dollars."""
    return None if cents is None else cents / 100


def decide_chargeback(tables: Mapping[str, pa.Table]) -> Answer:
    """Return the answer that the tables hold."""
    scope = scope_of(tables)
    racks = (*_tiered(tables), *_racks(tables, scope))
    if scope["reason"] is not None:
        headline = f"The cost of topics and owners cannot be determined: {scope['reason']}."
        return Answer(headline=headline, reasons=racks, unknown=("what topics and owners cost",))
    return Answer(
        headline=_headline(tables, scope),
        reasons=(
            *filter(None, (_carriers(tables), _produced(tables), _owned(tables, scope), _marginal(tables, scope))),
            *racks,
        ),
    )


def _headline(tables: Mapping[str, pa.Table], scope: Row) -> str:
    found, total = charged(tables["chargeback_bill"]), scope["total_cents"]
    apart = [
        f"{format_usd(usd_of(found[charge]))} is {WORDS[charge]}"
        for charge in (Charge.HEADROOM, Charge.IDLE)
        if found[charge]
    ]
    rest = f", of which {listed(apart)}" if apart else ""
    return (
        f"Today’s cluster of {plural(scope['broker_count_now'], 'broker')} costs {_month(total, scope)} "
        f"at today’s traffic{rest}; {_binding(scope['binding'])} decides how many brokers are needed{_unknown(scope)}."
    )


def _unknown(scope: Row) -> str:
    """Say that something else may, where its capacity is not known; what rests on it is no more than known."""
    if not scope["unknown"]:
        return ""
    return f", as far as known (unknown: {scope['unknown']}; less may be idle, and more needed)"


def _binding(resource: str) -> str:
    return "the number of replicas" if resource == Resource.REPLICAS else resource_name(resource)


def _month(cents: int, scope: Row) -> str:
    return f"{format_usd(usd_of(cents))} per month{' (estimated)' if scope['priced_as'] else ''}"


def _carriers(tables: Mapping[str, pa.Table]) -> str | None:
    found = charged(tables["chargeback_bill"])
    used = sorted((charge for charge in USED if found[charge]), key=lambda charge: -found[charge])
    total = sum(found[charge] for charge in used)
    if not total:
        return None
    parts = [f"{format_percent(found[charge] / total)} is {WORDS[charge]}" for charge in used]
    return f"Of the {format_usd(usd_of(total))} in use {listed(parts)}."


def _produced(tables: Mapping[str, pa.Table]) -> str | None:
    """Return of how much the producers are known; nothing where no client counts."""
    table = tables["chargeback"]
    table = table.filter(pc.is_null(table.column("group_id")))
    known = table.filter(pc.is_valid(table.column("client_id")))
    if not len(known):
        return None
    share = summed(known, "produce_cents") / max(1.0, summed(table, "produce_cents"))
    clients = len(known.column("client_id").unique())
    return f"{format_percent(share)} of producing is charged to {plural(clients, 'client id')} that produce."


def _owned(tables: Mapping[str, pa.Table], scope: Row) -> str | None:
    """Name what nobody is known to own."""
    if not scope["owners"]:
        return None
    table = tables["chargeback"]
    unowned = table.filter(pc.is_null(table.column("owner")))
    cents, total = int(summed(unowned, "total_cents")), int(summed(table, "total_cents"))
    if not cents:
        return "All of it has an owner."
    topics = few_names([row["topic"] for row in paid_by(unowned, "topic")], _NAMED)
    return f"{format_usd(usd_of(cents))} of it has no known owner ({format_percent(cents / total)}): {topics}."


def _marginal(tables: Mapping[str, pa.Table], scope: Row) -> str | None:
    """Return what the one that saves most would save, and which size that is held against."""
    rows = tables["chargeback_marginal"].to_pylist()
    if not rows:
        return None
    known = [row for row in rows if row["marginal_cents"] is not None]
    if not known:
        return (
            "What the bill would be without a topic or owner is unknown: no number of brokers that was tried is known "
            "to carry the rest."
        )
    most = max(known, key=lambda row: (row["marginal_cents"], row["name"]))
    return (
        f"Without {most['kind']} {most['name']}, the smallest sufficient size, "
        f"{plural(scope['broker_count'], 'broker')} for {_month(scope['smallest_cents'], scope)}, would cost "
        f"{format_usd(usd_of(most['marginal_cents']))} less; its share of today’s bill is "
        f"{format_usd(usd_of(most['average_cents']))}."
    )


def _tiered(tables: Mapping[str, pa.Table]) -> Iterator[str]:
    """Return what tiered topics take of the object store."""
    table = tables["chargeback_tiered"]
    if not len(table):
        return
    rows = table.to_pylist()
    without = [row["topic"] for row in rows if row["usd_per_month"] is None]
    measured = [row["topic"] for row in rows if row["is_measured"]]
    if len(without) < len(table):
        expected = "once their retention is reached"
        basis = f"measured for {few_names(measured, _NAMED)}, for the others {expected}" if measured else expected
        usd, held = summed(table, "usd_per_month"), summed(table, "remote_bytes")
        yield (
            f"Beside the brokers, the object store takes {format_usd(usd)} a month for {format_bytes(held)} of "
            f"{plural(len(table) - len(without), 'tiered topic')} "
            f"({'as measured' if len(measured) == len(table) - len(without) else basis}); its requests and traffic "
            "are not costed."
        )
    if without:
        yield f"What the object store takes for {few_names(without, _NAMED)} is not known."
    read = summed(table, "remote_read_bytes_per_second")
    if read:
        yield f"Groups that are further behind than brokers keep read {format_rate(read)} from the object store."


def _racks(tables: Mapping[str, pa.Table], scope: Row) -> Iterator[str]:
    flows = tables["rack_flows"]
    if not len(flows):
        return
    across, price = crossing(flows), scope["usd_per_gib_between_racks"]
    total, every = summed(across, "bytes_per_second"), summed(flows, "bytes_per_second")
    if not total:
        yield "No bytes cross racks."
        return
    read = flows.filter(pc.equal(flows.column("flow"), CONSUME))
    known = summed(read.filter(read.column("is_known")), "bytes_per_second")
    whole = summed(read, "bytes_per_second")
    told = f"; the reader's rack is known for {format_percent(known / whole)} of what is read" if whole else ""
    yield f"{format_rate(total)} of {format_rate(every)} cross racks, {_where_produced(flows)}{told}."
    brokers = tables["rack_brokers"].to_pylist()
    fetched = summed(flows, "saved_bytes_per_second")
    if fetched:
        now, then = (_fullest(brokers, name) for name in ("read_now", "read_with_follower_fetching"))
        yield (
            f"Follower fetching would keep {format_rate(fetched)} of it within racks{_worth(fetched, price)}; the "
            f"most-read broker would serve {_above(then)} more than the mean ({_above(now)} today)."
        )
    aware = summed(tables["rack_topics"], "saved_bytes_per_second")
    if aware:
        skewed = max(
            (row for row in tables["rack_topics"].to_pylist() if row["fullest_ratio_after"] is not None),
            key=lambda row: (row["fullest_ratio_after"], row["topic"]),
        )
        yield (
            f"Rack-aware producers would keep up to {format_rate(aware)} within racks{_worth(aware, price)} if no "
            f"record has a key; partitions would become most uneven in {skewed['topic']}: the fullest would get "
            f"{_above(skewed['fullest_ratio_after'])} more than the mean ({_above(skewed['fullest_ratio_now'])} "
            "today)."
        )
    yield from _leaders(tables, price)


def _where_produced(flows: pa.Table) -> str:
    written = flows.filter(pc.equal(flows.column("flow"), PRODUCE))
    known = summed(written.filter(written.column("is_known")), "bytes_per_second")
    if not known:
        return "assuming that producers are spread evenly over them"
    share = known / summed(written, "bytes_per_second")
    others = " and the others spread evenly" if share < 1 else ""
    return f"with the producers of {format_percent(share)} of what is written in known racks{others}"


def _leaders(tables: Mapping[str, pa.Table], price: float | None) -> Iterator[str]:
    """Return what leaders in the racks of producers would save and skew."""
    topics, brokers = tables["rack_leaders"], tables["rack_leader_brokers"].to_pylist()
    if not len(topics):
        return
    elsewhere = {rack for row in topics.to_pylist() for rack in row["producer_racks"]} - {
        row["rack"] for row in brokers
    }
    if elsewhere:
        yield f"No broker is in {listed(sorted(elsewhere))}, where producers are."
    kept = {flow: summed(topics, f"{flow}_bytes_per_second") for flow in FLOWS}
    net, moved = sum(kept.values()), int(summed(topics, "moved_partitions"))
    if not moved:
        yield "Leaders are in the known racks of producers already, as far as there are replicas there."
        return
    does = f"keep {format_rate(net)} within racks{_worth(net, price)}" if net > 0 else "keep nothing within racks"
    parts = [
        f"{format_rate(abs(rate))} {'less' if rate > 0 else 'more'} to {_DONE[flow]}"
        for flow, rate in kept.items()
        if abs(rate) >= 1  # less is the rounding of sums
    ]
    if not parts:
        yield "Leaders in the racks of producers would keep nothing within racks: almost nothing is written there."
        return
    led, produced = (
        f"{_above(_fullest(brokers, f'{name}_then'))} more than the mean, "
        f"{_above(_fullest(brokers, f'{name}_now'))} today"
        for name in ("leaders", "produced")
    )
    yield (
        f"Leaders in the racks of producers would {does} ({listed(parts)}), by reordering the replica lists of "
        f"{plural(moved, 'partition')}; the broker with the most leaders would have {led}, and the one with the "
        f"highest produce rate {produced}."
    )


def _worth(bytes_per_second: float, price: float | None) -> str:
    if not price:
        return ""
    return f" and save {format_usd(float(usd_per_month(bytes_per_second, price)))} per month at today’s rates"


def _above(ratio: float) -> str:
    # The most of several is at least their mean, but for rounding.
    return format_percent(max(0.0, round(ratio - 1.0, 6)))


def _fullest(brokers: list[Row], name: str) -> float:
    """Return what the fullest broker carries over the mean."""
    rates = [float(row[name]) for row in brokers]
    return max(rates) * len(rates) / sum(rates)
