"""Losses of brokers over arrays, against the rules for one partition."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.conformance.models.kraft_change import (
    ChangeRules,
    Election,
    MetadataVersion,
    PartitionRegistration,
    PartitionTarget,
    partition_change,
)
from kafka_capacity.conformance.models.leadership import LeaderAndIsr, PartitionState, ReplicaAssignment, ReplicaState
from kafka_capacity.conformance.models.zk_election import BrokerView, Strategy
from kafka_capacity.conformance.models.zk_machine import ControlledPartition
from kafka_capacity.kafka.controller.failing import BrokerRows, ElectionRules, fail_brokers, losses
from kafka_capacity.kafka.controller.partition_states import PartitionStates
from tests.examples import at_most

BROKERS = 6


@dataclasses.dataclass(frozen=True)
class One:
    """One partition, in broker positions."""

    replicas: tuple[int, ...]
    isr: frozenset[int]
    elr: frozenset[int]
    leader: int
    min_isr: int
    is_unclean_allowed: bool


@st.composite
def partitions(draw, dead):
    """Draw a partition that Kafka could have: live members of the ISR lead; a dead one is in it only as the last."""
    replicas = tuple(draw(st.permutations(range(BROKERS)))[: draw(st.integers(1, 4))])
    live = [broker for broker in replicas if broker not in dead]
    isr = frozenset(draw(st.sets(st.sampled_from(live)))) if live else frozenset()
    min_isr = draw(st.integers(1, len(replicas)))
    outside = [broker for broker in replicas if broker not in isr]
    elr = frozenset()
    if 0 < len(isr) < min_isr and outside:
        elr = frozenset(draw(st.sets(st.sampled_from(outside))))
    if isr:
        leader = draw(st.sampled_from(sorted(isr)))
    else:
        leader = -1
        gone = [broker for broker in replicas if broker in dead]
        isr = frozenset(gone[:1])
    # Where an unclean election is allowed, nothing with a live replica stays without a leader.
    return One(replicas, isr, elr, leader, min_isr, (leader >= 0 or not live) and draw(st.booleans()))


@st.composite
def clusters(draw):
    """Draw dead brokers, partitions and sets to lose."""
    dead = frozenset(draw(st.sets(st.integers(0, BROKERS - 1), max_size=2)))
    found = draw(st.lists(partitions(dead), min_size=1, max_size=6))
    sets = draw(st.lists(st.lists(st.integers(0, BROKERS - 1), unique=True, max_size=BROKERS), min_size=1, max_size=5))
    return dead, found, sets


def packed(found, dead, *, with_elr):
    width = max(len(one.replicas) for one in found)
    rows = [[*one.replicas, *([-1] * (width - len(one.replicas)))] for one in found]
    replicas = np.array(rows, dtype=np.int32)
    is_live = np.array([broker not in dead for broker in range(BROKERS)])

    def flags(name):
        return np.array([[b in getattr(one, name) for b in row] for one, row in zip(found, rows, strict=True)])

    return PartitionStates.of(
        replicas,
        flags("isr"),
        np.array([one.leader for one in found], dtype=np.int32),
        min_insync_replicas=np.array([one.min_isr for one in found], dtype=np.int32),
        is_unclean_allowed=np.array([one.is_unclean_allowed for one in found]),
        is_live=is_live,
        eligible=flags("elr") if with_elr else None,
    )


def read(states, row):
    """Give (leader, ISR, ELR) in broker positions."""
    replicas = states.replicas[row]
    leader = int(replicas[states.leader[row]]) if states.leader[row] >= 0 else -1
    return leader, set(replicas[states.in_sync[row]].tolist()), set(replicas[states.eligible[row]].tolist())


def by_kraft(one, dead, lost, *, has_elr):
    rules = ChangeRules(version=MetadataVersion.parse("4.3"), min_isr=one.min_isr, has_elr=has_elr)
    now = PartitionRegistration(
        replicas=one.replicas,
        isr=tuple(b for b in one.replicas if b in one.isr),
        elr=tuple(b for b in one.replicas if b in one.elr) if has_elr else (),
        leader=one.leader,
    )
    gone = set(dead)
    for broker in sorted(set(lost) - dead):
        gone.add(broker)
        if broker not in now.isr:
            continue
        target = PartitionTarget(
            election=Election.UNCLEAN if one.is_unclean_allowed else Election.ONLINE,
            isr=tuple(b for b in now.isr if b != broker),
        )
        change = partition_change(now, target, rules, acceptable=lambda b: b not in gone)
        now = now if change is None else now.merge(change)
    return now.leader, set(now.isr), set(now.elr)


def by_zookeeper(one, dead, lost):
    gone = sorted(set(lost) - dead)
    before = LeaderAndIsr(leader=one.leader, isr=tuple(b for b in one.replicas if b in one.isr))
    partition = ControlledPartition(
        assignment=ReplicaAssignment(replicas=one.replicas),
        brokers=BrokerView(live=frozenset(range(BROKERS)) - dead - set(gone)),
        is_unclean_allowed=one.is_unclean_allowed,
        state=PartitionState.ONLINE if one.leader >= 0 else PartitionState.OFFLINE,
        replica_states=dict.fromkeys(one.replicas, ReplicaState.ONLINE),
        known=before,
        znode=before,
    )
    mine = [broker for broker in gone if broker in one.replicas]
    if mine:
        if one.leader in gone:
            partition.move(PartitionState.OFFLINE)
        if partition.state is PartitionState.OFFLINE:
            partition.move(PartitionState.ONLINE, Strategy.OFFLINE)
        for broker in mine:
            partition.move_replica(broker, ReplicaState.OFFLINE)
    return partition.znode.leader, set(partition.znode.isr), set()


def expected(rules, one, dead, lost):
    if rules is ElectionRules.ZOOKEEPER:
        return by_zookeeper(one, dead, lost)
    return by_kraft(one, dead, lost, has_elr=rules is ElectionRules.KRAFT_ELR)


@pytest.mark.parametrize("rules", ElectionRules)
@at_most(80)
@given(clusters())
def test_many_partitions_end_as_the_rules_for_one_say(rules, drawn):
    dead, found, sets = drawn
    states = packed(found, dead, with_elr=rules is ElectionRules.KRAFT_ELR)
    seen = {(number, row): read(states, row) for number in range(len(sets)) for row in range(len(found))}
    for part in losses(states, sets, rules):
        for place, (number, row) in enumerate(zip(part.of.tolist(), part.row.tolist(), strict=True)):
            seen[part.first + number, row] = read(part.after, place)

    for number, lost in enumerate(sets):
        whole = fail_brokers(states, lost, rules)
        for row, one in enumerate(found):
            assert seen[number, row] == expected(rules, one, dead, lost)
            assert read(whole, row) == seen[number, row]


@pytest.mark.parametrize("rules", ElectionRules)
@at_most(80)
@given(clusters(), st.integers(0, BROKERS - 1))
def test_losing_more_brings_nothing_back(rules, drawn, another):
    dead, found, sets = drawn
    states = packed(found, dead, with_elr=rules is ElectionRules.KRAFT_ELR)
    for lost in sets:
        fewer, more = (fail_brokers(states, brokers, rules) for brokers in (lost, [*lost, another]))
        assert not (fewer.is_offline & ~more.is_offline).any()


@at_most(80)
@given(clusters(), st.permutations(range(BROKERS)))
def test_other_names_of_brokers_change_nothing_without_eligible_leaders(drawn, names):
    dead, found, sets = drawn
    states = packed(found, dead, with_elr=False)
    table = np.array([*names, -1], dtype=np.int32)
    is_live = np.empty(BROKERS, dtype=bool)
    is_live[list(names)] = states.is_live
    renamed = dataclasses.replace(states, replicas=table[states.replicas], is_live=is_live)
    for lost in sets:
        plain = fail_brokers(states, lost, ElectionRules.KRAFT)
        other = fail_brokers(renamed, [names[broker] for broker in lost], ElectionRules.KRAFT)
        assert plain.leader.tolist() == other.leader.tolist()
        assert (plain.is_unclean[~plain.is_offline] == other.is_unclean[~plain.is_offline]).all()


@pytest.mark.parametrize("rules", ElectionRules)
@at_most(80)
@given(clusters(), st.randoms())
def test_who_leads_does_not_depend_on_who_is_fenced_first(rules, drawn, random):
    dead, found, sets = drawn
    states = packed(found, dead, with_elr=rules is ElectionRules.KRAFT_ELR)
    for lost in sets:
        together, one_by_one = fail_brokers(states, lost, rules), states
        for broker in random.sample(lost, len(lost)):
            one_by_one = fail_brokers(one_by_one, [broker], rules)
        led = ~together.is_offline
        assert together.leader.tolist() == one_by_one.leader.tolist()
        assert (together.in_sync[led] == one_by_one.in_sync[led]).all()
        assert (together.is_unclean[led] == one_by_one.is_unclean[led]).all()


def test_partitions_are_found_by_their_brokers():
    held = BrokerRows.of(np.array([[0, 2], [2, 1], [1, -1]], dtype=np.int32), 4)

    assert held.of_brokers([2]).tolist() == [0, 1]
    assert held.of_brokers([0, 1]).tolist() == [0, 1, 2]
    assert held.of_brokers([3]).tolist() == []
    assert held.count_on([1, 2]) == 4


def test_sets_come_in_order_however_they_are_put_together():
    states = packed([One((0, 1), frozenset({0, 1}), frozenset(), 0, 1, False)], frozenset(), with_elr=False)
    sets = [[0], [], [1], [0, 1]]

    together = list(losses(states, sets, ElectionRules.KRAFT))
    single = list(losses(states, sets, ElectionRules.KRAFT, max_sets=1))
    assert [(part.first, part.count) for part in together] == [(0, 4)]
    assert [(part.first, part.count) for part in single] == [(0, 1), (1, 1), (2, 1), (3, 1)]
    assert together[0].of.tolist() == [0, 2, 3]
    assert together[0].after.leader.tolist() == [1, 0, -1]
