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
}
"""On paper and on light screens."""

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
}
"""On dark screens."""

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
