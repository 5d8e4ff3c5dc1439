"""Say the same drawing with fewer bytes: a page holds a dozen of them, mostly lines of a grid and labels of an axis.

What is a default is left out, coordinates are to a tenth of a pixel, lines of one kind that follow each other are one
path, and what all labels in a row have in common is said once. Nothing that can be seen changes; a mark with a title
under the pointer stays by itself.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"<[^>]*>")
_UNDRAWN = re.compile(r'<path(?: transform="[^"]*")?(?: d="[^"]*")?/>')
"""Without a colour of its own: groups of a drawing have none to hand down."""
_DEFAULT = re.compile(r'\s(?:stroke-width="1"|stroke-dasharray="1,0"|text-anchor="start"|[xy]2="0")')
_DECIMALS = re.compile(r"-?\d*\.\d{2,}")
_PLACED = re.compile(r'^(<text\b.*?)\stransform="translate\((-?[\d.]+),(-?[\d.]+)\)"')
_NUMBER = r"(-?[\d.]+)"
_LINE = rf'<line transform="translate\({_NUMBER},{_NUMBER}\)" ([xy])2="{_NUMBER}" stroke="([^"]*)"/>'
_LINES = re.compile(r'(?:<line transform="translate\([^")]*\)" [xy]2="[^"]*" stroke="[^"]*"/>){2,}')
_TEXTS = re.compile(r"(?:<text[^>]*>[^<]*</text>){2,}")
_SHARED = re.compile(r'\s(?:fill|font-size|font-weight|text-anchor)="[^"]*"')
_REPEATED = re.compile(r"(L-?[\d.]+,-?[\d.]+)(?:\1(?![\d.]))+")


def compact(svg: str) -> str:
    """Return a drawing that looks the same.

    >>> compact('<svg><path d="M0,0h9v9h-9Z"/><text text-anchor="start" transform="translate(3.14,0)">a</text></svg>')
    '<svg><text x="3.1">a</text></svg>'
    >>> line = '<line transform="translate({},0)" x2="0" y2="9" stroke="red" stroke-width="1"/>'
    >>> compact(line.format(1) + line.format(2))
    '<path d="M1,0v9M2,0v9" stroke="red"/>'
    >>> compact('<text fill="red">a</text><text fill="red" x="2">fill="red"</text>')
    '<g fill="red"><text>a</text><text x="2">fill="red"</text></g>'
    """
    svg = _TAG.sub(_shorter, svg)
    for pattern, write in ((_UNDRAWN, lambda _: ""), (_LINES, _path), (_TEXTS, _together)):
        svg = pattern.sub(write, svg)
    return svg


def _shorter(tag: re.Match[str]) -> str:
    """Return a tag without what is a default; labels may be any text, and are no tags."""
    text = _DECIMALS.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), _DEFAULT.sub("", tag[0]))
    if text.startswith("<path"):
        text = _REPEATED.sub(r"\1", text)
    if placed := _PLACED.match(text):
        at = "".join(f' {way}="{value}"' for way, value in zip("xy", placed.groups()[1:], strict=True) if value != "0")
        text = placed[1] + at + text[placed.end() :]
    return text


def _path(lines: re.Match[str]) -> str:
    """Return lines as one path for each of their colours, in the order of the first of each."""
    by_colour: dict[str, list[str]] = {}
    for x, y, way, length, colour in re.findall(_LINE, lines[0]):
        by_colour.setdefault(colour, []).append(f"M{x},{y}{'h' if way == 'x' else 'v'}{length}")
    return "".join(f'<path d="{"".join(steps)}" stroke="{colour}"/>' for colour, steps in by_colour.items())


def _together(texts: re.Match[str]) -> str:
    """Return labels in a group that has what all of them have."""
    tags = [tag for tag in _TAG.findall(texts[0]) if tag != "</text>"]
    shared = sorted(set.intersection(*(set(_SHARED.findall(tag)) for tag in tags)))
    if not shared:
        return texts[0]

    def without(tag: re.Match[str]) -> str:
        return _SHARED.sub(lambda found: "" if found[0] in shared else found[0], tag[0])

    return f"<g{''.join(shared)}>{_TAG.sub(without, texts[0])}</g>"
