"""What sizing says of money: prices, estimates, and paying now or later."""

from __future__ import annotations

from collections.abc import Callable

from kafka_capacity.hardware.shape_catalogue import estimated_price_sentence, prices_wanted
from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.questions.capacity.option_words import newly_removed, option_name, run_verb
from kafka_capacity.questions.capacity.sizing_steps import outlook_costs
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView
from kafka_capacity.text import format_month, format_usd, plural
from kafka_capacity.text.wording import named_brokers


def month_words(option: Row, usd: float, write: Callable[[float], str] = format_usd) -> str:
    """Write what per month of an option costs, and whether that is an estimate."""
    return f"{write(usd)} per month{' (estimated)' if option.get('priced_as') else ''}"


def todays_usd(view: SizingView, beside: Row) -> str:
    """Write what today's brokers cost a month beside another option, and that it is an estimate where only that is."""
    is_estimate = view.today.get("priced_as") and not beside.get("priced_as")
    return f"{format_usd(view.today['total_usd_per_month'])}{' (estimated)' if is_estimate else ''}"


def estimate_sentence(view: SizingView) -> str | None:
    """Return whose prices stand in for those that nobody gave, and what is not recommended for that reason."""
    estimate = estimated_price_sentence(view.today.get("priced_as"), view.today["priced_on"])
    cheaper = view.cheaper_elsewhere
    if estimate is None or cheaper is None:
        return estimate
    return f"{estimate} {cheaper_phrase(cheaper)}; that is not recommended over an estimate."


def cheaper_phrase(option: Row) -> str:
    """Name other hardware that fits for less."""
    return f"{option_name(option)} would fit for {month_words(option, option['total_usd_per_month'])}"


def pay_sentence(view: SizingView) -> str | None:
    """Describe what is paid now and what later, against all at once; ``None`` where it is not known or but one step."""
    costs, last = outlook_costs(view), view.steps[-1].option if view.steps else view.today
    later, once = costs["usd_step_by_step"], costs["usd_at_once"]
    if later is None or once is None or len(view.steps) < 2:
        return None
    parts, before = [], view.today
    for step in view.steps:
        usd, removed = step.more_usd_per_month or 0.0, newly_removed(before, step.option)
        more = step.option["broker_count"] - before["broker_count"] + len(removed)
        what = f"{more:,} {'new' if removed else 'more'} {'broker' if more == 1 else 'brokers'}"
        what += f", without {named_brokers(removed)}," if removed else ""
        if step.option["shape"] != before["shape"]:
            what = option_name(step.option)
        if step.option is not before:
            when = "now" if step is view.steps[0] else f"by {step.from_day}"
            parts.append(f"{what} {when}, {'+' if usd >= 0 else ''}{format_usd(usd)} per month")
        before = step.option
    estimate = " (estimated)" if last.get("priced_as") else ""
    return (
        f"{'; '.join(parts)}. Up to {view.horizon} that costs {format_usd(later)}{estimate}, compared with "
        f"{format_usd(once)} for all {last['broker_count']:,} now."
    )


def cost_sentence(view: SizingView) -> str:
    """Describe what the recommended option costs per month, or which parameter would tell."""
    option, now = view.nearest, view.today["total_usd_per_month"]
    price = option["total_usd_per_month"]
    if price is None:
        verb = run_verb(option["broker_count"], "cost")
        return f"What {option_name(option)} {verb} is unknown: {price_wanted(option)}."
    against = ""
    if option is not view.today and now is not None:
        against = f", today’s {view.today['broker_count']:,} {todays_usd(view, option)}"
        against += f", on average until {format_month(view.horizon)}"
    sentence = f"{option_name(option)} {run_verb(option['broker_count'], 'cost')} {month_words(option, price)}{against}"
    days, change = option["break_even_days"], option["change_usd"]
    is_paid_back = days is not None and change is not None and option is not view.today
    if is_paid_back or change:
        sentence += f"; the change costs {format_usd(change)}"
    if is_paid_back:
        sentence += f" and pays for itself after {days_words(days)}"
    return sentence + "."


def days_words(days: float) -> str:
    """Write days, or years where they are many.

    >>> [days_words(n) for n in (0.4, 1.2, 8.8, 4_000)]
    ['less than a day', '2 days', '9 days', '11.0 years']
    """
    if days < 1:
        return "less than a day"
    if days > 730:
        return f"{days / 365:,.1f} years"
    return plural(int(-(-days // 1)), "day")


def price_wanted(option: Row) -> str:
    """Return which parameter gives the price."""
    if option["shape"] == TODAY:
        return prices_wanted(option.get("priced_as"))
    return f"the catalogue has no price for all of {option['shape']}"
