"""States as whole numbers: one word a replica, one for the producer and the rest; many states at once as arrays.

A replica's word holds its log (slots of 5 bits: record, life of the producer, leader epoch), how long it is, its high
watermark, what the leader knows of its end, and flags. The flag of the leader is the highest bit: since replicas that
swap names are the same state, words are kept sorted from the highest, and the leader, where there is one, is first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.durability.settings import MAX_APPENDS

Words = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Field:
    """Some bits of a word."""

    shift: int
    width: int

    def get(self, words: Words) -> Words:
        """Read it."""
        return np.asarray((words >> self.shift) & ((1 << self.width) - 1), dtype=np.int64)

    def put(self, words: Words, value: Words | Mask | int) -> Words:
        """Return words with another value."""
        kept = words & ~np.int64(((1 << self.width) - 1) << self.shift)
        return np.asarray(kept | (np.asarray(value).astype(np.int64) << self.shift), dtype=np.int64)


ENTRY_BITS = 5
NAME = Field(0, 2)
LOG = Field(2, ENTRY_BITS * MAX_APPENDS)
LENGTH = Field(42, 4)
KNOWN_END = Field(46, 4)
HIGH_WATERMARK = Field(50, 4)
LED_LAST = Field(54, 1)
STOPPED_CLEANLY = Field(55, 1)
ELIGIBLE = Field(56, 1)
IN_SYNC = Field(57, 1)
LIVE = Field(58, 1)
LEADS = Field(59, 1)

CONFIGURATION = Field(0, 8)
FAILURES = Field(8, 3)
EPOCH = Field(11, 2)
LIFE = Field(13, 1)
EPOCH_START = Field(14, 4)
READ = Field(18, 3)  # which records consumers could read, a bit each
POWER_LOSSES = Field(51, 2)


def status_of(record: int) -> Field:
    """Return where the status of a record is."""
    return Field(21 + 10 * record, 3)


def waits_for(record: int) -> Field:
    """Return where the end of the log is kept that the producer of a record waits for."""
    return Field(24 + 10 * record, 4)


def attempts_of(record: int) -> Field:
    """Return where it is kept how often a record was sent."""
    return Field(28 + 10 * record, 3)


UNSENT, WAITING, TOLD_WRITTEN, TOLD_ERROR, SENT_UNTOLD, REFUSAL_UNDER_WAY, WRITTEN_ELSEWHERE = range(7)

_PREFIX = np.array([(1 << (ENTRY_BITS * n)) - 1 for n in range(MAX_APPENDS + 1)], dtype=np.int64)
RECORDS_OF_LOG = sum(0b11 << (ENTRY_BITS * n) for n in range(MAX_APPENDS))
"""The bits of a log that say which record is where."""


def entry(record: int, life: Words, epoch: Words) -> Words:
    """Return what stands in a slot; 0 stands for none."""
    return np.asarray((record + 1) | (life << 2) | (epoch << 3), dtype=np.int64)


def slot(words: Words, number: int) -> Words:
    """Read a slot of logs."""
    return Field(LOG.shift + ENTRY_BITS * number, ENTRY_BITS).get(words)


def prefix(words: Words, length: Words) -> Words:
    """Return the first slots of logs, to be put into :data:`LOG`."""
    return np.asarray(LOG.get(words) & _PREFIX[length], dtype=np.int64)


def appended(words: Words, content: Words, where: Mask) -> Words:
    """Append a slot to some logs."""
    end = LENGTH.get(words)
    log = LOG.get(words) | np.where(where, content << (ENTRY_BITS * end), 0)
    return LENGTH.put(LOG.put(words, log), end + where)


def cut(words: Words, length: Words) -> Words:
    """Cut logs to at most a length; the high watermark is not behind the end."""
    kept = np.minimum(LENGTH.get(words), length)
    short = LENGTH.put(LOG.put(words, prefix(words, kept)), kept)
    return HIGH_WATERMARK.put(short, np.minimum(HIGH_WATERMARK.get(words), kept))


def common_length(one: Words, other: Words) -> Words:
    """Return how many slots two logs have in common from the start."""
    both = np.minimum(LENGTH.get(one), LENGTH.get(other))
    differs = one ^ other
    same = np.zeros_like(both)
    for number in range(MAX_APPENDS):
        same += (same == number) & (number < both) & (slot(differs, number) == 0)
    return same


def copies(words: Words, record: int, life: Words | None = None) -> tuple[Words, Words]:
    """Count the copies of a record in logs, and give the end behind the first of them, 0 for none.

    Args:
        words: of replicas.
        record: which.
        life: of the producer that sent it; ``None`` for any.
    """
    count, first = np.zeros_like(words), np.zeros_like(words)
    for number in range(MAX_APPENDS):
        content = slot(words, number)
        is_it = (content & 0b11) == record + 1
        if life is not None:
            is_it &= ((content >> 2) & 1) == life
        count += is_it
        first = np.where(is_it & (first == 0), number + 1, first)
    return count, first


def canonical(replicas: Words) -> Words:
    """Sort the words of each state, the leader first."""
    return -np.sort(-replicas, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """S states."""

    replicas: Words  # int64[S, R], each row sorted from the highest
    rest: Words  # int64[S]
    number: Words  # int64[S], which state each is, or which it follows from

    def __len__(self) -> int:
        return len(self.rest)

    def where(self, mask: Mask) -> States:
        """Choose some."""
        return States(self.replicas[mask], self.rest[mask], self.number[mask])

    def one(self, place: int) -> States:
        """Choose the one at a place."""
        return States(self.replicas[place : place + 1], self.rest[place : place + 1], self.number[place : place + 1])

    def with_words(self, replicas: Words, rest: Words) -> States:
        """Put others in their place."""
        return States(replicas, rest, self.number)

    def with_replica(self, place: int, word: Words) -> Words:
        """Return the replicas with another word for one of them."""
        replicas = self.replicas.copy()
        replicas[:, place] = word
        return replicas
