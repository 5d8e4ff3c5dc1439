"""What is expected of the traffic: the section of the form about the horizon, growth and planned events."""

from __future__ import annotations

import datetime
import math
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationInfo, field_validator

from kafka_capacity.demand.events import Launch, PlannedEvent, RetentionChange
from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.demand.settings import USUAL_GROWTH, ClassPattern, DemandSettings
from kafka_capacity.hardware.plain import filled
from kafka_capacity.questions.form_section import MAX_RETENTION_SECONDS, FormSection, Pattern, named_number, readable
from kafka_capacity.text import whole_percent

_DEFAULT = DemandSettings()

Rate = Annotated[float, Field(ge=0.0, le=1e12, allow_inf_nan=False)]
Growth = Annotated[float, Field(ge=-0.9, le=100.0, allow_inf_nan=False)]
_GROWTH = TypeAdapter[float](Growth)
Quantile = Annotated[float, Field(ge=0.5, le=0.99, allow_inf_nan=False)]
Retention = Annotated[float, Field(ge=1.0, le=MAX_RETENTION_SECONDS, allow_inf_nan=False)]


_FORM = FormSection("Demand")


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    planned_as: ClassVar[type[PlannedEvent]]

    from_date: datetime.date = Field(description="first day of the event")

    def planned(self) -> PlannedEvent:
        """Return what the outlook is made with."""
        return self.planned_as(**self.model_dump(mode="json", exclude={"kind"}))


class LaunchEvent(_Event):
    """Traffic of some topics is multiplied, for a time or for good."""

    planned_as = Launch

    kind: Literal["launch"]
    topics: Pattern
    factor: float = Field(gt=0.0, le=1000.0, allow_inf_nan=False, description="factor by which traffic is multiplied")
    to_date: datetime.date | None = Field(default=None, description="last day of the event; null: permanent")

    @field_validator("to_date")
    @classmethod
    def _ends_after_it_begins(cls, value: datetime.date | None, info: ValidationInfo) -> datetime.date | None:
        begins = info.data.get("from_date")
        if value is not None and begins is not None and value < begins:
            raise ValueError(f"it is before from_date, {begins}; swap them")
        return value


class RetentionEvent(_Event):
    """Records of some topics are kept for another time."""

    planned_as = RetentionChange

    kind: Literal["retention"]
    topics: Pattern
    retention_seconds: Retention


class NewTopicEvent(_Event):
    """A topic that does not exist yet."""

    planned_as = AddedTopic

    kind: Literal["new-topic"]
    name: str = Field(min_length=1, max_length=249, pattern=r"^[a-zA-Z0-9._-]+$")
    partitions: int = Field(ge=1, le=100_000)
    replication_factor: int = Field(ge=1, le=100)
    bytes_in_peak_bytes_per_second: Rate = Field(description="produced to all partitions in total, at peak")
    bytes_in_mean_bytes_per_second: Rate
    bytes_out_peak_bytes_per_second: Rate = Field(description="read by all consumers in total, at peak")
    bytes_out_mean_bytes_per_second: Rate
    retention_seconds: Retention | None = Field(description="null: no limit")

    @field_validator("bytes_in_mean_bytes_per_second", "bytes_out_mean_bytes_per_second")
    @classmethod
    def _is_at_most_the_peak(cls, value: float, info: ValidationInfo) -> float:
        name = str(info.field_name).replace("_mean_", "_peak_")
        peak = info.data.get(name)
        if peak is not None and value > peak:
            raise ValueError(f"it is above {name}, {peak:g}; a mean is at most the peak")
        return value

    def planned(self) -> PlannedEvent:
        """Return what the outlook is made with."""
        retention = math.inf if self.retention_seconds is None else self.retention_seconds
        return filled(AddedTopic, self, from_date=self.from_date.isoformat(), retention_seconds=retention)


def _class_growth(item: str) -> tuple[str, float]:
    """Return the name of a class and its growth from name=ratio."""
    return named_number(item, _GROWTH, "is not a growth rate; write name=ratio, such as payments=0.5, from -0.9 to 100")


