"""Brokers killed for real, and what became of each partition beside what was predicted of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from kafka import KafkaProducer
from kafka.errors import KafkaError

from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.controller.failing import ElectionRules, fail_brokers
from kafka_capacity.kafka.controller.partition_states import PartitionStates, states_of
from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.scenario import FailureScenario, FailureSet, SetKind
from tests.live.cluster import START_SECONDS, KafkaCluster
from tests.live.experiments import Mistimed, again_where_mistimed

COUNTS = ("offline", "under_min_isr", "at_min_isr", "new_leaders", "unclean_leaders")
NOBODY = -1
REFUSED = "NotEnoughReplicasError"
Key = tuple[str, int]
_FENCED = re.compile(r"^(\d+) INFO +.*Fencing broker (\d+)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTopic:
    """A topic to fail brokers under.

    Attributes:
        name: of the topic.
        replicas: of each partition, the preferred leader first.
        min_isr: ``min.insync.replicas``; may be above the replication factor.
        is_unclean_allowed: ``unclean.leader.election.enable``.
    """

    name: str
    replicas: tuple[tuple[int, ...], ...]
    min_isr: int
    is_unclean_allowed: bool


@dataclass(frozen=True, slots=True)
class Fate:
    """What one partition is: who leads, who is in sync, who else may lead (KIP-966)."""

    leader: int
    isr: frozenset[int]
    eligible: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One set of brokers that was killed, beside its prediction.

    Attributes:
        name: of the set.
        rules: by which leaders are elected.
        fenced: the brokers in the order in which the controller fenced them.
        partitions: how many there are.
        predicted: each of :data:`COUNTS`, as ``evaluate_failures`` gives it.
        measured: the same, from the cluster's metadata.
        differing: by aspect, the partitions that are not as predicted. ``isr`` is of partitions with a leader,
            ``isr_in_order`` and ``eligible`` of all, predicted in the order in which brokers were fenced.
        refused: how many partitions with a leader refused a record with ``acks=all``.
        tried: how many were tried.
    """

    name: str
    rules: ElectionRules
    fenced: tuple[int, ...]
    partitions: int
    predicted: Mapping[str, int]
    measured: Mapping[str, int]
    differing: Mapping[str, list[Key]]
    refused: int
    tried: int

    @property
    def is_as_predicted(self) -> bool:
        return not any(self.differing.values()) and self.predicted == self.measured


