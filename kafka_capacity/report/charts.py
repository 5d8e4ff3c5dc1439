"""Draw the charts of a report: Vega-Lite specs from ``templates/charts``, data from ``report.json``.

The engine draws with the light palette. PNG stays so. In SVG, meant to stand in a page, the colours become the page's
own CSS variables, so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

import copy
import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any

from kafka_capacity.errors import RenderError
from kafka_capacity.report.compact_svg import compact
from kafka_capacity.report.palette import LIGHT, PAPER
from kafka_capacity.report.tables import HOVER
from kafka_capacity.text import format_bytes, iec_unit
from kafka_capacity.text.names import clipped, visible

WIDE = 1000
HALF = 420
NARROW = 330
EMAIL = 480  # widths in CSS pixels: across a page, beside another chart or on a telephone, on a telephone, in an e-mail
EMAIL_SHOWN = 576  # how wide an e-mail of 640 shows it: larger than drawn, so that it can still be read on a telephone
PNG_SCALE = 2 * EMAIL_SHOWN / EMAIL
PICTURE_SCALE = 1.0  # of the picture of a message, of which some services take 28 kB in all
PNG_PADDING = 12
IMAGES = "images/"  # the folder of a report's PNGs
LABEL_LENGTH = 80

_TOKEN = re.compile(r"\$([a-z][a-z-]*)")
_NOISE = re.compile(r'\s(?:aria-[a-z]+|role|class|pointer-events|xmlns:xlink|version)="[^"]*"|\sopacity="1"')
_HIDDEN_TEXT = re.compile(r'<text[^>]*\sopacity="0"[^>]*>[^<]*</text>')
_EMPTY_PATH = re.compile(r'<path[^>]*\sd="(?:M0,0h0v0h0Z)?"[^>]*/>')
_FONT = re.compile(r'\sfont-(?:family="[^"]*"|size="12px"|weight="normal")')
"""What is the same all over a drawing, and stands at its root or in the page's style."""
_MARK = re.compile(r'<(path|line)([^>]*)\saria-label="([^"]*)"([^>]*)/>')
_IDS = re.compile(r'(\bid="|url\(#)([^")]+)')
_COLOUR = re.compile(r'\b(fill|stroke)="(#[0-9a-fA-F]{6})"')
_TAG = re.compile(r"<[^>]*>")
_ROOT = re.compile(r'<svg[^>]*\bviewBox="([^"]*)"[^>]*>')


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """One chart, drawn."""

    wide: str  # SVG for a page
    narrow: str | None  # SVG for a telephone; `None` where the other one can be read there too
    png: bytes | None  # for an e-mail, twice as fine; `None` where no e-mail shows it


