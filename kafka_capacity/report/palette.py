"""The colours, once: style sheets, charts and e-mails take them from here, by name.

Charts are drawn with the light values; in inline SVG they are then swapped for ``var(--name)``, so no two names may
share a light value.
"""

from __future__ import annotations

from collections.abc import Mapping

_COLOURS = {  # on paper and light screens, and on dark screens
    "page": ("#ffffff", "#11161c"),
    "surface": ("#f5f7f9", "#1a212a"),
    "ink": ("#17202b", "#e7ebf0"),
    "muted": ("#53606e", "#a5b0bd"),
    "line": ("#d4dae1", "#37414d"),
    "accent": ("#1d5c94", "#7ab8ee"),
    "good": ("#1c6a3c", "#72ca95"),
    "warn": ("#855000", "#e6b15c"),
    "bad": ("#a1261f", "#f2938b"),
    "good-surface": ("#e7f3ec", "#16291e"),
    "warn-surface": ("#fbf1de", "#2c2415"),
    "bad-surface": ("#faeae8", "#311c1b"),
    "bar": ("#2a6aa3", "#5fa4de"),
    "bar-quiet": ("#6f8fae", "#5d7c9a"),
    "bar-second": ("#b5670f", "#dd9440"),
    "bar-before": ("#828e9c", "#7d8997"),
    "grid": ("#e4e8ec", "#28313b"),
    "heat-1": ("#e6eff7", "#172534"),
    "heat-2": ("#cfe0ef", "#1e344a"),
    "heat-3": ("#b1cde5", "#274662"),
    "heat-4": ("#8eb6d8", "#315a7e"),
}
LIGHT: Mapping[str, str] = {name: light for name, (light, _) in _COLOURS.items()}
DARK: Mapping[str, str] = {name: dark for name, (_, dark) in _COLOURS.items()}

PAPER = "#e6ebf0"
"""Behind drawings in an e-mail, on light and dark screens alike: opaque, so that labels can be read, and no glare."""
