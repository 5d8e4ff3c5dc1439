"""The log of one replica, with Kafka's rules for finding where two logs part (``KafkaRaftLog``, ``RaftLog``)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from kafka_capacity.kafka.controller.quorum.messages import LogEnd, Record


class MetadataLog:
    """Records in the order of their offsets; every append counts as flushed.

    ``end`` has the epoch of the last record, 0 of an empty log, and the offset of the next.
    """

    __slots__ = ("_epochs", "end", "records")

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.end = LogEnd(0, 0)
        self._epochs: list[int] = []

    def append(self, records: Iterable[Record]) -> None:
        """Add records at the end."""
        for record in records:
            self.records.append(record)
            self._epochs.append(record.epoch)
        self._note_end()

    def end_of_epoch(self, epoch: int) -> LogEnd:
        """Return the largest epoch that is not above this one, and where it ends."""
        offset = bisect_right(self._epochs, epoch)
        return LogEnd(self._epochs[offset - 1] if offset else 0, offset)

    def diverging_from(self, fetched: LogEnd) -> LogEnd | None:
        """Return where a replica that ends there must cut its log; ``None`` where its log is a part of this one."""
        found = self.end_of_epoch(fetched.epoch)
        return None if found.epoch == fetched.epoch and fetched.offset <= found.offset else found

    def truncate_to(self, diverging: LogEnd) -> int:
        """Cut what the leader does not have, and give the new end offset."""
        mine = self.end_of_epoch(diverging.epoch)
        offset = min(mine.offset, diverging.offset) if mine.epoch == diverging.epoch else mine.offset
        del self.records[offset:]
        del self._epochs[offset:]
        self._note_end()
        return offset

    def _note_end(self) -> None:
        self.end = LogEnd(self._epochs[-1] if self._epochs else 0, len(self._epochs))
