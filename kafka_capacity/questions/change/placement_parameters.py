"""Which inventory a plan rests on, and what it tries with brokers: the first sections of the form."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator

from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.placement import Balance, RackRule, placer_names
from kafka_capacity.proposal.constraints.registry import BROKER_MAXIMA, asked_maxima
from kafka_capacity.proposal.grid import BrokerChanges, GridRequest
from kafka_capacity.proposal.pins import RACK_PREFIX, pins_of
from kafka_capacity.questions.change.move_parameters import MOVE_FORM
from kafka_capacity.questions.form_section import FormSection

PLACERS = placer_names()
_INVENTORY, _TRY, _RULES = FormSection("Inventory"), FormSection("What to try"), FormSection("Rules")

BrokerCount = Annotated[int, Field(ge=1, le=2_000)]
RackName = Annotated[str, Field(min_length=1, max_length=255)]
Throttle = Annotated[float, Field(gt=0.0, le=1e12, allow_inf_nan=False)]
BrokerId = Annotated[int, Field(ge=0, le=2**31 - 1)]
TopicName = Annotated[str, Field(min_length=1, max_length=249)]
PartitionCount = Annotated[int, Field(ge=2, le=5_000)]  # below the 10,000 additions that Kafka 4.4 takes in a request
TopicPattern = Annotated[str, Field(min_length=1, max_length=255)]


def _broker_or_rack(value: Any) -> int | str:
    """Read a broker id, or ``rack:NAME``."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)
    is_id = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    is_rack = isinstance(value, str) and value.startswith(RACK_PREFIX) and len(value) > len(RACK_PREFIX)
    if not is_id and not is_rack:
        msg = f"write a broker id such as 3, or a rack as {RACK_PREFIX}NAME"
        raise ValueError(msg)
    return value  # type: ignore[no-any-return]  # one of the two, as was just looked at


PinnedTo = Annotated[Any, BeforeValidator(_broker_or_rack), WithJsonSchema({"type": ["integer", "string"]})]
"""A broker id, or a rack."""