def charts_of(report: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Go through the charts of all sections of a report."""
    for section in report["sections"]:
        yield from section["data"].get("charts", ())


def draw_charts(report: Mapping[str, Any], folder: Path) -> dict[str, DrawnChart]:
    """Draw every chart of a report.

    Raises:
        RenderError: a spec is missing or the engine refuses it.
    """
    mailed = emailed_chart(report)
    return {one["id"]: _draw(one, folder, is_in_email=one is mailed) for one in charts_of(report)}


def emailed_chart(report: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the chart of an e-mail: one of them, since an e-mail is read on a phone."""
    return next((one for one in charts_of(report) if one["is_in_email"]), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The chart of the e-mail, for messages."""

    title: str
    file: str  # where the report has it, finer: a path below its folder
    png: bytes  # some 14 kB


def draw_picture(report: Mapping[str, Any], folder: Path) -> Picture | None:
    """Draw the chart of the e-mail of a report once more, small; ``None`` where the e-mail has none.

    Raises:
        RenderError: a spec is missing or the engine refuses it.
    """
    described = emailed_chart(report)
    if described is None:
        return None
    png = _png(complete_spec(described, folder), PICTURE_SCALE)
    return Picture(title=described["title"], file=f"{IMAGES}{described['id']}.png", png=png)


def _draw(described: Mapping[str, Any], folder: Path, *, is_in_email: bool) -> DrawnChart:
    spec = complete_spec(described, folder)
    try:
        chart_id = described["id"]
        is_half = described["is_half_wide"]
        return DrawnChart(
            wide=page_svg(_svg(spec, HALF if is_half else WIDE), f"{chart_id}-wide", described),
            narrow=None if is_half else page_svg(_svg(spec, NARROW), f"{chart_id}-narrow", described),
            png=_png(spec, PNG_SCALE) if is_in_email else None,
        )
    except ValueError as error:
        raise RenderError(f"chart {described['id']!r} could not be drawn: {error}") from error


def _svg(spec: Mapping[str, Any], width: int) -> str:
    # Imported where it is used: it starts a JavaScript engine of 90 MB.
    import vl_convert

    return str(vl_convert.vegalite_to_svg({**spec, "width": width}, allowed_base_urls=[]))


def _png(spec: Mapping[str, Any], scale: float) -> bytes:
    import vl_convert  # as above

    framed = {**spec, "width": EMAIL, "padding": PNG_PADDING, "background": PAPER}
    return smaller_png(vl_convert.vegalite_to_png(framed, scale=scale, allowed_base_urls=[]))


def complete_spec(described: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Put the data, the unit and the colours of a chart into its Vega-Lite spec.

    Raises:
        RenderError: there is no such spec.
    """
    spec = _read_spec(folder, f"{described['spec']}.vl.json")
    params: dict[str, Any] = dict(described["params"])
    values = [_prepared(value) for value in described["values"]]
    amounts = [abs(v) for row in described["values"] for key, v in row.items() if key.endswith("_bytes") and v]
    if amounts:
        params["unit_name"], params["unit"] = iec_unit(max(amounts))
    for param in spec.get("params", ()):
        if param["name"] in params:
            param["value"] = params[param["name"]]
    spec["data"] = {"values": values}
    spec["config"] = _read_spec(folder, "config.json")
    return spec


def _read_spec(folder: Path, name: str) -> dict[str, Any]:
    path = folder / "charts" / name
    try:
        return dict(_coloured(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError) as error:
        raise RenderError(f"chart spec {str(path)!r} cannot be read: {error}") from error


def _coloured(value: Any) -> Any:
    """Put the light colours where a spec names them: ``$ink``."""
    if isinstance(value, dict):
        return {key: _coloured(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_coloured(inner) for inner in value]
    if isinstance(value, str) and (token := _TOKEN.fullmatch(value)):
        return LIGHT[token[1]]
    return copy.copy(value)


def _prepared(value: Mapping[str, Any]) -> dict[str, Any]:
    """Make names safe to look at, and write amounts of bytes beside their numbers."""
    made: dict[str, Any] = {}
    for key, inner in value.items():
        made[key] = clipped(visible(inner), LABEL_LENGTH) if isinstance(inner, str) else inner
        if key.endswith("_bytes"):
            made[f"{key}_text"] = format_bytes(inner)
    return made


def page_svg(svg: str, prefix: str, described: Mapping[str, Any]) -> str:
    """Fit a drawing into a page: ids of its own, the page's colours and font, a text in place of hundreds of labels."""
    variables = {colour: name for name, colour in LIGHT.items()}
    for pattern in (_HIDDEN_TEXT, _EMPTY_PATH):
        svg = pattern.sub("", svg)
    hovers = {_prepared(value)[HOVER] for value in described.get("values", ()) if value.get(HOVER)}
    svg = _MARK.sub(lambda mark: _hovered(mark) if unescape(mark[3]) in hovers else mark[0], svg)

    def of_the_page(tag: re.Match[str]) -> str:
        text = _IDS.sub(lambda found: f"{found[1]}{prefix}-{found[2]}", _FONT.sub("", _NOISE.sub("", tag[0])))
        return _COLOUR.sub(
            lambda found: f'{found[1]}="var(--{variables[found[2]]})"' if found[2] in variables else found[0], text
        )

    # Tags alone: a label may be any text, one that looks like an attribute among them.
    svg = compact(_without_empty_groups(_TAG.sub(of_the_page, svg)))
    title, description = escape(visible(described["title"])), escape(visible(described["description"]))

    def root(found: re.Match[str]) -> str:
        width = found[1].split()[2]
        return (
            f'<svg viewBox="{found[1]}" width="{width}" font-size="12px" role="img" '
            f'aria-labelledby="{prefix}-title {prefix}-desc">'
            f'<title id="{prefix}-title">{title}</title><desc id="{prefix}-desc">{description}</desc>'
        )

    return _ROOT.sub(root, svg, count=1)


def _hovered(mark: re.Match[str]) -> str:
    """Return a mark that says what it is under the pointer."""
    name, before, label, after = mark.groups()
    return f"<{name}{before}{after}><title>{escape(unescape(label))}</title></{name}>"


def _without_empty_groups(svg: str) -> str:
    """Leave out groups that change nothing about what is in them."""
    open_groups: list[bool] = []

    def kept(tag: re.Match[str]) -> str:
        if tag[0].startswith("<g") and tag[0][2] in " >":
            open_groups.append(tag[0] not in {"<g>", '<g transform="translate(0,0)">'})
            return tag[0] if open_groups[-1] else ""
        return "" if tag[0] == "</g>" and not open_groups.pop() else tag[0]

    return _TAG.sub(kept, svg)


_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def smaller_png(png: bytes) -> bytes:
    """Compress the pixels as well as zlib can: the chart engine is in a hurry, and mailboxes are not.

    A quarter of the size is usual for a drawing with few colours.
    """
    chunks = list(_chunks(png))
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    kept = {b"IHDR": b"", b"IDAT": zlib.compress(pixels, 9), b"IEND": b""}
    kept[b"IHDR"] = next(data for kind, data in chunks if kind == b"IHDR")
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in kept.items())


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(_SIGNATURE)
    while place < len(png):
        length, kind = struct.unpack_from(">I4s", png, place)
        yield kind, png[place + 8 : place + 8 + length]
        place += 12 + length


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
