"""The state machines of the ZooKeeper-era controller."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kafka_capacity.conformance.models.leadership import (
    NO_LEADER,
    VALID_PREVIOUS,
    LeaderAndIsr,
    PartitionState,
    RecoveryState,
    ReplicaAssignment,
    ReplicaState,
)
from kafka_capacity.conformance.models.zk_election import BrokerView, Strategy
from kafka_capacity.conformance.models.zk_machine import ControlledPartition
from kafka_capacity.errors import PlacementError


def live(*brokers):
    return BrokerView(live=frozenset(brokers))


def partition_of(*replicas, brokers=None, **fields):
    return ControlledPartition(
        assignment=ReplicaAssignment(replicas=replicas), brokers=brokers or live(*replicas), **fields
    )


def online(*replicas, **fields):
    partition = partition_of(*replicas, state=PartitionState.NEW, **fields)
    partition.replica_states = dict.fromkeys(replicas, ReplicaState.ONLINE)
    partition.move(PartitionState.ONLINE)
    return partition


def moved_replica(partition, replica, *states):
    return [partition.move_replica(replica, state) for state in states]


def test_a_partition_cannot_skip_the_state_new():
    partition = partition_of(1, 2)

    refusal = partition.move(PartitionState.ONLINE, Strategy.OFFLINE)

    assert refusal.reason == (
        "OnlinePartition follows on NewPartition, OfflinePartition, OnlinePartition, not on NonExistentPartition"
    )
    assert not refusal.is_told
    assert partition.state is PartitionState.NON_EXISTENT


def test_the_first_live_replica_leads_a_new_partition_and_the_live_ones_are_in_sync():
    partition = partition_of(1, 2, 3, brokers=live(3, 2))

    partition.move(PartitionState.NEW)
    partition.move(PartitionState.ONLINE)

    assert partition.znode == partition.known == LeaderAndIsr(leader=2, isr=(2, 3))
    assert partition.preferred_replica_imbalance_count == 1


def test_a_new_partition_without_live_replicas_stays_new():
    partition = partition_of(1, 2, brokers=live(3))
    partition.move(PartitionState.NEW)

    refusal = partition.move(PartitionState.ONLINE, Strategy.OFFLINE)

    assert (refusal.reason, refusal.is_told) == ("none of the replicas [1, 2] is alive", False)
    assert partition.state is PartitionState.NEW
    partition.brokers = live(2)
    assert partition.move(PartitionState.ONLINE, Strategy.OFFLINE) is None
    assert partition.znode.leader == 2


def test_a_partition_deleted_and_made_again_finds_its_old_node():
    partition = online(1)
    for state in (PartitionState.OFFLINE, PartitionState.NON_EXISTENT, PartitionState.NEW):
        partition.move(state)

    assert partition.move(PartitionState.ONLINE, Strategy.OFFLINE).kafka_type == "NodeExistsException"
    assert partition.state is PartitionState.NEW


def test_an_election_that_fails_is_told_and_leaves_everything():
    partition = online(1, 2)
    before = partition.znode
    partition.brokers = live()
    partition.move(PartitionState.OFFLINE)

    refusal = partition.move(PartitionState.ONLINE, Strategy.OFFLINE)

    assert refusal.reason == ("nobody can lead by the strategy offline: replicas [1, 2], ISR [1, 2], live brokers []")
    assert refusal.is_told
    assert (partition.znode, partition.offline_partition_count) == (before, 1)


def test_an_election_needs_a_strategy_and_a_node():
    partition = online(1)
    assert partition.move(PartitionState.ONLINE).kafka_type == "IllegalArgumentException"

    never_led = partition_of(1, state=PartitionState.OFFLINE)
    assert never_led.move(PartitionState.ONLINE, Strategy.OFFLINE).reason == "ZooKeeper has no leader and ISR of it"


def test_unclean_elections_are_the_topics_choice_or_forced():
    def after_loss(**how):
        partition = online(1, 2, is_unclean_allowed=how.get("topic", False))
        partition.alter_isr([1])
        partition.brokers = live(2)
        partition.move(PartitionState.OFFLINE)
        partition.move(PartitionState.ONLINE, Strategy.OFFLINE, is_unclean_forced=how.get("forced", False))
        return partition

    assert after_loss().state is PartitionState.OFFLINE
    for how in ({"topic": True}, {"forced": True}):
        assert after_loss(**how).znode == LeaderAndIsr(
            leader=2, leader_epoch=1, isr=(2,), recovery=RecoveryState.RECOVERING, partition_epoch=2
        )


def test_a_live_replica_in_sync_that_is_not_assigned_forbids_unclean_elections():
    partition = online(1, 2, is_unclean_allowed=True)
    partition.alter_isr([9])
    partition.brokers = live(2, 9)

    assert partition.move(PartitionState.ONLINE, Strategy.OFFLINE, is_unclean_forced=True).is_told


def test_a_leader_that_goes_offline_leaves_nobody_and_the_partition_online():
    partition = online(1, 2)

    partition.move_replica(1, ReplicaState.OFFLINE)

    assert partition.znode == LeaderAndIsr(leader=NO_LEADER, leader_epoch=1, isr=(2,), partition_epoch=1)
    assert (partition.state, partition.offline_partition_count) == (PartitionState.ONLINE, 0)
    assert partition.preferred_replica_imbalance_count == 1


def test_the_last_in_sync_replica_stays_in_the_isr():
    partition = online(1)

    partition.move_replica(1, ReplicaState.OFFLINE)

    assert (partition.znode.leader, partition.znode.isr) == (NO_LEADER, (1,))


def test_a_replica_out_of_sync_goes_offline_without_a_write():
    partition = online(1, 2)
    partition.alter_isr([1])

    partition.move_replica(2, ReplicaState.OFFLINE)

    assert partition.znode == LeaderAndIsr(leader=1, isr=(1,), partition_epoch=1)


def test_a_leader_cannot_become_a_new_replica():
    partition = partition_of(1, state=PartitionState.NEW)
    partition.move(PartitionState.ONLINE, Strategy.OFFLINE)

    assert partition.move_replica(1, ReplicaState.NEW).reason == "replica 1 is the leader"
    assert partition.replica_states == {1: ReplicaState.NON_EXISTENT}


def test_a_new_replica_that_is_not_assigned_is_added():
    partition = online(1)

    moved_replica(partition, 5, ReplicaState.NEW, ReplicaState.ONLINE)

    assert partition.assignment.replicas == (1, 5)


DELETION = (
    ReplicaState.OFFLINE,
    ReplicaState.DELETION_STARTED,
    ReplicaState.DELETION_SUCCESSFUL,
    ReplicaState.NON_EXISTENT,
)


def test_a_deleted_replica_leaves_the_assignment():
    partition = online(1, 2)

    assert moved_replica(partition, 1, *DELETION) == [None] * 4

    assert partition.assignment.replicas == (2,)
    assert partition.replica_states == {2: ReplicaState.ONLINE}
    assert partition.preferred_replica_imbalance_count == 1


def test_deleting_the_last_replica_fails_half_way():
    partition = online(1)

    *_, refusal = moved_replica(partition, 1, *DELETION)

    assert refusal.kafka_type == "java.util.NoSuchElementException"
    assert partition.assignment.replicas == ()
    assert partition.replica_states == {1: ReplicaState.DELETION_SUCCESSFUL}
    assert partition.preferred_replica_imbalance_count == 0
    with pytest.raises(PlacementError, match="the partition has a leader and no replicas, so nobody is preferred"):
        partition.assign(ReplicaAssignment(replicas=(2,)))
    assert partition.assignment.replicas == (2,)


def test_a_preferred_replica_that_is_being_added_counts_until_it_is_in_sync():
    partition = online(1, 2)

    partition.assign(partition.assignment.reassigned_to([3, 1]))
    assert partition.preferred_replica_imbalance_count == 0
    partition.alter_isr([1, 2, 3])
    assert partition.preferred_replica_imbalance_count == 1


class AnyLife(RuleBasedStateMachine):
    """Whatever happens to a partition, what it says of itself fits together."""

    @initialize(replicas=st.lists(st.integers(0, 4), unique=True, min_size=1, max_size=4))
    def create(self, replicas):
        self.partition = online(*replicas)
        self.epochs = (0, 0)

    @rule(brokers=st.frozensets(st.integers(0, 6)), leaving=st.frozensets(st.integers(0, 6), max_size=2))
    def brokers_come_and_go(self, brokers, leaving):
        self.partition.brokers = BrokerView(live=brokers, shutting_down=leaving)

    @rule(state=st.sampled_from(PartitionState), strategy=st.none() | st.sampled_from(Strategy), forced=st.booleans())
    def partition_moves(self, state, strategy, forced):
        before = self.partition.state
        refusal = self.partition.move(state, strategy, is_unclean_forced=forced)
        assert self.partition.state is (state if refusal is None else before)

    @rule(replica=st.integers(0, 6), state=st.sampled_from(ReplicaState))
    def replica_moves(self, replica, state):
        before = self.partition.replica_states.get(replica, ReplicaState.NON_EXISTENT)
        refusal = self.partition.move_replica(replica, state)
        after = self.partition.replica_states.get(replica, ReplicaState.NON_EXISTENT)
        assert after is (state if refusal is None else before)
        assert refusal is not None or before in VALID_PREVIOUS[state]

    @rule(replicas=st.lists(st.integers(0, 6), unique=True, min_size=1, max_size=3))
    def reassignment_starts(self, replicas):
        if self.partition.assignment.replicas:
            self.partition.assign(self.partition.assignment.reassigned_to(replicas))

    @invariant()
    def epochs_only_grow_and_memory_is_what_was_written(self):
        partition = self.partition
        epochs = (partition.znode.leader_epoch, partition.znode.partition_epoch)
        assert epochs >= self.epochs
        self.epochs = epochs
        assert partition.known == partition.znode
        assert partition.znode.isr
        assert partition.znode.leader in {NO_LEADER, *partition.znode.isr}

    @invariant()
    def the_count_is_of_one_partition(self):
        partition = self.partition
        assert partition.preferred_replica_imbalance_count in (0, 1)
        if partition.assignment.replicas and not partition.assignment.adding:
            is_preferred = partition.znode.leader == partition.assignment.replicas[0]
            assert partition.preferred_replica_imbalance_count == int(not is_preferred)


TestAnyLife = AnyLife.TestCase
TestAnyLife.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
