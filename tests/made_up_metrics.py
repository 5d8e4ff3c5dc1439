"""A cluster whose true traffic is known, as exporters would show it: raw samples of counters and gauges."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tests.builders import DS, cluster, rows_of, topic, with_rows

HOUR = 3600
MIDNIGHT = int(datetime.datetime.fromisoformat(f"{DS}T00:00:00+00:00").timestamp())
END = MIDNIGHT + 24 * HOUR
BASE_CORES, IN_COST, FOLLOWER_COST, OUT_COST = 0.5, 0.03, 0.01, 0.02
MIB = 2**20

Samples = tuple[dict[str, str], np.ndarray, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class World:
    """Three brokers, some topics; rates by hour up to :data:`END`."""

    hours: int = 48
    scrape_seconds: int = 60
    late_seconds: Mapping[int, int] = field(default_factory=dict)  # by broker: how late in each minute it is scraped
    restarts: Mapping[int, int] = field(default_factory=dict)  # by broker: when
    copies: int = 1  # servers that scrape side by side
    seed: int = 7

    TOPICS = (
        ("orders", 4, 1000.0, 2),
        ("clicks", 2, 100.0, 1),
        ("idle", 1, 50.0, 0),
    )  # name, partitions, bytes, groups

    @property
    def start(self):
        return END - self.hours * HOUR

    def inventory(self):
        made = [topic(name, partitions=count, rf=2, min_insync_replicas=1) for name, count, _, _ in self.TOPICS]
        return cluster(brokers=3, racks=None, topics=made, hours=0)

    def inventory_with_sizes(self):
        """Return each replica the bytes of the younger half of its log."""
        raw = self.inventory()
        sizes = {name: size for name, _, size, _ in self.TOPICS}
        rows = rows_of(raw, "replicas")
        for row in rows:
            end = self.counted(self.records()[row["topic"], row["partition"]], np.array([END]))[0]
            row["size_bytes"] = round(end * 0.5 * sizes[row["topic"]])
        return with_rows(raw, "replicas", rows)

    def records(self):
        """Return records per second by (topic, partition): float64[hours]."""
        rng = np.random.default_rng(self.seed)
        found = {}
        for name, count, _, _ in self.TOPICS:
            for partition in range(count):
                rates = rng.integers(1, 500, self.hours).astype(float) * (partition + 1)
                found[name, partition] = np.zeros(self.hours) if name == "idle" else rates
        return found

    def bytes_in(self):
        sizes = {name: size for name, _, size, _ in self.TOPICS}
        return {key: rate * sizes[key[0]] for key, rate in self.records().items()}

    def bytes_out(self):
        groups = {name: count for name, _, _, count in self.TOPICS}
        return {key: rate * groups[key[0]] for key, rate in self.bytes_in().items()}

    def moments(self, broker=1):
        late = self.late_seconds.get(broker, 0)
        return np.arange(self.start - 2 * HOUR + late, END + HOUR, self.scrape_seconds, dtype=np.int64)

    def counted(self, rates, moments, restart=None):
        """Integrate hourly rates, which hold on before the first hour and after the last."""
        edges = np.concatenate([[-2], np.arange(self.hours + 1), [self.hours + 1]]) * HOUR + self.start
        padded = np.concatenate([[rates[0]], rates, [rates[-1]]])
        widths = np.diff(edges)
        widths_sum = np.concatenate([[0.0], np.cumsum(padded * widths)])
        total = np.interp(moments, edges, widths_sum)
        if restart is not None:
            total = np.where(moments >= restart, total - np.interp(restart, edges, widths_sum), total)
        return total

    def broker_rates(self):
        """Return what each broker does: leader in, follower in, out to consumers, out to followers, by hour."""
        into, out = self.bytes_in(), self.bytes_out()
        found = {broker: np.zeros((4, self.hours)) for broker in (1, 2, 3)}
        for name, partition in into:
            leader, follower = 1 + partition % 3, 1 + (partition + 1) % 3
            found[leader][0] += into[name, partition]
            found[follower][1] += into[name, partition]
            found[leader][2] += out[name, partition]
            found[leader][3] += into[name, partition]
        return found

    def cores(self, broker):
        leader, follower, out, replicated = self.broker_rates()[broker] / MIB
        return BASE_CORES + IN_COST * leader + FOLLOWER_COST * follower + OUT_COST * (out + replicated)

    def jmx(self, *, offsets=True) -> Iterator[Samples]:
        into, out = self.bytes_in(), self.bytes_out()
        for copy in range(self.copies):
            server = {"replica": f"prometheus-{copy}"} if self.copies > 1 else {}
            for broker in (1, 2, 3):
                moments = self.moments(broker) + 5 * copy
                restart = self.restarts.get(broker)
                own = {"job": "kafka", "instance": f"kafka-{broker}.example.com:7071", **server}

                def series(name, rates, moments=moments, restart=restart, own=own, **labels):
                    return {"__name__": name, **own, **labels}, moments, self.counted(rates, moments, restart)

                meter = "kafka_server_brokertopicmetrics_{}_total"
                for name, count, _, _ in self.TOPICS:
                    led = [(name, p) for p in range(count) if 1 + p % 3 == broker]
                    if led and name != "idle":
                        yield series(meter.format("bytesin"), sum(into[key] for key in led), topic=name)
                        yield series(meter.format("bytesout"), sum(out[key] for key in led), topic=name)
                rates = self.broker_rates()[broker]
                for name, one in zip(
                    ("bytesin", "replicationbytesin", "bytesout", "replicationbytesout"), rates, strict=True
                ):
                    yield series(meter.format(name), one)
                yield series("process_cpu_seconds_total", self.cores(broker))
                if offsets:
                    for (name, partition), rate in self.records().items():
                        if broker in (1 + partition % 3, 1 + (partition + 1) % 3):
                            found = self.counted(rate, moments)
                            labels = {"topic": name, "partition": str(partition)}
                            yield {"__name__": "kafka_log_log_logendoffset", **own, **labels}, moments, found
        yield (
            {"__name__": "process_cpu_seconds_total", "job": "other", "instance": "kafka-1.example.com:9100"},
            self.moments(),
            self.counted(np.full(self.hours, 7.0), self.moments()),
        )

    def kminion(self) -> Iterator[Samples]:
        moments = self.moments()
        for (name, partition), rate in self.records().items():
            own = {"job": "kminion", "topic_name": name, "partition_id": str(partition)}
            end = self.counted(rate, moments)
            yield {"__name__": "kminion_kafka_topic_partition_high_water_mark", **own}, moments, end
            yield {"__name__": "kminion_kafka_topic_partition_low_water_mark", **own}, moments, end * 0.5
            for group in range(self.groups(name)):
                lag = np.full(len(moments), 100.0 * (group + 1))
                labels = {"__name__": "kminion_kafka_consumer_group_topic_partition_lag", "group_id": f"g{group}"}
                yield labels | own, moments, lag

    def kafka_exporter(self) -> Iterator[Samples]:
        moments = self.moments()
        for (name, partition), rate in self.records().items():
            own = {"job": "kafka-exporter", "topic": name, "partition": str(partition)}
            end = self.counted(rate, moments)
            yield {"__name__": "kafka_topic_partition_current_offset", **own}, moments, end
            yield {"__name__": "kafka_topic_partition_oldest_offset", **own}, moments, end * 0.5
            for group in range(self.groups(name)):
                labels = {"__name__": "kafka_consumergroup_current_offset", "consumergroup": f"g{group}"}
                yield labels | own, moments, end

    def groups(self, name):
        return next(groups for topic_name, _, _, groups in self.TOPICS if topic_name == name)