@dataclass(slots=True)
class LiveFailures:
    """Kills brokers of one cluster, whose controllers have nodes of their own.

    Attributes:
        cluster: real brokers.
        topics: all that it has.
        rules: by which its controller elects.
    """

    cluster: KafkaCluster
    topics: Sequence[LiveTopic]
    rules: ElectionRules

    def make_topics(self) -> None:
        """Make the topics, and write a record to each partition."""
        wanted = {
            topic.name: {
                "assignments": {number: list(brokers) for number, brokers in enumerate(topic.replicas)},
                "configs": {
                    "min.insync.replicas": str(topic.min_isr),
                    "unclean.leader.election.enable": str(topic.is_unclean_allowed).lower(),
                },
            }
            for topic in self.topics
        }
        with self.cluster.admin() as admin:
            admin.create_topics(wanted, wait_for_metadata=True)
        refused = {key: error for key, error in self.write(self.fates(), acks="all").items() if error}
        assert not refused, f"written to with everyone in sync: {refused}"

    def snapshot(self) -> Snapshot:
        """Read the inventory as the product does."""
        connection = KafkaConnection(bootstrap_servers=self.cluster.bootstrap_servers())
        return build_snapshot(read_cluster(connection, cluster="live", ds="2026-11-20"))

    def fates(self) -> dict[Key, Fate]:
        """Ask the cluster about every partition, with nothing of the code under test."""
        names = [topic.name for topic in self.topics]
        answer: dict[str, Any] = self.cluster.ask(
            lambda admin: admin.describe_topic_partitions(names), "partitions described"
        )
        assert answer["next_cursor"] is None
        return {
            (topic["name"], each["partition_index"]): Fate(
                each["leader_id"], frozenset(each["isr_nodes"]), frozenset(each["eligible_leader_replicas"] or ())
            )
            for topic in answer["topics"]
            for each in topic["partitions"]
        }

    def settled_fates(self, is_so: Callable[[dict[Key, Fate]], bool] = lambda _: True) -> dict[Key, Fate]:
        """Ask until nothing changes any more, and this is so."""
        seen: list[dict[Key, Fate]] = []

        def is_settled() -> bool:
            seen.append(self.fates())
            time.sleep(0.5)
            return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3] and is_so(seen[-1])

        self.cluster.wait_for(is_settled, "partitions settled")
        return seen[-1]

    def kill(self, name: str, *lost: int) -> Outcome:
        """Take the inventory, kill brokers all at once, and compare.

        Where others were fenced, too, because the machine was busy, all is started again and they are killed again.
        """

        def killed() -> Outcome:
            return self.kill_further(name, lost, snapshot=self.snapshot(), before=self.fates())

        return again_where_mistimed(killed, lambda: self.recover(*lost))

    def kill_further(
        self,
        name: str,
        lost: Sequence[int],
        *,
        snapshot: Snapshot,
        before: Mapping[Key, Fate],
        dead: Sequence[int] = (),
    ) -> Outcome:
        """Kill brokers all at once, and compare with what an inventory from before any loss lets expect.

        Args:
            name: of the set.
            lost: who is killed now.
            snapshot: from before any loss.
            before: all partitions, likewise.
            dead: who was killed since, in the order in which they were fenced.
        """
        since = time.time()
        self.cluster.kill_broker(*lost)
        self.cluster.wait_until_fenced(*lost)
        # The broker that is asked may hear of it last.
        after = self.settled_fates(lambda seen: not any(_is_led_with(fate, lost) for fate in seen.values()))
        order = tuple(broker for at, broker in self.fencings() if at >= since)
        if set(order) - set(lost):
            raise Mistimed(f"killed {lost}, and fenced were {order}")
        assert sorted(order) == sorted(lost), f"killed {lost}, fenced {order}"
        refusals = self.write(after, acks="all")
        leader_only = self.write(after, acks=1)
        return self._compared(name, snapshot, before, after, (dead, lost), (*dead, *order), refusals, leader_only)

    def recover(self, *brokers: int) -> None:
        """Start brokers again, and wait until everything is as it was."""
        self.cluster.start_again(*brokers)
        self.settle()

    def settle(self) -> None:
        """Wait until all replicas are in sync, and have the preferred ones lead."""
        wanted = {
            (topic.name, number): Fate(replicas[0], frozenset(replicas), frozenset())
            for topic in self.topics
            for number, replicas in enumerate(topic.replicas)
        }
        everyone = {key: fate.isr for key, fate in wanted.items()}
        self.cluster.wait_for(lambda: {key: fate.isr for key, fate in self.fates().items()} == everyone, "all in sync")

        def is_led_as_wanted() -> bool:
            with self.cluster.admin() as admin:
                admin.elect_leaders(0)
            return self.fates() == wanted

        self.cluster.wait_for(is_led_as_wanted, "preferred leaders")

    def write(self, fates: Mapping[Key, Fate], *, acks: int | str) -> dict[Key, str]:
        """Write a record to each partition that is led; give the errors, empty where there is none.

        A leader that does not know yet that it is one is asked again; one that refuses is not.
        """
        errors = {key: "not tried" for key, fate in fates.items() if fate.leader != NOBODY}
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            open_keys = [key for key, error in errors.items() if error not in ("", REFUSED)]
            if not open_keys:
                break
            time.sleep(0.3)
            errors |= self._written(open_keys, acks)
        return errors

    def _written(self, keys: Sequence[Key], acks: int | str) -> dict[Key, str]:
        producer = KafkaProducer(
            bootstrap_servers=self.cluster.bootstrap_servers().split(","),
            acks=acks,
            retries=0,
            enable_idempotence=False,
        )
        errors = {}
        try:
            futures = [(key, producer.send(key[0], b"a record", partition=key[1])) for key in keys]
            for key, future in futures:
                try:
                    future.get(60)
                    errors[key] = ""
                except KafkaError as error:
                    errors[key] = type(error).__name__
        except KafkaError as error:  # the producer knows of no partitions yet
            errors |= {key: type(error).__name__ for key in keys if key not in errors}
        finally:
            producer.close(timeout=5)
        return errors

    def fencings(self) -> list[tuple[float, int]]:
        """Return when which broker was fenced, by the controllers' logs."""
        found = []
        for node in self.cluster.nodes.values():
            if node.is_controller:
                log = self.cluster.log(node.broker_id)
                found += [(int(at) / 1000, int(broker)) for at, broker in _FENCED.findall(log)]
        return sorted(found)

    def _compared(
        self,
        name: str,
        snapshot: Snapshot,
        before: Mapping[Key, Fate],
        after: Mapping[Key, Fate],
        lost: tuple[Sequence[int], Sequence[int]],
        order: Sequence[int],
        refusals: Mapping[Key, str],
        leader_only: Mapping[Key, str],
    ) -> Outcome:
        expected = predicted_fates(snapshot, lost, self.rules)
        in_order = predicted_fates(snapshot, [[broker] for broker in order], self.rules)
        assert expected.keys() == after.keys()
        least = {
            (topic.name, number): min(topic.min_isr, len(replicas))
            for topic in self.topics
            for number, replicas in enumerate(topic.replicas)
        }
        refusing = {key for key, fate in expected.items() if len(fate.isr) < least[key]}
        differing: dict[str, Iterable[Key]] = {
            "leader": (key for key, fate in expected.items() if fate.leader != after[key].leader),
            "isr": (key for key, fate in expected.items() if fate.leader >= 0 and fate.isr != after[key].isr),
            "isr_in_order": (key for key, fate in in_order.items() if fate.isr != after[key].isr),
            "eligible": (key for key, fate in in_order.items() if fate.eligible != after[key].eligible),
            "acks_all": (key for key, error in refusals.items() if error != (REFUSED if key in refusing else "")),
            "acks_1": (key for key, error in leader_only.items() if error),
        }
        return Outcome(
            name=name,
            rules=self.rules,
            fenced=tuple(order),
            partitions=len(after),
            predicted=predicted_counts(snapshot, lost, self.rules),
            measured=_counted(before, after, least),
            differing={aspect: sorted(keys) for aspect, keys in differing.items()},
            refused=sum(error == REFUSED for error in refusals.values()),
            tried=len(refusals),
        )


