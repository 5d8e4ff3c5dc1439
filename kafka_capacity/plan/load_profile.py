"""What a load profile is made from, and where it is stored."""

from __future__ import annotations

import datetime
import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.demand.calendar_days import days_later
from kafka_capacity.demand.totals import HOURS
from kafka_capacity.errors import InventoryError, MissingManifestError
from kafka_capacity.inventory.history import HISTORY, TABLE, read_history_manifest
from kafka_capacity.inventory.staging import inventory_manifest, load
from kafka_capacity.objects.dataset import Manifest, has_manifest, read_manifest, read_table, write_dataset
from kafka_capacity.objects.keys import day_prefix, list_days
from kafka_capacity.objects.manifest import complete_days
from kafka_capacity.objects.profile_tables import PROFILE_SCHEMA_VERSION, PROFILE_TABLES
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.packing import pack_tables
from kafka_capacity.plan.profile_rows import profile_tables
from kafka_capacity.plan.traffic_profile import Carriers, describe_batch, newest_hour

log = logging.getLogger("kafka_capacity.plan")

KIND = "profile"
DEFAULT_DAYS = 90
KEPT_DAYS = 1_100  # so many days of topics are kept from profile to profile: three years, for forecasts

NOT_PROFILED = ("metrics", "broker_metrics", "history", "members")  # tables that say nothing of who carries traffic

MAX_HOURS_HERE = 5_000_000
"""A history of no more hours, of all partitions together, is described where the task runs: in a second or two, where
starting Spark takes ten. These are 2,300 partitions over 90 days, and take half a gigabyte of memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileInputs:
    """What one profile rests on."""

    cluster: str  # its name
    ds: str  # the day of the inventory
    inventory_sha256: str  # of the inventory's manifest
    history: tuple[Manifest, ...]  # the days of history, oldest first
    earlier: Manifest | None  # the profile before this one, `None` where there is none: its days of topics go on
    replicas: pa.Table  # topic, partition, broker_id, is_leader: who holds what
    reads: pa.Table  # topic, partition, group_id: who reads what

    @property
    def hours(self) -> int:
        """How many hours of partitions there are to describe."""
        return HOURS * sum(part.rows or 0 for day in self.history for part in day.tables[TABLE])

    @property
    def days(self) -> dict[str, str]:
        """The manifest's hash of each day of history, by day."""
        return {str(day.facts["day"]): day.sha256 for day in self.history}

    @property
    def basis_sha256(self) -> str:
        """Name what a profile hangs on, but for the days that the one before it hands on."""
        digest = hashlib.sha256(json.dumps([PROFILE_SCHEMA_VERSION, self.days], sort_keys=True).encode())
        for data in pack_tables({"replicas": self.replicas, "reads": self.reads}).values():
            digest.update(data)
        return digest.hexdigest()

    def part_keys(self) -> list[str]:
        """Return the keys of the history's files."""
        return [day.prefix + part.key for day in self.history for part in day.tables[TABLE]]


def profile_inputs(store: ObjectStore, cluster: str, ds: str, *, days: int) -> ProfileInputs:
    """Find the history of a window of days up to an inventory's.

    Raises InventoryError where there is no such inventory, or no history in the window.
    """
    inventory = inventory_manifest(store, cluster, ds)
    raw = load(store, inventory, leave_out=NOT_PROFILED)
    first = (datetime.date.fromisoformat(ds) - datetime.timedelta(days=days - 1)).isoformat()
    found = [day for day in list_days(store, cluster, "history") if first <= day <= ds]
    prefixes = [day_prefix("history", cluster, day) for day in found]
    history = tuple(read_history_manifest(store, prefix) for prefix in prefixes if has_manifest(store, prefix))
    if not history:
        raise InventoryError(
            f"cluster {cluster!r} has no history of rates from {first} to {ds}; stage an inventory with metrics, "
            "or ask for more days"
        )
    lags = raw.table("lags").select(["topic", "partition", "group_id"]).combine_chunks()
    return ProfileInputs(
        cluster=cluster,
        ds=ds,
        inventory_sha256=inventory.sha256,
        history=history,
        earlier=_profile_before(store, cluster, ds),
        replicas=raw.table("replicas").select(["topic", "partition", "broker_id", "is_leader"]).combine_chunks(),
        reads=lags,
    )


def history_table(store: ObjectStore, inputs: ProfileInputs) -> pa.Table:
    """Read the whole history at once, every file checked against its hash."""
    days = [read_table(store, day, TABLE).cast(HISTORY) for day in inputs.history]
    return pa.concat_tables(days).combine_chunks()


