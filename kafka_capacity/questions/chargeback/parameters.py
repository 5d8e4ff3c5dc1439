"""What today's cluster costs, and whose costs those are: the section of the form about chargeback."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from kafka_capacity.questions.form_section import FormSection, readable

_FORM = FormSection("Chargeback")


def _producer_rack(item: str) -> tuple[str, str]:
    """Return a pattern of topics and the rack of their producers, from pattern=rack."""
    pattern, _, rack = (part.strip() for part in item.partition("="))
    if not pattern or not rack:
        raise ValueError(f"{item!r} names no rack of producers; write pattern=rack, such as orders.*=eu-1a")
    return pattern, rack


class ChargebackParameters(BaseModel):
    """How costs are shared out, and of how many topics and groups the marginal cost is worked out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    marginal_topics: int = _FORM.field(3, "Topics with a marginal cost", "--marginal-topics", ge=0, le=1_000)(
        "For this many of the most expensive topics, and for every owner, compute what the bill would be without "
        "them. Each takes a sizing run of its own."
    )
    marginal_groups: int = _FORM.field(0, "Groups with a marginal cost", "--marginal-groups", ge=0, le=1_000)(
        "For this many of the most expensive consumer groups, compute what the bill would be without what they read. "
        "Each takes a sizing run of its own."
    )
    is_idle_shared: bool = _FORM.field(False, "Share idle capacity", "--share-idle")(
        "Distribute idle capacity and headroom over topics and groups, in proportion to their use of brokers and "
        "disks. Off: list them separately."
    )
    producer_racks: tuple[str, ...] = _FORM.lines("Racks of producers", "--producer-rack", "PATTERN=RACK")(
        "Where the producers of topics are, one topic pattern and one rack per line: orders.*=eu-1a. A topic with "
        "several racks is produced evenly in them; one without where clients' metrics say, else evenly in all racks of "
        "brokers."
    )

    _are_racks = readable("producer_racks", _producer_rack)

    def stated_racks(self) -> tuple[tuple[str, str], ...]:
        """Return patterns of topics and the racks in which their producers are said to be."""
        return tuple(_producer_rack(item) for item in self.producer_racks)
