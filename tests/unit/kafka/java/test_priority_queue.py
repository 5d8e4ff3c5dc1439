"""Queues hand out what Java's hand out."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.java import priority_queue
from kafka_capacity.kafka.java.priority_queue import JavaPriorityQueue


@given(st.lists(st.none() | st.integers(0, 5)))
def test_the_smallest_comes_first(operations):
    queue, plain = JavaPriorityQueue(), []
    for priority in operations:
        if priority is not None:
            queue.add(priority, priority)
            plain.append(priority)
        elif plain:
            assert queue.poll() == min(plain)
            plain.remove(min(plain))

    assert [queue.poll() for _ in range(len(queue))] == sorted(plain)


def test_alike_items_leave_in_the_order_of_the_heap():
    queue = JavaPriorityQueue()
    for i in range(7):
        queue.add(0, i)

    assert [queue.poll() for _ in range(7)] == [0, 6, 5, 4, 3, 2, 1]


def test_the_example_is_true():
    assert doctest.testmod(priority_queue).failed == 0
