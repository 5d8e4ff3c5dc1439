"""Racks: whether they are known, even and used, and what the loss of one would do to this very placement."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.controller.failing import ElectionRules, fail_brokers
from kafka_capacity.kafka.placement import RackRule
from kafka_capacity.proposal.topology import topology_warnings
from kafka_capacity.questions.failures.doctor.diagnosis import Diagnosis, Patient, Seriousness, counted, some_names
from kafka_capacity.text.wording import shown_rate

_MENDS = {
    "racks-incomplete": "set broker.rack on every broker",
    "rf-above-racks": "add brokers in further racks, or mind min.insync.replicas when a rack is down",
    "uneven-racks": "make the racks equal in brokers",
}


def examine_racks(patient: Patient) -> Iterator[Diagnosis]:
    """Look at the racks of the brokers, and at the racks that each partition is in."""
    brokers = patient.snapshot.brokers
    names = brokers.rack_names()
    lacking = sum(rack is None for rack in brokers.racks)
    if len(brokers) > 1 and len(names) < 2 and lacking in (0, len(brokers)):
        what = "have no rack" if not names else f"are all in rack {names[0]}"
        yield Diagnosis(
            severity=Seriousness.WARNING,
            code="one-rack",
            where="all brokers",
            message=f"the {len(brokers):,} brokers {what}: Kafka may put all replicas of a partition side by side",
            mend="set broker.rack to what fails together: a zone, a room, a power supply",
            partitions=len(patient.factor),
            bytes_per_second=patient.rate(np.ones(len(patient.factor), dtype=np.bool_)),
        )
        return
    for trap in topology_warnings(brokers, patient.factor, what="the brokers", rack_rule=RackRule.OFF):
        yield Diagnosis(
            severity=Seriousness(trap.severity),
            code=trap.code,
            where=trap.where,
            message=trap.message,
            mend=_MENDS[trap.code],
        )
    if len(names) > 1:
        yield from _spread(patient)
        yield from _losses(patient)


def racks_per_partition(patient: Patient) -> NDArray[np.int64]:
    """Count the racks that each partition has replicas in: int64[P]; a broker without a rack counts as one."""
    brokers = patient.snapshot.brokers
    rack = np.append(brokers.rack_indexes(), -1)[patient.states.replicas]
    ordered = np.sort(rack, axis=1)
    is_new = ordered >= 0
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return np.asarray(is_new.sum(axis=1), dtype=np.int64)


def _spread(patient: Patient) -> Iterator[Diagnosis]:
    used = racks_per_partition(patient)
    available = int(patient.snapshot.brokers.rack_indexes().max()) + 1
    possible = np.minimum(patient.factor, available)
    together = (used == 1) & (patient.factor > 1)
    if together.any():
        yield patient.diagnosis(
            Seriousness.SERIOUS,
            "one-rack-partitions",
            together,
            f"have all their replicas in one rack though there are {available}: the loss of that rack stops them",
            "move one replica of each to another rack, with a placer and rack rule that spread them",
        )
    narrow = (used < possible) & ~together
    if narrow.any():
        yield patient.diagnosis(
            Seriousness.WARNING,
            "narrow-partitions",
            narrow,
            "are in fewer racks than they could be: the loss of one takes more than one replica of them",
            "move replicas to other racks, with the rack rule strict",
        )


def _losses(patient: Patient) -> Iterator[Diagnosis]:
    """Say what the loss of a rack would stop, where it is more than its share of replicas."""
    brokers = patient.snapshot.brokers
    hurt: list[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]] = []
    for rack, members in brokers.brokers_by_rack().items():
        if rack is None:
            continue
        lost = brokers.index_of(np.array(members, dtype=np.int32)).tolist()
        after = fail_brokers(patient.states, lost, ElectionRules.KRAFT)
        offline = after.is_offline & ~patient.states.is_offline
        was_refused = patient.states.isr_size() < patient.states.min_isr
        refused = ~after.is_offline & (after.isr_size() < after.min_isr) & ~was_refused
        if offline.any() or refused.any():
            hurt.append((rack, offline, refused))
    if not hurt:
        return
    rack, offline, refused = max(hurt, key=lambda one: (int(one[1].sum()), int(one[2].sum()), one[0]))
    rows = offline | refused
    yield Diagnosis(
        severity=Seriousness.WARNING,
        code="rack-loss",
        where=f"rack{'' if len(hurt) == 1 else 's'} {some_names(one[0] for one in hurt)}",
        message=(
            f"the loss of rack {rack} takes {counted(int(offline.sum()), 'partition')} offline and leaves "
            f"{counted(int(refused.sum()), 'partition')} that refuse{'s' if refused.sum() == 1 else ''} acks=all, "
            f"{shown_rate(patient.rate(rows))} in all"
        ),
        mend="spread replicas over more racks, or keep min.insync.replicas below what the loss of one leaves",
        partitions=int(rows.sum()),
        bytes_per_second=patient.rate(rows),
    )
