"""All examinations, one after another."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.controller.quorum.voters import Voter
from kafka_capacity.questions.failures.doctor.controllers import examine_controllers
from kafka_capacity.questions.failures.doctor.diagnosis import Diagnosis, Patient, in_order
from kafka_capacity.questions.failures.doctor.now import examine_now
from kafka_capacity.questions.failures.doctor.racks import examine_racks
from kafka_capacity.questions.failures.doctor.settings import examine_settings


def examine(snapshot: Snapshot, load: PartitionLoad, *, voters: Sequence[Voter] = ()) -> tuple[Diagnosis, ...]:
    """Examine a cluster.

    Args:
        snapshot: as it is, or as a placement would leave it.
        load: traffic of its partitions.
        voters: of the metadata quorum, where they are known.

    Returns:
        What was found, the most serious first.
    """
    patient = Patient.of(snapshot, load)
    return in_order(
        [
            *examine_now(patient),
            *examine_settings(patient),
            *examine_racks(patient),
            *examine_controllers(voters),
        ]
    )
