"""Colours that can be read."""

from __future__ import annotations

import pytest

from kafka_capacity.report.heat import STEPS
from kafka_capacity.report.palette import DARK, LIGHT

TEXT_PAIRS: tuple[tuple[str, str], ...] = (
    ("ink", "page"),
    ("ink", "surface"),
    ("muted", "page"),
    ("muted", "surface"),
    ("accent", "page"),
    ("accent", "surface"),
    ("good", "good-surface"),
    ("warn", "warn-surface"),
    ("bad", "bad-surface"),
    ("ink", "good-surface"),
    ("ink", "warn-surface"),
    ("ink", "bad-surface"),
    *(("ink", f"heat-{step}") for step in range(1, STEPS + 1)),
)
"""Which text stands on which ground: each pair must reach a contrast of 4.5."""


GRAPHIC_PAIRS: tuple[tuple[str, str], ...] = tuple(
    (name, "page") for name in ("bar", "bar-quiet", "bar-second", "bar-before")
)
"""Which marks stand on which ground: each pair must reach a contrast of 3."""


def contrast_ratio(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, 1 to 21.

    >>> round(contrast_ratio("#ffffff", "#000000"), 1)
    21.0
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


BOTH = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])


@BOTH
@pytest.mark.parametrize(("text", "ground"), TEXT_PAIRS)
def test_text_stands_out_from_its_ground(colours, text, ground):
    assert contrast_ratio(colours[text], colours[ground]) >= 4.5


@BOTH
@pytest.mark.parametrize(("mark", "ground"), GRAPHIC_PAIRS)
def test_marks_stand_out_from_their_ground(colours, mark, ground):
    assert contrast_ratio(colours[mark], colours[ground]) >= 3.0


@BOTH
def test_the_text_of_the_button_stands_out(colours):
    assert contrast_ratio(colours["page"], colours["accent"]) >= 4.5


def test_both_sets_have_the_same_names():
    assert list(LIGHT) == list(DARK)


def test_light_colours_can_be_told_apart_by_value():
    assert len(set(LIGHT.values())) == len(LIGHT)
