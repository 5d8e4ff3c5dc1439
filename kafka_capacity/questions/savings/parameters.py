"""What could be done instead of buying: the section of the form about that."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from kafka_capacity.questions.form_section import MAX_RETENTION_SECONDS, FormSection, Pattern, named_number, readable

_FORM = FormSection("Savings")
MAX_SETS = 20  # sets of actions that are sized where nobody says how many
MAX_PARTITIONS = 10_000  # with more, nothing is looked for unless somebody asks

Retention = Annotated[float, Field(ge=3600.0, le=MAX_RETENTION_SECONDS, allow_inf_nan=False)]
_RATIO = TypeAdapter[float](Annotated[float, Field(gt=0.0, lt=1.0, allow_inf_nan=False)])


def _compression(item: str, what: str = "compression") -> tuple[str, float]:
    """Return a pattern of topics and what is left of their bytes, from pattern=ratio."""
    refusal = f"is not a {what} ratio; write pattern=ratio, such as logs.*=0.4, above 0 and below 1"
    return named_number(item, _RATIO, refusal)


def _compaction(item: str) -> tuple[str, float]:
    return _compression(item, "compaction")


class SavingsParameters(BaseModel):
    """What is looked for instead of buying, and what it rests on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_savings_sets: int | None = _FORM.field(
        None, "Max sets of savings to size", "--max-savings", form={"metavar": "N"}, ge=0, le=10_000, is_usual=True
    )(
        "Max number of sets of actions that are sized as alternatives to buying, single actions first. Empty: "
        f"{MAX_SETS} for clusters of up to {MAX_PARTITIONS:,} partitions, none above that. 0: "
        "none."
    )
    lag_margin: float = _FORM.field(2.0, "Lag margin", "--lag-margin", ge=1.0, le=100.0, allow_inf_nan=False)(
        "Retention is not cut below this many times the max lag that consumers were seen to have."
    )
    least_retention_seconds: Retention = _FORM.field(86_400.0, "Min retention", "--least-retention")(
        "Retention is never cut below this, whatever consumers need."
    )
    compressions: tuple[str, ...] = _FORM.lines("Compression", "--compression", "PATTERN=RATIO")(
        "Compressed size relative to today's if producers compressed, one topic pattern per line: logs.*=0.4. "
        "Topics known to be compressed already are left out."
    )
    compactions: tuple[str, ...] = _FORM.lines("Compaction", "--compaction", "PATTERN=RATIO")(
        "What compaction would leave of what topics hold, if only the newest record of each key were kept, one topic "
        "pattern per line: prices.*=0.1. Topics that are compacted or tiered already are left out."
    )
    uncritical_topics: tuple[Pattern, ...] = _FORM.field((), "Uncritical topics", "--uncritical", max_length=1000)(
        "Topic patterns for which two replicas are enough; topics that allow unclean elections are included anyway."
    )
    quota_delay_seconds: float = _FORM.field(
        3600.0, "Delay by quotas", "--quota-delay", ge=60.0, le=7 * 86_400.0, allow_inf_nan=False
    )("Quotas on the few clients that make the peak are set so that nothing they write or read is delayed longer.")
    local_retention_seconds: Retention = _FORM.field(86_400.0, "Local retention", "--local-retention")(
        "How long brokers would keep what is also in tiered storage (KIP-405), unless consumers need more (see lag "
        "margin)."
    )
    object_store_usd_per_gib_month: float = _FORM.field(
        0.023,  # S3 Standard in us-east-1, first 50 TB a month, as of 2025
        "Object store price",
        "--object-store-price",
        form={"metavar": "USD/GIB"},
        ge=0.0,
        le=1e9,
        allow_inf_nan=False,
    )(
        "Price of tiered storage per month. The default is Amazon's list price for S3 Standard in us-east-1 as of "
        "2025; check it."
    )

    _are_compressions = readable("compressions", _compression)
    _are_compactions = readable("compactions", _compaction)

    def sets_to_size(self, partitions: int) -> int:
        """Return how many sets of actions are sized at most in a cluster of so many partitions."""
        if self.max_savings_sets is not None:
            return self.max_savings_sets
        return MAX_SETS if partitions <= MAX_PARTITIONS else 0

    def compression_ratios(self) -> list[tuple[str, float]]:
        """Return patterns of topics, and their bytes once producers compress over today's."""
        return [_compression(item) for item in self.compressions]

    def compaction_ratios(self) -> list[tuple[str, float]]:
        """Return patterns of topics, and what compaction would leave of what they hold."""
        return [_compaction(item) for item in self.compactions]
