"""Reach a balanced, rack-aware assignment from the one there is, and copy little on the way.

Goals (ordered)
    1. Every partition has its replication factor, on distinct brokers of the target, those its topic is pinned to.
    2. Every partition is spread over the racks that the rack rule asks for.
    3. No broker passes a hard limit: disk and log directories, network in and out, replica count. A limit that no plan
       can keep is passed by as little as can be shown (what it lacks is said by
       :mod:`kafka_capacity.kafka.placement.relaxing`).
    4. Every broker is within the tolerance of its fair share (:mod:`kafka_capacity.kafka.placement.shares`), where the
       replicas' sizes and the rack rule allow it.
    5. The fewest bytes are copied: brokers stop giving as soon as the others are within the tolerance.
    6. By bytes, replica counts and traffic follow the bytes, since every topic gives alike. It costs none.
    7. The leaders are even by bytes produced (by count where no rates are known), within a tenth of what each can
       lead at most; this costs no bytes, since only the order of replica lists changes.
    8. Followers are in an order that levels what is taken over when a broker or a rack dies; this costs no bytes
       likewise. Where there are as many brokers as before, lists are only reordered so where a loss would bring one
       near what its network can send.

Constraints (mandatory)
    1 and 2.

Algorithm
    Keep every replica whose broker stays, unless the rack rule, a pin or a lower replication factor forbids it
    (:mod:`.filling`, :func:`level_between_homes`). Make the missing replicas, where
    brokers are lowest. Level what is left and relieve brokers above hard limits
    (:mod:`kafka_capacity.kafka.placement.levelling`), topics alike, or the largest replicas first where these would
    find no place any more. Refine small plans to the optimum
    (:mod:`kafka_capacity.kafka.placement.refining`). Take replicas off log directories that are too small for them
    (:mod:`.overflow_relief`). Then level the leaders (:mod:`.leading`) and who takes over (:mod:`.takeover`).
    A replica that is made again takes the place in the list of the one it stands for. Nothing is drawn at random, and
    nothing depends on the clock.
    Each step is linear in the replicas but for sorting them.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.errors import PlacementError
from kafka_capacity.kafka.arrays import Flags, Floats, Int32s
from kafka_capacity.kafka.placement.apportionment import one_a_row, within_amount
from kafka_capacity.kafka.placement.filling import give_up_surplus, make_missing
from kafka_capacity.kafka.placement.layout import Layout
from kafka_capacity.kafka.placement.leading import LeaderLevelling
from kafka_capacity.kafka.placement.levelling import Levelling
from kafka_capacity.kafka.placement.overflow_relief import relieve_log_dirs
from kafka_capacity.kafka.placement.problem import Balance, PlacementProblem, RackRule
from kafka_capacity.kafka.placement.refining import refine
from kafka_capacity.kafka.placement.relaxing import with_attainable_limits
from kafka_capacity.kafka.placement.takeover import level_takeovers
from kafka_capacity.kafka.placement.topics import INVALID_REPLICATION_FACTOR

TAKEOVER_LIMIT_RATIO = 0.8
"""How much of what it may send a broker sends after a loss at most before followers are reordered for its sake."""

_LARGE_RATIOS = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 0.0)  # of a share, above which replicas find a place before smaller ones
_WORTH_LARGEST_FIRST_RATIO = 0.01  # of its share, from which on what a broker is outside the limits is worth a try
_LEFT_OUTSIDE_RATIO = 0.5  # of how far the worst is outside otherwise, at most: topics that give alike come first


def place_with_fewest_bytes(problem: PlacementProblem) -> Int32s:
    """Place so that the balance is kept and the fewest bytes are copied.

    Raises:
        PlacementError: the target has fewer brokers than a replication factor asks for, a topic is pinned to
        fewer, or only some brokers have a rack.
    """
    _check_enough_brokers(problem)
    _check_racks(problem)
    _check_pins(problem)
    layout = Layout(with_attainable_limits(problem))
    _check_refused(layout)
    as_they_are = layout.held[layout.keeps_list]
    give_up_surplus(layout)
    level_between_homes(layout)
    make_missing(layout)
    _level(layout)
    # What moves for the balance relieves most limits on the way; the rest is moved for their sake.
    if _relieve(layout):
        _level(layout)
    refine(layout)
    relieve_log_dirs(layout)
    LeaderLevelling(layout).run()
    if problem.broker_limits is not None and problem.is_takeover_levelled:
        is_scaled = len(np.unique(problem.before[problem.before >= 0])) != len(problem.target)
        layout.held = level_takeovers(
            layout.held,
            problem.written_bytes_per_second(),
            problem.consumed_bytes_per_second(),
            rack=layout.rack,
            usable=layout.usable,
            # Sizing counts on the best order: what is made for another count is what was judged.
            enough=None if is_scaled else TAKEOVER_LIMIT_RATIO * problem.broker_limits.network_out_bytes_per_second,
        )
    if len(as_they_are):
        # Reordering made the lists as wide as they were, and padded at the right as these are.
        layout.held[layout.keeps_list] = as_they_are
    return layout.broker_ids()


def _check_pins(problem: PlacementProblem) -> None:
    """Refuse a topic that is pinned to fewer brokers than it has replicas."""
    if problem.allowed_brokers is None:
        return
    usable = (problem.allowed_brokers & problem.target.takes_replicas).sum(axis=1)
    lacking = problem.replication_factor - usable[problem.partitions.topic]
    if (lacking > 0).any():
        row = int(np.argmax(lacking))
        topic = int(problem.partitions.topic[row])
        factor, count = int(problem.replication_factor[row]), int(usable[topic])
        raise PlacementError(
            f"topic {problem.partitions.topics[topic]!r} needs replication factor {factor} but is pinned to {count} "
            f"broker{'' if count == 1 else 's'} of the target that may take one; pin it to {factor - count} more, or "
            "lower the factor",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )


def _relieve(layout: Layout) -> bool:
    """Bring brokers within their hard limits, the best relief for its bytes first; tell whether any was above one."""
    was_above = False
    for hard in layout.hard:
        if (hard.load <= hard.limit).all():
            continue
        was_above = True
        known = np.isfinite(hard.limit)
        usual = float(hard.limit[known].mean())
        Levelling(
            layout,
            unit=hard.unit,
            load=hard.load,
            fair=np.where(known, hard.limit, usual),
            lower=np.zeros(len(hard.limit)),
            upper=hard.limit,
            price=layout.problem.size_bytes / np.maximum(hard.unit, 1e-9),
        ).run()
    return was_above


def _level(layout: Layout) -> None:
    """Bring every broker within the limits of the balance.

    Topics give alike, as long as that leaves brokers within them. Where it fills brokers up before the large replicas
    have found a place, the largest go first.
    """
    sizes = layout.problem.size_bytes.astype(np.float64)
    if layout.problem.balance is Balance.REPLICAS:
        _levelling(layout, price=sizes, is_count=True).run()
        return
    before = layout.held.copy()
    _levelling(layout).run()
    alike, outside = layout.held.copy(), layout.outside_ratio()
    if outside <= _WORTH_LARGEST_FIRST_RATIO:
        return
    layout.become(before)
    for share in _LARGE_RATIOS:
        is_large = sizes > share * float(layout.limits.fair.mean())
        if is_large.any():
            _levelling(layout, price=-sizes, may_move=is_large).run()
    if layout.outside_ratio() > _LEFT_OUTSIDE_RATIO * outside:
        layout.become(alike)


def _levelling(
    layout: Layout, *, price: Floats | None = None, is_count: bool = False, may_move: Flags | None = None
) -> Levelling:
    limits = layout.limits
    return Levelling(
        layout,
        unit=limits.unit,
        load=layout.load,
        fair=limits.fair,
        lower=limits.lower,
        upper=limits.upper,
        price=price,
        is_count=is_count,
        may_move=may_move,
    )


def _check_enough_brokers(problem: PlacementProblem) -> None:
    target, index = problem.target, problem.target.index_of(problem.before)
    usable = int(target.takes_replicas.sum())
    # What is on a broker that takes nothing new may stay there.
    kept = ((index >= 0) & ~target.takes_replicas[index]).sum(axis=1)
    needed = problem.replication_factor - kept
    if needed.max(initial=0) > usable:
        row = int(np.argmax(needed))
        most = int(problem.replication_factor[row])
        topic = problem.partitions.topics[int(problem.partitions.topic[row])]
        raise PlacementError(
            f"topic {topic!r} needs replication factor {most} but {_only(usable)}; lower the factor or add brokers",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )


def _only(usable: int) -> str:
    takes = "broker that takes" if usable == 1 else "brokers that take"
    return f"the target has only {usable} {takes} new replicas"


def _check_refused(layout: Layout) -> None:
    """Refuse what cannot leave a broker where its list has to change and may not name that any more."""
    usable = int(layout.usable.sum())
    kept = ((layout.held >= 0) & ~layout.usable[layout.held]).sum(axis=1)
    lacking = np.where(layout.missing() > 0, layout.factor - kept - usable, 0)
    if lacking.max(initial=0) > 0:
        row = int(np.argmax(lacking))
        name = layout.problem.partitions.name(row)
        raise PlacementError(
            f"partition {name} needs {int(layout.factor[row])} replicas, Kafka takes no new list with a broker that is "
            f"down or cordoned, and {_only(usable)}; bring one back, or add brokers",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )


def _check_racks(problem: PlacementProblem) -> None:
    """Refuse what Kafka's own rack-aware placement refuses: a broker whose rack was forgotten breaks rack safety."""
    racks = problem.target.racks
    lacking = [int(b) for b, rack in zip(problem.target.ids, racks, strict=True) if rack is None]
    if problem.rack_rule is not RackRule.OFF and 0 < len(lacking) < len(racks):
        raise PlacementError(
            f"broker{'s' if len(lacking) > 1 else ''} {', '.join(map(str, lacking[:5]))} of the target "
            f"{'have' if len(lacking) > 1 else 'has'} no rack while others have one; give the rack, or set the rack "
            "rule to off",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )


