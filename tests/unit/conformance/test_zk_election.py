"""Elections of the ZooKeeper-era controller."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.conformance.models.leadership import (
    NO_LEADER,
    VALID_PREVIOUS,
    LeaderAndIsr,
    PartitionState,
    RecoveryState,
    ReplicaAssignment,
    ReplicaState,
)
from kafka_capacity.conformance.models.zk_election import BrokerView, Strategy, elect, offline_leader

BROKERS = st.lists(st.integers(0, 6), unique=True, max_size=5)


def assigned(*replicas):
    return ReplicaAssignment(replicas=replicas)


def view(*live, shutting_down=(), offline_dirs=()):
    return BrokerView(
        live=frozenset(live), shutting_down=frozenset(shutting_down), offline_dirs=frozenset(offline_dirs)
    )


def test_the_order_of_the_replicas_decides_not_that_of_the_isr():
    result = elect(Strategy.OFFLINE, assigned(3, 1, 2), LeaderAndIsr(leader=4, isr=(1, 2, 3)), view(1, 2, 3))

    assert result.leader_and_isr == LeaderAndIsr(leader=3, leader_epoch=1, isr=(1, 2, 3))


def test_an_unclean_leader_is_an_isr_of_one_and_recovers_if_the_cluster_knows_of_it():
    before = LeaderAndIsr(leader=NO_LEADER, isr=(1,), leader_epoch=4, partition_epoch=9)

    def unclean(is_recovery_supported):
        return elect(
            Strategy.OFFLINE,
            assigned(1, 2, 3),
            before,
            view(3, 2),
            is_unclean_allowed=True,
            is_recovery_supported=is_recovery_supported,
        ).leader_and_isr

    assert unclean(True) == LeaderAndIsr(
        leader=2, isr=(2,), leader_epoch=5, recovery=RecoveryState.RECOVERING, partition_epoch=9
    )
    assert unclean(False) == LeaderAndIsr(leader=2, isr=(2,), leader_epoch=5, partition_epoch=9)


def test_a_clean_leader_stays_in_recovery():
    before = LeaderAndIsr(leader=1, isr=(1, 2), recovery=RecoveryState.RECOVERING)

    after = elect(Strategy.OFFLINE, assigned(1, 2), before, view(2)).leader_and_isr

    assert after.recovery is RecoveryState.RECOVERING


def test_nothing_known_elects_nobody_and_tells_the_live():
    result = elect(Strategy.OFFLINE, assigned(1, 2), None, view(2))

    assert (result.leader_and_isr, result.recipients) == (None, (2,))
    with pytest.raises(ValueError, match="an election of kind preferred needs to know leader and ISR"):
        elect(Strategy.PREFERRED, assigned(1), None, view(1))


def test_a_reassignment_asks_only_its_target_and_leaves_the_isr_alone():
    moving = ReplicaAssignment(replicas=(1, 2, 3), adding=(3,), removing=(1,))

    result = elect(Strategy.REASSIGN, moving, LeaderAndIsr(leader=1, isr=(1, 3, 2)), view(1, 3))

    assert result.leader_and_isr == LeaderAndIsr(leader=3, leader_epoch=1, isr=(1, 3, 2))
    assert result.recipients == (2, 3)


def test_only_the_first_replica_is_preferred():
    before = LeaderAndIsr(leader=2, isr=(2, 3))

    assert elect(Strategy.PREFERRED, assigned(1, 2, 3), before, view(1, 2, 3)).leader_and_isr is None
    assert elect(Strategy.PREFERRED, assigned(3, 2, 1), before, view(3)).leader_and_isr.leader == 3


def test_a_broker_that_shuts_down_leaves_the_isr_and_is_still_told():
    result = elect(
        Strategy.CONTROLLED_SHUTDOWN,
        assigned(1, 2, 3),
        LeaderAndIsr(leader=1, isr=(1, 2, 3)),
        view(1, 2, shutting_down=[1]),
    )

    assert result.leader_and_isr == LeaderAndIsr(leader=2, leader_epoch=1, isr=(2, 3))
    assert result.recipients == (1, 2)


def test_a_failed_log_directory_is_a_dead_replica():
    result = elect(Strategy.OFFLINE, assigned(1, 2), LeaderAndIsr(leader=1, isr=(1, 2)), view(1, 2, offline_dirs=[1]))

    assert result.leader_and_isr == LeaderAndIsr(leader=2, leader_epoch=1, isr=(2,))


@given(assignment=BROKERS, isr=BROKERS, live=BROKERS, strategy=st.sampled_from(Strategy), down=BROKERS)
def test_an_elected_leader_is_assigned_alive_and_was_in_sync(assignment, isr, live, strategy, down):
    before = LeaderAndIsr(leader=NO_LEADER, isr=tuple(isr), leader_epoch=3)
    brokers = view(*live, shutting_down=down)

    after = elect(strategy, assigned(*assignment), before, brokers).leader_and_isr

    if after is not None:
        assert after.leader in set(assignment) & set(isr) & set(live) - set(down)
        assert after.leader in after.isr
        assert set(after.isr) <= set(isr)
        assert after.leader_epoch == 4


@given(assignment=BROKERS, isr=BROKERS, live=BROKERS)
def test_unclean_elections_only_ever_help(assignment, isr, live):
    clean = offline_leader(assignment, isr, live, is_unclean_allowed=False)
    unclean = offline_leader(assignment, isr, live, is_unclean_allowed=True)

    assert unclean == clean or clean is None
    assert (unclean is None) == (not set(assignment) & set(live))


@given(before=BROKERS, first=BROKERS, second=BROKERS)
def test_a_reassignment_replaced_starts_from_where_the_first_one_started(before, first, second):
    moving = assigned(*before).reassigned_to(first)

    assert moving.origin == tuple(replica for replica in moving.replicas if replica in before)
    assert moving.target == tuple(first)
    assert moving.reassigned_to(second).adding == tuple(replica for replica in second if replica not in before)


def test_a_new_partition_goes_online_only_by_way_of_new():
    assert VALID_PREVIOUS[PartitionState.ONLINE] == {PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE}
    assert VALID_PREVIOUS[PartitionState.NON_EXISTENT] == {PartitionState.OFFLINE}


def test_a_replica_is_deleted_step_by_step_and_may_come_back_from_a_failed_deletion():
    assert VALID_PREVIOUS[ReplicaState.DELETION_STARTED] == {ReplicaState.OFFLINE}
    assert ReplicaState.DELETION_INELIGIBLE in VALID_PREVIOUS[ReplicaState.ONLINE]
    assert ReplicaState.DELETION_STARTED not in VALID_PREVIOUS[ReplicaState.OFFLINE]
