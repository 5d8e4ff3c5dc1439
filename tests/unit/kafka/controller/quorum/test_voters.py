"""Availability of a quorum, against the enumeration of everything that can be up or down."""

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.voters import (
    Voter,
    down_minutes_per_year,
    quorum_unavailability,
    rack_correlated_unavailability,
    tolerated_losses,
)

shares = st.floats(0, 1)


def voters_in(*racks):
    return tuple(Voter(node_id=i, rack=rack) for i, rack in enumerate(racks, start=1))


def enumerated(voters, voter_share, rack_share):
    """Add up the chance of every combination of living racks and voters without a majority."""
    racks = sorted({voter.rack for voter in voters if voter.rack is not None})
    total = 0.0
    for racks_up in product([False, True], repeat=len(racks)):
        up = dict(zip(racks, racks_up, strict=True)) | {None: True}
        of_racks = prod(rack_share if is_up else 1 - rack_share for is_up in racks_up)
        for voters_up in product([False, True], repeat=len(voters)):
            chance = of_racks * prod(voter_share if is_up else 1 - voter_share for is_up in voters_up)
            alive = sum(is_up and up[voter.rack] for voter, is_up in zip(voters, voters_up, strict=True))
            total += chance if 2 * alive <= len(voters) else 0.0
    return total


@given(st.lists(shares, min_size=1, max_size=7))
def test_voters_that_fail_apart_from_each_other(availability):
    expected = sum(
        prod(a if is_up else 1 - a for a, is_up in zip(availability, ups, strict=True))
        for ups in product([False, True], repeat=len(availability))
        if 2 * sum(ups) <= len(ups)
    )

    assert quorum_unavailability(availability) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=5), shares, shares)
def test_voters_that_fail_with_their_rack(racks, voter_share, rack_share):
    voters = voters_in(*racks)

    found = rack_correlated_unavailability(voters, voter_share, rack_share)

    assert found == pytest.approx(enumerated(voters, voter_share, rack_share), abs=1e-12)


@pytest.mark.parametrize(
    ("voters", "share", "minutes"),
    [(1, 0.999, 525.6), (3, 0.999, 1.58), (5, 0.999, 0.005), (3, 0.99, 157), (5, 0.99, 5.2)],
)
def test_minutes_of_a_year(voters, share, minutes):
    assert down_minutes_per_year(quorum_unavailability([share] * voters)) == pytest.approx(minutes, rel=0.05)


def test_small_shares_keep_their_digits():
    assert quorum_unavailability([1 - 1e-9] * 5) == pytest.approx(1e-26, rel=1e-5)


def test_a_rack_with_a_majority_bounds_the_quorum():
    apart, together = voters_in("a", "b", "c"), voters_in("a", "a", "b")

    assert rack_correlated_unavailability(together, 1.0, 0.99) == pytest.approx(0.01)
    assert rack_correlated_unavailability(apart, 1.0, 0.99) == pytest.approx(3 * 0.01**2 - 2 * 0.01**3)


def test_a_quorum_survives_what_it_tolerates():
    for count in range(1, 10):
        survived = [lost for lost in range(count + 1) if 2 * (count - lost) > count]
        assert tolerated_losses(count) == max(survived)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: quorum_unavailability([]), "at least one voter"),
        (lambda: quorum_unavailability([0.9, 1.5]), r"not 1\.5"),
        (lambda: rack_correlated_unavailability(voters_in("a"), 0.9, -1), "not -1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(RequestError, match=message):
        call()
