"""Charts: specs completed with data, drawings fit for a page."""

from __future__ import annotations

import re
import struct
import zlib

import pytest

from kafka_capacity.errors import RenderError
from kafka_capacity.questions.change.section.change import MAX_BROKERS, WORST_BROKERS
from kafka_capacity.questions.change.section.comparison import MAX_BARS
from kafka_capacity.report.charts import charts_of, complete_spec, draw_charts, page_svg, smaller_png
from kafka_capacity.report.template_folder import template_folder
from tests.report.decided import build_report
from tests.report.plans import ClusterSpec, make_inputs

MAX_MARKS = 500


@pytest.fixture(scope="module")
def report():
    return build_report(make_inputs(placers=("fewest-bytes", "generate", "zk")))


@pytest.fixture(scope="module")
def drawn(report):
    return draw_charts(report, template_folder())


def test_every_chart_is_drawn_and_one_is_for_the_mail(report, drawn):
    assert set(drawn) == {"moved-by-option", "moves-by-broker", "leaders"}
    assert {name for name, chart in drawn.items() if chart.png} == {"moved-by-option"}


def test_drawings_take_their_colours_from_the_page(drawn):
    for name, chart in drawn.items():
        colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', chart.wide))
        assert all(colour in {"none", "transparent"} or colour.startswith("var(--") for colour in colours), (
            name,
            colours,
        )


def test_drawings_share_no_id(drawn):
    ids = [
        found
        for chart in drawn.values()
        for svg in filter(None, (chart.wide, chart.narrow))
        for found in re.findall(r'\bid="([^"]*)"', svg)
    ]
    assert len(ids) == len(set(ids))
    for chart in drawn.values():
        for svg in filter(None, (chart.wide, chart.narrow)):
            assert set(re.findall(r"url\(#([^)]*)\)", svg)) <= set(ids)


def test_drawings_say_what_they_show(drawn):
    for chart in drawn.values():
        for svg in filter(None, (chart.wide, chart.narrow)):
            assert svg.startswith("<svg viewBox=")
            assert re.search(
                r'role="img" aria-labelledby="([a-z-]+)-title \1-desc"><title id="\1-title">[^<]+</title>', svg
            )


def test_a_label_may_look_like_an_attribute():
    label = 'say class="x" id="y" fill="#5b6470" role="z"'
    svg = f'<svg viewBox="0 0 9 9"><text class="n" fill="none">{label}</text></svg>'
    drawn = page_svg(svg, "c", {"title": "t", "description": "d"})
    assert f'<text fill="none">{label}</text>' in drawn


def test_a_mark_says_under_the_pointer_what_it_is(drawn):
    titles = re.findall(r"<path[^>]*><title>([^<]*)</title></path>", drawn["leaders"].wide)
    assert len(titles) == 2 * 7
    assert all(re.fullmatch(r"broker \d( \(new\))?: [\d,]+ before, [\d,]+ after", title) for title in titles)
    described = {"title": "t", "description": "d", "values": [{"hover": "a & b"}]}
    mark = (
        '<svg viewBox="0 0 9 9"><path aria-label="a &amp; b" d="M0"/><path aria-label="other" d="M1" fill="red"/></svg>'
    )
    assert '<path d="M0"><title>a &amp; b</title></path><path d="M1" fill="red"/>' in page_svg(mark, "c", described)


def test_amounts_are_scaled_to_one_unit(report):
    described = next(chart for chart in charts_of(report) if chart["id"] == "moved-by-option")
    spec = complete_spec(described, template_folder())
    params = {param["name"]: param["value"] for param in spec["params"]}
    assert (params["unit_name"], params["unit"]) == ("GiB", 2**30)
    assert spec["data"]["values"][0]["moved_bytes_text"].endswith(" GiB")


def test_many_brokers_are_cut_to_the_worst_and_the_chart_says_so():
    spec = ClusterSpec(brokers=MAX_BROKERS + 2, partitions=60)
    report = build_report(make_inputs(spec, broker_counts=(MAX_BROKERS + 4,), placers=("fewest-bytes",)))
    charts = {chart["id"]: chart for chart in charts_of(report)}
    for name in ("moves-by-broker", "leaders"):
        brokers = [value for value in charts[name]["values"] if not value["is_rack"]]
        assert len(brokers) == WORST_BROKERS
        assert charts[name]["note"].endswith(f"Shown are the {WORST_BROKERS} of 64 brokers that change most.")
    for chart in draw_charts(report, template_folder()).values():
        assert len(re.findall(r"<(?:path|line|rect|circle)\b", chart.wide)) <= MAX_MARKS


def test_many_options_are_cut_and_the_recommended_one_is_kept():
    counts = tuple(range(4, 4 + MAX_BARS + 3))
    report = build_report(make_inputs(ClusterSpec(partitions=4), broker_counts=counts, placers=("zk",)))
    chart = next(chart for chart in charts_of(report) if chart["id"] == "moved-by-option")
    assert len(chart["values"]) == MAX_BARS
    assert sum(value["kind"] == "recommended" for value in chart["values"]) == 1
    assert chart["note"].endswith("24 of 27 options are shown.")


def test_a_smaller_png_has_the_same_pixels(drawn):
    pixels = zlib.compress(b"\x00" + b"\x01\x02\x03" * 200, 1)
    header = struct.pack(">IIBBBBB", 200, 1, 8, 2, 0, 0, 0)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    original = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    small = smaller_png(original)
    assert len(small) <= len(original)
    place = small.index(b"IDAT")
    length = struct.unpack(">I", small[place - 4 : place])[0]
    assert zlib.decompress(small[place + 4 : place + 4 + length]) == zlib.decompress(pixels)
    assert smaller_png(small) == small


def test_a_missing_spec_is_an_error_with_its_path(report, tmp_path):
    (tmp_path / "charts").mkdir()
    with pytest.raises(RenderError, match=r"chart spec '.*moved_by_option\.vl\.json' cannot be read"):
        draw_charts(report, tmp_path)


def test_a_spec_that_the_engine_refuses_is_an_error(report, tmp_path):
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "config.json").write_text("{}")
    (tmp_path / "charts" / "moved_by_option.vl.json").write_text('{"mark": 3}')
    with pytest.raises(RenderError, match="chart 'moved-by-option' could not be drawn"):
        draw_charts(report, tmp_path)
