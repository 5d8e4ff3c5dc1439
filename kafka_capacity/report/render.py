"""From a plan to the files of its report, and from ``report.json`` to the same files again."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from kafka_capacity.errors import RenderError
from kafka_capacity.report.charts import IMAGES, draw_charts
from kafka_capacity.report.csv_tables import add_csv_files
from kafka_capacity.report.earlier import completed, from_version_1
from kafka_capacity.report.email import render_email_html, render_email_text
from kafka_capacity.report.palette import DARK, LIGHT
from kafka_capacity.report.template_folder import environment, render_template, template_folder

REPORT_KIND = "kafka-capacity-report"
REPORT_VERSION = 2  # of `report.json`

SCRIPT = "partials/page.js"  # of the page, below the templates: the only one that its policy lets run


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedReport:
    """All files of a report."""

    report_json: bytes  # the data; everything else can be made from it again
    index_html: bytes  # one self-contained page
    email_html: bytes  # the e-mail's HTML as a file: it shows `images/<name>`, the message itself carries its images
    email_text: str  # the e-mail's plain text
    images: dict[str, bytes]  # the e-mail's images by file name, PNG
    tables: dict[str, bytes]  # the page's tables as CSV, by the names that it links
    owners: dict[str, bytes]  # a page for each owner of topics and groups, by the names that it links
    verdict: dict[str, Any]  # the answer, as in the data
    subject: str  # of the e-mail

    def files(self) -> dict[str, bytes]:
        """Return them by name, the page last."""
        return {
            **{IMAGES + name: data for name, data in sorted(self.images.items())},
            **self.tables,
            **self.owners,
            "report.json": self.report_json,
            "email.html": self.email_html,
            "email.txt": self.email_text.encode(),
            "index.html": self.index_html,
        }


def rerender(report_json: bytes) -> RenderedReport:
    """Make every file of a report from its data alone.

    Raises:
        RenderError: this is not the data of a report, or of a newer version.
    """
    report = read_report(report_json)
    charts = draw_charts(report, template_folder())
    tables = add_csv_files(report)
    drawings = {name: {"wide": _markup(one.wide), "narrow": _markup(one.narrow)} for name, one in charts.items()}
    page = render_page("report.html", report=report, drawings=drawings)
    images = {f"{chart_id}.png": drawn.png for chart_id, drawn in charts.items() if drawn.png is not None}
    return RenderedReport(
        report_json=report_json,
        index_html=page.encode(),
        email_html=render_email_html(report, {name: IMAGES + name for name in images}).encode(),
        email_text=render_email_text(report),
        images=images,
        tables={name: data for name, data in tables.items() if f'href="{name}"' in page},
        owners={
            one["page"]: render_page("owner.html", report=report, mine=one).encode()
            for one in report.get("owners", ())
            if "page" in one
        },
        verdict=report["verdict"],
        subject=report["verdict"]["subject"],
    )


def render_page(template: str, **values: Any) -> str:
    """Make a page of its own file: with the one style, the one script and a policy that lets nothing else run."""
    shell = {"script": _markup(_script()), "policy": _markup(page_policy()), "light": LIGHT, "dark": DARK}
    return render_template(environment(template_folder()), template, **shell, **values)


def _script() -> str:
    return (template_folder() / SCRIPT).read_text(encoding="utf-8")


def page_policy() -> str:
    """Return the content security policy of our pages: nothing is fetched, and nothing runs but their own script."""
    script = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _markup(trusted: str | None) -> Markup | None:
    """Mark drawings, made of escaped parts, and the page's own script: the only markup that no template writes."""
    return None if trusted is None else Markup(trusted)  # noqa: S704  # see above


def read_report(report_json: bytes) -> dict[str, Any]:
    """Read the data of a report, of this version or the one before.

    Raises:
        RenderError: this is not the data of a report, or of a newer version.
    """
    try:
        report = json.loads(report_json)
        kind, version = report["kind"], report["version"]
    except (ValueError, KeyError, TypeError) as error:
        msg = f"this is not the report.json of a report ({error!r}); give the file as it was written"
        raise RenderError(msg) from error
    if kind == REPORT_KIND and version == REPORT_VERSION - 1:
        return completed(from_version_1(dict(report)))
    if kind != REPORT_KIND or version != REPORT_VERSION:
        raise RenderError(
            f"the file is {kind!r} version {version!r}; this release reads a report.json, {REPORT_KIND!r} version "
            f"{REPORT_VERSION}"
        )
    return completed(dict(report))
