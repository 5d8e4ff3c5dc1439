"""The files that sizing takes beside a snapshot: shapes and prices of one's own, and samples of processors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_capacity.cli.plan_options import request_of
from kafka_capacity.hardware.cpu import CpuCalibration, read_cpu_samples
from kafka_capacity.hardware.shape_catalogue import chosen_shapes, shapes_beside
from kafka_capacity.text.files import read_text_file


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeFiles:
    """What was read of them; empty or ``None`` where there is no file."""

    own_shapes: str
    own_shapes_name: str
    cpu: CpuCalibration | None
    cpu_samples_sha256: str

    @property
    def given(self) -> dict[str, Any]:
        """What :class:`kafka_capacity.questions.question.Asked` has of them."""
        return {"own_shapes": self.own_shapes, "own_shapes_name": self.own_shapes_name, "cpu": self.cpu}


def read_size_files(shapes_file: Path | None, cpu_samples: Path | None, given: Mapping[str, Any]) -> SizeFiles:
    """Read the files, so that what is wrong with them is told before a large snapshot is read.

    Raises:
        KafkaCapacityError: a file is wrong, or a shape that is asked for is neither shipped nor in the file.
    """
    own = "" if shapes_file is None else read_text_file(shapes_file)
    name = f"--shapes-file {shapes_file}"
    chosen_shapes(shapes_beside(own, name), request_of("not read yet", "2000-01-01", given).shapes)
    return SizeFiles(
        own_shapes=own,
        own_shapes_name=name,
        cpu=None if cpu_samples is None else read_cpu_samples(cpu_samples),
        cpu_samples_sha256="" if cpu_samples is None else hashlib.sha256(cpu_samples.read_bytes()).hexdigest(),
    )