_ROUNDS = 40
_WORTHWHILE_RATIO = 1e-3


def level_between_homes(layout: Layout) -> None:
    """Change which of the replicas there are now stay.

    Where a factor falls, which replicas of a partition stay is free to choose: any of those it has now, as far as the
    racks go. Brokers above their shares give up replicas of partitions that another broker, below its share, gave up
    before.

    Algorithm
        Rounds over all partitions at once: each gives and takes no more than separates it from its share, until a round
        changes little.
    """
    kept = ((layout.held >= 0).sum(axis=1) > 0) & (layout.missing() == 0)
    has_other = kept & ((layout.home >= 0).sum(axis=1) > layout.factor)
    rows = np.nonzero(has_other & (layout.limits.unit > 0))[0]
    if not len(rows):
        return
    width, homes = layout.held.shape[1], layout.home.shape[1]
    each = np.repeat(rows, width * homes)
    columns = np.tile(np.repeat(np.arange(width), homes), len(rows))
    receiver = layout.home[each, np.tile(np.arange(homes), len(rows) * width)]
    unit = layout.limits.unit[each]
    leader = layout.problem.target.index_of(layout.problem.leader)[each]
    known = receiver >= 0
    for turn in range(_ROUNDS):
        give = np.maximum(0.0, layout.load - layout.limits.fair)
        take = np.maximum(0.0, layout.limits.fair - layout.load)
        donor = layout.held[each, columns]
        can = known & (donor >= 0) & (donor != leader) & (give[donor] > 0) & (take[receiver] > 0)
        chosen = np.nonzero(can)[0]
        chosen = chosen[layout.may_go(each[chosen], columns[chosen], receiver[chosen])]
        chosen = chosen[layout.has_room(each[chosen], receiver[chosen])]
        # Turned a little from round to round, so that the same replicas do not stand in front each time.
        chosen = np.roll(chosen, -turn * (len(chosen) // _ROUNDS))
        chosen = chosen[one_a_row(each[chosen])]
        chosen = chosen[within_amount(layout.held[each[chosen], columns[chosen]], unit[chosen], give)]
        chosen = chosen[within_amount(receiver[chosen], unit[chosen], take)]
        layout.move(each[chosen], columns[chosen], receiver[chosen])
        if float(unit[chosen].sum()) <= _WORTHWHILE_RATIO * float(give.sum()):
            return
