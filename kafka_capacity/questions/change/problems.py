"""What is wrong with a change, or worth knowing before its answer is relied on, with the figures."""

from __future__ import annotations

from kafka_capacity.demand.calendar_days import WEEK_HOURS
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import Limits
from kafka_capacity.health.problem import Problem, info, serious, warning
from kafka_capacity.proposal.constraints.moves import no_throttle_helps
from kafka_capacity.questions.answer import NO_RATES, traffic_warning
from kafka_capacity.questions.change import move_words
from kafka_capacity.questions.change.change_view import ChangeView
from kafka_capacity.questions.change.choice import Option
from kafka_capacity.questions.change.move_view import MoveView
from kafka_capacity.text import (
    capitalised,
    format_duration,
    format_limit,
    format_throttle,
    format_throttle_above,
    plural,
    whole_percent,
)
from kafka_capacity.text.wording import told_apart


def change_problems(view: ChangeView) -> list[Problem]:
    """Return all problems of the option to show: of what is known about the cluster, then of the move."""
    sizes = f"Sizes are from the inventory of {view.inputs.ds}; topics that have grown since take longer to copy"
    return [
        *map(Problem.from_dict, view.proposed),
        *cluster_problems(view),
        *move_problems(view, view.nearest, view.move),
        info("sizes-of-one-day", "the plan", sizes),
    ]


def cluster_problems(view: ChangeView) -> list[Problem]:
    """Return what could be wrong with what is known about the cluster, whatever is done to it."""
    found = [*_inventory(view), *_unknown(view), *_log_dirs(view)]
    return found if view.nearest.is_refused else [*found, *_rates(view)]


def _inventory(view: ChangeView) -> list[Problem]:
    count = sum(finding["severity"] == "fatal" for finding in view.inputs.findings)
    if not count:
        return []
    why = f"The inventory is inconsistent ({plural(count, 'fatal problem')})"
    return [serious("inventory-unsound", "the inventory", f"{why}: no figure here is reliable until that is fixed")]


def _log_dirs(view: ChangeView) -> list[Problem]:
    several = int(view.facts.get("brokers_with_several_log_dirs") or 0)
    # A plan from before the sizes were looked at does not tell: there all of them were judged as one disk.
    unsized = int(view.facts.get("brokers_with_unsized_log_dirs", several) or 0)
    if unsized:
        message = (
            f"{plural(unsized, 'broker')} {_have(unsized)} several log dirs of unknown size, which are judged as one "
            "disk here: a full one next to an empty one goes unnoticed"
        )
        return [serious("log-dirs-unsized", plural(unsized, "broker"), message)]
    if several and view.new_broker_ids:
        message = "New brokers are planned with the log dirs (paths and sizes) of an existing broker"
        return [info("log-dirs-of-new-brokers", "the plan", message)]
    return []


_REMEDIES = {
    "disk": "give the disks of brokers in the inventory",
    "network": "give the networks of brokers in the inventory",
    "size": "stage an inventory with the sizes of partitions",
    "traffic": "stage an inventory with metrics of all partitions, 0 where nothing is produced",
}


def _unknown(view: ChangeView) -> list[Problem]:
    found = []
    for what in view.unknown(view.nearest):
        if what == "traffic":
            continue  # that there is none at all has words of its own
        kind = what.split()[1]
        if kind == "traffic":
            message = traffic_warning(what)
        elif kind == "size":
            message = (
                f"{capitalised(what)} is unknown and counts as zero: copied bytes, disk use and time are underestimated"
            )
        else:
            message = f"{capitalised(what)} is unknown, so it is not judged"
        found.append(serious(f"{kind}-not-known", "the cluster", message, _REMEDIES[kind]))
    return found


