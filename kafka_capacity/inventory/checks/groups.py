"""Consumer groups: members, what they are assigned, and lag."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.health.problem import Problem, fatal, info, some, warning
from kafka_capacity.inventory.column_values import Column, Flags, Ints, PartitionIndex, encode, ints, known, values
from kafka_capacity.text import plural

SHARED_TYPES = frozenset({"share", "streams"})
"""Group types whose members may hold one partition together: share groups share its records, a streams group may list
standby tasks."""


def check_groups(groups: pa.Table, members: pa.Table, lags: pa.Table, partitions: PartitionIndex) -> Iterator[Problem]:
    """Check the three tables of consumer groups."""
    yield from _check_repeats(groups, members, lags)
    for name, table in (("members", members), ("lags", lags)):
        strangers = sorted(set(values(table.column("group_id").unique())) - set(values(groups.column("group_id"))))
        if strangers:
            yield warning(
                "unknown_group",
                f"{name}.group_id",
                f"{name} of {plural(len(strangers), 'group')} that the table of groups lacks "
                f"({some(map(repr, strangers), len(strangers))}); they are left out",
            )
    yield from _check_assigned(groups, members, partitions)
    yield from _check_streams(groups, members)
    yield from _check_lags(lags, partitions)


def _check_repeats(groups: pa.Table, members: pa.Table, lags: pa.Table) -> Iterator[Problem]:
    for name, table, keys in (
        ("groups", groups, ["group_id"]),
        ("members", members, ["group_id", "member_id"]),
        ("lags", lags, ["group_id", "topic", "partition"]),
    ):
        counts = table.group_by(keys).aggregate([([], "count_all")])
        twice = counts.filter(pa.array(ints(counts.column("count_all")) > 1)).select(keys).to_pylist()
        if twice:
            shown = sorted(" ".join(repr(row[key]) for key in keys) for row in twice)
            yield fatal(
                f"duplicate_{name.removesuffix('s')}",
                name,
                f"{plural(len(twice), 'row')} of {name} with the same {', '.join(keys)} as another "
                f"({some(shown, len(shown))}); keep one",
            )


def _check_assigned(groups: pa.Table, members: pa.Table, partitions: PartitionIndex) -> Iterator[Problem]:
    # Arrow's list_flatten drops null lists as empty ones, and so does list_parent_indices.
    assigned: Column = members.column("assigned").combine_chunks()
    if not len(assigned):
        return
    flat, parent = pc.list_flatten(assigned), np.asarray(pc.list_parent_indices(assigned), dtype=np.int64)
    topic, partition = pa.chunked_array([pc.struct_field(flat, 0)]), pa.chunked_array([pc.struct_field(flat, 1)])
    is_whole = known(topic) & known(partition)
    if not is_whole.all():
        yield fatal(
            "assigned_without_name",
            "members.assigned",
            f"{plural(int((~is_whole).sum()), 'assigned partition')} without a topic or a number; give both",
        )
        return
    place = partitions.find(topic, partition)
    kinds = {row["group_id"]: (row["group_type"] or "").lower() for row in groups.to_pylist()}
    names, group = encode(members.column("group_id"))
    kind = np.array([kinds.get(name, "") for name in names])[group[parent]]
    # A task of a streams group reads its number of every topic of a subtopology, whichever have so many partitions.
    lost = (place < 0) & (kind != "streams")
    if lost.any():
        shown = _partition_names(topic, partition, lost)
        yield warning(
            "assigned_unknown_partition",
            "members.assigned",
            f"members are assigned {plural(len(shown), 'partition')} that the inventory lacks "
            f"({some(shown, len(shown))}); they are left out",
        )
    counts_here = (place >= 0) & ~np.isin(kind, sorted(SHARED_TYPES))
    yield from _check_owned_twice(names, group[parent][counts_here], place[counts_here])


def _check_streams(groups: pa.Table, members: pa.Table) -> Iterator[Problem]:
    rows = groups.to_pylist()
    negative = [f"{row['group_id']!r}: {row['num_standby_replicas']}" for row in rows if _is_negative(row)]
    if negative:
        yield fatal(
            "negative_standbys",
            "groups.num_standby_replicas",
            f"num_standby_replicas below 0 ({some(negative, len(negative))}); give 0 or more",
        )
    names = {row["group_id"]: [one["subtopology"] for one in row["subtopologies"] or ()] for row in rows}
    twice = [group for group, listed in names.items() if len(set(listed)) < len(listed)]
    if twice:
        yield fatal(
            "duplicate_subtopology",
            "groups.subtopologies",
            f"{plural(len(twice), 'group')} listing one subtopology twice "
            f"({some(map(repr, twice), len(twice))}); keep one each",
        )
    has_standbys = pc.greater(pc.list_value_length(members.column("standby_tasks")), 0)
    strangers = {
        f"{row['group_id']!r}: {task['subtopology']!r}"
        for row in members.filter(has_standbys).select(["group_id", "standby_tasks"]).to_pylist()
        for task in row["standby_tasks"]
        if names.get(row["group_id"]) and task["subtopology"] not in names[row["group_id"]]
    }
    if strangers:
        yield warning(
            "standby_of_unknown_subtopology",
            "members.standby_tasks",
            f"standby tasks of subtopologies that their group lacks ({some(sorted(strangers), len(strangers))}); they "
            "are left out",
        )


def _is_negative(row: dict[str, Any]) -> bool:
    return (row["num_standby_replicas"] or 0) < 0


def _check_owned_twice(names: list[str], group: Ints, place: Ints) -> Iterator[Problem]:
    key = np.sort((group << 32) | place)
    repeated = np.unique(key[1:][np.diff(key) == 0])
    if len(repeated):
        owners = [names[code] for code in np.unique(repeated >> 32)]
        yield warning(
            "partition_owned_twice",
            "members.assigned",
            f"{plural(len(repeated), 'partition')} assigned to more than one member of the same group "
            f"({some(map(repr, owners), len(owners))}); the snapshot was taken during a rebalance, take it again",
        )


def _check_lags(lags: pa.Table, partitions: PartitionIndex) -> Iterator[Problem]:
    topic, partition = lags.column("topic"), lags.column("partition")
    lost = partitions.find(topic, partition) < 0
    if lost.any():
        shown = _partition_names(topic, partition, lost)
        yield warning(
            "lag_of_unknown_partition",
            "lags.topic",
            f"lag on {plural(len(shown), 'partition')} that the inventory lacks ({some(shown, len(shown))}); "
            "it is left out",
        )
    negative = int((ints(lags.column("lag_records")) < 0).sum())
    if negative:
        yield warning(
            "negative_lag",
            "lags.lag_records",
            f"lag_records below 0 in {plural(negative, 'row')}: the end of the log was read before the committed "
            "offset; it counts as 0",
        )
    backwards = known(lags.column("log_start_offset")) & known(lags.column("log_end_offset"))
    backwards &= ints(lags.column("log_start_offset")) > ints(lags.column("log_end_offset"))
    if backwards.any():
        shown = _partition_names(topic, partition, backwards)
        yield warning(
            "log_ends_before_it_starts",
            "lags.log_start_offset",
            f"log_start_offset above log_end_offset on {plural(len(shown), 'partition')} ({some(shown, len(shown))}); "
            "sizes of records are not measured there, fix the offsets",
        )
    offsets = known(lags.column("committed_offset")) & known(lags.column("log_end_offset"))
    unknown = int((~known(lags.column("lag_records")) & ~offsets).sum())
    if unknown:
        yield info(
            "lag_unknown",
            "lags.lag_records",
            f"{plural(unknown, 'row')} of lags with neither lag_records nor both offsets; they are left out",
        )


def _partition_names(topic: Column, partition: Column, rows: Flags) -> list[str]:
    chosen = pa.array(rows)
    pairs = zip(values(topic.filter(chosen)), values(partition.filter(chosen)), strict=True)
    return sorted({f"{name}-{number}" for name, number in pairs})
