"""The page and the e-mail in a real browser: what is seen first, what runs, and that nothing is fetched or cut off."""

from __future__ import annotations

import pytest

from kafka_capacity.objects.keys import FLEET_PAGE
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.fleet import write_fleet_page
from tests.browser import FIRST_SCREENS, PATIENCE_MS, started_browser, violations
from tests.report.decided import decision_of, render_all
from tests.report.plans import large_inputs
from tests.report.sized import sized_inputs
from tests.report.test_page import inputs_of
from tests.unit.plan.test_fleet import decide

pytestmark = [
    pytest.mark.browser,
]

OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = true)"

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
    rendered = render_all(made_up[request.param](), entries={}, owners={"*": "platform"})
    made = tmp_path_factory.mktemp("report")
    (made / "images").mkdir()
    (made / "index.html").write_bytes(rendered.index_html)
    (made / "email.html").write_bytes(rendered.email_html)
    for name, data in rendered.images.items():
        (made / "images" / name).write_bytes(data)
    return made


@pytest.fixture(scope="module")
def window(browser):
    """Where one page is opened after another: a window of its own takes a browser longer than a page."""
    opened = browser.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()


@pytest.fixture
def opened(window, folder):
    """Open a page and watch it: give the page and what it asked for."""
    asked, said = [], []
    watched = {
        "request": lambda made: asked.append(made.url),
        # What the page's own policy forbids is an error of the console.
        "console": lambda told: said.append(told.text) if told.type == "error" else None,
        "dialog": lambda dialog: said.append(dialog.message) or dialog.dismiss(),
    }
    for event, take in watched.items():
        window.on(event, take)

    def open_page(name, *, width, scheme="light"):
        asked.clear()
        window.set_viewport_size({"width": width, "height": 800})
        window.emulate_media(media="screen", color_scheme=scheme)
        window.goto((folder / name).as_uri())
        assert not said
        return window, asked

    yield open_page
    window.goto("about:blank")
    for event, take in watched.items():
        window.remove_listener(event, take)