def _rates(view: ChangeView) -> list[Problem]:
    hours = view.rate_history_hours
    if not hours:
        message = (
            f"{capitalised(NO_RATES)}: times ignore what is produced during the move, so it takes longer than shown, "
            "and network limits are not judged"
        )
        return [serious("traffic-not-known", "the cluster", message, "stage an inventory with metrics")]
    found = []
    if until := view.facts.get("rates_until"):
        message = f"The inventory of {view.inputs.ds} has no rates: all loads are those of the history up to {until}"
        found.append(
            warning("rates-of-earlier-days", "the plan", message, "find out why its metrics could not be read")
        )
    if hours < WEEK_HOURS:
        found.append(
            info(
                "short-history", "the plan", f"Rates are based on {plural(hours, 'hour')} of history, less than a week"
            )
        )
    # Earlier plans say nothing of it: they added up all peaks.
    what = "Times at peak rates" if view.facts.get("peak_basis") == str(PeakBasis.SAME_HOURS) else "Peaks"
    message = f"{what} add up each partition’s 99th percentile as if all peaked together, an upper estimate"
    return [*found, info("peaks-added-up", "the plan", message)]


def move_problems(view: ChangeView, option: Option, move: MoveView | None = None) -> list[Problem]:
    """Return what could go wrong with the move to one option, and after it."""
    if option.is_refused:
        return []
    figures = option.figures
    # A plan from before partitions could be added does not tell.
    found = [*_new_partitions(int(figures.get("created_partitions") or 0)), *_busy_networks(view, option)]
    if figures["unreachable_partitions"]:
        count = plural(figures["unreachable_partitions"], "partition")
        message = f"{count} to be copied {_have(figures['unreachable_partitions'])} no leader to copy from"
        found.append(serious("no-leader-to-copy-from", count, message))
    found += [*_endless(option, move), *_from_clients(option, move), *_unknown_disks(view, move)]
    if move is not None and (stays := move_words.refusal_problem(move)) is not None:
        found.append(stays)
    if figures["moved_bytes"]:
        notes = _copying(option) if move is None else move_words.time_notes(move, figures["duration_seconds"])
        found += [info("time-and-disks-of-the-move", "the plan", text.removesuffix(".")) for text in notes]
    if figures["seeds_tried"] > 1:
        drawn = f"{option.drawn_bytes_text} over {plural(figures['seeds_tried'], 'draw')}"
        message = f"This placer draws at random: {drawn}"
        found.append(info("random-placer", "the plan", message))
    return found


def _endless(option: Option, move: MoveView | None) -> list[Problem]:
    figures = option.figures
    if option.never_ends and not (move is not None and move.facts["is_throttle_automatic"]):
        smallest = figures["smallest_throttle_bytes_per_second"]
        must = f"it must be above {format_throttle_above(smallest)}"
        if smallest is None:
            must = no_throttle_helps(figures["bottleneck_broker"], figures["bottleneck_direction"])
        at_once, in_waves = "", ""
        if move is not None and move.waves:
            wanted = move.smallest_throttle("expected")
            is_apart = not move.never_ends or (smallest is None) != (wanted is None)
            at_once = " with everything started at once" if is_apart else ""
            if move.left_out:
                in_waves = ""  # what ends the others ends no more than those
            elif wanted is not None:
                above = format_throttle_above(wanted)
                in_waves = f"; in waves it must be above {above}" if smallest is None else f"; in waves above {above}"
            elif smallest is not None:
                in_waves = f"; in waves {move_words.what_helps(move)}"
        message = f"The move never finishes at this throttle{at_once}; {must}{in_waves}"
        return [serious("move-never-ends", "the throttle", message)]
    if move is not None and move.waves and move.never_ends:
        return [move_words.endless_problem(move)]
    whole = None if move is None or move.left_out else move
    if (figures["duration_peak_seconds"] if whole is None else whole.total[2]) is None:
        of_all = figures["smallest_throttle_peak_bytes_per_second"]
        at_peak = of_all if whole is None else whole.smallest_throttle("high")
        or_above = f", or with a throttle above {format_throttle_above(at_peak)}"
        if at_peak is None:
            or_above = f"; {no_throttle_helps()}"
        message = f"At peak rates the copies fall behind and the move never finishes: run it off-peak{or_above}"
        return [serious("move-never-ends-at-peak", "the throttle", message)]
    return []


