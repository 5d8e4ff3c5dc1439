"""Brokers that die: leaders, ISRs, refusals and lost records as predicted; ``measure_failures`` is the long form."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from kafka import KafkaProducer
from kafka.errors import KafkaError

from kafka_capacity.kafka.cluster.snapshot import PartitionLoad
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.scenario import FailureScenario
from tests.live.cluster import KafkaCluster
from tests.live.live_failures import Key, LiveFailures, LiveTopic, lost_together
from tests.live.live_tail import SESSION, TAIL_RECORDS, Tail, explored_loss, kill_with_tail, tail_topics

pytestmark = pytest.mark.live

RACKS = {1: "rack-a", 2: "rack-a", 3: "rack-b", 4: "rack-c"}
LEADER, FOLLOWER = 3, 4
ABOVE = LiveTopic(name="min-above-rf", replicas=((1,), (3,), (4,)), min_isr=3, is_unclean_allowed=False)
TOPICS = [
    LiveTopic(name="one", replicas=((1,), (2,), (3,), (4,)), min_isr=1, is_unclean_allowed=True),
    LiveTopic(name="two", replicas=((1, 2), (1, 3), (4, 2), (3, 4)), min_isr=1, is_unclean_allowed=False),
    LiveTopic(name="two-of-two", replicas=((1, 2), (1, 3), (4, 2), (3, 4)), min_isr=2, is_unclean_allowed=True),
    LiveTopic(name="three", replicas=((1, 3, 4), (2, 1, 3), (4, 1, 2), (3, 2, 4)), min_isr=2, is_unclean_allowed=False),
    LiveTopic(name="four-of-two", replicas=((2, 3), (3, 4)), min_isr=4, is_unclean_allowed=False),
    ABOVE,
    *tail_topics(LEADER, FOLLOWER),
]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveFailures]:
    """Four brokers, and a controller that outlives them."""
    with KafkaCluster(
        tmp_path_factory.mktemp("kafka"),
        RACKS,
        log4j=Path(__file__).with_name("controller_log4j2.xml"),
        controller_ids=(9,),
        settings={"auto.leader.rebalance.enable": "false", **SESSION},
    ) as cluster:
        # Kafka 4.1 and later start new clusters with eligible leader replicas.
        found = LiveFailures(cluster, TOPICS, ElectionRules.KRAFT_ELR)
        found.make_topics()
        found.settle()
        yield found


@pytest.fixture(scope="module")
def tails(live: LiveFailures) -> list[Tail]:
    tails = kill_with_tail(live.cluster, LEADER, [FOLLOWER], live.rules)
    live.recover(LEADER)
    return tails


def test_a_topic_with_a_minimum_above_its_factor_takes_records_while_all_are_in_sync(live: LiveFailures) -> None:
    fates = {key: fate for key, fate in live.fates().items() if key[0] == ABOVE.name}
    assert set(live.write(fates, acks="all").values()) == {""}


def test_acks_1_loses_what_the_follower_had_not_fetched(tails: list[Tail]) -> None:
    (tail,) = (tail for tail in tails if tail.acks == 1)
    assert tail.is_as_predicted, tail
    assert len(tail.acknowledged) == 2 * TAIL_RECORDS
    assert 0 < len(tail.lost) <= TAIL_RECORDS
    assert explored_loss(1, len(tail.replicas)), "the explorer finds a way, too"


def test_acks_all_loses_nothing_that_was_acknowledged(tails: list[Tail]) -> None:
    (tail,) = (tail for tail in tails if tail.acks == "all")
    assert tail.is_as_predicted, tail
    assert len(tail.acknowledged) == TAIL_RECORDS
    assert not tail.lost
    assert explored_loss("all", len(tail.replicas)) is None


@pytest.mark.usefixtures("tails")
def test_a_rack_that_dies_leaves_every_partition_as_predicted(live: LiveFailures) -> None:
    outcome = live.kill("rack-a", 1, 2)
    assert outcome.is_as_predicted, outcome
    assert outcome.predicted["offline"] > 0
    assert outcome.refused == outcome.predicted["under_min_isr"] > 0


def test_without_a_controller_writes_stop_where_a_lost_replica_stays_in_sync(tmp_path: Path) -> None:
    """Nobody takes the lost broker out of the ISR, long after its leader has missed it."""
    topics = [
        LiveTopic(name="one", replicas=((1,), (2,)), min_isr=1, is_unclean_allowed=False),
        LiveTopic(name="two", replicas=((1, 2), (2, 1)), min_isr=1, is_unclean_allowed=False),
    ]
    settings = {"replica.lag.time.max.ms": "2000"}
    with KafkaCluster(tmp_path / "kafka", {1: None, 2: None}, controller_ids=(9,), settings=settings) as cluster:
        live = LiveFailures(cluster, topics, ElectionRules.KRAFT_ELR)
        live.make_topics()
        live.settle()
        snapshot = live.snapshot()
        cluster.kill_broker(9, 2)
        time.sleep(6)
        assert _taken(cluster, live.fates(), timeout_ms=15_000) == {("one", 0)}
    nothing = PartitionLoad.unknown(len(snapshot.partitions))
    lost = FailureScenario(kinds=(), given=(lost_together([2]),))
    predicted = evaluate_failures(snapshot, nothing, lost, has_majority=lambda _: False)
    assert (predicted.offline.tolist(), predicted.under_min_isr.tolist()) == ([2], [1])


def _taken(cluster: KafkaCluster, partitions: Iterable[Key], *, timeout_ms: int) -> set[Key]:
    """Return the partitions that acknowledge a record from all in sync."""
    limits = {"request_timeout_ms": timeout_ms, "delivery_timeout_ms": timeout_ms + 1000}
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers(), acks="all", retries=0, enable_idempotence=False, **limits
    )
    sent = {key: producer.send(key[0], b"x", partition=key[1]) for key in partitions}
    taken = set()
    for key, future in sent.items():
        try:
            future.get(2 * timeout_ms / 1000)
            taken.add(key)
        except KafkaError:
            continue
    producer.close(timeout=1)
    return taken
