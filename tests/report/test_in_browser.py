"""The page and the e-mail in a real browser: nothing runs, nothing is fetched, nothing is cut off on a telephone."""

from __future__ import annotations

import pytest

from tests.browser import PATIENCE_MS, started_browser
from tests.report.decided import render_all
from tests.report.plans import large_inputs
from tests.report.sized import sized_inputs
from tests.report.test_page import inputs_of

pytestmark = [
    pytest.mark.browser,
]

CONTRASTS = """() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(e).backgroundColor);
      if (a > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("svg")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(ground(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.push(walker.currentNode.data.trim().slice(0, 40));
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser():
    with started_browser() as started:
        yield started


@pytest.fixture(scope="module", params=["realistic", "hostile", "sized"])
def folder(request, tmp_path_factory):
    made_up = {"realistic": large_inputs, "hostile": lambda: inputs_of("hostile"), "sized": sized_inputs}
    rendered = render_all(made_up[request.param]())
    made = tmp_path_factory.mktemp("report")
    (made / "images").mkdir()
    (made / "index.html").write_bytes(rendered.index_html)
    (made / "email.html").write_bytes(rendered.email_html)
    for name, data in rendered.images.items():
        (made / "images" / name).write_bytes(data)
    return made


@pytest.fixture
def opened(browser, folder, request):
    """Open a page and watch it: give the page and what it asked for."""
    pages = []

    def open_page(name, *, width, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.set_default_timeout(PATIENCE_MS)
        pages.append(page)
        asked, said = [], []
        page.on("request", lambda made: asked.append(made.url))
        # What the page's own policy forbids is an error of the console.
        page.on("console", lambda told: said.append(told.text) if told.type == "error" else None)
        page.on("dialog", lambda dialog: said.append(dialog.message) or dialog.dismiss())
        page.goto((folder / name).as_uri())
        assert not said
        return page, asked

    yield open_page
    for page in pages:
        page.close()


@pytest.mark.parametrize("name", ["index.html", "email.html"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_does_not_scroll_sideways(opened, name, width):
    page, _ = opened(name, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_fetches_nothing(opened, folder):
    _, asked = opened("index.html", width=1280)
    assert asked == [(folder / "index.html").as_uri()]


@pytest.mark.parametrize("name", ["index.html", "email.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_on_every_screen(opened, name, scheme):
    page, _ = opened(name, width=1280, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate(CONTRASTS) == []


def test_one_drawing_of_each_chart_is_seen(opened):
    for width, kind in ((1280, "wide"), (360, "narrow")):
        page, _ = opened("index.html", width=width)
        seen = page.evaluate(
            "[...document.querySelectorAll('.drawing')].filter(e => e.checkVisibility()).map(e => e.className)"
        )
        assert set(seen) == {f"drawing {kind}"}
        assert len(seen) == page.evaluate("document.querySelectorAll('figure').length")


@pytest.mark.parametrize("folder", ["realistic", "sized"], indirect=True)  # a rack of 249 letters fills a screen
def test_the_verdict_is_on_the_first_screen(opened):
    page, _ = opened("index.html", width=1280)
    assert page.evaluate("document.querySelector('.figures').getBoundingClientRect().bottom") <= 900
