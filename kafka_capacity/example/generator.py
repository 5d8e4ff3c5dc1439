"""Make an example inventory from a seed: the same seed gives the same bytes.

Sizes follow from rates and retention, rates have a day, a week, a slow growth and noise, partitions of a topic are
skewed, and replicas are where Kafka's rack-alternating rule would have put them when each topic was created.
"""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.calendar_days import midnight
from kafka_capacity.errors import RequestError
from kafka_capacity.example.groups import group_tables
from kafka_capacity.example.shapes import SHAPES, ExampleShape, ExampleTopics, TopicKind
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import empty_table, table_of
from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.cluster.assignment import Partitions, widened
from kafka_capacity.kafka.cluster.snapshot import made_up_topic_id
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.zk import zk_placement

EXAMPLES = {name: shape.about for name, shape in SHAPES.items()}  # the examples there are: cluster name to what it is

EXAMPLE_DS = "2026-11-15"  # the day the examples stand for, unless another is asked for

HISTORY_HOURS = 28 * 24
GROWTH_PER_WEEK_RATIO = 0.012


def make_example(cluster: str, *, ds: str = EXAMPLE_DS, seed: int | None = None) -> RawInventory:
    """Make one example inventory with groups, four weeks of hourly rates and, for some, two years of daily ones.

    Its name is one of :data:`EXAMPLES`. The history ends where the day begins that it stands for. Another seed gives
    another cluster of the same shape.

    Raises:
        RequestError: there is no such example.
    """
    if cluster not in SHAPES:
        raise RequestError(f"example: {cluster!r} is not known; choose one of {', '.join(SHAPES)}")
    shape = SHAPES[cluster]
    seed = shape.seed if seed is None else seed
    rng = np.random.default_rng(seed)
    topics = _make_topics(shape, rng)
    matrix = _place(shape, topics)
    tables = {
        "brokers": _brokers_table(shape),
        "topics": _topics_table(topics),
        "replicas": _replicas_table(topics, matrix, rng),
        "metrics": _metrics_table(topics, ds, rng),
        "history": _history_table(topics, ds, days=shape.history_days, seed=seed),
        **group_tables(topics, shape.group_count, rng),
    }
    tables["log_dirs"] = _log_dirs_table(shape, tables["replicas"])
    return RawInventory(
        cluster=shape.cluster,
        ds=ds,
        captured_at=midnight(ds).isoformat(),
        source="example",
        kafka_version="4.3.1",
        tables=tables,
    )


def _make_topics(shape: ExampleShape, rng: np.random.Generator) -> ExampleTopics:
    made: list[tuple[str, TopicKind, int, float]] = []
    for kind in shape.kinds:
        for index, rest in enumerate(kind.names):
            count = kind.partitions[index % len(kind.partitions)]
            rate = kind.mean_bytes_in_per_second * float(rng.lognormal(0.0, kind.spread))
            made.append((kind.prefix + rest, kind, count, rate))
    made.sort(key=lambda topic: topic[0])
    counts = np.array([topic[2] for topic in made])
    shares = []
    for _, kind, count, rate in made:
        share = rng.lognormal(0.0, kind.skew, count)
        shares.append(rate * share / share.sum())
    kinds = tuple(topic[1] for topic in made)
    topic = np.repeat(np.arange(len(made)), counts).astype(np.int32)
    mean_in = np.concatenate(shares)
    # What arrives during the retention; a compacted topic keeps a fifth of a month.
    kept = np.array([0.2 * 30 * 86_400 if kind.is_compacted else kind.retention_seconds for kind in kinds])[topic]
    return ExampleTopics(
        kinds=kinds,
        partitions=Partitions(
            topics=tuple(topic[0] for topic in made),
            topic=topic,
            partition=np.concatenate([np.arange(count) for count in counts]).astype(np.int32),
        ),
        mean_in=mean_in,
        size_bytes=np.asarray(mean_in * kept * rng.uniform(0.92, 1.08, len(topic)), dtype=np.int64),
    )


