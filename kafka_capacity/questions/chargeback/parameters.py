"""What today's cluster costs, and whose costs those are: the section of the form about chargeback."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from kafka_capacity.questions.form_section import FormSection

_FORM = FormSection("Chargeback")


class ChargebackParameters(BaseModel):
    """How costs are shared out, and of how many topics the marginal cost is worked out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    marginal_topics: int = _FORM.field(3, "Topics with a marginal cost", "--marginal-topics", ge=0, le=1_000)(
        "For this many of the most expensive topics, and for every owner, compute what the bill would be without "
        "them. Each takes a sizing run of its own."
    )
    is_idle_shared: bool = _FORM.field(False, "Share idle capacity", "--share-idle")(
        "Distribute idle capacity and headroom over topics and groups, in proportion to their use of brokers and "
        "disks. Off: list them separately."
    )
