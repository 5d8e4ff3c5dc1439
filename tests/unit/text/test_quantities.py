"""Amounts as people type them."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.text.quantities import UNITS, parse_quantity, shown_quantity, unit_of
from tests.properties.strategies import repeatable


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        ("throttle_bytes_per_second", "50MB", 50e6),
        ("throttle_bytes_per_second", "50MB/s", 50e6),
        ("throttle_bytes_per_second", "50 mb/s", 50e6),
        ("throttle_bytes_per_second", "1.5 MiB/s", 1.5 * 2**20),
        ("throttle_bytes_per_second", "50e6", 50e6),
        ("broker_heap_bytes", "1.5TiB", 1.5 * 2**40),
        ("broker_heap_bytes", "512B", 512.0),
        ("disk_limit_ratio", "40%", 0.4),
        ("disk_limit_ratio", "0.4", 0.4),
        ("growth_per_year_ratio", "-10 %", -0.1),
        ("lag_slo_seconds", "1m", 60.0),
        ("lag_slo_seconds", "60s", 60.0),
        ("lag_slo_seconds", "500ms", 0.5),
        ("lag_slo_seconds", "1h30m", 5400.0),
        ("lag_slo_seconds", "7d", 604_800.0),
        ("max_wave_hours", "90m", 1.5),
        ("disk_mttf_days", "520w", 3640.0),
        ("disk_mttf_days", "36h", 1.5),
    ],
)
def test_what_people_type_is_understood(parameter, text, value):
    assert parse_quantity(parameter, text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.suffix)
@repeatable(100)
@given(data=st.data())
def test_the_pattern_of_a_unit_takes_what_is_understood(unit, data):
    typed = data.draw(st.from_regex(f"({unit.pattern})", fullmatch=True, alphabet=st.characters(codec="ascii")))
    assert not math.isnan(parse_quantity(f"x{unit.suffix}", typed))
    shown = shown_quantity(f"x{unit.suffix}", data.draw(st.floats(min_value=1e-3, max_value=4.9)))
    assert re.fullmatch(unit.pattern, shown), shown


def test_a_bare_number_that_looks_like_percent_is_no_ratio():
    assert parse_quantity("growth_per_year_ratio", "4.5") == 4.5
    for text, why in (("40", "write 40%; a bare 40 would be 4000%"), ("-30", "write -30%; a bare -30 would be -3000%")):
        with pytest.raises(ValueError, match=f"^{why}"):
            parse_quantity("growth_per_year_ratio", text)


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        ("throttle_bytes_per_second", "400Mb/s"),
        ("throttle_bytes_per_second", "400Mbps"),
        ("throttle_bytes_per_second", "400 Mbit/s"),
        ("throttle_bytes_per_second", "fast"),
        ("throttle_bytes_per_second", "50%"),
        ("throttle_bytes_per_second", ""),
        ("broker_heap_bytes", "6GB/s"),
        ("disk_limit_ratio", "40MB"),
        ("lag_slo_seconds", "a minute"),
        ("lag_slo_seconds", "5 M"),
        ("lag_slo_seconds", " "),
    ],
)
def test_what_is_not_understood_is_refused_with_an_example(parameter, text):
    with pytest.raises(ValueError, match=r"^write .* such as "):
        parse_quantity(parameter, text)


@repeatable(200)
@given(st.sampled_from(UNITS), st.integers(1, 10**6), st.sampled_from([1.0, 0.01, 0.25, 1e6, 2.0**30]))
def test_what_is_shown_is_understood_again(unit, count, step):
    value = count * step
    assert math.isclose(
        parse_quantity(f"x{unit.suffix}", shown_quantity(f"x{unit.suffix}", value)), value, rel_tol=1e-9
    )


def test_names_tell_the_unit():
    assert unit_of("broker_counts") is None
    assert unit_of("throttle_bytes_per_second").metavar == "RATE"
    assert shown_quantity("broker_counts", 12) == "12"