def _place(shape: ExampleShape, topics: ExampleTopics) -> Int32s:
    broker_ids, random = np.array(shape.broker_ids, dtype=np.int32), JavaRandom(shape.seed)
    width = max(kind.replication_factor for kind in topics.kinds)
    placed = (
        zk_placement(broker_ids, shape.racks, count, kind.replication_factor, random=random)
        for kind, count in zip(topics.kinds, topics.partitions.counts().values(), strict=True)
    )
    return np.concatenate([widened(matrix, width) for matrix in placed])


def _brokers_table(shape: ExampleShape) -> pa.Table:
    count = len(shape.broker_ids)
    return table_of(
        "brokers",
        {
            "broker_id": list(shape.broker_ids),
            "rack": list(shape.racks),
            "host": [f"kafka-{broker}.example.net" for broker in shape.broker_ids],
            "port": [9092] * count,
            "is_fenced": [False] * count,
            "is_controller": [False] * count,
            "disk_capacity_bytes": [shape.disk_capacity_bytes] * count,
            "network_in_bytes_per_second": [shape.network_bytes_per_second] * count,
            "network_out_bytes_per_second": [shape.network_bytes_per_second] * count,
            "cpu_cores": [shape.cpu_cores] * count,
            "memory_bytes": [shape.memory_bytes] * count,
        },
    )


def _topics_table(topics: ExampleTopics) -> pa.Table:
    kinds = topics.kinds
    return table_of(
        "topics",
        {
            "topic": list(topics.names),
            "topic_id": [made_up_topic_id(name) for name in topics.names],
            "is_internal": [name.startswith("__") for name in topics.names],
            "min_insync_replicas": [kind.min_insync_replicas for kind in kinds],
            "retention_bytes": [-1] * len(kinds),
            "retention_ms": [-1 if kind.is_compacted else kind.retention_seconds * 1000 for kind in kinds],
            "segment_bytes": [1 << 30] * len(kinds),
            "cleanup_policy": ["compact" if kind.is_compacted else "delete" for kind in kinds],
            "unclean_leader_election_enable": [False] * len(kinds),
        },
    )


def _replicas_table(topics: ExampleTopics, matrix: Int32s, rng: np.random.Generator) -> pa.Table:
    rows, position = np.nonzero(matrix >= 0)
    # A follower's files differ a little: segments roll and are deleted on their own clock.
    jitter = np.where(position == 0, 1.0, rng.uniform(0.998, 1.002, len(rows)))
    return table_of(
        "replicas",
        {
            "topic": pa.array(topics.names).take(pa.array(topics.partitions.topic[rows])),
            "partition": topics.partitions.partition[rows],
            "position": position.astype(np.int32),
            "broker_id": matrix[rows, position],
            "is_leader": position == 0,
            "is_in_sync": np.ones(len(rows), dtype=np.bool_),
            "log_dir": pa.array(["/var/lib/kafka/data"] * len(rows)),
            "size_bytes": (topics.size_bytes[rows] * jitter).astype(np.int64),
            "offset_lag": np.zeros(len(rows), dtype=np.int64),
        },
    )


def _log_dirs_table(shape: ExampleShape, replicas: pa.Table) -> pa.Table:
    broker = replicas.column("broker_id").to_numpy()
    size = replicas.column("size_bytes").to_numpy()
    used = [int(size[broker == broker_id].sum()) for broker_id in shape.broker_ids]
    total = int(shape.disk_capacity_bytes)
    return table_of(
        "log_dirs",
        {
            "broker_id": list(shape.broker_ids),
            "path": ["/var/lib/kafka/data"] * len(used),
            "total_bytes": [total] * len(used),
            "usable_bytes": [max(0, total - held) for held in used],
        },
    )


