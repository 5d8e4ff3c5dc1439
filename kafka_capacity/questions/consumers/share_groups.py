"""Share groups of a plan (KIP-932): members that help, members that are needed, and what record locks cost.

Nobody stops reading while a share group rebalances, so that it has no scenarios: closed forms tell what there is to
tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.kafka.groups.share import ShareSettings, members_needed, useful_members
from kafka_capacity.kafka.rebalance.model import GroupFacts
from kafka_capacity.questions.consumers.events import has_rates, offline_partitions, unknown_rates
from kafka_capacity.questions.consumers.grid import GroupGridRequest
from kafka_capacity.questions.consumers.scenario import Verdict
from kafka_capacity.report.tables import column
from kafka_capacity.text import format_count, format_duration, plural
from kafka_capacity.text.wording import few_names, listed

SHARED = "share_groups"  # among the facts about an inventory: what :func:`share_group` returns of each
VERDICT_WORDS: dict[str, str] = {Verdict.FITS: "yes", Verdict.DOES_NOT_FIT: "no", Verdict.NOT_JUDGED: "not judged"}
SHARE_COLUMNS = (
    column("group_id", "Share group", "name"),
    column("member_count", "Members", "count"),
    column("needed_members", "Needed", "count"),
    column("useful_members", "Active at once", "count"),
    column("rate", "Records/s at peak", "count", lambda row: _rounded(row["peak_records_per_second"])),
    column("batch_seconds", "Time per full poll", "wait"),
    column("lock_seconds", "Lock duration", "wait"),
    column("verdict", "Fits", "text", lambda row: VERDICT_WORDS[row["verdict"]]),
)
"""One row a share group: made of what :func:`share_group` returns."""


def share_group(facts: GroupFacts, request: GroupGridRequest) -> dict[str, Any]:
    """Return what is known of a share group as plain data; null where it is not known."""
    locks, partitions = request.share, len(facts)
    seconds = request.record_processing_seconds
    if seconds is None and request.member_capacity_bytes_per_second is not None:
        seconds = facts.record_bytes / request.member_capacity_bytes_per_second
    rates = facts.peak_bytes_per_second / facts.record_bytes if has_rates(facts) else None
    busiest = 0 if rates is None else int(rates.argmax())
    row: dict[str, Any] = {
        "group_id": facts.group_id,
        "member_count": len(facts.members),
        "partition_count": partitions,
        "useful_members": useful_members(partitions, locks),
        "peak_records_per_second": None if rates is None else float(rates.sum()),
        "busiest_partition": facts.partition_name(busiest),
        "busiest_records_per_second": None if rates is None else float(rates[busiest]),
        "record_bytes": facts.record_bytes,
        "is_record_size_known": facts.is_record_size_known,
        "record_processing_seconds": seconds,
        "lock_seconds": locks.lock_seconds,
        "redelivered_records": locks.batch_records,
        "stuck_seconds": None if rates is None else locks.stuck_seconds(float(rates[busiest])),
        "needed_members": None,
        "batch_seconds": None,
    }
    if seconds is not None:
        row |= {
            "batch_seconds": locks.batch_seconds(seconds),
            "records_in_time": locks.records_in_time(seconds),
            "processed_again_records": locks.processed_again(seconds),
            "max_partition_records_per_second": locks.max_partition_rate(seconds),
        }
        if rates is not None:
            row["needed_members"] = members_needed(row["peak_records_per_second"], seconds) + request.failure_count
    whatever = _whatever_the_members(row, locks)
    offline, too_few = offline_partitions(facts), _too_few(row, request.failure_count)
    reasons = [*([] if offline is None else [offline]), *whatever, *too_few]
    unknown, is_known = _unknown(row, facts), unknown_rates(facts) is None
    verdict = Verdict.DOES_NOT_FIT if reasons else Verdict.NOT_JUDGED if unknown else Verdict.FITS
    tried = _tried(row, request.member_counts, is_fixed=not whatever, is_known=is_known)
    known = [*_known(row, locks), *tried]
    if not is_known and not too_few:  # at least so many are needed, which says nothing where there are more
        row["needed_members"] = None
    return {**row, "verdict": verdict, "reasons": [*reasons, *unknown], "known": known}


def _too_few(row: Mapping[str, Any], failures: int) -> list[str]:
    needed = row["needed_members"]
    if needed is None or needed <= row["member_count"]:
        return []
    useful = row["useful_members"]
    in_vain = f", and more than {useful:,} do not help until locks let more through" if needed > useful else ""
    return [
        f"{plural(needed, 'member')} are needed for {format_count(row['peak_records_per_second'])} records/s at "
        f"peak{f', {failures:,} of them in case of failures' if failures else ''}, but there "
        f"{'is' if row['member_count'] == 1 else 'are'} {row['member_count']:,}{in_vain}"
    ]


def _tried(row: Mapping[str, Any], counts: Sequence[int], *, is_fixed: bool, is_known: bool) -> list[str]:
    """Return which of the counts asked for are enough, or will be once locks last; none where no record is in time.

    Of rates that are known in part, ``is_known`` is false, no count is enough for certain.
    """
    needed = row["needed_members"]
    if needed is None or not row["records_in_time"]:
        return []
    enough, too_few = ([f"{one:,}" for one in counts if (one >= needed) is fits] for fits in (True, False))
    said = [f"{listed(too_few)} would be too few"] if too_few else []
    said += [f"{listed(enough)} would be enough"] if enough and is_known else []
    once = "" if is_fixed else " once that is fixed"
    return [f"of the member counts given, {' and '.join(said)}{once}"] if said else []


def _whatever_the_members(row: Mapping[str, Any], locks: ShareSettings) -> list[str]:
    found, seconds = [], row["record_processing_seconds"]
    if seconds is None:
        return []
    if not row["records_in_time"]:
        found.append(
            f"every lock expires before its record is processed, which takes {format_duration(seconds)}: each is "
            f"delivered {locks.delivery_limit:,} times and then dropped"
        )
    elif row["processed_again_records"]:
        found.append(
            f"a full poll takes {format_duration(row['batch_seconds'])} but its locks last "
            f"{format_duration(locks.lock_seconds)}: {plural(row['processed_again_records'], 'record')} of it are "
            f"processed again by others; with max.poll.records {row['records_in_time']:,} none are"
        )
    rate, most = row["busiest_records_per_second"], row["max_partition_records_per_second"]
    if rate is not None and rate > most:
        poll = min(math.floor(locks.max_record_locks / (rate * seconds)), row["records_in_time"])
        remedy = f"with max.poll.records {poll:,} it is enough"
        if not poll:
            remedy = (
                "it needs more partitions" if row["records_in_time"] else ("it needs faster members or longer locks")
            )
        found.append(
            f"{row['busiest_partition']} gets {format_count(rate)} records/s at peak, but its "
            f"{locks.max_record_locks:,} locks let {format_count(most)} through, with any number of members: {remedy}"
        )
    return found


def _unknown(row: Mapping[str, Any], facts: GroupFacts) -> list[str]:
    if (no_rates := unknown_rates(facts)) is not None:
        return [no_rates]
    if row["record_processing_seconds"] is None:
        return ["the time per record is unknown; give record_processing_seconds or member_capacity_bytes_per_second"]
    return []


def _known(row: Mapping[str, Any], locks: ShareSettings) -> list[str]:
    """Return what is so whatever the verdict: members beyond what helps, a crash, a record that nobody gets done."""
    found = []
    members, useful = row["member_count"], row["useful_members"]
    if members > useful:
        found.append(f"{useful:,} of {members:,} members can have records at once: the others wait for locks")
    elif members > row["partition_count"]:
        found.append(
            f"{plural(members, 'member')} share {plural(row['partition_count'], 'partition')}: more than {useful:,} "
            "do not help"
        )
    found.append(
        f"when a member is killed, up to {plural(row['redelivered_records'], 'record')} are delivered again at once; "
        f"if its host vanishes, they wait for their locks, {format_duration(locks.lock_seconds)} at most"
    )
    held = format_duration(locks.delivery_limit * locks.lock_seconds)
    stuck = row["stuck_seconds"]
    stands = f"; {row['busiest_partition']} is stuck for {format_duration(stuck)} of that at peak" if stuck else ""
    found.append(
        f"a record whose lock always expires is delivered {locks.delivery_limit:,} times, over {held}, and then "
        f"dropped{stands}"
    )
    if not row["is_record_size_known"]:
        found.append(f"the record size is unknown and assumed to be {row['record_bytes']:,.0f} bytes")
    return found


def share_sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what there is to say of each, the group before it; what is so of several is said once."""
    said: dict[str, list[str]] = {}
    for row in rows:
        for sentence in (*row["reasons"], *row["known"]):
            said.setdefault(sentence, []).append(row["group_id"])
    return [f"{few_names(groups, 5)}: {sentence}." for sentence, groups in said.items()]


def _rounded(rate: float | None) -> int | None:
    return None if rate is None else round(rate)
