"""What is said of uneven racks holds under the rack rule of the plan."""

import numpy as np
import pytest

from kafka_capacity.health.racks import rack_problems
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import RackRule

THREE = np.full(10, 3, dtype=np.int32)


def messages(racks, rule):
    found = rack_problems(Brokers.of(range(1, len(racks) + 1), list(racks)), THREE, what="today", rack_rule=rule)
    return [one.message for one in found]


def test_under_the_strict_rule_every_partition_is_in_the_smallest_rack():
    (message,) = messages("aabbc", RackRule.STRICT)

    assert message == (
        "racks are uneven (a × 2, b × 2, c × 1): with replication factor 3 every partition has a replica in rack c, "
        "so its only broker holds 100 % of all partitions where an even share would be 60 %"
    )


def test_racks_that_cannot_be_more_even_are_no_trap():
    assert messages("a" * 14 + "b" * 13 + "c" * 13, RackRule.STRICT) == []
    assert len(messages("a" * 14 + "b" * 14 + "c" * 12, RackRule.STRICT)) == 1


@pytest.mark.parametrize("rule", [RackRule.TWO_RACKS, RackRule.OFF])
def test_under_another_rule_only_those_that_kafka_places(rule):
    (message,) = messages("aabbc", rule)

    assert "every partition that Kafka itself places has a replica in rack c" in message
    assert "holds 100 % of these where" in message


def test_more_racks_than_replicas_are_a_trap_for_lone_brokers_only_where_the_rule_is_not_strict():
    assert "at most one replica of each partition" in messages("aabbccd", RackRule.OFF)[0]
    assert messages("aaabbbcccdd", RackRule.OFF) == []
    assert "at most one replica" in messages("aaabbbcccdd", RackRule.STRICT)[0]