def profile_without_spark(store: ObjectStore, inputs: ProfileInputs) -> Manifest | None:
    """Store a profile that takes no Spark: that of an unchanged history, or of a small one; ``None`` for any other."""
    tables = _described_already(store, inputs)
    if tables is not None:
        log.info("%s, %s: the history has not changed, its profile is reused", inputs.cluster, inputs.ds)
    elif inputs.hours <= MAX_HOURS_HERE:
        tables = describe_history(inputs, history_table(store, inputs))
        log.info("%s, %s: profiled %d hours of %d days", inputs.cluster, inputs.ds, inputs.hours, len(inputs.history))
    else:
        return None
    return write_profile(store, inputs, tables)


def describe_history(inputs: ProfileInputs, history: pa.Table) -> dict[str, pa.Table]:
    """Describe a whole history in this process."""
    carriers = Carriers(replicas=inputs.replicas, reads=inputs.reads, end=newest_hour(history) + 1)
    return profile_tables(inputs.cluster, **describe_batch(carriers, history))


def _described_already(store: ObjectStore, inputs: ProfileInputs) -> dict[str, pa.Table] | None:
    """Return the tables of the newest profile up to the day, where it has the same basis."""
    there = has_manifest(store, day_prefix("profiles", inputs.cluster, inputs.ds))
    known = read_profile_manifest(store, inputs.cluster, inputs.ds) if there else inputs.earlier
    if known is None or known.facts.get("basis_sha256") != inputs.basis_sha256:
        return None
    tables = {name: read_table(store, known, name) for name in PROFILE_TABLES}
    days = tables["profile_days"]
    tables["profile_days"] = days.filter(pc.greater_equal(days.column("day"), _first_day(inputs)))
    return tables


def _first_day(inputs: ProfileInputs) -> pa.Scalar:
    return pa.scalar(datetime.date.fromisoformat(str(inputs.history[0].facts["day"])))


def _profile_before(store: ObjectStore, cluster: str, ds: str) -> Manifest | None:
    day = next(complete_days(store, cluster, "profiles", up_to=days_later(ds, -1)), None)
    return None if day is None else read_profile_manifest(store, cluster, day)


def _with_earlier_days(store: ObjectStore, inputs: ProfileInputs, days: pa.Table) -> pa.Table:
    """Put the days that the profile before knew, and this window does not reach back to, before its own."""
    if inputs.earlier is None:
        return days
    oldest = datetime.date.fromisoformat(inputs.ds) - datetime.timedelta(days=KEPT_DAYS)
    known = read_table(store, inputs.earlier, "profile_days")
    day = known.column("day")
    is_kept = pc.and_(pc.less(day, _first_day(inputs)), pc.greater(day, pa.scalar(oldest)))
    return pa.concat_tables([known.filter(is_kept), days])


def write_profile(store: ObjectStore, inputs: ProfileInputs, tables: Mapping[str, pa.Table]) -> Manifest:
    """Store a profile: the same history after the same profile gives the same bytes."""
    made = {name: _conformed(table, name) for name, table in tables.items()}
    days = _with_earlier_days(store, inputs, made["profile_days"])
    made["profile_days"] = _conformed(days, "profile_days")
    return write_dataset(
        store,
        day_prefix("profiles", inputs.cluster, inputs.ds),
        kind=KIND,
        schema_version=PROFILE_SCHEMA_VERSION,
        tables=made,
        documents={},
        facts={
            "cluster": inputs.cluster,
            "ds": inputs.ds,
            "inventory_sha256": inputs.inventory_sha256,
            "earlier_profile_sha256": None if inputs.earlier is None else inputs.earlier.sha256,
            "days": inputs.days,
            "basis_sha256": inputs.basis_sha256,
        },
    )


def _conformed(table: pa.Table, name: str) -> pa.Table:
    schema, sort_by = PROFILE_TABLES[name]
    return table.select(schema.names).cast(schema).sort_by([(column, "ascending") for column in sort_by])


def read_profile_manifest(store: ObjectStore, cluster: str, ds: str, *, version: str | None = None) -> Manifest:
    """Read what a profile holds, of the version that stands or of one that a plan is pinned to.

    Raises:
        MissingManifestError: none was made for that day.
        ConflictError: the version is kept no more.
        StorageError: it is of a version that this program does not read.
    """
    prefix = day_prefix("profiles", cluster, ds)
    return read_manifest(store, prefix, kind=KIND, schema_version=PROFILE_SCHEMA_VERSION, version=version)


def find_profile(store: ObjectStore, cluster: str, ds: str, *, inventory_sha256: str) -> Manifest | None:
    """Return what the profile holds that was made of an inventory, where there is one."""
    try:
        manifest = read_profile_manifest(store, cluster, ds)
    except MissingManifestError:
        return None
    return manifest if manifest.facts["inventory_sha256"] == inventory_sha256 else None
