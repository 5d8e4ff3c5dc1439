"""Figures as people read them."""

from __future__ import annotations

import doctest
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kafka_capacity.report import palette
from kafka_capacity.text import (
    ENDLESS,
    FORMATS,
    amounts,
    figures,
    format_byte_delta,
    format_bytes,
    format_count,
    format_duration,
    format_duration_band,
    format_factor,
    format_moment,
    format_percent,
    format_throttle,
    format_throttle_above,
    iec_unit,
    names,
    times,
    wording,
)

IEC = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "EiB": 2**60}
SECONDS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}


def read_bytes(text: str) -> float:
    number, unit = text.replace("−", "-").replace("+", "").replace(",", "").split(" ")
    return float(number) * IEC[unit]


def read_duration(text: str) -> float:
    words = text.replace(",", "").split(" ")
    return sum(float(words[i]) * SECONDS[words[i + 1]] for i in range(0, len(words), 2))


@pytest.mark.parametrize(
    "module", [amounts, figures, times, wording, names, palette], ids=lambda module: module.__name__
)
def test_the_examples_in_docstrings_are_true(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1,023 B"),
        (1023.4, "1,023 B"),
        (1023.6, "1.0 KiB"),
        (1024, "1.0 KiB"),
        (1023.94 * 1024, "1,023.9 KiB"),
        (1023.95 * 1024, "1.0 MiB"),
        (1023.96 * 1024, "1.0 MiB"),
        (2**40 - 1, "1.0 TiB"),
        (-1536, "−1.5 KiB"),
        (-0.4, "0 B"),
        (2**70, "1,024.0 EiB"),
        (None, "—"),
    ],
)
def test_bytes_at_the_edges_of_units(amount, text):
    assert format_bytes(amount) == text


@given(st.integers(min_value=-(2**62), max_value=2**62))
def test_bytes_read_back_within_half_a_tenth_of_their_unit(amount):
    text = format_bytes(amount)
    unit = IEC[text.split(" ")[1]]
    assert abs(read_bytes(text) - amount) <= 0.05 * unit * 1.0001
    assert not re.search(r"1,024", text) or unit == 2**60


@given(st.integers(min_value=0, max_value=2**60), st.integers(min_value=0, max_value=2**60))
def test_more_bytes_never_read_as_fewer(one, other):
    small, large = sorted((one, other))
    assert read_bytes(format_bytes(small)) <= read_bytes(format_bytes(large))


@given(st.integers(min_value=-(2**50), max_value=2**50))
def test_a_change_in_bytes_has_its_sign(amount):
    text = format_byte_delta(amount)
    assert text[0] == ("+" if amount > 0 else ("−" if amount < 0 else "0"))
    assert "-" not in text


@given(st.floats(min_value=1, max_value=2**69))
def test_an_amount_is_at_least_one_of_its_unit(amount):
    name, size = iec_unit(amount)
    assert IEC[name] == size
    assert amount / size >= 1
    assert amount / size < 1024 or name == "EiB"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.04, "0 s"),
        (59.94, "59.9 s"),
        (59.95, "1 min"),
        (60, "1 min"),
        (119.6, "2 min"),
        (3_599.4, "59 min 59 s"),
        (3_599.6, "1 h"),
        (3_570, "59 min 30 s"),
        (84_600, "23 h 30 min"),
        (11_520, "3 h 12 min"),
        (86_399, "1 d"),
        (86_400 * 1234, "1,234 d"),
        (None, "never finishes"),
    ],
)
def test_times_at_the_edges_of_units(seconds, text):
    assert format_duration(seconds) == text


@given(st.floats(min_value=0, max_value=1e9))
def test_times_read_back_and_have_no_sixty_of_a_smaller_unit(seconds):
    text = format_duration(seconds)
    largest = SECONDS[text.split(" ")[1]]
    smaller = {86_400: 3_600, 3_600: 60, 60: 1, 1: 0.1}[largest]
    assert abs(read_duration(text) - seconds) <= smaller / 2 * 1.001
    assert not re.search(r" (60 s|60 min|24 h)", text)


