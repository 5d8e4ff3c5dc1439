"""States as whole numbers, and what follows from a step by itself: high watermark, elections, unanswered requests.

There is one word a replica, and one for the producer and the rest; many states are held at once as arrays. A replica's
word holds its log (slots of 5 bits: record, life of the producer, leader epoch), how long it is, its high watermark,
what the leader knows of its end, and flags. The flag of the leader is the highest bit: since replicas that swap names
are the same state, words are kept sorted from the highest, and the leader, where there is one, is first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Ints
from kafka_capacity.kafka.durability.settings import MAX_APPENDS, Acks, Bounds, Configuration, Truncation

Words = Ints
Mask = Flags


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

    Only those count that this life of the producer sent; ``None`` is for any.
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

    def with_replica(self, place: int, word: Words) -> States:
        """Put another word in the place of one replica of each."""
        replicas = self.replicas.copy()
        replicas[:, place] = word
        return replace(self, replicas=replicas)

    def in_order(self) -> States:
        """Sort the words of each, the leader first."""
        return replace(self, replicas=-np.sort(-self.replicas, axis=1))

    @property
    def is_led(self) -> Mask:
        """Return where somebody leads."""
        return np.asarray(LEADS.get(self.replicas[:, 0]) == 1, dtype=np.bool_)


def is_under_way(rest: Words, record: int) -> Mask:
    """Return where a record was sent and is not answered."""
    status = status_of(record).get(rest)
    return np.asarray((status == WAITING) | (status == REFUSAL_UNDER_WAY), dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """The configurations that are explored at once, as arrays; a state says which is its own."""

    bounds: Bounds  # of all
    replicas: int  # of each partition
    has_no_acks: Flags  # bool[C]
    has_leader_acks: Flags  # bool[C]
    has_all_acks: Flags  # bool[C]
    min_isr: Ints  # int64[C], the effective one
    is_unclean_allowed: Flags  # bool[C]
    is_idempotent: Flags  # bool[C]
    cuts_by_epoch: Flags  # bool[C]
    has_eligible: Flags  # bool[C]
    is_flushed: Flags  # bool[C]

    @classmethod
    def of(cls, configurations: Sequence[Configuration], bounds: Bounds) -> Rules:
        """Build from configurations of one replication factor."""
        return cls(
            bounds=bounds,
            replicas=configurations[0].replication_factor,
            has_no_acks=np.array([one.acks is Acks.NONE for one in configurations]),
            has_leader_acks=np.array([one.acks is Acks.LEADER for one in configurations]),
            has_all_acks=np.array([one.acks is Acks.ALL for one in configurations]),
            min_isr=np.array([one.effective_min_isr for one in configurations], dtype=np.int64),
            is_unclean_allowed=np.array([one.is_unclean_allowed for one in configurations]),
            is_idempotent=np.array([one.is_idempotent for one in configurations]),
            cuts_by_epoch=np.array([one.truncation is Truncation.LEADER_EPOCH for one in configurations]),
            has_eligible=np.array([one.has_eligible_leaders for one in configurations]),
            is_flushed=np.array([one.is_flushed for one in configurations]),
        )

    def first_states(self) -> States:
        """Return the state that each configuration starts in: all replicas live, in sync and empty."""
        count = len(self.min_isr)
        word = IN_SYNC.put(LIVE.put(np.zeros((count, self.replicas), dtype=np.int64), 1), 1)
        word[:, 0] = LEADS.put(word[:, 0], 1)
        rest = CONFIGURATION.put(np.zeros(count, dtype=np.int64), np.arange(count))
        return States(word, rest, np.full(count, -1, dtype=np.int64))

    def is_short_of_isr(self, states: States) -> Mask:
        """Return where fewer replicas are in sync than must be."""
        count = IN_SYNC.get(states.replicas).sum(axis=1)
        return np.asarray(count < self.min_isr[CONFIGURATION.get(states.rest)], dtype=np.bool_)

    def advanced(self, states: States) -> States:
        """Move the leader's high watermark to the smallest known end of the ISR; it stands still below the minimum."""
        replicas, rest = states.replicas, states.rest
        ends = KNOWN_END.get(replicas)
        ends[:, 0] = LENGTH.get(replicas[:, 0])
        smallest = np.where(IN_SYNC.get(replicas) == 1, ends, MAX_APPENDS).min(axis=1)
        is_led = states.is_led
        moves = is_led & ~self.is_short_of_isr(states)
        leader = replicas[:, 0]
        mark = np.maximum(HIGH_WATERMARK.get(leader), np.where(moves, smallest, 0))
        leader = HIGH_WATERMARK.put(leader, mark)
        read = READ.get(rest)
        for number in range(MAX_APPENDS):
            record = slot(leader, number) & 0b11
            is_seen = is_led & (number < mark) & (record > 0)
            read = np.where(is_seen, read | (1 << np.maximum(record - 1, 0)), read)
        return replace(states.with_replica(0, leader), rest=READ.put(rest, read))

    def without_idle_eligible(self, states: States) -> States:
        """Forget the eligible leader replicas wherever enough are in sync."""
        enough = ~self.is_short_of_isr(states)[:, None]
        return replace(states, replicas=np.where(enough, ELIGIBLE.put(states.replicas, 0), states.replicas))

    def elected(self, states: States, place: int, *, is_clean: bool) -> States:
        """Let a live replica lead; nobody does before.

        Where it ``is_clean``, in the ISR, its dead members leave that; else it is the whole ISR.
        """
        replicas, which = states.replicas, CONFIGURATION.get(states.rest)
        live = LIVE.get(replicas)
        in_sync = IN_SYNC.get(replicas) & live if is_clean else np.zeros_like(live)
        in_sync[:, place] = 1
        replicas = KNOWN_END.put(LED_LAST.put(IN_SYNC.put(replicas, in_sync), 0), 0)
        replicas[:, place] = ELIGIBLE.put(LEADS.put(replicas[:, place], 1), 0)
        by_epoch = self.cuts_by_epoch[which]
        cuts = (live == 1) & ~by_epoch[:, None]
        cuts[:, place] = False
        replicas = np.where(cuts, cut(replicas, HIGH_WATERMARK.get(replicas)), replicas)
        rest = EPOCH_START.put(states.rest, LENGTH.get(replicas[:, place]))
        rest = EPOCH.put(rest, EPOCH.get(rest) + by_epoch)
        found = replace(states, replicas=replicas, rest=rest).in_order()
        return self.advanced(self.without_idle_eligible(found))

    def told_error(self, rest: Words, record: int, where: Mask) -> Words:
        """Let the producer hear of an error: it sends again while it may, else gives up."""
        is_last = attempts_of(record).get(rest) > self.bounds.retries
        return np.where(where, status_of(record).put(rest, np.where(is_last, TOLD_ERROR, UNSENT)), rest)

    def unanswered(self, rest: Words) -> Words:
        """Break the connection: what the producer waits for is not answered."""
        for record in range(self.bounds.records):
            rest = self.told_error(rest, record, is_under_way(rest, record))
        return rest

    def next_to_send(self, rest: Words) -> list[Mask]:
        """Return for each record whether it is the one that the producer sends next: it keeps their order."""
        waiting = sum(is_under_way(rest, record) for record in range(self.bounds.records))
        free = np.asarray(waiting < self.bounds.in_flight, dtype=np.bool_)
        found = []
        for record in range(self.bounds.records):
            is_unsent = status_of(record).get(rest) == UNSENT
            found.append(is_unsent & free)
            free = free & ~is_unsent
        return found

    def lost_under_way(self, rest: Words) -> tuple[Words, Mask]:
        """Let the next record be sent and lost on its way; also tell where there is one."""
        is_any = np.zeros(len(rest), dtype=np.bool_)
        found = rest
        is_untold = self.has_no_acks[CONFIGURATION.get(rest)]
        for record, is_next in enumerate(self.next_to_send(rest)):
            sent = attempts_of(record).put(rest, attempts_of(record).get(rest) + 1)
            sent = np.where(
                is_untold,
                status_of(record).put(sent, SENT_UNTOLD),
                self.told_error(sent, record, np.ones(len(rest), dtype=np.bool_)),
            )
            found = np.where(is_next, sent, found)
            is_any |= is_next
        return found, is_any

    def is_outstanding(self, states: States) -> Mask:
        """Return where the producer has something to send or waits for an answer."""
        found = np.zeros(len(states), dtype=np.bool_)
        for record in range(self.bounds.records):
            found |= (status_of(record).get(states.rest) == UNSENT) | is_under_way(states.rest, record)
        return found
