"""What the example clusters are made of: their brokers and kinds of topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.hardware.limits import GIB
from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions

TIB = 1024.0**4
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class TopicKind:
    """Topics that are alike."""

    prefix: str  # their names start with it
    names: tuple[str, ...]  # the rest of each name
    partitions: tuple[int, ...]  # the counts they take in turn
    replication_factor: int = 3  # of each
    mean_bytes_in_per_second: float = 300e3  # produced to a topic on average
    spread: float = 0.9  # sigma of the log-normal factor between topics
    skew: float = 0.35  # sigma of the log-normal factor between a topic's partitions
    retention_seconds: int = 3 * DAY_SECONDS  # how long records are kept
    is_compacted: bool = False  # whether the topic is compacted
    fan_out: float = 2.0  # how often each record is read
    min_insync_replicas: int = 2  # of each
    day_swing: float = 0.6  # how much higher the rate is at the top of the day than on average, 0.5 for a half
    growth_per_year_ratio: float = 0.25  # by how much the rate has grown in a year, 0.3 for 30 %


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExampleTopics:
    """The topics of an example, sorted by name, and what is in their logs."""

    kinds: tuple[TopicKind, ...]  # of the topics
    partitions: Partitions
    mean_in: Floats  # float64[P], bytes per second produced
    size_bytes: Ints  # int64[P], on the leader

    @property
    def names(self) -> tuple[str, ...]:
        """Of the topics."""
        return self.partitions.topics

    def of_kind(self, name: str) -> Floats:
        """Return float64[P], one number of each partition's kind."""
        return np.array([float(getattr(kind, name)) for kind in self.kinds])[self.partitions.topic]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleShape:
    """One example cluster."""

    cluster: str
    about: str
    broker_ids: tuple[int, ...]
    racks: tuple[str, ...]
    disk_capacity_bytes: float
    network_bytes_per_second: float
    cpu_cores: float
    memory_bytes: float
    kinds: tuple[TopicKind, ...]
    group_count: int
    history_days: int
    seed: int


_OFFSETS = TopicKind(
    "__",
    ("consumer_offsets",),
    (50,),
    mean_bytes_in_per_second=40e3,
    is_compacted=True,
    retention_seconds=7 * DAY_SECONDS,
    fan_out=0.0,
    day_swing=0.2,
)

_DOMAINS = ("orders", "payments", "stock", "prices", "carts", "shipping", "returns", "search", "media", "accounts")
_EVENTS = ("created", "changed", "closed", "audited")

JUMBO_LIKE = ExampleShape(
    cluster="metrics-uneven",
    about="9 brokers in racks of 4, 4 and 1, about 400 partitions",
    # The uneven racks of a real public cluster: four brokers in E, four in F, one in A.
    broker_ids=(1010, 1011, 1012, 1013, 1014, 1015, 1016, 1017, 1018),
    racks=("E", "E", "E", "F", "F", "F", "E", "F", "A"),
    disk_capacity_bytes=12 * TIB,
    network_bytes_per_second=1.25e9,
    cpu_cores=16.0,
    memory_bytes=32 * GIB,
    kinds=(
        _OFFSETS,
        TopicKind("web.", ("pageview", "click", "error"), (48, 36, 24), mean_bytes_in_per_second=3e6, skew=0.5),
        TopicKind(
            "app.", _DOMAINS, (16, 24, 16, 12), mean_bytes_in_per_second=0.6e6, retention_seconds=7 * DAY_SECONDS
        ),
        TopicKind(
            "state.",
            ("users", "devices", "sessions"),
            (16, 16, 8),
            is_compacted=True,
            fan_out=1.0,
            mean_bytes_in_per_second=80e3,
        ),
        TopicKind("raw.", ("import", "replay"), (12, 6), replication_factor=2, min_insync_replicas=1),
        TopicKind("debug.", ("trace",), (4,), replication_factor=1, min_insync_replicas=1, fan_out=0.2),
    ),
    group_count=12,
    history_days=0,
    seed=9,
)

SHOP = ExampleShape(
    cluster="shop-eu",
    about="12 brokers in 3 racks, about 6,000 partitions",
    broker_ids=tuple(range(1, 13)),
    racks=("eu-1a", "eu-1b", "eu-1c") * 4,
    disk_capacity_bytes=4.7 * TIB,
    network_bytes_per_second=1.25e9,
    cpu_cores=16.0,
    memory_bytes=64 * GIB,
    kinds=(
        _OFFSETS,
        TopicKind(
            "",
            tuple(f"{domain}.{event}" for domain in _DOMAINS for event in _EVENTS),
            (64, 48, 96, 32),
            mean_bytes_in_per_second=420e3,
        ),
        TopicKind(
            "clicks.",
            tuple(f"{site}-{device}" for site in ("de", "fr", "it", "es", "nl", "pl") for device in ("web", "app")),
            (128, 96),
            mean_bytes_in_per_second=1.9e6,
            skew=0.5,
            retention_seconds=2 * DAY_SECONDS,
            day_swing=0.9,
            growth_per_year_ratio=0.45,
        ),
        TopicKind(
            "cdc.",
            tuple(f"{domain}.{table}" for domain in _DOMAINS for table in ("main", "history", "keys")),
            (24, 36, 48),
            mean_bytes_in_per_second=180e3,
            is_compacted=True,
            retention_seconds=7 * DAY_SECONDS,
            fan_out=1.0,
        ),
        TopicKind(
            "logs.",
            tuple(_DOMAINS),
            (80, 96, 120),
            mean_bytes_in_per_second=700e3,
            fan_out=1.0,
            skew=0.2,
            growth_per_year_ratio=0.12,
        ),
    ),
    group_count=40,
    history_days=105 * 7,
    seed=12,
)

SHAPES = {shape.cluster: shape for shape in (JUMBO_LIKE, SHOP)}  # every example by the name of its cluster
