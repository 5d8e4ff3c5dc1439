"""The striped placer: whole arrays against one replica after another, and what it promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import PlacementError
from kafka_capacity.kafka.java.hash_map import put_order
from kafka_capacity.kafka.java.hashing import optional_string_hash
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.striped import StripedReplicaPlacer


class PlainList:
    """One circle of brokers, epoch by epoch."""

    def __init__(self):
        self.brokers, self.epoch, self.taken, self.offset = [], 0, 0, 0

    def next(self, epoch):
        if not self.brokers:
            return None
        if self.epoch != epoch:
            self.epoch, self.taken, self.offset = epoch, 0, (self.offset + 1) % len(self.brokers)
        if self.taken >= len(self.brokers):
            return None
        self.taken += 1
        return self.brokers[(self.taken - 1 + self.offset) % len(self.brokers)]


def placed_plainly(brokers, count, factor, random):
    """Draw and place one thing at a time; ``brokers`` are (id, rack, is_fenced)."""
    racks = {}
    for broker_id, rack, is_fenced in brokers:
        racks.setdefault(rack, (PlainList(), PlainList()))[is_fenced].brokers.append(broker_id)
    names = list(racks)
    drawn = [racks[names[i]][kind] for i in put_order([optional_string_hash(n) for n in names]) for kind in (1, 0)]
    for circle in drawn:
        circle.brokers.sort()
        circle.offset = random.next_int_bound(len(circle.brokers)) if circle.brokers else 0
    names.sort(key=lambda name: (name is not None, name))
    turn, epoch, rows = random.next_int_bound(len(names)), 0, []
    unfenced = sum(not is_fenced for _, _, is_fenced in brokers)
    for _ in range(count):
        if epoch == unfenced > 1:
            random.shuffle(names)
            for circle in drawn:
                random.shuffle(circle.brokers)
            epoch = 0
        rows.append(row_of([racks[name] for name in names], turn % len(names), epoch, factor))
        epoch, turn = epoch + 1, turn + 1
    return rows


def row_of(racks, turn, epoch, factor):
    order = racks[turn:] + racks[:turn]
    for leading in order:
        if (first := leading[0].next(epoch)) is not None:
            break
    row, is_passed = [first], False
    while len(row) < factor:
        for unfenced, fenced in order:
            if unfenced is leading[0] and not is_passed:
                is_passed = True
            elif len(row) < factor:
                broker = unfenced.next(epoch)
                broker = fenced.next(epoch) if broker is None else broker
                row += [] if broker is None else [broker]
    return row


@st.composite
def clusters(draw):
    racks = draw(st.sampled_from([[None], ["a"], ["a", "b"], ["a", "b", "c"], [None, "a", "b"], list("abcdefgh")]))
    count = draw(st.integers(1, 12))
    ids = draw(st.permutations(range(count)))
    fenced = draw(st.lists(st.sampled_from([False, False, True]), min_size=count, max_size=count))
    if all(fenced):
        fenced[0] = False
    return [
        (broker_id, draw(st.sampled_from(racks)), is_fenced) for broker_id, is_fenced in zip(ids, fenced, strict=True)
    ]


@given(
    clusters(),
    st.lists(st.tuples(st.integers(0, 70), st.integers(1, 12)), min_size=1, max_size=5),
    st.integers(0, 2**48),
)
def test_arrays_place_as_one_replica_after_another(brokers, topics, seed):
    topics = [(count, min(factor, len(brokers))) for count, factor in topics]
    random = JavaRandom(seed)
    expected = [row for count, factor in topics for row in placed_plainly(brokers, count, factor, random)]

    placer = StripedReplicaPlacer(*zip(*brokers, strict=True), random=JavaRandom(seed))
    counts, factors = np.array(topics).T
    placed = placer.place_topics(counts, factors)
    assert [[broker for broker in row if broker >= 0] for row in placed.tolist()] == expected
    assert placer._random.next_long() == random.next_long()


@given(
    st.lists(st.sampled_from("aaabc"), min_size=6, max_size=12),
    st.lists(st.integers(1, 6), min_size=8, max_size=20),
    st.integers(1, 5),
    st.integers(0, 2**48),
)
def test_many_short_topics_are_placed_as_one_replica_after_another(racks, counts, factor, seed):
    # None is shuffled, and there are more partitions than turns squared: the uses come from a table.
    brokers = [(broker_id, rack, False) for broker_id, rack in enumerate(racks)]
    expected, random = [], JavaRandom(seed)
    for count in counts:
        expected += placed_plainly(brokers, count, factor, random)

    placer = StripedReplicaPlacer(range(len(racks)), racks, random=JavaRandom(seed))
    assert placer.place_topics(np.array(counts), np.full(len(counts), factor)).tolist() == expected


def test_racks_that_few_partitions_reach_are_taken_for_used_up_after_a_shuffle():
    # Two racks of one broker: when the epoch of a rack comes back before its next turn, Kafka passes it over.
    placed = StripedReplicaPlacer([0, 1], ["a", "b"], random=JavaRandom(0)).place(400, 1)

    assert placed[:, 0].tolist() == [
        row[0] for row in placed_plainly([(0, "a", 0), (1, "b", 0)], 400, 1, JavaRandom(0))
    ]
    assert (placed[2::2, 0] == placed[3::2, 0]).any()


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 8), st.integers(0, 200), st.integers(0, 2**48))
def test_even_racks_are_all_used_before_one_is_used_twice(rack_count, per_rack, factor, count, seed):
    brokers = rack_count * per_rack
    factor = min(factor, brokers)
    rack_of = np.arange(brokers) % rack_count
    placer = StripedReplicaPlacer(range(brokers), [f"r{rack}" for rack in rack_of], random=JavaRandom(seed))
    placed = placer.place(count, factor)

    assert placed.shape == (count, factor)
    assert placed.dtype == np.int32
    for row in placed:
        assert len(set(row.tolist())) == factor
        if factor >= rack_count:
            assert len(set(rack_of[row].tolist())) == rack_count


def test_topics_placed_at_once_are_topics_placed_one_by_one():
    ids, racks = list(range(9)), [None, "a", "b"] * 3
    at_once = StripedReplicaPlacer(ids, racks, random=JavaRandom(3)).place_topics(
        np.array([5, 0, 30, 1]), np.array([2, 1, 4, 3])
    )
    one_by_one = StripedReplicaPlacer(ids, racks, random=JavaRandom(3))

    rows = [
        row for count, factor in ((5, 2), (0, 1), (30, 4), (1, 3)) for row in one_by_one.place(count, factor).tolist()
    ]
    assert [[broker for broker in row if broker >= 0] for row in at_once.tolist()] == rows


def test_nothing_to_place_is_an_empty_matrix():
    placer = StripedReplicaPlacer([1, 2], random=JavaRandom(0))

    assert placer.place(0, 2).shape == (0, 2)
    assert placer.place_topics(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).shape == (0, 0)


def test_a_leader_is_never_on_a_fenced_broker():
    placer = StripedReplicaPlacer([0, 1, 2, 3], ["a", "a", "b", "b"], [True, False, True, True], random=JavaRandom(0))
    placed = placer.place(50, 4)

    assert set(placed[:, 0].tolist()) == {1}


@pytest.mark.parametrize(
    ("fenced", "factor", "message"),
    [
        ([False, False], 0, "replication factor 0 is not positive; a partition needs at least 1 replica"),
        ([False, False], -1, "replication factor -1 is not positive; a partition needs at least 1 replica"),
        (
            [False, True],
            3,
            "replication factor 3 needs at least as many brokers, but there are 2; lower the factor or add brokers",
        ),
        ([True, True], 1, "all 2 brokers are fenced, so none can lead; unfence a broker"),
        ([], 1, "all 0 brokers are fenced, so none can lead; unfence a broker"),
    ],
)
def test_what_kafka_refuses_is_refused(fenced, factor, message):
    placer = StripedReplicaPlacer(range(len(fenced)), None, fenced, random=JavaRandom(0))

    with pytest.raises(PlacementError) as refused:
        placer.place(1, factor)
    assert str(refused.value) == message
    assert refused.value.kafka_type == "org.apache.kafka.common.errors.InvalidReplicationFactorException"
