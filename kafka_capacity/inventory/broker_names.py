"""Which broker a server of metrics means by a label: its id, its host, its host and port, or its pod."""

from __future__ import annotations

import re
from collections.abc import Collection

import pyarrow as pa

from kafka_capacity.inventory.column_values import values

# A letter before it, since an IP address ends in a number as well.
_TRAILING_NUMBER = re.compile(r"[A-Za-z].*-(\d{1,9})$")


def broker_ids(names: Collection[str], brokers: pa.Table) -> dict[str, int]:
    """Return the ids of the brokers that values of a label stand for; names that stand for none are left out.

    A name is an id; or a host of the inventory, with any port (that of an exporter is another than the broker's); or
    ends in a number, as pods do, where every name then stands for a broker of its own.
    """
    ids = set(values(brokers.column("broker_id")))
    by_host: dict[str, int | None] = {}
    for broker, host in zip(values(brokers.column("broker_id")), values(brokers.column("host")), strict=True):
        if host:
            # Several brokers on one host cannot be told apart by it.
            by_host[host.lower()] = None if host.lower() in by_host else broker
    found = {name: int(name) for name in names if name.isascii() and name.isdecimal() and int(name) in ids}
    for name in names:
        host = re.sub(r":\d+$", "", name).strip("[]").lower()
        broker = by_host.get(host)
        if name not in found and broker is not None:
            found[name] = broker
    others = [name for name in names if name not in found]
    numbers = {name: _TRAILING_NUMBER.search(name) for name in others}
    numbered = {name: int(number[1]) for name, number in numbers.items() if number is not None}
    is_one_each = len(set(numbered.values())) == len(others) and set(numbered.values()) <= ids - set(found.values())
    return found | numbered if len(numbered) == len(others) and is_one_each else found
