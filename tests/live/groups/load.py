"""A steady load: one small record to each partition, again and again."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from kafka import KafkaProducer

from tests.live.cluster import START_SECONDS, KafkaCluster

RECORD = b"x" * 100


class SteadyLoad:
    """Writes to every partition of a topic every so many seconds, from a thread of its own.

    Args:
        cluster: where to.
        topic: the topic.
        partitions: how many it has.
        interval_seconds: the time between two records of a partition.
    """

    def __init__(self, cluster: KafkaCluster, topic: str, partitions: int, interval_seconds: float = 0.1) -> None:
        self.interval_seconds = interval_seconds
        self._cluster, self._topic, self._partitions = cluster, topic, partitions
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)

    def __enter__(self) -> SteadyLoad:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(START_SECONDS)

    def _run(self) -> None:
        servers = self._cluster.bootstrap_servers().split(",")
        producer = KafkaProducer(bootstrap_servers=servers, acks=1, linger_ms=5)
        try:
            due = time.monotonic()
            while not self._stop.is_set():
                for partition in range(self._partitions):
                    producer.send(self._topic, RECORD, partition=partition)
                due = max(due + self.interval_seconds, time.monotonic())
                self._stop.wait(due - time.monotonic())
        finally:
            producer.close(timeout=5)
