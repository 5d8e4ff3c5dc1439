"""Names from outside are safe to look at, and otherwise as typed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.text.names import clipped, prose, slug, visible


@pytest.mark.parametrize("name", ["orders.v2", "<script>{{7*7}}</script>", "الطلبات", "注文", "naïve café", "👩‍💻"])
def test_what_can_be_seen_is_shown_as_typed(name):
    assert visible(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\r\nBcc: x", "a\\r\\nBcc: x"),
        ("gpj\u202eexe", "gpj\\u202eexe"),
        ("pay\u200bments", "pay\\u200bments"),
        ("a\u2028b", "a\\u2028b"),
        ("a\x00b\x1b[31m", "a\\u0000b\\u001b[31m"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\ufffe", "\\ufffe"),
    ],
)
def test_what_cannot_be_seen_or_turns_text_is_shown_as_an_escape(name, shown):
    assert visible(name) == shown


@given(st.text())
def test_nothing_hidden_is_left(name):
    shown = visible(name)
    shown.encode()
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in shown)
    assert visible(shown) == shown


@given(st.text())
def test_prose_is_escaped(text):
    plain = str(prose(text)).replace('<span class="whole">', "").replace("</span>", "")
    assert "<" not in plain
    assert ">" not in plain


def test_prose_keeps_figures_whole():
    assert prose("19.6 % of 38.9 TiB at 50 MB/s") == "19.6\u00a0% of 38.9\u00a0TiB at 50\u00a0MB/s"
    assert prose("12 brokers and 3 blue ones") == "12 brokers and 3 blue ones"


@given(st.text(max_size=300))
def test_a_slug_is_an_id_whatever_it_is_made_of(text):
    made = slug(text)
    assert made.isascii()
    assert made.replace("-", "").isalnum()


def test_a_long_name_is_cut():
    assert clipped("x" * 249, 60) == "x" * 59 + "…"
    assert clipped("x" * 60, 60) == "x" * 60