def class_pattern(item: str) -> ClassPattern:
    """Return a class of topics from name=pattern."""
    name, _, pattern = (part.strip() for part in item.partition("="))
    if not name or not pattern:
        raise ValueError(f"{item!r} is not a topic class; write name=pattern, such as payments=pay*")
    return ClassPattern(name=name, topics=pattern)


EventParameter = Annotated[LaunchEvent | RetentionEvent | NewTopicEvent, Field(discriminator="kind")]


class DemandParameters(BaseModel):
    """How far ahead, how traffic grows, and what is planned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    horizon_months: int = _FORM.field(
        _DEFAULT.horizon_months, "Horizon (months)", "--horizon", is_usual=True, form={"metavar": "MONTHS"}, ge=1, le=60
    )("How far ahead to size the cluster.")
    is_forecast: bool = _FORM.field(_DEFAULT.is_forecast, "Forecast from history", "--forecast")(
        "Forecast each topic class from its history. Off: one growth rate for all."
    )
    growth_per_year_ratio: Growth | None = _FORM.field(None, "Growth per year", "--growth", is_usual=True)(
        "Traffic growth, instead of the forecast: 0.3 is 30 % a year, -0.1 is 10 % less. Empty: from the history, "
        f"or {whole_percent(USUAL_GROWTH.middle)} a year if there is none."
    )
    growth_high_per_year_ratio: Growth | None = _FORM.field(
        None, "Growth per year, high estimate", "--growth-high", is_usual=True
    )(
        "The same for the high estimate; at least the growth above. Empty: from the history, or as far above that "
        f"growth as {whole_percent(USUAL_GROWTH.high)} is above {whole_percent(USUAL_GROWTH.middle)}."
    )
    class_growth: tuple[str, ...] = _FORM.lines("Growth of topic classes", "--class-growth", "NAME=RATIO")(
        "Growth per year for individual topic classes, instead of their forecast, one per line as name=ratio, such "
        "as payments=0.5."
    )
    high_quantile: Quantile = _FORM.field(
        _DEFAULT.high_quantile, "Quantile of the high estimate", "--high-quantile", form={"metavar": "RATIO"}
    )("0.9: in nine of ten cases the highest week up to a date stays below the high estimate of a forecast.")
    topic_classes: tuple[str, ...] = _FORM.lines("Topic classes", "--topic-class", "NAME=PATTERN")(
        "Topics that grow alike, one class per line as name=pattern, such as payments=pay*; the first match wins. "
        "Other topics are classified by their name up to the first dot, dash or underscore."
    )
    planned_events: tuple[EventParameter, ...] = _FORM.field(
        (), "Planned events", "--planned-events", is_usual=True, form={"metavar": "FILE"}, max_length=1000
    )(
        'A list of objects with a kind: {"kind": "launch", "topics": "orders.*", "from_date": "2027-03-01", '
        '"factor": 1.5}. The other kinds are retention (topics, from_date, retention_seconds) and new-topic (name, '
        "from_date, partitions, replication_factor, the four rates, retention_seconds)."
    )

    _are_classes = readable("topic_classes", class_pattern)
    _are_growths = readable("class_growth", _class_growth)

    @field_validator("growth_high_per_year_ratio")
    @classmethod
    def _is_at_least_the_middle(cls, value: float | None, info: ValidationInfo) -> float | None:
        middle = info.data.get("growth_per_year_ratio")
        if middle is not None and value is not None and value < middle:
            raise ValueError(f"it is below growth_per_year_ratio, {middle:g}; the high estimate is at least as much")
        return value

    def demand_settings(self) -> DemandSettings:
        """Return what the outlook is made with."""
        return filled(
            DemandSettings,
            self,
            class_growth=tuple(_class_growth(item) for item in self.class_growth),
            topic_classes=tuple(class_pattern(item) for item in self.topic_classes),
            events=tuple(event.planned() for event in self.planned_events),
        )
