"""Real groups on real brokers: who reads what after each event, and how often they rebalance, is what we say.

The number of rebalances of a group of the consumer protocol is the number of targets that the coordinator computes;
how many changes go into one target is a matter of time, so there the prediction follows the coordinator's log.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from kafka_capacity.kafka.groups import GroupProtocol
from tests.live.clients import make_topics
from tests.live.cluster import KafkaCluster
from tests.live.experiments import Mistimed, again_where_mistimed
from tests.live.groups.bands import Band, band_of
from tests.live.groups.coordinator import topic_id
from tests.live.groups.live_group import GroupEvent, LiveGroup
from tests.live.groups.load import SteadyLoad
from tests.live.groups.predicted import Expected, predicted
from tests.live.groups.settings import GroupSettings, group_cluster

pytestmark = pytest.mark.live

TOPIC = "orders"
PARTITIONS = 7
SESSION_SECONDS = 10.0
STATIC_SESSION_SECONDS = 25.0
"""A member that is restarted must be back by then, and on a busy machine it takes some ten seconds to start."""
HEARTBEAT_SECONDS = {GroupProtocol.CLASSIC: 1.0, GroupProtocol.CONSUMER: 1.0}
AT_ONCE = 3
NOISE_SECONDS = 2.0
"""Other tests run meanwhile; ``tests.live.measure_groups``, which has the machine for itself, allows less."""
COMING_AND_GOING = (
    ("join", "a"),
    ("join", "b"),
    ("join", "c"),
    ("leave", "b"),
    ("restart", "a"),
    ("crash", "a"),
)
STATIC = (("join", "a"), ("join", "b"), ("restart", "a"), ("restart", "b"), ("leave", "a"))


def _group(protocol: GroupProtocol, assignor: str, *, is_static: bool = False) -> GroupSettings:
    return GroupSettings(
        protocol=protocol,
        assignor=assignor,
        topic=TOPIC,
        is_static=is_static,
        heartbeat_seconds=HEARTBEAT_SECONDS[protocol],
        session_seconds=STATIC_SESSION_SECONDS if is_static else SESSION_SECONDS,
    )


GROUPS = (
    _group(GroupProtocol.CLASSIC, "range"),
    _group(GroupProtocol.CLASSIC, "roundrobin"),
    _group(GroupProtocol.CLASSIC, "cooperative-sticky"),
    _group(GroupProtocol.CONSUMER, "uniform"),
    _group(GroupProtocol.CONSUMER, "range"),
    _group(GroupProtocol.CLASSIC, "cooperative-sticky", is_static=True),
    _group(GroupProtocol.CONSUMER, "uniform", is_static=True),
)
EAGER = {"classic-range", "classic-roundrobin"}


Life = list[tuple[GroupEvent, Expected, Band | None]]


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Life]]]:
    """All groups live side by side, a few at a time; a test waits for its own."""
    workdir = tmp_path_factory.mktemp("groups") / "kafka"
    beat = HEARTBEAT_SECONDS[GroupProtocol.CONSUMER]
    with group_cluster(workdir, heartbeat_seconds=beat, session_seconds=SESSION_SECONDS) as cluster:
        make_topics(cluster, {TOPIC: (PARTITIONS, 3)})
        with SteadyLoad(cluster, TOPIC, PARTITIONS, interval_seconds=0.25), ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                yield {settings.name: pool.submit(_live, cluster, settings) for settings in GROUPS}
            finally:
                pool.shutdown(cancel_futures=True)


def _live(cluster: KafkaCluster, settings: GroupSettings) -> Life:
    """Let a group live; where the machine was too busy for its sessions or its pauses, another one of its kind."""
    numbers = itertools.count(1)

    def live() -> Life:
        number = next(numbers)
        own = settings if number == 1 else dataclasses.replace(settings, suffix=f"-again-{number}")
        return _lived(cluster, own)

    return again_where_mistimed(live, lambda: None)


def _lived(cluster: KafkaCluster, settings: GroupSettings) -> Life:
    prediction = predicted(settings, PARTITIONS, cluster.ask(lambda admin: topic_id(admin, TOPIC), "the topic's id"))
    if settings.is_static:
        settings.configure(cluster)
    with LiveGroup(cluster, settings, PARTITIONS) as group:
        events = [group.play(event, seat) for event, seat in (STATIC if settings.is_static else COMING_AND_GOING)]
    for event in events:
        is_expelled = event.event == "crash" or (event.event == "leave" and event.is_static)
        if event.expelled_count > is_expelled:
            raise Mistimed(f"{settings.name} {event.event} {event.seat}: a session ended: {event.coordinator}")
        # Cooperative members revoke in one round, unless one of them is so slow that the others' round is over by then.
        rounds = [line for _, line in event.coordinator if "Preparing" in line and "need to revoke" in line]
        if len(rounds) > 1:
            raise Mistimed(f"{settings.name} {event.event} {event.seat}: revoked one by one: {event.coordinator}")
    life = [(event, prediction.expect(event), band_of(event, PARTITIONS)) for event in events]
    for event, _, band in life:
        if band is not None and not band.holds(max(event.pauses.values()), noise_seconds=NOISE_SECONDS):
            raise Mistimed(f"{settings.name} {event.event} {event.seat}: pauses {event.pauses}, predicted {band}")
    return life


@pytest.mark.parametrize("settings", GROUPS, ids=lambda settings: settings.name)
def test_who_reads_what_and_how_often_it_rebalances_is_as_predicted(
    settings: GroupSettings, lives: dict[str, Future[Life]]
) -> None:
    for event, expected, _ in lives[settings.name].result():
        where = f"{event.event} {event.seat}: {event.coordinator}"
        assert event.assignment_after == expected.assignment, where
        assert event.rebalances == expected.rebalances, where


@pytest.mark.parametrize("settings", GROUPS, ids=lambda settings: settings.name)
def test_a_pause_is_no_longer_than_the_event_and_only_eager_groups_stop_what_does_not_move(
    settings: GroupSettings, lives: dict[str, Future[Life]]
) -> None:
    for event, *_ in lives[settings.name].result():
        stopped = {partition for partition, seconds in event.pauses.items() if seconds}
        assert max(event.pauses.values()) <= event.duration_seconds
        if settings.name not in EAGER and event.event in ("join", "leave", "crash"):
            assert stopped == set(event.moved)


@pytest.mark.parametrize("settings", [each for each in GROUPS if each.is_static], ids=lambda settings: settings.name)
def test_a_static_member_that_is_back_in_time_gets_its_own_again_without_a_rebalance(
    settings: GroupSettings, lives: dict[str, Future[Life]]
) -> None:
    restarts = [event for event, *_ in lives[settings.name].result() if event.event == "restart"]
    assert [(event.rebalances, event.moved) for event in restarts] == [(0, []), (0, [])]
    assert all(event.members_before != event.members_after for event in restarts)


@pytest.mark.parametrize("settings", GROUPS, ids=lambda settings: settings.name)
def test_the_longest_pause_is_within_the_predicted_band(
    settings: GroupSettings, lives: dict[str, Future[Life]]
) -> None:
    for event, _, band in lives[settings.name].result():
        longest = max(event.pauses.values())
        where = (event.event, event.seat, band, event.pauses)
        assert band is None or band.holds(longest, noise_seconds=NOISE_SECONDS), where
