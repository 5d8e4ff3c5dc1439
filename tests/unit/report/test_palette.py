"""Colours that can be read."""

from __future__ import annotations

import pytest

from kafka_capacity.report.palette import DARK, GRAPHIC_PAIRS, LIGHT, TEXT_PAIRS, contrast_ratio

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
