"""Small groups in a few words, and Hypothesis strategies for whole ones."""

import base64

from hypothesis import strategies as st

from kafka_capacity.kafka.groups import Group, Member, Topic, TopicPartitions, UserData

PROTOCOL_ERROR = "org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException"


def topic_id(number):
    """An id of the group coordinator's, of two longs."""
    return base64.urlsafe_b64encode(number.to_bytes(16, "big")).decode()[:22]


IDS = tuple(topic_id(2**100 * n + 7 * n) for n in range(1, 6))
T, U = IDS[:2]


def listed(*pairs):
    return TopicPartitions.of(pairs)


def had(generation, *pairs):
    return UserData(generation=generation, partitions=TopicPartitions.of(pairs))


def member(member_id, *topics, **options):
    return Member(member_id=member_id, topics=topics, **options)


def group(members, **partitions):
    return Group(
        topics=tuple(Topic(name=name, partitions=count) for name, count in partitions.items()), members=tuple(members)
    )


def numbers(assignment):
    """Each member's partition numbers alone."""
    return {name: [partition for _, partition in pairs] for name, pairs in assignment.lists().items()}


MEMBER_IDS = st.lists(
    st.one_of(
        st.text(st.sampled_from("ab😀\ue000"), min_size=1, max_size=4), st.integers(0, 99).map("consumer-{}".format)
    ),
    unique=True,
    min_size=1,
    max_size=9,
)
RACKS = st.one_of(st.none(), st.sampled_from(["", "r1", "r2", "r3"]))
NAMES = ("a", "b.c", "Aa", "BB", "orders")


@st.composite
def topics(draw, names=NAMES, *, racks=False):
    """Topics of up to eight partitions."""
    chosen = draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    found = []
    for name in chosen:
        count = draw(st.integers(1, 8))
        replicas = st.lists(RACKS.filter(lambda rack: rack != ""), min_size=1, max_size=3).map(tuple)
        placed = tuple(draw(replicas) for _ in range(count)) if racks else None
        found.append(Topic(name=name, partitions=count, racks=placed))
    return tuple(found)


@st.composite
def groups(draw, names=NAMES, *, racks=False, equal=None, max_size=9):
    """Groups whose members remember nothing; each topic has a subscriber or more, each member a topic or more."""
    found = draw(topics(names, racks=racks))
    known = [topic.name for topic in found]
    equal = draw(st.booleans()) if equal is None else equal
    members = []
    for member_id in draw(MEMBER_IDS)[:max_size]:
        wanted = known if equal else draw(st.lists(st.sampled_from(known), unique=True, min_size=1))
        instance = draw(st.one_of(st.none(), st.just(f"i-{member_id}")))
        rack = draw(RACKS) if racks else None
        members.append(Member(member_id=member_id, topics=tuple(wanted), instance_id=instance, rack=rack))
    return Group(topics=found, members=tuple(members))


def check_complete(given, answer, sharers=None):
    """Every partition of a subscribed topic goes to one member that subscribes to it, and no other to anyone."""
    seen = {}
    for who, pairs in zip(given.members, answer.lists().values(), strict=True):
        assert len(set(pairs)) == len(pairs)
        for topic, partition in pairs:
            assert topic in who.topics
            seen.setdefault((topic, partition), []).append(who.member_id)
    wanted = {
        (topic.name, partition)
        for topic in given.topics
        if any(topic.name in who.topics for who in given.members)
        for partition in range(topic.partitions)
    }
    assert set(seen) == wanted
    if sharers is None:
        assert all(len(who) == 1 for who in seen.values())
