"""A real browser, for tests of what a page does."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",  # containers have little shared memory
)
FIRST_SCREENS = [(1280, 900), (390, 844)]
PATIENCE_MS = 300_000
"""For a browser that starts, and for a page that loads, while other tests have the processors."""


@contextlib.contextmanager
def started_browser(*flags: str) -> Iterator[Any]:
    """Start Chromium, with more flags than the usual ones."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *flags], timeout=PATIENCE_MS)
        yield started
        started.close()


def violations(page: Any) -> list[tuple[str, list[str]]]:
    """Return what axe-core says bars people from a page: the rule, and where it is broken first."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]