def predicted_fates(snapshot: Snapshot, steps: Sequence[Sequence[int]], rules: ElectionRules) -> dict[Key, Fate]:
    """Predict every partition once these brokers are lost, step after step."""
    states = states_of(snapshot)
    for step in steps:
        states = fail_brokers(states, snapshot.brokers.index_of(np.array(step, dtype=np.int32)).tolist(), rules)
    return _fates_of(snapshot, states)


def lost_together(brokers: Sequence[int]) -> FailureSet:
    """Return a set of losses that is asked for."""
    return FailureSet(kind=SetKind.GIVEN, name=f"brokers {list(brokers)}", brokers=tuple(brokers))


def predicted_counts(
    snapshot: Snapshot, lost: tuple[Sequence[int], Sequence[int]], rules: ElectionRules
) -> dict[str, int]:
    """Predict the counts that users see."""
    nothing = np.zeros(len(snapshot.partitions))
    load = PartitionLoad(
        bytes_in_mean_bytes_per_second=nothing,
        bytes_in_peak_bytes_per_second=nothing,
        bytes_out_mean_bytes_per_second=nothing,
        bytes_out_peak_bytes_per_second=nothing,
        hours=1,
    )
    everyone = lost_together(sorted({*lost[0], *lost[1]}))
    result = evaluate_failures(snapshot, load, FailureScenario(given=(everyone,), rules=rules))
    (number,) = (
        number
        for number, one in enumerate(result.sets)
        if one.brokers == everyone.brokers and (one.kind != "given" if lost[0] else one.kind == "given")
    )
    return {name: int(getattr(result, name)[number]) for name in COUNTS}


def _is_led_with(fate: Fate, lost: Sequence[int]) -> bool:
    return fate.leader in lost or (fate.leader != NOBODY and not fate.isr.isdisjoint(lost))


def _fates_of(snapshot: Snapshot, states: PartitionStates) -> dict[Key, Fate]:
    ids, fates = snapshot.brokers.ids, {}
    for row in range(len(states)):
        replicas = [int(ids[place]) if place >= 0 else NOBODY for place in states.replicas[row]]
        slot = int(states.leader[row])
        key = (snapshot.partitions.topics[snapshot.partitions.topic[row]], int(snapshot.partitions.partition[row]))
        fates[key] = Fate(
            replicas[slot] if slot >= 0 else NOBODY,
            frozenset(broker for broker, is_in in zip(replicas, states.in_sync[row], strict=True) if is_in),
            frozenset(broker for broker, is_in in zip(replicas, states.eligible[row], strict=True) if is_in),
        )
    return fates


def _counted(before: Mapping[Key, Fate], after: Mapping[Key, Fate], least: Mapping[Key, int]) -> dict[str, int]:
    led = {key: fate for key, fate in after.items() if fate.leader != NOBODY}
    return {
        "offline": len(after) - len(led),
        "under_min_isr": sum(len(fate.isr) < least[key] for key, fate in led.items()),
        "at_min_isr": sum(len(fate.isr) == least[key] for key, fate in led.items()),
        "new_leaders": sum(fate.leader != before[key].leader for key, fate in led.items()),
        "unclean_leaders": sum(fate.leader not in before[key].isr for key, fate in led.items()),
    }
