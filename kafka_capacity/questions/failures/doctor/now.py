"""What is down, or about to be, at the moment of the snapshot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_capacity.questions.failures.doctor.diagnosis import Diagnosis, Patient, Seriousness, counted, some_names


def examine_now(patient: Patient) -> Iterator[Diagnosis]:
    """Look for partitions that are offline, refuse writes or lack replicas, and for brokers that are fenced."""
    states = patient.states
    size = states.isr_size()
    offline = states.is_offline
    refused = ~offline & (size < states.min_isr)
    behind = ~offline & ~refused & (size < patient.factor)
    if offline.any():
        yield patient.diagnosis(
            Seriousness.SERIOUS,
            "offline-now",
            offline,
            "have no leader: nothing is written or read there",
            "bring back the brokers that were last in sync; an unclean election loses records",
        )
    if refused.any():
        yield patient.diagnosis(
            Seriousness.SERIOUS,
            "under-min-isr-now",
            refused,
            "have fewer replicas in sync than min.insync.replicas: producers with acks=all are refused",
            "bring the missing replicas back in sync; do not lower min.insync.replicas to hide it",
        )
    if behind.any():
        one_left = behind & (size == 1)
        yield patient.diagnosis(
            Seriousness.SERIOUS if one_left.any() else Seriousness.WARNING,
            "under-replicated-now",
            behind,
            "have replicas out of sync" + _alone(int(one_left.sum()), int(behind.sum())),
            "find out which brokers lag before anything is moved or restarted",
        )
    yield from _fenced(patient)


def _alone(count: int, behind: int) -> str:
    if not count:
        return ""
    who = "with" if count == behind else f"{count:,} of these partitions with"
    return f", {who} a single one left in sync"


def _fenced(patient: Patient) -> Iterator[Diagnosis]:
    brokers = patient.snapshot.brokers
    fenced = brokers.ids[brokers.is_fenced]
    held = np.asarray(np.isin(patient.snapshot.replicas, fenced).any(axis=1), dtype=np.bool_)
    if len(fenced) and held.any():
        yield Diagnosis(
            severity=Seriousness.SERIOUS,
            code="fenced-brokers",
            where=f"broker{'' if len(fenced) == 1 else 's'} {some_names(fenced)}",
            message=(
                f"{counted(len(fenced), 'broker')} of {len(brokers):,} {'is' if len(fenced) == 1 else 'are'} fenced "
                f"and {'holds' if len(fenced) == 1 else 'hold'} replicas of {counted(int(held.sum()), 'partition')}"
            ),
            mend="start it, or move its replicas away"
            if len(fenced) == 1
            else "start them, or move their replicas away",
            partitions=int(held.sum()),
            bytes_per_second=patient.rate(held),
        )