@given(st.floats(min_value=0, max_value=50))
def test_percents_read_back(ratio):
    text = format_percent(ratio)
    if text.startswith("<"):
        assert 0 < ratio < 0.0005
    else:
        shown = float(text.removesuffix(" %").replace(",", ""))
        assert abs(shown - ratio * 100) <= (0.0501 if shown < 100 else 0.5001)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0004999, "<0.1 %"),
        (0.0005, "0.0 %"),
        (0.00051, "0.1 %"),
        (0.99949, "99.9 %"),
        (1.0, "100 %"),
        (-0.5, "−50.0 %"),
    ],
)
def test_percents_at_their_edges(ratio, text):
    if ratio == 0.0005:
        assert format_percent(ratio) in {"0.0 %", "0.1 %"}
    else:
        assert format_percent(ratio) == text


def test_a_throttle_is_decimal_as_it_was_typed():
    assert [format_throttle(t) for t in (50e6, 12.5e6, 1e9, 500)] == ["50 MB/s", "12.5 MB/s", "1 GB/s", "500 B/s"]


def test_counts_and_factors():
    assert [format_count(n) for n in (0, 999, 1_000, -1_234_567)] == ["0", "999", "1,000", "−1,234,567"]
    assert [format_factor(f) for f in (1, 9.94, 9.96, 1234)] == ["1.0×", "9.9×", "10×", "1,234×"]


def test_a_band_of_times_is_one_time_where_both_look_the_same():
    assert format_duration_band((3_600, 3_601)) == "1 h to 1 h 0 min" or format_duration_band((3_600, 3_601)) == "1 h"
    assert format_duration_band((None, None)) == "never finishes"


def test_a_moment_is_shown_in_utc():
    assert format_moment("2026-11-20T02:00:00+02:00") == "2026-11-20 00:00 UTC"
    assert format_moment("2026-11-20T02:00:00") == "2026-11-20T02:00:00"


def test_what_is_not_known_is_a_dash_in_every_format_of_figures():
    for name in ("bytes", "byte_delta", "rate", "throttle", "percent", "count", "count_delta", "factor", "text"):
        assert FORMATS[name](None) == "—", name


FIGURES = ("bytes", "byte_delta", "rate", "throttle", "duration", "percent", "limit", "count", "count_delta", "factor")


@pytest.mark.parametrize("name", FIGURES)
@given(value=st.floats() | st.integers() | st.sampled_from([10**400, -(10**400), 1e300, 1e308]))
def test_no_figure_is_too_large_to_be_written(name, value):
    assume(name != "duration" or not value < 0)
    assert 0 < len(FORMATS[name](value)) < 30


@given(st.floats(min_value=0) | st.just(10**400))
def test_no_throttle_or_band_is_too_large_to_be_written(value):
    assert len(format_throttle_above(value)) < 30
    assert len(format_duration_band((value, value))) < 30


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("bytes", 1e300, "8.7e281 EiB"),
        ("bytes", -1e300, "−8.7e281 EiB"),
        ("bytes", float("inf"), "∞ EiB"),
        ("byte_delta", float("inf"), "+∞ EiB"),
        ("bytes", 10**400, "∞ EiB"),
        ("bytes", float("nan"), "—"),
        ("throttle", 1e300, "1.0e285 PB/s"),
        ("duration", 1e300, "1.2e295 d"),
        ("duration", float("inf"), "∞ d"),
        ("percent", 1e300, "1.0e302 %"),
        ("percent", float("inf"), "∞ %"),
        ("percent", float("nan"), "—"),
        ("count", 1e300, "1.0e300"),
        ("count", 2**49, "562,949,953,421,312"),
        ("factor", float("inf"), "∞×"),
    ],
)
def test_absurd_figures_have_the_largest_unit(name, value, text):
    assert FORMATS[name](value) == text


def test_a_time_before_and_after_is_told_once_where_both_look_the_same():
    pairs = ((252, 48), (48, 48), (None, 48), (ENDLESS, None))
    assert [FORMATS["wait_change"](pair) for pair in pairs] == ["4 min 12 s → 48 s", "48 s", "48 s", "unbounded"]
    assert [FORMATS["text_change"](pair) for pair in (("a", "b"), ("a", "a"))] == ["a → b", "a"]
