"""Record locks of share groups: closed forms against a share partition that is played record by record."""

import heapq
import math

import pytest

from kafka_capacity.kafka.groups.share import ShareSettings, members_needed, useful_members


class Played:
    """One partition with a backlog without end, and members that poll, process one after another, and acknowledge.

    A record is acquired where it is free and within the locks of the partition; those whose locks have ended are free
    again, or given up once they were delivered often enough.
    """

    def __init__(self, settings, members, record_seconds, stuck=None, rate=math.inf):
        self.settings, self.record_seconds, self.stuck, self.rate = settings, record_seconds, stuck, rate
        self.first = self.next = 0
        self.deliveries, self.locked_until, self.finished = {}, {}, set()
        self.processed, self.done_at = {}, {}
        self.events = [(0.0, 0, member, ()) for member in range(members)]
        self.busiest = 0

    def run(self, until):
        order, busy = 1, {}
        while self.events and self.events[0][0] <= until:
            now, _, member, batch = heapq.heappop(self.events)
            self.acknowledge(now, batch)
            batch = self.acquire(now)
            busy[member] = bool(batch)
            self.busiest = max(self.busiest, sum(busy.values()))
            for offset in batch:
                self.processed[offset] = self.processed.get(offset, 0) + 1
            # Who gets nothing asks again soon.
            wait = len(batch) * self.record_seconds if batch else self.record_seconds / 10
            heapq.heappush(self.events, (now + wait, order, member, batch))
            order += 1

    def acknowledge(self, now, batch):
        for offset, (until, delivery) in batch.items() if batch else ():
            is_held = self.locked_until.get(offset) == until and until > now and self.deliveries[offset] == delivery
            if is_held and offset != self.stuck:
                self.finish(offset, now)

    def finish(self, offset, now):
        self.finished.add(offset)
        self.done_at[offset] = now
        self.locked_until.pop(offset, None)
        while self.first in self.finished:
            self.first += 1

    def acquire(self, now):
        for offset, until in sorted(self.locked_until.items()):
            if until <= now:
                del self.locked_until[offset]
                if self.deliveries[offset] >= self.settings.delivery_limit:
                    self.finish(offset, until)
        batch = {}
        offset = self.first
        while len(batch) < self.settings.max_poll_records and offset < self.first + self.settings.max_record_locks:
            if offset >= self.next and offset > now * self.rate:
                break
            if offset not in self.finished and offset not in self.locked_until:
                self.deliveries[offset] = self.deliveries.get(offset, 0) + 1
                self.locked_until[offset] = now + self.settings.lock_seconds
                batch[offset] = (self.locked_until[offset], self.deliveries[offset])
                self.next = max(self.next, offset + 1)
            offset += 1
        return batch


@pytest.mark.parametrize(("locks", "poll"), [(40, 10), (45, 10), (10, 10), (5, 10), (12, 5)])
@pytest.mark.parametrize("members", [1, 3, 4, 8])
def test_members_beyond_the_locks_of_a_partition_add_nothing(locks, poll, members):
    settings = ShareSettings(max_record_locks=locks, max_poll_records=poll)
    played = Played(settings, members, 0.1)
    played.run(200.0)
    rate = len(played.finished) / 200.0
    possible = min(members / 0.1, settings.max_partition_rate(0.1))
    # Where the locks are no multiple of a poll, what is left over passes a little less or more than its part.
    assert rate == pytest.approx(possible, rel=0.03 if locks % settings.batch_records == 0 else 0.35)
    assert played.busiest == min(members, useful_members(1, settings))


@pytest.mark.parametrize(("rate", "record_seconds"), [(30.0, 0.1), (25.0, 0.1), (7.0, 0.3), (1.0, 0.05)])
def test_as_many_members_as_are_needed_keep_up_and_one_less_does_not(rate, record_seconds):
    needed = members_needed(rate, record_seconds)
    settings = ShareSettings(max_record_locks=2000, max_poll_records=10)
    lags = []
    for members in (needed, needed - 1):
        played = Played(settings, members, record_seconds, rate=rate)
        played.run(300.0)
        lags.append(300.0 * rate - played.first)
    assert lags[0] <= 3 * settings.max_poll_records * needed
    assert needed == 1 or lags[1] > 300.0 * (rate - (needed - 1) / record_seconds) * 0.9


@pytest.mark.parametrize("poll", [50, 100, 101, 130, 200])
def test_records_that_outlive_their_locks_are_processed_again(poll):
    settings = ShareSettings(lock_seconds=10.0, max_poll_records=poll, delivery_limit=10)
    played = Played(settings, 1, 0.1)
    played.run(poll * 0.1)
    # All are acknowledged at the end of the batch: those of a batch that ends in time are done with.
    assert (len(played.finished) == poll) == (settings.processed_again(0.1) == 0 and poll * 0.1 < 10.0)
    assert settings.records_in_time(0.1) == 100
    assert settings.processed_again(0.1) == max(0, poll - 100)


def test_a_stuck_record_holds_its_partition_until_it_is_given_up():
    settings = ShareSettings(lock_seconds=10.0, max_record_locks=100, delivery_limit=3, max_poll_records=5)
    rate = 8.0
    played = Played(settings, 3, 0.1, stuck=40, rate=rate)
    played.run(120.0)
    assert played.deliveries[40] == 3
    assert played.processed[40] == 3
    # From when it is delivered first, and as long as no record behind the locks is given out.
    held = played.done_at[40] - 40 / rate
    assert held == pytest.approx(settings.delivery_limit * settings.lock_seconds, abs=2.0)
    behind = played.done_at[140] - 140 / rate
    assert behind == pytest.approx(settings.stuck_seconds(rate), abs=2.0)
    assert settings.stuck_seconds(1.0) == 0.0
    assert settings.stuck_seconds(0.0) == 0.0
