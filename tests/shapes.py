"""Shapes of brokers, from the shipped catalogue and from a file beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_capacity.hardware.shape_catalogue import shapes_beside
from kafka_capacity.hardware.shapes import Shape
from kafka_capacity.text.files import read_text_file


def read_shapes(own_file: Path | None = None) -> Mapping[str, Shape]:
    """Return every shape by its name: the shipped ones, and those of a file in their place or beside them."""
    return shapes_beside("", "") if own_file is None else shapes_beside(read_text_file(own_file), str(own_file))
