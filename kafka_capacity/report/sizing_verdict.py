"""The first answer of a plan that sized the cluster, and how it stands to the move that the plan describes."""

from __future__ import annotations

from typing import Any

from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.questions.change.choice import counts_by_fit
from kafka_capacity.report.options import PlanView
from kafka_capacity.report.sizing import GROWTH_SECTION, SizingView, has_no_rates
from kafka_capacity.report.sizing_words import badge, cost_sentence, figures, headline, not_judged_sentence
from kafka_capacity.text import format_month, format_percent, plural

_COUNTS_NAMED = 6


def sizing_verdict(view: PlanView) -> dict[str, Any] | None:
    """Give the answer as plain data; ``None`` for a plan that says nothing of sizing."""
    sizing = view.sizing
    if sizing is None:
        return None
    option = sizing.recommended
    return {
        "badge": badge(sizing),
        "headline": headline(sizing),
        "figures": figures(sizing),
        "cost": None if sizing.nearest["total_usd_per_month"] is None else cost_sentence(sizing),
        "relation": relation(view, sizing),
        "recommended_option_id": None if option is None else option["option_id"],
    }


def relation(view: PlanView, sizing: SizingView) -> str:
    """Say how the move stands to the months to come, in particular where it has another count than they ask for."""
    fitting, failing = counts_by_fit(view.options)
    tried = sorted([*fitting, *failing])
    shown = ", ".join(f"{count:,}" for count in tried[:_COUNTS_NAMED]) + (", …" if tried[_COUNTS_NAMED:] else "")
    said = (
        f"The move is judged at today’s sizes and rates, among the counts asked for ({shown}); the answer above "
        f"at peak up to {format_month(sizing.horizon)}, failures included."
    )
    wanted = sizing.steps[0].option if sizing.steps else None
    count = view.nearest.broker_count
    if view.recommended is None or wanted is None:
        return said
    if wanted["shape"] != sizing.today["shape"]:
        return f"{said} It moves replicas on today’s hardware, not onto {wanted['shape']}."
    if sizing.today["shape"] != TODAY and sizing.today["broker_count"] in failing and sizing.today["fits_until"]:
        today = plural(sizing.today["broker_count"], "broker")
        said += (
            f" By the move {today} do not fit, since it takes disks and networks from the inventory; the answer above "
            f"takes those of {sizing.today['shape']}."
        )
    if count == wanted["broker_count"]:
        return said
    return f"{said} {_other_count(sizing, count, int(wanted['broker_count']))}"


def _other_count(sizing: SizingView, count: int, wanted: int) -> str:
    """Say why the move's count is not the one that is needed now."""
    today = sizing.today
    kind = ("shape", "extra_racks", "replication_factor")
    same = [row for row in sizing.options if row["broker_count"] == count and all(row[k] == today[k] for k in kind)]
    of_it = f"It goes to {plural(count, 'broker')}, not to {wanted:,}"
    if not same:
        return f"{of_it}: sizing did not try {count:,} of today’s hardware."
    row = max(same, key=lambda one: (one["fits"], one["fits_until"] or ""))
    if row["fits"]:
        return f"{of_it}: {count:,} fit up to {sizing.horizon} as well."
    if row["fits_until"] is not None:
        out = sizing.runs_out(row)
        return f"{of_it}: {count:,} last until {out[sizing.estimate] if out is not None else row['fits_until']} only."
    reason = f": {row['excuses'][0]['reason']}" if row["excuses"] else ""
    return f"{of_it}: by sizing {count:,} do not do even today{reason}."


def sizing_caveats(view: PlanView) -> list[dict[str, str]]:
    """List what could be wrong with the answer."""
    if has_no_rates(view.inputs):
        text = (
            "How many brokers are needed by when cannot be said: no rates are known; stage an inventory with metrics."
        )
        return [{"severity": "serious", "text": text}]
    sizing = view.sizing
    if sizing is None:
        return []
    found = []
    missing = not_judged_sentence(sizing.nearest)
    if missing is not None:
        found.append({"severity": "serious", "text": missing})
    # A plan from before these were looked for does not tell.
    single = sizing.document.get("single_replicas")
    if single is not None and sizing.nearest["replication_factor"] in (None, 1):
        found.append({"severity": "serious", "text": f"{single['reason']}."})
    classes = sizing.document["classes"]
    everything = sum(one["partitions"] for one in classes)
    assumed = sum(one["partitions"] for one in classes if one["basis"] != "forecast")
    if assumed:
        share = "all" if assumed == everything else f"{format_percent(assumed / everything)} of the"
        text = f"Growth is assumed, not forecast, for {share} partitions: the months to come are as good as that."
        found.append({"severity": "note", "text": text, "anchor": GROWTH_SECTION})
    return found