@pytest.mark.parametrize("name", ["index.html", "email.html"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_does_not_scroll_sideways(opened, name, width):
    page, _ = opened(name, width=width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_fetches_nothing(opened, folder):
    _, asked = opened("index.html", width=1280)
    assert asked == [(folder / "index.html").as_uri()]


@pytest.mark.parametrize("name", ["index.html", "email.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_on_every_screen(opened, name, scheme):
    page, _ = opened(name, width=1280, scheme=scheme)
    page.evaluate(OPEN_ALL)
    assert page.evaluate(CONTRASTS) == []


@pytest.mark.parametrize("name", ["index.html", "email.html"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_nobody_is_barred(opened, name, width, scheme):
    page, _ = opened(name, width=width, scheme=scheme)
    assert violations(page) == []
    page.evaluate(OPEN_ALL)
    assert violations(page) == []


def test_the_tab_key_stops_only_where_something_scrolls(opened):
    page, _ = opened("index.html", width=1280)
    page.evaluate(OPEN_ALL)
    page.wait_for_timeout(100)
    stops = page.evaluate(
        "[...document.querySelectorAll('[tabindex]')].filter(e => e.clientWidth && e.scrollWidth <= e.clientWidth)"
        ".map(e => e.getAttribute('aria-label'))"
    )
    assert stops == []


def test_one_drawing_of_each_chart_is_seen(opened):
    for width, kind in ((1280, "wide"), (360, "narrow")):
        page, _ = opened("index.html", width=width)
        page.evaluate(OPEN_ALL)
        seen = page.evaluate(
            "[...document.querySelectorAll('.drawing')].filter(e => e.checkVisibility()).map(e => e.className)"
        )
        assert set(seen) <= {"drawing", f"drawing {kind}"}
        assert len(seen) == page.evaluate("document.querySelectorAll('figure').length")


@pytest.mark.parametrize("folder", ["realistic", "sized"], indirect=True)  # a rack of 249 letters fills a screen
@pytest.mark.parametrize(("width", "height"), FIRST_SCREENS)
def test_the_decision_is_on_the_first_screen(opened, width, height):
    page, _ = opened("index.html", width=width)
    assert page.evaluate("document.querySelector('.box').getBoundingClientRect().bottom") <= height


@pytest.mark.parametrize("folder", ["realistic"], indirect=True)
def test_a_button_covers_no_command(opened):
    page, _ = opened("index.html", width=1280)
    page.evaluate(OPEN_ALL)
    covered = page.evaluate(
        """[...document.querySelectorAll('.tools:has(+ pre)')].filter(tools => {
            const text = document.createRange();
            text.selectNodeContents(tools.nextElementSibling);
            const button = tools.querySelector('button').getBoundingClientRect();
            return [...text.getClientRects()].some(line => line.right > button.left);
        }).length"""
    )
    assert page.locator(".tools + pre").count() > 3
    assert covered == 0


@pytest.mark.parametrize("folder", ["realistic"], indirect=True)
def test_tables_are_sorted_and_filtered(opened):
    page, _ = opened("index.html", width=1280)
    table = page.locator("#groups .scroll > table").first

    def groups():
        return table.locator(":scope > tbody > tr:not(.note, .more) > th").all_inner_texts()

    def are_behind():
        return table.evaluate(
            "t => [...t.tBodies[0].rows].filter(r => r.matches('.more'))"
            ".every(r => r.textContent.includes(r.parentElement.rows["
            "[...r.parentElement.rows].findLastIndex((o, i) => i < r.sectionRowIndex && !o.matches('.note, .more'))"
            "].cells[0].textContent.trim()))"
        )

    before = groups()
    assert are_behind()
    head = table.locator("thead th").first
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert groups() == sorted(before)
    assert groups() != before
    head.get_by_role("button").click()
    assert (head.get_attribute("aria-sort"), groups()) == ("descending", sorted(before, reverse=True))
    assert are_behind()
    page.get_by_role("searchbox", name="Filter: Every consumer group").fill(before[0][:12].upper())
    seen = table.locator(":scope > tbody > tr:not(.note, .more):visible > th").all_inner_texts()
    assert before[0] in seen
    assert all(before[0][:12] in name for name in seen)


@pytest.mark.parametrize("folder", ["realistic"], indirect=True)
def test_days_are_sorted_with_what_is_already_so_first(opened):
    page, _ = opened("index.html", width=1280)
    table = page.locator("#groups .scroll > table").first
    days = ["beyond 2027-11-15", "2027-11-15", "already", "—", "2026-12-01", "not today"]
    table.evaluate(
        "(t, days) => { const rows = [...t.tBodies[0].rows];"
        "rows.filter(r => !r.matches('.note, .more')).slice(days.length).forEach(r => r.remove());"
        "[...t.tBodies[0].rows].filter(r => r.matches('.note, .more')).forEach(r => r.remove());"
        "[...t.tBodies[0].rows].forEach((r, i) => { r.cells[0].textContent = days[i]; }); }",
        days,
    )
    table.locator("thead th").first.get_by_role("button").click()
    shown = table.locator(":scope > tbody > tr > th").all_inner_texts()
    assert shown == ["already", "not today", "2026-12-01", "2027-11-15", "beyond 2027-11-15", "—"]


@pytest.mark.parametrize("folder", ["sized"], indirect=True)
def test_what_if_picks_among_the_rows_and_all_are_there_without(opened):
    page, _ = opened("index.html", width=1280)
    page.evaluate(OPEN_ALL)
    rows = page.locator("#what-if tbody tr")
    every = rows.count()
    for name, value in (("Brokers", "9"), ("Growth", "middle estimate")):
        slider = page.locator("#what-if").get_by_label(f"{name}: ")
        while slider.get_attribute("aria-valuetext") != value:
            slider.press("ArrowRight")
    seen = page.locator("#what-if tbody tr:visible")
    assert (seen.count(), seen.locator("th").inner_text()) == (1, "9")
    assert rows.count() == every > 4
    page.locator("#what-if").get_by_label("Growth: ").press("Home")
    assert seen.count() == 2


@pytest.mark.parametrize("folder", ["realistic"], indirect=True)
def test_what_is_behind_a_row_opens_with_it_without_a_script(browser, folder):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    assert page.locator(".tools").count() == 0
    details = page.locator("#groups tr.more").first
    assert not details.is_visible()
    page.locator("#groups tbody th summary").first.click()
    assert details.is_visible()
    context.close()


def test_no_script_but_the_own_one_runs(browser, folder):
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    said = []
    page.on("console", lambda told: said.append(told.text))
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s);"
        " document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">'); }"
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in text for text in said)
    page.close()


def test_paper_shows_what_is_closed(opened):
    page, _ = opened("index.html", width=1280)
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelectorAll('details.part:not([open])').length") > 3
    assert page.evaluate(
        "[...document.querySelectorAll('details.part > section')].every(e => e.getBoundingClientRect().height > 20)"
    )


@pytest.mark.parametrize("folder", ["realistic", "sized"], indirect=True)  # a rack of 249 letters fills a sheet
@pytest.mark.parametrize("width", [1024, 957])  # what A4 and US Letter have room for between their margins
def test_a_sheet_has_room_for_every_table(opened, width):
    page, _ = opened("index.html", width=width)
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_of_all_clusters_bars_nobody_and_runs_its_script_alone(browser, tmp_path, width, scheme):
    store = LocalStore(tmp_path)
    decision = decision_of(sized_inputs())
    for cluster in ("<script>alert(1)</script>", "shop-eu"):
        decide(store, decision, cluster, "2026-11-15", "p")
    write_fleet_page(store)
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.goto((tmp_path / FLEET_PAGE).as_uri())
    assert violations(page) == []
    assert page.evaluate(CONTRASTS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("thead button").count() > 0  # the table sorts
    assert wrong == []
    page.close()
