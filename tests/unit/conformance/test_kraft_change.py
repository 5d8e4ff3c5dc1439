"""Changes of partitions in KRaft's controller."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.conformance.models.kraft_change import (
    ChangeRules,
    Election,
    MetadataVersion,
    PartitionChange,
    PartitionRegistration,
    PartitionTarget,
    partition_change,
)
from kafka_capacity.conformance.models.leadership import NO_LEADER, RecoveryState
from kafka_capacity.errors import RequestError


def rules(version="4.3", min_isr=2, has_elr=True, **others):
    return ChangeRules(version=MetadataVersion.parse(version), min_isr=min_isr, has_elr=has_elr, **others)


def registered(**fields):
    return PartitionRegistration(**{"replicas": (1, 2, 3), "isr": (1, 2, 3), "leader": 1, **fields})


def changed(before, *acceptable, given_rules=None, **target):
    return partition_change(
        before, PartitionTarget(**target), given_rules or rules(), frozenset(acceptable).__contains__
    )


def test_nothing_to_do_is_no_change():
    assert changed(registered(), 1, 2, 3) is None


def test_who_leaves_an_isr_below_the_minimum_stays_eligible():
    assert changed(registered(isr=(1, 2)), 1, 3, isr=(1,)) == PartitionChange(isr=(1,), elr=(2,))
    assert changed(registered(), 1, 3, isr=(1, 3)) == PartitionChange(isr=(1, 3))


def test_the_eligible_come_in_the_order_of_a_hash_set():
    before = registered(replicas=(17, 2, 33, 1), isr=(33, 17, 2), leader=1)

    assert changed(before, 1, isr=(1,)).elr == (33, 17, 2)


def test_an_unclean_shutdown_is_not_eligible_but_may_be_known_as_former_leader():
    before = registered(isr=(1, 2))

    change = changed(before, 1, isr=(1,), unclean_shutdown=frozenset({2}))
    without_last_leader = changed(
        before, 1, isr=(1,), unclean_shutdown=frozenset({2}), given_rules=rules(uses_last_known_leader=False)
    )

    assert change == PartitionChange(isr=(1,))
    assert without_last_leader == PartitionChange(isr=(1,), last_known_elr=(2,))


def test_an_eligible_replica_leads_cleanly_when_nobody_is_in_sync():
    before = registered(isr=(), elr=(2, 3), leader=NO_LEADER, leader_epoch=5, last_known_elr=(1,))

    change = changed(before, 3, given_rules=rules(min_isr=3))

    assert change == PartitionChange(leader=3, isr=(3,), elr=(2,), last_known_elr=())
    after = before.merge(change)
    assert (after.leader, after.leader_epoch, after.recovery) == (3, 6, RecoveryState.RECOVERED)


def test_the_last_known_leader_comes_back_uncleanly_once_nobody_else_is_eligible():
    lost = registered(isr=(), leader=NO_LEADER, last_known_elr=(2,))

    change = changed(lost, 2, 3)

    assert change == PartitionChange(leader=2, isr=(2,), last_known_elr=(), recovery=RecoveryState.RECOVERING)
    assert changed(lost, 2, 3, given_rules=rules(uses_last_known_leader=False)) is None
    assert changed(registered(isr=(), leader=NO_LEADER, last_known_elr=(2, 1)), 2, 3) is None


def test_the_last_known_leader_does_not_come_back_while_others_are_eligible():
    assert changed(registered(isr=(), elr=(3,), leader=NO_LEADER, last_known_elr=(2,)), 2) is None
    assert changed(registered(isr=(3,), leader=NO_LEADER, last_known_elr=(2,)), 2) is None


def test_the_eligible_do_not_lead_while_anybody_is_in_sync():
    assert changed(registered(isr=(1,), elr=(2,)), 2).leader == NO_LEADER


def test_losing_the_leader_remembers_the_first_one_lost():
    assert changed(registered(isr=(1,), elr=(2,)), 3) == PartitionChange(leader=NO_LEADER, last_known_elr=(1,))
    assert changed(registered(isr=(1,), last_known_elr=(2,)), 3) == PartitionChange(leader=NO_LEADER)


def test_an_unclean_leader_has_nobody_eligible_beside_it_and_stays_in_recovery():
    before = registered(isr=(1,), elr=(2,), leader=NO_LEADER, recovery=RecoveryState.RECOVERING)

    assert changed(before, 3, election=Election.UNCLEAN) == PartitionChange(leader=3, isr=(3,), elr=())


def test_a_new_epoch_of_a_partition_without_leader_remembers_nobody():
    before = registered(isr=(1,), leader=NO_LEADER)

    change = changed(before, given_rules=rules(min_isr=1), replicas=(1, 2))

    assert change == PartitionChange(leader=NO_LEADER, replicas=(1, 2), last_known_elr=(NO_LEADER,))


def test_only_an_unclean_election_takes_a_replica_out_of_sync():
    before = registered(isr=(1,), leader=NO_LEADER)
    old = rules("3.9", has_elr=False)

    assert changed(before, 3, 2, given_rules=old) is None
    assert changed(before, 3, 2, given_rules=old, election=Election.UNCLEAN) == PartitionChange(
        leader=2, isr=(2,), recovery=RecoveryState.RECOVERING
    )


def test_a_preferred_election_moves_a_healthy_leader_and_others_do_not():
    before = registered(leader=3)

    assert changed(before, 1, 2, 3, election=Election.PREFERRED) == PartitionChange(leader=1)
    assert changed(before, 2, 3, election=Election.PREFERRED) is None
    assert changed(before, 1, 2, 3) is None


def test_an_empty_isr_is_written_only_with_eligible_replicas():
    assert changed(registered(isr=(1,)), isr=()).isr == ()
    assert changed(registered(isr=(1,)), isr=(), given_rules=rules(has_elr=False)).isr is None


@pytest.mark.parametrize(("version", "leader"), [("3.5-IV2", 1), ("3.6-IV0", None), ("3.6", None)])
def test_until_3_6_a_smaller_isr_takes_a_new_leader_epoch(version, leader):
    change = changed(registered(), 1, 2, 3, isr=(1, 2), given_rules=rules(version, has_elr=False))

    assert change == PartitionChange(leader=leader, isr=(1, 2))


def test_a_reassignment_is_completed_with_the_isr_that_makes_it_ready():
    before = registered(replicas=(4, 1, 2, 3), adding=(4,), removing=(3,), isr=(1, 2, 3))

    change = changed(before, 1, 2, 3, 4, isr=(1, 2, 3, 4))

    assert change == PartitionChange(leader=1, isr=(1, 2, 4), replicas=(4, 1, 2), adding=(), removing=())


def test_directories_follow_the_replicas_from_3_7_on():
    before = registered(directories=("a", "b", "c"))
    placed = rules("3.7-IV2", default_directory="new on {}".format)

    change = changed(before, 1, 2, 3, 4, replicas=(1, 3, 4), given_rules=placed, isr=(1, 3))

    assert change.directories == ("a", "c", "new on 4")
    assert before.merge(change).directories == ("a", "c", "new on 4")
    earlier = changed(before, 1, 2, 3, 4, replicas=(1, 3, 4), given_rules=rules("3.7-IV1"), isr=(1, 3))
    assert earlier.directories is None
    assert before.merge(earlier).directories == ()


def test_a_version_that_is_none_is_refused():
    with pytest.raises(RequestError, match=r"metadata version 'latest' is not like '4.3' or '3.7-IV4'"):
        MetadataVersion.parse("latest")


@st.composite
def partitions(draw):
    replicas = draw(st.lists(st.integers(0, 40), unique=True, min_size=1, max_size=5))
    isr = [broker for broker in replicas if draw(st.booleans())]
    elr = [broker for broker in replicas if broker not in isr and draw(st.booleans())]
    return PartitionRegistration(
        replicas=tuple(replicas),
        isr=tuple(isr),
        elr=tuple(elr),
        leader=draw(st.sampled_from([NO_LEADER, *isr])),
        last_known_elr=tuple(draw(st.lists(st.sampled_from(replicas), max_size=1))),
    )


@given(
    before=partitions(),
    acceptable=st.frozensets(st.integers(0, 40)),
    election=st.sampled_from(Election),
    min_isr=st.integers(1, 3),
)
def test_whoever_leads_afterwards_may_lead_and_is_in_sync(before, acceptable, election, min_isr):
    acceptable |= frozenset(before.replicas[::2])

    change = changed(before, *acceptable, election=election, given_rules=rules(min_isr=min_isr))
    after = before if change is None else before.merge(change)

    assert after.leader == NO_LEADER or (after.leader in acceptable and after.leader in after.isr)
    assert not set(after.isr) & set(after.elr)
    assert after.leader != NO_LEADER or not acceptable & set(before.isr)
    if election is Election.UNCLEAN:
        assert after.leader != NO_LEADER


@given(before=partitions(), acceptable=st.frozensets(st.integers(0, 40)), election=st.sampled_from(Election))
def test_a_second_election_finds_nothing_more_to_do(before, acceptable, election):
    change = changed(before, *acceptable, election=election)
    after = before if change is None else before.merge(change)

    assert changed(after, *acceptable, election=election) is None
