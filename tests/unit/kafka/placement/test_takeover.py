"""Who takes over when a broker or a rack dies: against every order there is, and few lists reordered."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.kafka.placement import BrokerLimits, RackRule, placer
from kafka_capacity.kafka.placement.takeover import level_takeovers
from tests.unit.kafka.placement_kafka.problems import problem


def sent_after(held, produced, consumed, unit_of, lost):
    """What each broker sends after a loss, list by list."""
    found = np.zeros(len(unit_of))
    for row, brokers in enumerate(held):
        alive = [broker for broker in brokers if broker >= 0 and unit_of[broker] != lost]
        if alive:
            found[alive[0]] += consumed[row] + produced[row] * (len(alive) - 1)
    return found


def worst(held, produced, consumed, rack):
    """The highest load after any loss of a broker, and of a rack, each over the highest mean of those that are left."""
    found = []
    for unit_of in (np.arange(len(rack)), rack):
        losses = [sent_after(held, produced, consumed, unit_of, lost) for lost in range(unit_of.max() + 1)]
        left = [(unit_of != lost).sum() for lost in range(unit_of.max() + 1)]
        found.append(max(map(max, losses)) / max(one.sum() / count for one, count in zip(losses, left, strict=True)))
    return max(found)


def cluster(seed, *, most=8):
    rng = np.random.default_rng(seed)
    brokers, partitions = int(rng.integers(4, 7)), int(rng.integers(5, most + 1))
    rack = np.arange(brokers) if seed % 2 else np.arange(brokers) % 3
    held = np.array([rng.permutation(brokers)[:3] for _ in range(partitions)], dtype=np.int32)
    return held, rng.lognormal(0, 0.7, partitions), rng.lognormal(0, 0.7, partitions), rack.astype(np.int32)


def levelled(held, produced, consumed, rack, **more):
    return level_takeovers(held, produced, consumed, rack=rack, usable=np.ones(len(rack), dtype=np.bool_), **more)


@pytest.mark.parametrize("seed", range(40))
def test_no_other_order_of_followers_leaves_less_on_the_worst_broker(seed):
    held, produced, consumed, rack = cluster(seed)
    after = levelled(held, produced, consumed, rack)
    turned = held[:, [0, 2, 1]]
    best = min(
        worst(np.where(np.array(turns)[:, None], turned, held), produced, consumed, rack)
        for turns in itertools.product((False, True), repeat=len(held))
    )
    assert worst(after, produced, consumed, rack) == pytest.approx(best)
    assert after[:, 0].tolist() == held[:, 0].tolist()
    assert np.sort(after, axis=1).tolist() == np.sort(held, axis=1).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_what_is_level_stays_and_what_is_within_its_limits_too(seed):
    held, produced, consumed, rack = cluster(seed, most=60)
    after = levelled(held, produced, consumed, rack)
    assert levelled(after, produced, consumed, rack).tolist() == after.tolist()
    losses = [
        sent_after(held, produced, consumed, unit_of, lost)
        for unit_of in (np.arange(len(rack)), rack)
        for lost in range(unit_of.max() + 1)
    ]
    most = np.max(losses, axis=0)
    assert levelled(held, produced, consumed, rack, enough=most * (1 + 1e-9)).tolist() == held.tolist()
    assert levelled(held, produced, consumed, rack, enough=most * (1 - 1e-6)).tolist() == after.tolist()


RING = np.array([[0, 1, 2], [0, 1, 2], [1, 0, 2], [2, 0, 1]], dtype=np.int32)
"""Broker 0 leads two partitions, and takes over those of both others."""
THREE = np.arange(3, dtype=np.int32)


def test_only_lists_that_lower_the_worst_are_reordered():
    # Two brokers of six lead twice what the others do: those four may take over from one another what they like.
    heavy = [[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 0, 2], [1, 0, 2], [1, 0, 2]]
    light = [[b, 2 + (b - 1) % 4, 2 + b % 4] for b in range(2, 6)]
    held, rates = np.array([*heavy, *light], dtype=np.int32), np.ones(10)
    after = levelled(held, rates, rates, np.arange(6, dtype=np.int32))
    changed = (after != held).any(axis=1)
    assert changed[:6].any()
    assert not changed[6:].any()


def test_nobody_is_put_first_that_may_not_lead_and_nothing_is_done_without_rates():
    ones = np.ones(4)
    assert levelled(RING, ones, ones, THREE)[:3].tolist() != RING[:3].tolist()
    usable = np.array([True, True, False])
    assert level_takeovers(RING, ones, ones, rack=THREE, usable=usable)[:3].tolist() == RING[:3].tolist()
    assert levelled(RING, 0 * ones, 0 * ones, THREE).tolist() == RING.tolist()


def test_lists_of_two_and_of_none_stay():
    held = np.array([*RING.tolist(), [0, 1, -1], [-1, -1, -1]], dtype=np.int32)
    after = levelled(held, np.ones(6), np.ones(6), THREE)
    assert (after != held).any()
    assert after[4:].tolist() == held[4:].tolist()
    assert levelled(held[:, :2], np.ones(6), np.ones(6), THREE).tolist() == held[:, :2].tolist()
    assert levelled(held[:0], np.ones(0), np.ones(0), THREE).tolist() == []


@pytest.mark.parametrize(("network", "is_turned"), [(14e6, True), (18e6, False), (float("nan"), False)])
def test_a_plan_turns_followers_where_a_loss_would_bring_a_broker_near_its_limit(network, is_turned):
    """Six brokers lead two partitions each, which the next two follow: 8 MB/s sent, 14 after a loss, 11 in turns."""
    ring = [[broker, broker % 6 + 1, (broker + 1) % 6 + 1] for broker in range(1, 7) for _ in range(2)]
    rates = np.full(12, 1e6)
    asked = replace(
        problem({"orders": ring}, [1, 2, 3, 4, 5, 6], rack_rule=RackRule.OFF),
        bytes_in_bytes_per_second=rates,
        limit_out_bytes_per_second=2 * rates,
        broker_limits=BrokerLimits.of(6, network_out_bytes_per_second=network),
    )
    placed = placer("fewest-bytes").place(asked)
    assert (placed.tolist() != ring) is is_turned
    most = max(sent_after(placed - 1, rates, 2 * rates, np.arange(6), lost).max() for lost in range(6))
    assert most == (11e6 if is_turned else 14e6)
    assert placed[:, 0].tolist() == [row[0] for row in ring]
