"""Find actions, judge sets of them, and put what came of it into tables.

Each set is judged by sizing the cluster again with all of it done today; what it saves is the difference to the same
sizing without, date by date. Dollars are those of sizing and of the object store. Where sizing knows no price, there
are no dollars, and sets are held against each other by brokers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.changed import all_of
from kafka_capacity.demand.disk import time_shares
from kafka_capacity.hardware.limits import GIB
from kafka_capacity.hardware.plain import filled, plain_number
from kafka_capacity.inventory.topic_use import topic_use
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.objects.tables import table_of_rows
from kafka_capacity.proposal.resized import Resized
from kafka_capacity.questions.question import Basis, RunPieces, SizedCluster
from kafka_capacity.questions.savings.actions import Action, ActionKind
from kafka_capacity.questions.savings.find import find_actions
from kafka_capacity.questions.savings.parameters import SavingsParameters
from kafka_capacity.questions.savings.search import ActionSet, Searched, pareto_front, search_sets
from kafka_capacity.questions.savings.tables import SAVINGS_TABLES, ActionRow, DateRow, ScopeRow, SetRow
from kafka_capacity.questions.savings.topic_facts import CONFIGS
from kafka_capacity.text import plural

NOTHING: ActionSet = frozenset()
_LEAST_USD = 1.0  # dollars a month: less is the rounding of volumes to whole GiB
_DATE_USD = 1e8  # more than any set saves a month


def find_savings(
    basis: Basis, cluster: SizedCluster, settings: SavingsParameters, run: RunPieces
) -> dict[str, pa.Table]:
    """Return the tables about savings."""
    use = topic_use(basis.raw, basis.snapshot, basis.profile_partitions, basis.profile_days)
    configs = {row["topic"]: row for row in basis.raw.table("topics").select(["topic", *CONFIGS]).to_pylist()}
    actions, notes = find_actions(cluster, use, configs, settings)
    judge = Judge(cluster=cluster, actions=actions, settings=settings, run=run)
    judge([])
    is_sized = not np.isnan(judge.counts(NOTHING)).all()  # else there is nothing to hold a set against
    efforts = [one.facts.effort for one in actions]
    max_sets = settings.sets_to_size(len(basis.snapshot.partitions)) if is_sized else 0
    # Other brokers are bought for it, so it is held against the rest rather than done beside it.
    apart = [place for place, one in enumerate(actions) if one.kind is ActionKind.RACKS]
    searched = search_sets(efforts, judge, judge.needed, max_sets, apart)
    scope = ScopeRow(
        brokers_today=len(cluster.snapshot.brokers),
        actions=len(actions),
        sets_tried=len(searched.saved),
        is_exhaustive=searched.is_exhaustive,
        notes=notes,
    )
    rows: dict[str, Sequence[object]] = {
        "savings_actions": [judge.action_row(place) for place in range(len(actions))],
        "savings_sets": _set_rows(judge, searched, efforts),
        "savings_dates": [row for name, one in _named(judge) for row in judge.date_rows(name, one)],
        "savings_scope": [scope],
    }
    return {name: table_of_rows(SAVINGS_TABLES[name][0], of) for name, of in rows.items()}


@dataclass(kw_only=True, eq=False)
class Judge:
    """Judges sets of actions, each once."""

    cluster: SizedCluster
    actions: Sequence[Action]
    settings: SavingsParameters
    run: RunPieces
    resized: dict[ActionSet, Resized] = field(default_factory=dict)  # in the order judged, nothing first

    def __call__(self, sets: Sequence[ActionSet]) -> list[float]:
        """Return what each set saves: dollars a month, or brokers where no price is known; see :meth:`saved`."""
        wanted = [*([] if NOTHING in self.resized else [NOTHING]), *sets]
        count = len(self.cluster.workload.partitions)
        changes = [all_of([self.actions[place].change for place in sorted(one)], count) for one in wanted]
        self.resized.update(zip(wanted, self.cluster.resize(changes, self.run), strict=True))
        return [self.saved(one) for one in sets]

    def needed(self, found: ActionSet) -> ActionSet:
        """Leave out what is done to topics that are removed in the same set."""
        removing = {one for one in found if self.actions[one].change.is_removed.any()}
        removed = {topic for one in removing for topic in self.actions[one].topics}
        topics = {one: self.actions[one].topics for one in found - removing}
        return found - {one for one, names in topics.items() if names and removed.issuperset(names)}

    def saved(self, found: ActionSet) -> float:
        """Return the measure by which sets are held against each other; minus infinite for one that is too little.

        It is that where nothing that was tried lasts with it, on a date on which something does without. The other way
        round, each such date counts more than all dollars.
        """
        is_lasting, without = ~np.isnan(self.counts(found)), ~np.isnan(self.counts(NOTHING))
        if (without & ~is_lasting).any():
            return -np.inf
        lasting = float(_DATE_USD * (is_lasting & ~without).sum())
        usd = self.mean_saved_usd(found)
        brokers = self.mean(self.saved_brokers(found))
        return lasting + ((brokers or 0.0) if usd is None else usd if self._is_something(found) else 0.0)

    def _is_something(self, found: ActionSet) -> bool:
        usd, brokers = self.mean_saved_usd(found), self.saved_brokers(found)
        return bool(np.nan_to_num(brokers).any()) or (usd is not None and abs(usd) >= _LEAST_USD)

    def counts(self, found: ActionSet) -> Floats:
        """Return float64[D], brokers, NaN where nothing lasts."""
        return np.array(self.resized[found].broker_counts, dtype=np.float64)

    def usd(self, found: ActionSet) -> Floats:
        """Return float64[D], dollars a month with those of the object store, NaN where they are not known."""
        one = self.resized[found]
        store = np.array(one.remote_bytes) / GIB * self.settings.object_store_usd_per_gib_month
        return np.array(one.usd_per_month, dtype=np.float64) + store

    def saved_brokers(self, found: ActionSet) -> Floats:
        """Return float64[D], NaN where either is not known."""
        return self.counts(NOTHING) - self.counts(found)

    def most_brokers(self, found: ActionSet) -> int | None:
        """Return what it saves on the date on which that is most; ``None`` where it is not known of any."""
        known = self.saved_brokers(found)
        known = known[~np.isnan(known)]
        return int(known.max()) if len(known) else None

    def saved_usd(self, found: ActionSet) -> Floats:
        """Return float64[D] likewise, dollars a month; what sums differ by in their order is nothing."""
        return np.round(self.usd(NOTHING) - self.usd(found), 6) + 0.0  # no negative zero

    def mean_saved_usd(self, found: ActionSet) -> float | None:
        """Return the dollars a month that it saves on average: of all steps, or of the dates that are known of both."""
        without, one = self.resized[NOTHING], self.resized[found]
        if without.mean_usd_per_month is None or one.mean_usd_per_month is None:
            return self.mean(self.saved_usd(found))
        more_stored = np.subtract(one.remote_bytes, without.remote_bytes) / GIB
        store = self.mean(more_stored * self.settings.object_store_usd_per_gib_month) or 0.0
        return float(np.round(without.mean_usd_per_month - one.mean_usd_per_month - store, 6)) + 0.0

    def known_until(self, found: ActionSet) -> str | None:
        """Return the last date of which dollars are known with it and without; ``None`` for the horizon, or none."""
        known = np.flatnonzero(~np.isnan(self.saved_usd(found)))
        dates = self.cluster.workload.outlook.dates
        return dates[known[-1]] if len(known) and known[-1] < len(dates) - 1 else None

    def mean(self, values: Floats) -> float | None:
        """Return the average over the time of which values are known; ``None`` where none is."""
        weight = np.where(np.isnan(values), 0.0, time_shares(self.cluster.workload.outlook.dates))
        return float(np.nan_to_num(values) @ weight / weight.sum()) if weight.sum() > 0 else None

    def first_purchase(self, found: ActionSet) -> str | None:
        """Return the first day on which more brokers are needed than there are."""
        today = len(self.cluster.snapshot.brokers)
        return next((day for day, count in self.resized[found].steps if count > today), None)

    def action_row(self, place: int) -> ActionRow:
        """Describe an action, and what it saves alone where that was judged."""
        action, alone = self.actions[place], frozenset([place])
        one = self.resized.get(alone)
        way = None if one is None else one.in_the_way
        return filled(
            ActionRow,
            action,
            position=place,
            kind=str(action.kind),
            freed_bytes=None if one is None else self.resized[NOTHING].stored_bytes - one.stored_bytes,
            saved_brokers=None if one is None else self.most_brokers(alone),
            saved_usd_per_month=None if one is None else self.mean_saved_usd(alone),
            is_estimate=None if one is None else one.is_estimate,
            saves_nothing=None if one is None else not self.saved(alone) > 0,
            binds=None if way is None else way.constraint,
            because=None if one is None else _why_no_fewer(one),
            effort=action.facts.effort,
            needs_restart=action.facts.needs_restart,
            is_reversible=action.facts.is_reversible,
        )

    def date_rows(self, name: str, found: ActionSet) -> list[DateRow]:
        """Describe a set date by date."""
        one, brokers = self.resized[found], self.saved_brokers(found)
        usd, saved = self.usd(found), self.saved_usd(found)
        return [
            DateRow(
                set_id=name,
                date=date,
                broker_count=one.broker_counts[place],
                usd_per_month=plain_number(usd[place]),
                saved_brokers=None if np.isnan(brokers[place]) else int(brokers[place]),
                saved_usd_per_month=plain_number(saved[place]),
                remote_bytes=one.remote_bytes[place],
            )
            for place, date in enumerate(self.cluster.workload.outlook.dates)
        ]


def _why_no_fewer(one: Resized) -> str | None:
    """Return what stands in the way of fewer brokers; ``None`` where fewer were not tried."""
    if one.broker_counts[-1] is None:
        return "no option lasts up to the horizon"
    way = one.in_the_way
    if way is None:
        return None
    count = plural(way.broker_count, "broker")
    return f"{count} {'cannot be judged' if way.is_unknown else 'would not be enough'}: {way.reason}"


def _named(judge: Judge) -> list[tuple[str, ActionSet]]:
    return [("none" if not one else f"set-{place:04d}", one) for place, one in enumerate(judge.resized)]


def _set_rows(judge: Judge, searched: Searched, efforts: Sequence[int]) -> list[SetRow]:
    front = pareto_front(searched.saved, efforts)
    return [
        SetRow(
            position=position,
            set_id=name,
            actions=tuple(judge.actions[place].action_id for place in sorted(one)),
            effort=sum(efforts[place] for place in one),
            is_on_front=one in front,
            saved_brokers=judge.most_brokers(one),
            saved_usd_per_month=judge.mean_saved_usd(one),
            known_until=judge.known_until(one),
            is_estimate=judge.resized[one].is_estimate,
            broker_count_now=judge.resized[one].broker_counts[0],
            broker_count_at_horizon=judge.resized[one].broker_counts[-1],
            first_purchase=judge.first_purchase(one),
            shape=judge.resized[one].shape,
            unknown=judge.resized[one].unknown,
        )
        for position, (name, one) in enumerate(_named(judge))
    ]
