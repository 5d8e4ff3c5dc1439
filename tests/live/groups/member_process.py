"""One member of a live group: Kafka's verifiable consumer in a process of its own, and what it said."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_capacity.kafka.groups import TopicPartition
from tests.live.cluster import KafkaCluster
from tests.live.groups.settings import GroupSettings

CONSUMER = "org.apache.kafka.tools.VerifiableConsumer"
HEAP = "96m"
END_SECONDS = 180


@dataclass(frozen=True, slots=True)
class MemberEvent:
    """Something that a member said.

    Attributes:
        at: seconds since the epoch.
        name: as the verifiable consumer calls it; ``ended`` for the end of the process.
        partitions: those it is about; those with records for ``records_consumed``.
    """

    at: float
    name: str
    partitions: tuple[TopicPartition, ...] = ()


class MemberProcess:
    """A member that starts with this object.

    Args:
        cluster: where to.
        settings: of the group.
        seat: the client id, and the ``group.instance.id`` of a static member.
        folder: where it leaves its files.
        number: how many there were before it in the group.
    """

    def __init__(self, cluster: KafkaCluster, settings: GroupSettings, seat: str, folder: Path, number: int) -> None:
        self.seat = seat
        self.ended_at: float | None = None
        stem = f"{number:03}-{seat}"
        self.said = folder / f"{stem}.jsonl"
        self.log = folder / f"{stem}.log"
        self._events: list[MemberEvent] = []
        self._read_bytes = 0
        options = settings.options(folder / f"{stem}.properties", seat)
        self.started_at = time.time()
        self._process = cluster.spawn_tool(CONSUMER, *options, stdout=self.said, stderr=self.log, heap=HEAP)

    def leave(self) -> None:
        """End it in an orderly way, and wait until it is gone."""
        self._end(signal.SIGTERM)

    def crash(self) -> None:
        """End it as a power failure would."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop its clock."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on; a heartbeat that was due in between goes out now."""
        self._process.send_signal(signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        if self.ended_at is not None:
            return
        self._process.send_signal(how)
        asked_at = time.time()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.ended_at = asked_at if how is signal.SIGKILL else time.time()

    def events(self) -> list[MemberEvent]:
        """Return what it said so far, in order."""
        if self.ended_at is None and self._process.poll() is not None:
            raise AssertionError(f"member {self.seat} ended by itself:\n{self.log.read_text(errors='replace')[-3000:]}")
        with self.said.open("rb") as lines:
            lines.seek(self._read_bytes)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._read_bytes += len(line)
                self._events.append(_parse(json.loads(line)))
        ended = [] if self.ended_at is None else [MemberEvent(self.ended_at, "ended")]
        return self._events + ended

    def owned(self) -> frozenset[TopicPartition]:
        """Return the partitions that it has now."""
        owned: set[TopicPartition] = set()
        for event in self.events():
            if event.name == "partitions_assigned":
                owned |= set(event.partitions)
            elif event.name == "partitions_revoked":
                owned -= set(event.partitions)
            elif event.name == "ended":
                owned.clear()
        return frozenset(owned)


def _parse(line: dict[str, Any]) -> MemberEvent:
    partitions = tuple((each["topic"], each["partition"]) for each in line.get("partitions", ()))
    return MemberEvent(line["timestamp"] / 1000, line["name"], partitions)
