"""Which directory of its broker a replica goes to."""

import numpy as np
import pytest

from kafka_capacity.kafka.placement.log_dirs import place_log_dirs
from kafka_capacity.kafka.placement.problem import LogDirRoom

NONE = np.inf  # no limit


def place(before, dirs_before, after, sizes, owners, limits, takes=None):
    room = LogDirRoom(
        broker_id=np.array(owners, dtype=np.int32),
        limit_bytes=np.array(limits, dtype=float),
        before=np.array(dirs_before, dtype=np.int32),
        takes_replicas=np.ones(len(owners), dtype=bool) if takes is None else np.array(takes),
    )
    return place_log_dirs(
        before=np.array(before, dtype=np.int32),
        after=np.array(after, dtype=np.int32),
        size_bytes=np.array(sizes, dtype=np.int64),
        room=room,
    )


def test_a_replica_that_stays_stays_in_its_directory_wherever_it_stands_in_the_list():
    placed = place([[1, 2]], [[1, 2]], [[2, 1]], [10], [1, 1, 2], [100, 100, 100])

    assert placed.log_dir.tolist() == [[2, 1]]
    assert placed.bytes_after.tolist() == [0, 10, 10]


def test_what_comes_goes_to_the_directory_that_is_least_full_for_its_size():
    placed = place([[-1]] * 4, [[-1]] * 4, [[1]] * 4, [60, 50, 40, 30], [1, 1], [100, 200])

    assert placed.bytes_after.tolist() == [50, 130]
    assert not placed.is_over.any()


def test_a_directory_that_is_full_takes_nothing_while_another_has_room():
    placed = place([[1], [-1]], [[0], [-1]], [[1], [1]], [90, 20], [1, 1], [100, 30])

    assert placed.log_dir.tolist() == [[0], [1]]


def test_a_cordoned_directory_keeps_what_it_has_and_gets_nothing():
    placed = place([[1], [-1]], [[1], [-1]], [[1], [1]], [50, 50], [1, 1], [60, 900], [True, False])

    assert placed.log_dir.tolist() == [[1], [0]]
    # Where all are cordoned, which one is the broker's own business.
    assert place([[-1]], [[-1]], [[1]], [50], [1, 1], [60, 900], [False, False]).log_dir.tolist() == [[-1]]


def test_what_fits_nowhere_is_placed_and_told():
    placed = place([[-1]], [[-1]], [[1]], [50], [1, 1], [10, 40])

    assert placed.log_dir.tolist() == [[1]]
    assert placed.is_over.tolist() == [False, True]


def test_what_is_not_known_stays_not_known():
    placed = place([[1, -1]], [[-1, -1]], [[1, 3]], [50], [1, 1], [NONE, NONE])

    assert placed.log_dir.tolist() == [[-1, -1]]
    assert not placed.is_over.any()


def test_without_sizes_the_directories_get_alike():
    placed = place([[-1]] * 4, [[-1]] * 4, [[1]] * 4, [10] * 4, [1, 1], [NONE, NONE])

    assert placed.bytes_after.tolist() == [20, 20]


@pytest.mark.parametrize("seed", range(10))
def test_every_replica_is_in_a_directory_of_its_broker_and_bytes_add_up(seed):
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(6), 3)
    before = np.array([rng.permutation(4)[:2] for _ in range(80)])
    after = np.array([rng.permutation(6)[:3] for _ in range(80)])
    dirs_before = before * 3 + rng.integers(0, 3, before.shape)
    sizes = rng.integers(1, 100, 80)
    placed = place(before, dirs_before, after, sizes, owners, np.full(18, 1500.0))

    assert (owners[placed.log_dir] == after).all()
    assert placed.bytes_after.sum() == 3 * sizes.sum()
    for row in range(80):
        for column, broker in enumerate(after[row].tolist()):
            if broker in before[row].tolist():
                assert placed.log_dir[row, column] == dirs_before[row, before[row].tolist().index(broker)]
