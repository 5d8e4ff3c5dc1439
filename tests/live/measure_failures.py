"""Kill each broker of a real cluster, then each rack, then one broker more; long, for by hand.

    python -m tests.live.measure_failures OUT               some ten minutes
    python -m tests.live.measure_failures OUT --brokers 3   with fewer brokers killed alone

Six brokers in three racks, topics with one to three replicas, ``min.insync.replicas`` 1 to 3, unclean elections allowed
or not, spread over racks or not. First without, then with eligible leader replicas (KIP-966). Each time the inventory
is taken by the product's own source, every partition is predicted, brokers are killed, and the cluster's metadata is
compared partition by partition; then a record is written to each partition with ``acks=all`` and ``acks=1``. At last,
leaders are killed while their followers lag, and it is looked which acknowledged records are gone.

Writes ``OUT/failures.json`` and ``OUT/failures.md``. Fails where anything is not as predicted.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka.admin import ConfigResource

from kafka_capacity.kafka.controller.failing import ElectionRules
from tests.live.clients import produce
from tests.live.cluster import KafkaCluster
from tests.live.live_failures import COUNTS, LiveFailures, LiveTopic, Outcome
from tests.live.live_moves import SMALL_FETCHES
from tests.live.live_tail import SESSION, Tail, explored_loss, kill_with_tail, readable, tail_topics

CONTROLLER = 100
RACKS = {1: "rack-a", 2: "rack-a", 3: "rack-b", 4: "rack-b", 5: "rack-c", 6: "rack-c"}
BEHIND = 6
"""The broker that has fallen behind, where one has."""
BEHIND_PREFIX = "behind-"
_LED_ALONE = ((1, BEHIND), (2, BEHIND), (3, BEHIND), (4, BEHIND))
_LED_BY_TWO = ((1, 2, BEHIND), (2, 1, BEHIND), (1, 3, BEHIND), (4, 2, BEHIND))
PARTITIONS = 6
WRITTEN_BYTES = 4_000_000
"""More than a broker that is throttled to next to nothing may copy in a minute, in fetches of 256 KiB."""
SETTINGS = {**SMALL_FETCHES, **SESSION, "auto.leader.rebalance.enable": "false"}
LOG4J = Path(__file__).with_name("controller_log4j2.xml")


def live_topics(seed: int = 5) -> list[LiveTopic]:
    """Make up topics of every kind; half of the partitions are spread over the racks."""
    draw = random.Random(seed)
    topics = [
        LiveTopic(
            name=f"rf{factor}-min{least}-{'unclean' if unclean else 'clean'}",
            replicas=tuple(_replicas(draw, factor, is_spread=number % 2 == 0) for number in range(PARTITIONS)),
            min_isr=least,
            is_unclean_allowed=unclean,
        )
        for factor in (1, 2, 3)
        for least in (1, 2, 3)
        for unclean in (False, True)
    ]
    return topics + [
        LiveTopic(
            name=f"{BEHIND_PREFIX}rf{len(replicas[0])}-{'unclean' if unclean else 'clean'}",
            replicas=replicas,
            min_isr=1,
            is_unclean_allowed=unclean,
        )
        for replicas in (_LED_ALONE, _LED_BY_TWO)
        for unclean in (False, True)
    ]


def _replicas(draw: random.Random, factor: int, *, is_spread: bool) -> tuple[int, ...]:
    if is_spread:
        racks = draw.sample(sorted(set(RACKS.values())), factor)
        return tuple(draw.choice([broker for broker, other in RACKS.items() if other == rack]) for rack in racks)
    return tuple(draw.sample(sorted(RACKS), factor))


def measure(live: LiveFailures, brokers: Sequence[int]) -> Iterator[Outcome]:
    """Kill these brokers one by one, then each rack and one broker more, then what leads where one broker is behind."""
    for broker in brokers:
        yield live.kill(f"broker {broker}", broker)
        live.recover(broker)
    for rack in sorted(set(RACKS.values())):
        members = [broker for broker, other in RACKS.items() if other == rack]
        snapshot, before = live.snapshot(), live.fates()
        first = live.kill_further(rack, members, snapshot=snapshot, before=before)
        yield first
        one = max(members) % len(RACKS) + 1
        yield live.kill_further(
            f"{rack}, then broker {one}", [one], snapshot=snapshot, before=before, dead=first.fenced
        )
        live.recover(*members, one)
    _fall_behind(live)
    yield live.kill(f"rack-a, broker {BEHIND} behind", 1, 2)
    live.cluster.start_again(1, 2)
    with live.cluster.admin() as admin:
        admin.reset_configs(_throttles(live), raise_on_unknown=False)
    live.settle()


def _fall_behind(live: LiveFailures) -> None:
    """Have one broker live, out of sync with some partitions, and unable to catch up soon."""
    topics = _behind_topics(live)
    # Leaders throttle: a follower starts to fetch before it knows of a throttle of its own.
    with live.cluster.admin() as admin:
        admin.alter_configs(_throttles(live), raise_on_unknown=False)
    live.cluster.kill_broker(BEHIND)
    live.cluster.wait_until_fenced(BEHIND)
    live.settled_fates()
    for topic in topics:
        produce(live.cluster, topic.name, dict.fromkeys(range(len(topic.replicas)), WRITTEN_BYTES))
    live.cluster.start_again(BEHIND)
    others = {
        (topic.name, number): frozenset(replicas)
        for topic in live.topics
        if topic not in topics
        for number, replicas in enumerate(topic.replicas)
    }
    fates = live.settled_fates(lambda seen: all(seen[key].isr == replicas for key, replicas in others.items()))
    behind = {key: fate for key, fate in fates.items() if key not in others}
    assert not any(BEHIND in fate.isr for fate in behind.values()), behind


def _behind_topics(live: LiveFailures) -> list[LiveTopic]:
    return [topic for topic in live.topics if topic.name.startswith(BEHIND_PREFIX)]


def _throttles(live: LiveFailures) -> list[ConfigResource]:
    rate, replicas = {"leader.replication.throttled.rate": "1"}, {"leader.replication.throttled.replicas": "*"}
    return [
        *(ConfigResource("TOPIC", topic.name, dict(replicas)) for topic in _behind_topics(live)),
        *(ConfigResource("BROKER", str(broker), dict(rate)) for broker in RACKS if broker != BEHIND),
    ]


def measure_tails(cluster: KafkaCluster) -> Iterator[Tail]:
    """Kill a leader in each rack while its followers, one in each other rack, lag."""
    for leader, *followers in ((1, 3, 5), (3, 6, 2), (5, 2, 4)):
        live = LiveFailures(cluster, tail_topics(leader, *followers), ElectionRules.KRAFT_ELR)
        live.make_topics()
        live.settle()
        tails = kill_with_tail(cluster, leader, followers, live.rules)
        live.recover(leader)
        for tail in tails:
            assert tail.lost == tail.acknowledged - readable(cluster, tail.key), "what was lost is back"
            ways = explored_loss(tail.acks, len(tail.replicas))
            assert not tail.lost or ways, "the explorer knows no way to lose what was lost"
            yield tail


def tail_table(tails: Sequence[Tail]) -> str:
    """Draw a table, a row for each partition."""
    rows = [
        "| `acks` | replicas | acknowledged | followers' log ends | next leader | lost, predicted | lost, measured |",
        "|---|---|--:|---|---|--:|--:|",
    ]
    for each in tails:
        ends = ", ".join(f"broker {broker}: {end}" for broker, end in each.ends.items())
        leader = _beside(each.predicted_leader, each.leader)
        cells = [str(each.acks), ", ".join(map(str, each.replicas)), str(len(each.acknowledged)), ends, leader]
        lost = [str(len(each.predicted_lost)), f"{len(each.lost)}{'' if each.is_as_predicted else ', others'}"]
        rows.append(f"| {' | '.join([*cells, *lost])} |")
    return "\n".join(rows) + "\n"


def table(outcomes: Sequence[Outcome]) -> str:
    """Draw a table, a row for each set: what was predicted, and measured where that differs."""
    heads = [
        *("rules", "killed", "fenced", "partitions", "offline", "under min ISR", "at min ISR"),
        *("new leaders", "unclean", "leaders, ISRs that differ", "records refused"),
    ]
    rows = [f"| {' | '.join(heads)} |", "|---|---|---|" + "--:|" * (len(heads) - 3)]
    for each in outcomes:
        counts = [_beside(each.predicted[name], each.measured[name]) for name in COUNTS]
        wrong = len({key for keys in each.differing.values() for key in keys})
        cells = [str(each.rules), each.name, ", ".join(map(str, each.fenced)), str(each.partitions), *counts]
        rows.append(f"| {' | '.join([*cells, str(wrong), f'{each.refused} of {each.tried}'])} |")
    return "\n".join(rows) + "\n"


def _beside(predicted: int, measured: int) -> str:
    return str(predicted) if predicted == measured else f"{predicted}, measured {measured}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--brokers", type=int, default=len(RACKS), help="how many brokers are killed alone")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    outcomes = []
    with (
        tempfile.TemporaryDirectory() as name,
        KafkaCluster(
            Path(name) / "kafka",
            RACKS,
            settings=SETTINGS,
            log4j=LOG4J,
            controller_ids=(CONTROLLER,),
            features={"eligible.leader.replicas.version": 0},
        ) as cluster,
    ):
        live = LiveFailures(cluster, live_topics(), ElectionRules.KRAFT)
        live.make_topics()
        live.settle()
        for rules in (ElectionRules.KRAFT, ElectionRules.KRAFT_ELR):
            live.rules = rules
            if rules is ElectionRules.KRAFT_ELR:
                with cluster.admin() as admin:
                    admin.update_features({"eligible.leader.replicas.version": 1})
            for outcome in measure(live, list(RACKS)[: given.brokers]):
                outcomes.append(outcome)
                sys.stdout.write(f"{rules}: {outcome.name}: {'as predicted' if outcome.is_as_predicted else outcome}\n")
                sys.stdout.flush()
                _write(given.out, outcomes, [])
        tails = list(measure_tails(cluster))
    sys.stdout.write(_write(given.out, outcomes, tails))
    return 0 if all(each.is_as_predicted for each in outcomes) and all(each.is_as_predicted for each in tails) else 1


def _write(out: Path, outcomes: Sequence[Outcome], tails: Sequence[Tail]) -> str:
    """Write all that was seen, and give the tables."""
    found = {
        "outcomes": [dataclasses.asdict(each) for each in outcomes],
        "tails": [dataclasses.asdict(each) for each in tails],
    }
    (out / "failures.json").write_text(json.dumps(found, indent=1, default=sorted) + "\n", encoding="utf-8")
    drawn = table(outcomes) + ("\n" + tail_table(tails) if tails else "")
    (out / "failures.md").write_text(drawn, encoding="utf-8")
    return drawn


if __name__ == "__main__":
    sys.exit(main())