def _from_clients(option: Option, move: MoveView | None) -> list[Problem]:
    """Look for a throttle with which copies take what clients need of a network."""
    figures = option.figures
    if not figures["moved_bytes"] or not option.taken_from_clients:
        return []
    if move is not None and move.facts["is_throttle_automatic"]:
        return []  # it is that of brokers whose network is not known
    throttle, spare = figures["throttle_bytes_per_second"], figures["spare_network_bytes_per_second"]
    # What is left at peak may not be enough for what is produced to the copies.
    smallest = figures["smallest_throttle_bytes_per_second"]
    is_enough = smallest is not None and smallest < spare
    message = (
        f"A throttle of {format_throttle(throttle)} is more than a network has left at peak ({format_throttle(spare)})"
        ", where copies and clients slow each other down"
    )
    remedy = (
        f"throttle to {format_throttle(spare)} at most, or move off-peak"
        if spare >= 1e5 and is_enough
        else "move off-peak"
    )
    return [serious("throttle-above-network", "the throttle", message, remedy)]


def _unknown_disks(view: ChangeView, move: MoveView | None) -> list[Problem]:
    """Say that throttles which are set by headroom leave disks out where what those can do is not known."""
    if move is None or not move.facts["is_throttle_automatic"] or not move.copied_bytes:
        return []
    if view.inputs.request.get("disk_bytes_per_second") is not None:
        return []
    message = "The automatic throttles leave headroom in networks only: what the disks write and read is not known"
    remedy = "give disk_bytes_per_second, or make sure that the disks take them beside clients"
    return [serious("throttle-without-disks", "the throttle", message, remedy)]


def _busy_networks(view: ChangeView, option: Option) -> list[Problem]:
    """Look for networks within their capacity, which a placement must not exceed, but above the limit of sizing."""
    limit = view.inputs.request.get("network_limit_ratio") or Limits().network_ratio
    used = [
        (row[f"peak_{direction}_after"] / capacity, row["broker_id"], direction)
        for row in view.brokers_after(option)
        for direction in ("in", "out")
        if (capacity := row[f"network_{direction}_bytes_per_second"])
    ]
    over = [one for one in used if limit < one[0] <= 1.0]
    if not over:
        return []
    (ratio, worst, direction), count = max(over), len({broker for _, broker, _ in over})
    message = (
        f"After the move {plural(count, 'broker')} {'has' if count == 1 else 'have'} little headroom, broker {worst} "
        f"least: {told_apart(whole_percent, ratio, limit)(ratio)} of network {direction} at peak"
    )
    remedy = f"see whether kafka-capacity size, whose limit is {format_limit(limit)}, calls this enough"
    return [serious("little-network-headroom", plural(count, "broker"), message, remedy)]


def _new_partitions(count: int) -> list[Problem]:
    if not count:
        return []
    is_one = "is" if count == 1 else "are"
    message = (
        f"{plural(count, 'partition')} {is_one} added before the first wave, which cannot be undone: records with "
        "keys change partition, so consumers that rely on the order of a key are at risk meanwhile"
    )
    note = (
        "Traffic of a topic with new partitions is assumed to spread evenly over all of them; its consumer groups "
        "are simulated with today’s partitions"
    )
    return [
        serious("partitions-added", plural(count, "partition"), message),
        info("partitions-added-evenly", "the plan", note),
    ]


def _copying(option: Option) -> list[str]:
    seconds = option.figures["duration_seconds"]
    fill = "The old copy of a partition stays until the new one is in sync: on the way a disk holds more than after."
    if seconds is None:
        return [fill]
    return [
        f"{format_duration(seconds)} is the copying alone, with everything started at once and the throttle used in "
        "full on the broker that decides.",
        fill,
    ]


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