def _metrics_table(topics: ExampleTopics, ds: str, rng: np.random.Generator) -> pa.Table:
    hours = int(midnight(ds).timestamp()) - 3600 * np.arange(HISTORY_HOURS, 0, -1)
    hour_of_day = (hours // 3600) % 24
    weekday = (hours // 86_400 + 3) % 7  # day 0 of the epoch was a Thursday
    # Highest in the evening, lowest at four in the morning, a tenth less at the weekend.
    wave = np.cos((hour_of_day - 20) / 24 * 2 * np.pi)
    week = np.where(weekday >= 5, WEEKEND_FACTOR, WEEKDAY_FACTOR)
    growth = 1 + GROWTH_PER_WEEK_RATIO * (np.arange(HISTORY_HOURS) - HISTORY_HOURS) / (7 * 24)
    swing = topics.of_kind("day_swing")[:, None]
    count = len(topics.mean_in)
    noise = rng.lognormal(0.0, 0.08, (count, HISTORY_HOURS)).astype(np.float32)
    bytes_in = np.rint(topics.mean_in[:, None] * (1 + swing * wave) * week * growth * noise).astype(np.float32)
    bytes_out = np.rint(bytes_in * topics.of_kind("fan_out")[:, None]).astype(np.float32)
    rows = np.repeat(np.arange(count), HISTORY_HOURS)
    return table_of(
        "metrics",
        {
            "topic": pa.array(topics.names).take(pa.array(topics.partitions.topic[rows])),
            "partition": topics.partitions.partition[rows],
            "hour": pa.array(np.tile(hours, count)),
            "bytes_in_bytes_per_second": bytes_in.ravel(),
            "bytes_out_bytes_per_second": bytes_out.ravel(),
        },
    )


WEEKDAY_FACTOR, WEEKEND_FACTOR = 1.04, 0.9

_SWING_RATIO = 0.012  # how far the traffic of alike topics wanders off in a week
_SWING_WEEKS = 26.0  # after so many weeks little is left of where it was
_NOISE_RATIO = 0.05


def _history_table(topics: ExampleTopics, ds: str, *, days: int, seed: int) -> pa.Table:
    """Make the table of history: so many days up to the day before ``ds``, with noise of this seed."""
    if not days:
        return empty_table("history")
    names, kinds = topics.names, topics.kinds
    # Its own stream, so that an example with a history is otherwise the one without.
    rng = np.random.default_rng([seed, days])
    last = datetime.date.fromisoformat(ds).toordinal() - 1
    ordinal = np.arange(last - days + 1, last + 1)
    week = np.where((ordinal - 1) % 7 >= 5, WEEKEND_FACTOR, WEEKDAY_FACTOR)  # day 1 of the calendar was a Monday
    years = (ordinal - last) / 365.25
    swings = {prefix: _swing(rng, days) for prefix in dict.fromkeys(kind.prefix for kind in kinds)}
    growth = np.array([(1.0 + kind.growth_per_year_ratio) ** years for kind in kinds])
    noise = rng.lognormal(0.0, _NOISE_RATIO, growth.shape)
    level = np.array([swings[kind.prefix] for kind in kinds])
    rate = np.bincount(topics.partitions.topic, weights=topics.mean_in, minlength=len(names))
    bytes_in = np.rint(rate[:, None] * growth * week * level * noise)
    bytes_out = np.rint(bytes_in * np.array([kind.fan_out for kind in kinds])[:, None])
    seconds = (ordinal - datetime.date(1970, 1, 1).toordinal()) * 86_400
    rows = np.repeat(np.arange(len(names)), days)
    return table_of(
        "history",
        {
            "topic": pa.array(names).take(pa.array(rows)),
            "day": pa.array(np.tile(seconds, len(names))),
            "bytes_in_bytes_per_second": bytes_in.ravel().astype(np.float32),
            "bytes_out_bytes_per_second": bytes_out.ravel().astype(np.float32),
        },
    )


def _swing(rng: np.random.Generator, days: int) -> Floats:
    """Return float64[days], a factor that wanders around 1 from week to week and is 1 on the last day."""
    weeks = days // 7 + 2
    logarithm = np.zeros(weeks)
    for place, step in enumerate(rng.normal(0.0, _SWING_RATIO, weeks - 1), start=1):
        logarithm[place] = logarithm[place - 1] * (1 - 1 / _SWING_WEEKS) + step
    # Made from today backwards.
    ago = np.arange(days)[::-1] / 7
    return np.asarray(np.exp(np.interp(ago, np.arange(weeks), logarithm)), dtype=np.float64)
