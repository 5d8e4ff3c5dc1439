"""The tables of a plan about what could be done instead of buying."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_capacity.objects.tables import Int32, Tables, schema_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow:
    """One row an action that was found, in the order in which they are judged.

    What it saves is of this action alone: ``saved_brokers`` on the date on which that is most, dollars on average over
    the time up to the horizon. Figures are null where it was not judged, dollars also where a price is not known.
    ``because`` is what stands in the way of fewer brokers once it is done, and ``binds`` the resource, or another
    constraint, of that. ``subject`` is what the text is about, empty where that is no topic.
    """

    position: Int32
    action_id: str
    kind: str
    text: str
    subject: str
    topics: tuple[str, ...]
    freed_bytes: float | None
    saved_brokers: Int32 | None
    saved_usd_per_month: float | None
    is_estimate: bool | None
    saves_nothing: bool | None
    binds: str | None
    because: str | None
    effort: Int32
    needs_restart: str
    is_reversible: bool
    risk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRow:
    """One row a set of actions that was judged; the first is none of them, which is what sizing answers.

    ``saved_brokers`` and dollars are as those of an action; ``known_until`` is the last date of which dollars are
    known, null for all.
    ``first_purchase`` is the first day on which more brokers are needed than there are, null for not up to the horizon.
    Broker counts are null where nothing that was tried lasts; ``unknown`` names the capacities that they were not
    judged by, since those are not known.
    """

    position: Int32
    set_id: str
    actions: tuple[str, ...]
    effort: Int32
    is_on_front: bool
    saved_brokers: Int32 | None
    saved_usd_per_month: float | None
    known_until: str | None = None
    is_estimate: bool
    broker_count_now: Int32 | None
    broker_count_at_horizon: Int32 | None
    first_purchase: str | None
    shape: str | None
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRow:
    """One row a set and date of the outlook: brokers and dollars a month, and what the set saves of both.

    Dollars have those of the object store in them, where ``remote_bytes`` are.
    """

    set_id: str
    date: str
    broker_count: Int32 | None
    usd_per_month: float | None
    saved_brokers: Int32 | None
    saved_usd_per_month: float | None
    remote_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRow:
    """The one row that says how far was looked: ``notes`` are sentences about what was not looked at."""

    brokers_today: Int32
    actions: Int32
    sets_tried: Int32
    is_exhaustive: bool
    notes: tuple[str, ...]


SAVINGS_TABLES: Tables = {
    "savings_actions": (schema_of(ActionRow), ("position",)),
    "savings_sets": (schema_of(SetRow), ("position",)),
    "savings_dates": (schema_of(DateRow), ("set_id", "date")),
    "savings_scope": (schema_of(ScopeRow), ("actions",)),
}