class PlacementParameters(BaseModel):
    """The inventory, and the brokers, placers and rules to try."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cluster: str = _INVENTORY.field(..., min_length=1, max_length=255)(
        "The name under which the cluster's inventory is staged."
    )
    ds: datetime.date | None = _INVENTORY.field(None, "Inventory date")(
        "Day of the inventory (UTC). Empty: the newest complete one up to the run's date."
    )
    broker_counts: tuple[BrokerCount, ...] = _TRY.field((), "Broker counts to try", max_length=50, is_usual=True)(
        "Empty: today's count and the one that sizing says is needed now (or else next); without sizing, one more "
        "broker per rack. New brokers get the median hardware of the existing ones. For example 12, 15, 18."
    )
    new_broker_racks: tuple[RackName, ...] = _TRY.field((), "Racks of new brokers", max_length=1000)(
        "One per line, used in turn. Empty: each new broker goes to the rack with the fewest brokers."
    )
    removed_brokers: tuple[BrokerId, ...] = _TRY.field(
        (), "Brokers to remove", "--remove-brokers", max_length=2_000, is_usual=True
    )("Ids of brokers to drain. Broker counts refer to the cluster without them, including new brokers.")
    replaced_brokers: dict[BrokerId, BrokerId] = _TRY.field(
        {}, "Brokers to replace", "--replace-broker", max_length=2_000, is_usual=True
    )(
        'Old id and new id, 3=13 (in JSON {"3": 13}): the new broker gets the rack and hardware of the old one, '
        "which is drained."
    )
    rack_names: dict[RackName, RackName] = _TRY.field({}, "Racks to rename", "--rename-rack", max_length=1_000)(
        'Old name and new name, {"a": "zone-a"}: changes broker.rack of all brokers in it. Two racks renamed to '
        "the same name become one."
    )
    placers: tuple[str, ...] = _TRY.field(
        ("fewest-bytes", "generate"),
        "Placers to compare",
        "--placer",
        form={"items": {"type": "string", "enum": list(PLACERS)}},
        min_length=1,
        is_usual=True,
    )(
        "fewest-bytes keeps replicas where they fit; generate is what kafka-reassign-partitions --generate "
        "proposes; striped, zk and modulo place everything from scratch."
    )
    replication_factor: int | None = _TRY.field(None, "Replication factor", ge=1, le=100, is_usual=True)(
        "For all topics. Empty: each topic keeps its own."
    )
    partition_counts: dict[TopicName, PartitionCount] = _TRY.field(
        {}, "Partition counts", "--partitions", form={"metavar": "TOPIC=N"}, max_length=1_000
    )(
        'Topics that get more partitions, {"orders": 24}. The new ones are empty and are created before anything '
        "moves. This cannot be undone, and records with keys change partition."
    )
    rack_rule: RackRule = _RULES.field(RackRule.STRICT, "Rack rule")(
        "strict: as many racks as the replication factor allows; two-racks: at least two; off."
    )
    balance: Balance = _RULES.field(Balance.BYTES, is_usual=True)(
        "What fewest-bytes balances: the bytes on disk, or the number of replicas."
    )
    tolerance_ratio: float | None = _RULES.field(None, "Tolerance", "--tolerance", is_usual=True, ge=0.0, le=1.0)(
        "How far a broker may be from its fair share: 0.02 is 2 %. Empty: 0.02 for bytes, one replica for counts."
    )
    disk_limit_ratio: float = _RULES.field(0.85, "Disk limit", "--disk-limit", gt=0.0, le=1.0)(
        "How full a disk may be after the change: 0.85 is 85 %."
    )
    pinned_topics: dict[TopicPattern, Annotated[tuple[PinnedTo, ...], Field(min_length=1)]] = _RULES.field(
        {}, "Pinned topics", "--pin", form={"metavar": "TOPIC=ID,rack:NAME"}, max_length=1_000
    )(
        'Topics or topic patterns, with the brokers and racks that their replicas may be on: {"audit": [1, 2, '
        '3], "payments.*": ["rack:a", "rack:b"]}. A topic\'s own name takes precedence over a pattern.'
    )
    max_replicas_per_broker: int | None = _RULES.field(
        None, "Max replicas per broker", "--max-replicas --most-replicas", ge=1, le=10_000_000
    )("No broker may hold more than this. Empty: no limit.")
    max_leaders_per_broker: int | None = _RULES.field(
        None, "Max leaders per broker", "--max-leaders", ge=1, le=10_000_000
    )("No broker may be the preferred leader of more partitions than this. Empty: no limit.")
    seed: int = _RULES.field(0, ge=0, le=2**31 - 1)(
        "Seed for random draws: the same request with the same seed gives the same plan."
    )
    throttle_bytes_per_second: float = MOVE_FORM.field(
        50e6, "Throttle (bytes per second)", "--throttle", gt=0.0, le=1e12, is_usual=True
    )("Per broker and direction, as passed to kafka-reassign-partitions --throttle.")

    throttles_bytes_per_second: tuple[Throttle, ...] = MOVE_FORM.field(
        (), "Throttles to compare (bytes per second)", "--throttles", max_length=20
    )("Several instead of the one above: every option is scheduled with each. For example [50000000, 100000000].")

    @field_validator("placers")
    @classmethod
    def _are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in PLACERS:
                msg = f"{name!r} is not a placer; choose from {', '.join(PLACERS)}"
                raise ValueError(msg)
        return value

    def grid(self) -> GridRequest:
        """Return what spans the grid of scenarios."""
        return filled(
            GridRequest,
            self,
            broker_changes=BrokerChanges.of(
                removed=self.removed_brokers, replaced=self.replaced_brokers, rack_names=self.rack_names
            ),
            partition_counts=tuple(sorted(self.partition_counts.items())),
            pins=pins_of(self.pinned_topics),
            broker_maxima=asked_maxima(self.model_dump(include=set(BROKER_MAXIMA))),
        )
