"""The keys of everything that is stored; no other module builds one, and ``ARCHITECTURE.md`` lists them.

Values are percent-encoded, since a cluster may have any name; ``-``, ``_``, ``.`` and letters stay as they are.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote, unquote

from kafka_capacity.errors import RequestError
from kafka_capacity.objects.store import ObjectStore

Kind = Literal["inventory", "history", "profiles", "scores", "plans", "reports", "pieces", "requests"]
"""What is stored by cluster and day."""


def encode_value(value: str) -> str:
    """Encode a value so that it can stand in a key: ``a/b`` becomes ``a%2Fb``, and ``..`` no longer climbs."""
    encoded = quote(value, safe="")
    return encoded.replace(".", "%2E") if set(encoded) <= {"."} else encoded


def is_day(text: str) -> bool:
    """Return whether this is a day, written as ``YYYY-MM-DD``."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def check_ds(ds: str) -> str:
    """Return the day when it is one, else raise :class:`RequestError`."""
    if not is_day(ds):
        raise RequestError(f"ds {ds!r} is not a day; write it as YYYY-MM-DD")
    return ds


def cluster_prefix(kind: Kind, cluster: str) -> str:
    """Return the prefix of everything of a kind that is stored of one cluster."""
    return f"{kind}/cluster={encode_value(cluster)}/"


def day_prefix(kind: Kind, cluster: str, ds: str) -> str:
    """Return the prefix of everything of a kind that is stored of one cluster and day."""
    return f"{cluster_prefix(kind, cluster)}{_day_name(kind)}={check_ds(ds)}/"


def _day_name(kind: Kind) -> str:
    return "day" if kind == "history" else "ds"


def plan_prefix(cluster: str, ds: str, plan_id: str, kind: Kind = "plans") -> str:
    """Return the prefix of one plan's tables, or of what else is stored of it: its report, pieces that are done."""
    return f"{day_prefix(kind, cluster, ds)}plan={encode_value(plan_id)}/"


def report_prefix(cluster: str, ds: str, plan_id: str) -> str:
    """Return the prefix of one plan's report."""
    return plan_prefix(cluster, ds, plan_id, "reports")


def plan_of_report(place: str) -> tuple[str, str | None, tuple[str, str] | None]:
    """Return the store that an address of a report is in, whose it is, and its day and plan; of a store itself that.

    >>> plan_of_report("s3://b/p/reports/cluster=shop%2Feu/ds=2026-11-15/plan=1/index.html")
    ('s3://b/p', 'shop/eu', ('2026-11-15', '1'))
    >>> plan_of_report("s3://b/p")
    ('s3://b/p', None, None)
    """
    root, mark, rest = place.rpartition("/reports/cluster=")
    if not mark:
        return place, None, None
    cluster, _, inner = rest.partition("/")
    found = re.match("ds=([^/]+)/plan=([^/]+)", inner)
    return root, unquote(cluster), (found[1], found[2]) if found else None


def _named(store: ObjectStore, folder: str, name: str) -> list[str]:
    """List the values of ``name=…`` directly below a folder, sorted."""
    found = store.list_folders(folder)
    return sorted(unquote(one.removeprefix(f"{name}=")) for one in found if one.startswith(f"{name}="))


def _days(store: ObjectStore, folder: str, name: str = "ds") -> list[str]:
    """List the days directly below a folder, oldest first; what else somebody has put there is none of ours."""
    return [day for day in _named(store, folder, name) if is_day(day)]


def list_inventory_clusters(store: ObjectStore) -> list[str]:
    """List the clusters that have any inventory."""
    return _named(store, "inventory/", "cluster")


def list_days(store: ObjectStore, cluster: str, kind: Kind) -> list[str]:
    """List the days with something of a kind below them, complete or not, oldest first."""
    return _days(store, cluster_prefix(kind, cluster), _day_name(kind))


def list_plans(store: ObjectStore, cluster: str, kind: Kind = "plans") -> list[tuple[str, str]]:
    """List ``(ds, plan id)`` of the plans of a cluster, or of their reports, complete or not, oldest day first."""
    root = cluster_prefix(kind, cluster)
    return [(ds, plan) for ds in _days(store, root) for plan in _named(store, f"{root}ds={ds}/", "plan")]


def list_clusters(store: ObjectStore) -> list[str]:
    """List the clusters that have any inventory or plan."""
    return sorted({*_named(store, "inventory/", "cluster"), *_named(store, "plans/", "cluster")})


def newest_plans(store: ObjectStore, cluster: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each day with plans of a cluster and their ids, complete or not, the newest day first."""
    root = cluster_prefix("plans", cluster)
    for ds in reversed(_days(store, root)):
        yield ds, _named(store, f"{root}ds={ds}/", "plan")


def request_key(cluster: str, ds: str, plan_id: str) -> str:
    """Return the key of what a plan was asked, with its inventory pinned."""
    return plan_prefix(cluster, ds, plan_id, "requests") + "request.json"


def untold_prefix(cluster: str) -> str:
    """Return the prefix of the notes of who could not be told about a cluster's reports."""
    return f"untold/cluster={encode_value(cluster)}/"


def untold_key(cluster: str, plan_id: str, run_id: str) -> str:
    """Return the key of the note of whom a run could not tell about a plan's report."""
    return f"{untold_prefix(cluster)}plan={encode_value(plan_id)}/run={encode_value(run_id)}.json"


def unheard_prefix(cluster: str) -> str:
    """Return the prefix of the notes of which chats and pagers could not be told the news of a cluster."""
    return f"unheard/cluster={encode_value(cluster)}/"


def unheard_key(cluster: str, plan_id: str) -> str:
    """Return the key of the note of which chats and pagers could not be told the news of a plan."""
    return f"{unheard_prefix(cluster)}plan={encode_value(plan_id)}.json"


def told_key(cluster: str, plan_id: str) -> str:
    """Return the key of the note of who was told of a plan's report, and by which run, and whom a run is telling."""
    return f"told/cluster={encode_value(cluster)}/plan={encode_value(plan_id)}.json"


def lifecycle_key(cluster: str) -> str:
    """Return the key of what became of a cluster's problems and recommendations."""
    return f"lifecycle/cluster={encode_value(cluster)}.json"


FLEET_PAGE = "reports/index.html"  # the page over all clusters


def refusal_key(run: str) -> str:
    """Return the key under which a run's process on another machine says what it refused."""
    return f"refusals/{encode_value(run)}.json"
