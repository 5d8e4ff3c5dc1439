"""The colours, once: style sheets, charts and e-mails take them from here, by name.

Charts are drawn with the light values; in inline SVG they are then swapped for ``var(--name)``, so no two names may
share a light value.
"""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "page": "#ffffff",
    "surface": "#f5f7f9",
    "ink": "#17202b",
    "muted": "#53606e",
    "line": "#d4dae1",
    "accent": "#1d5c94",
    "good": "#1c6a3c",
    "warn": "#855000",
    "bad": "#a1261f",
    "good-surface": "#e7f3ec",
    "warn-surface": "#fbf1de",
    "bad-surface": "#faeae8",
    "bar": "#2a6aa3",
    "bar-quiet": "#6f8fae",
    "bar-second": "#b5670f",
    "bar-before": "#828e9c",
    "grid": "#e4e8ec",
    "heat-1": "#e6eff7",
    "heat-2": "#cfe0ef",
    "heat-3": "#b1cde5",
    "heat-4": "#8eb6d8",
}
"""On paper and on light screens."""

PAPER = "#e6ebf0"
"""Behind drawings in an e-mail, on light and dark screens alike: opaque, so that labels can be read, and no glare."""

DARK: Mapping[str, str] = {
    "page": "#11161c",
    "surface": "#1a212a",
    "ink": "#e7ebf0",
    "muted": "#a5b0bd",
    "line": "#37414d",
    "accent": "#7ab8ee",
    "good": "#72ca95",
    "warn": "#e6b15c",
    "bad": "#f2938b",
    "good-surface": "#16291e",
    "warn-surface": "#2c2415",
    "bad-surface": "#311c1b",
    "bar": "#5fa4de",
    "bar-quiet": "#5d7c9a",
    "bar-second": "#dd9440",
    "bar-before": "#7d8997",
    "grid": "#28313b",
    "heat-1": "#172534",
    "heat-2": "#1e344a",
    "heat-3": "#274662",
    "heat-4": "#315a7e",
}
"""On dark screens."""
