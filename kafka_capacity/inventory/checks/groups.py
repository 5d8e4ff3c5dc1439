"""Consumer groups: members, what they are assigned, and lag."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.health.problem import Problem, fatal, info, problem_of, some, warning
from kafka_capacity.inventory.column_values import Column, PartitionIndex, encode, ints, known, values
from kafka_capacity.kafka.arrays import Flags, Ints
from kafka_capacity.kafka.cluster.snapshot import OFFSETS_TOPIC
from kafka_capacity.text import plural

SHARED_TYPES = frozenset({"share", "streams"})
"""Group types whose members may hold one partition together: share groups share its records, a streams group may list
standby tasks."""


def check_groups(groups: pa.Table, members: pa.Table, lags: pa.Table, partitions: PartitionIndex) -> Iterator[Problem]:
    """Check the three tables of consumer groups."""
    yield from _check_repeats(groups, members, lags)
    for name, table in (("members", members), ("lags", lags)):
        strangers = sorted(set(values(table.column("group_id").unique())) - set(values(groups.column("group_id"))))
        message = f"{name} of {{count}} that the table of groups lacks ({{names}}); they are left out"
        shown = [repr(group) for group in strangers]
        yield from problem_of(shown, "group", warning, "unknown_group", f"{name}.group_id", message)
    yield from _check_assigned(groups, members, partitions)
    yield from _check_streams(groups, members)
    yield from _check_lags(lags, partitions)
    if groups.num_rows and OFFSETS_TOPIC not in partitions.topic_codes:
        message = (
            f"{OFFSETS_TOPIC} is missing: it is not known which groups lose their coordinator with a broker; include "
            "internal topics"
        )
        yield info("no_offsets_topic", "replicas.topic", message)


def _check_repeats(groups: pa.Table, members: pa.Table, lags: pa.Table) -> Iterator[Problem]:
    for name, table, keys in (
        ("groups", groups, ["group_id"]),
        ("members", members, ["group_id", "member_id"]),
        ("lags", lags, ["group_id", "topic", "partition"]),
    ):
        counts = table.group_by(keys).aggregate([([], "count_all")])
        twice = counts.filter(pa.array(ints(counts.column("count_all")) > 1)).select(keys).to_pylist()
        shown = sorted(" ".join(repr(row[key]) for key in keys) for row in twice)
        message = f"{{count}} of {name} with the same {', '.join(keys)} as another ({{names}}); keep one"
        yield from problem_of(shown, "row", fatal, f"duplicate_{name.removesuffix('s')}", name, message)


def _check_assigned(groups: pa.Table, members: pa.Table, partitions: PartitionIndex) -> Iterator[Problem]:
    # Arrow's list_flatten drops null lists as empty ones, and so does list_parent_indices.
    assigned: Column = members.column("assigned").combine_chunks()
    if not len(assigned):
        return
    flat, parent = pc.list_flatten(assigned), np.asarray(pc.list_parent_indices(assigned), dtype=np.int64)
    topic, partition = pa.chunked_array([pc.struct_field(flat, 0)]), pa.chunked_array([pc.struct_field(flat, 1)])
    is_whole = known(topic) & known(partition)
    if not is_whole.all():
        nameless = plural(int((~is_whole).sum()), "assigned partition")
        message = f"{nameless} without a topic or a number; give both"
        yield fatal("assigned_without_name", "members.assigned", message)
        return
    place = partitions.find(topic, partition)
    kinds = {row["group_id"]: (row["group_type"] or "").lower() for row in groups.to_pylist()}
    names, group = encode(members.column("group_id"))
    kind = np.array([kinds.get(name, "") for name in names])[group[parent]]
    # A task of a streams group reads its number of every topic of a subtopology, whichever have so many partitions.
    lost = _partition_names(topic, partition, (place < 0) & (kind != "streams"))
    message = "members are assigned {count} that the inventory lacks ({names}); they are left out"
    yield from problem_of(lost, "partition", warning, "assigned_unknown_partition", "members.assigned", message)
    counts_here = (place >= 0) & ~np.isin(kind, sorted(SHARED_TYPES))
    yield from _check_owned_twice(names, group[parent][counts_here], place[counts_here])


def _check_streams(groups: pa.Table, members: pa.Table) -> Iterator[Problem]:
    rows = groups.to_pylist()
    standbys = [(row["group_id"], row["num_standby_replicas"] or 0) for row in rows]
    negative = [f"{group!r}: {count}" for group, count in standbys if count < 0]
    message, where = "num_standby_replicas below 0 ({names}); give 0 or more", "groups.num_standby_replicas"
    yield from problem_of(negative, "group", fatal, "negative_standbys", where, message)
    parts = {row["group_id"]: [one["subtopology"] for one in row["subtopologies"] or ()] for row in rows}
    twice = [repr(group) for group, listed in parts.items() if len(set(listed)) < len(listed)]
    message = "{count} listing one subtopology twice ({names}); keep one each"
    yield from problem_of(twice, "group", fatal, "duplicate_subtopology", "groups.subtopologies", message)
    has_standbys = pc.greater(pc.list_value_length(members.column("standby_tasks")), 0)
    strangers = {
        f"{row['group_id']!r}: {task['subtopology']!r}"
        for row in members.filter(has_standbys).select(["group_id", "standby_tasks"]).to_pylist()
        for task in row["standby_tasks"]
        if parts.get(row["group_id"]) and task["subtopology"] not in parts[row["group_id"]]
    }
    message = "standby tasks of subtopologies that their group lacks ({names}); they are left out"
    code, where = "standby_of_unknown_subtopology", "members.standby_tasks"
    yield from problem_of(sorted(strangers), "task", warning, code, where, message)


def _check_owned_twice(names: list[str], group: Ints, place: Ints) -> Iterator[Problem]:
    key = np.sort((group << 32) | place)
    repeated = np.unique(key[1:][np.diff(key) == 0])
    if len(repeated):
        owners = some(repr(names[code]) for code in np.unique(repeated >> 32))
        message = (
            f"{plural(len(repeated), 'partition')} assigned to more than one member of the same group ({owners}); the "
            "snapshot was taken during a rebalance, take it again"
        )
        yield warning("partition_owned_twice", "members.assigned", message)


def _check_lags(lags: pa.Table, partitions: PartitionIndex) -> Iterator[Problem]:
    topic, partition = lags.column("topic"), lags.column("partition")
    lost = _partition_names(topic, partition, partitions.find(topic, partition) < 0)
    message = "lag on {count} that the inventory lacks ({names}); it is left out"
    yield from problem_of(lost, "partition", warning, "lag_of_unknown_partition", "lags.topic", message)
    if negative := int((ints(lags.column("lag_records")) < 0).sum()):
        message = (
            f"lag_records below 0 in {plural(negative, 'row')}: the end of the log was read before the committed "
            "offset; it counts as 0"
        )
        yield warning("negative_lag", "lags.lag_records", message)
    start, end = lags.column("log_start_offset"), lags.column("log_end_offset")
    backwards = _partition_names(topic, partition, known(start) & known(end) & (ints(start) > ints(end)))
    message = (
        "log_start_offset above log_end_offset on {count} ({names}); sizes of records are not measured there, fix the "
        "offsets"
    )
    where = "lags.log_start_offset"
    yield from problem_of(backwards, "partition", warning, "log_ends_before_it_starts", where, message)
    offsets = known(lags.column("committed_offset")) & known(end)
    if unknown := int((~known(lags.column("lag_records")) & ~offsets).sum()):
        message = f"{plural(unknown, 'row')} of lags with neither lag_records nor both offsets; they are left out"
        yield info("lag_unknown", "lags.lag_records", message)


def _partition_names(topic: Column, partition: Column, rows: Flags) -> list[str]:
    chosen = pa.array(rows)
    pairs = zip(values(topic.filter(chosen)), values(partition.filter(chosen)), strict=True)
    return sorted({f"{name}-{number}" for name, number in pairs})
