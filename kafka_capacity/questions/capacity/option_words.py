"""What the options of sizing are called."""

from __future__ import annotations

import math

from kafka_capacity.hardware.limits import Resource, amounts_apart, resource_name
from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.questions.capacity.results import OptionKind
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView, removed_brokers
from kafka_capacity.text import plural
from kafka_capacity.text.wording import named_brokers

CONDITION_WORDS = {
    "normal": "all brokers up",
    "broker-lost": "one broker lost",
    "rack-lost": "one rack lost",
    "moving": "while moving",
    "broker-returns": "while a broker catches up",
    "re-reading": "while everything is re-read",
}


def idle_brokers(option: Row) -> int:
    """Return how many brokers of an option hold nothing; plans of earlier versions leave none idle."""
    return int(option.get("idle_brokers") or 0)


def option_name(option: Row) -> str:
    """Name an option: how many brokers of what, and what else is changed."""
    name = plural(option["broker_count"], "broker")
    if option["shape"] != TODAY:
        name += f" of {option['shape']}"
    elif option["kind"] == OptionKind.OTHER_HARDWARE:
        name += " of the requested hardware"
    more = [f"in {plural(option['extra_racks'], 'new rack')}"] if option["extra_racks"] else []
    more += [f"without {named_brokers(removed)}"] if (removed := removed_brokers(option)) else []
    more += [f"{idle:,} of them idle"] if (idle := idle_brokers(option)) else []
    more += ["smaller volumes"] if option["kind"] == "shrink-volumes" else []
    more += [] if option["replication_factor"] is None else [f"replication factor {option['replication_factor']}"]
    return name + (f" ({', '.join(more)})" if more else "")


def newly_removed(before: Row, after: Row) -> tuple[int, ...]:
    """Return which of today's brokers a step leaves out that the one before it has."""
    return tuple(sorted({*removed_brokers(after)} - {*removed_brokers(before)}))


def move_parameters(option: Row) -> dict[str, str]:
    """Return by which parameters a move to an option is planned; ``NAME`` is for the reader to fill in."""
    values = {
        "removed_brokers": ",".join(map(str, removed_brokers(option))),
        "broker_counts": str(option["broker_count"]),
        "replication_factor": str(option["replication_factor"] or ""),
        "new_broker_racks": ",".join(["NAME"] * option["extra_racks"]),
    }
    return {name: value for name, value in values.items() if value}


def run_verb(count: int, verb: str) -> str:
    """Return the verb for so many brokers: the only one there is lasts, others last."""
    return f"{verb}s" if count == 1 else verb


def until_words(view: SizingView, day: str | None) -> str:
    """Return until when something lasts; ``None`` is beyond the horizon, as :meth:`SizingView.until` has it."""
    return f"beyond {view.horizon}" if day is None else f"until {day}"


def option_label(option: Row) -> str:
    """Name an option so that no two of a plan have the same name."""
    if option["kind"] == "do-nothing":
        return f"Do nothing ({option_name(option)})"
    return option_name(option) + (", rebalanced" if option["kind"] == OptionKind.REBALANCE else "")


def tightest_phrase(option: Row) -> str | None:
    """Return where an option is nearest to a limit."""
    resource = option["tightest_resource"]
    if resource is None:
        return None
    condition = "" if option["tightest_condition"] == "normal" else f", {CONDITION_WORDS[option['tightest_condition']]}"
    amounts = [option[name] for name in ("tightest_needed", "tightest_allowed")]
    written = amounts_apart(Resource(resource), *(math.nan if one is None else one for one in amounts))
    needed, allowed = ("an unknown amount" if one is None else written(one) for one in amounts)
    where = f"{resource_name(resource)} of broker {option['tightest_broker']} on {option['tightest_date']}{condition}"
    return f"{where}: {needed} of {allowed} allowed"
