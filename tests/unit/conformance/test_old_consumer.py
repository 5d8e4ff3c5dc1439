"""The assignors of the old consumer."""

from hypothesis import given

from kafka_capacity.conformance.models.old_consumer import assign_old_ranges, assign_old_round_robin
from tests.examples import at_most
from tests.unit.kafka.groups.made_up import groups


def test_threads_of_the_old_consumer_sort_as_text():
    found = assign_old_ranges({"t": 11}, {"C1": {"t": 11}})

    assert [name for _, _, name in found["C1"]] == [f"C1-{n}" for n in (0, 1, 10, 2, 3, 4, 5, 6, 7, 8, 9)]


def test_the_old_circle_follows_the_hashes_of_the_partitions():
    # "[t,0]", "[t,1]" and "[u,0]" hash in this order; only b reads u.
    found = assign_old_round_robin({"t": 2, "u": 2}, {"a": {"t": 1}, "b": {"t": 1, "u": 2}})

    assert found == {"a": [("t", 0, "a-0")], "b": [("t", 1, "b-0"), ("u", 0, "b-1"), ("u", 1, "b-0")]}


def test_who_reads_no_topic_there_is_gets_nothing():
    assert assign_old_ranges({"t": 1}, {"a": {"t": 1}, "b": {"gone": 1}}) == {"a": [("t", 0, "a-0")], "b": []}


@at_most(100)
@given(groups())
def test_each_partition_goes_to_one_who_reads_its_topic(given):
    topics = {topic.name: topic.partitions for topic in given.topics}
    consumers = {member.member_id: dict.fromkeys(member.topics, 1) for member in given.members}
    wanted = sorted(
        (name, n) for name in topics if any(name in one for one in consumers.values()) for n in range(topics[name])
    )
    for assign in (assign_old_ranges, assign_old_round_robin):
        found = assign(topics, consumers)
        assert sorted((topic, number) for rows in found.values() for topic, number, _ in rows) == wanted
        assert all(topic in consumers[name] for name, rows in found.items() for topic, _, _ in rows)
