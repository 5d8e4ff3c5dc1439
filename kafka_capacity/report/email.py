"""The e-mail of a report: one message of the standard library, the same bytes for the same report.

multipart/alternative
├── text/plain
└── multipart/related
├── text/html                  tables, inlined style, literal colours
└── image/png …                shown through their Content-ID
"""

from __future__ import annotations

import datetime
import hashlib
import textwrap
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from typing import Any

from kafka_capacity.errors import RenderError
from kafka_capacity.health.problem import Severity
from kafka_capacity.report import anchors
from kafka_capacity.report.charts import EMAIL_SHOWN, emailed_chart
from kafka_capacity.report.palette import DARK, LIGHT
from kafka_capacity.report.tables import REASON, verdict_badge
from kafka_capacity.report.template_folder import environment, render_template, template_folder, text_environment
from kafka_capacity.text import plural, uncapitalised
from kafka_capacity.text.names import clipped, slug, visible
from kafka_capacity.text.wording import MAIL_PREFIX

MAX_CAVEATS = 2  # caveats that an e-mail shows, and however many more are serious
MAX_PROBLEMS = 3  # serious problems of the cluster that an e-mail names; the others are counted
MAX_OPTIONS = 4  # rows of the comparison that an e-mail shows, those that may be chosen first; the report has them all
REASON_LENGTH = 120  # a longer reason of an option that does not fit is cut in an e-mail


class _Policy(EmailPolicy):
    """What mail servers take, with each header beginning on the line of its name.

    The library begins it on the next line where it fits that one and not this: readers then take the space before it
    for a part of it.
    """

    def fold_binary(self, name: str, value: str) -> bytes:
        """Return the lines of a header as they are sent."""
        apart, together = f"{name}:{self.linesep} ".encode(), f"{name}: ".encode()
        return super().fold_binary(name, value).replace(apart, together, 1)


def build_email(
    report: Mapping[str, Any],
    *,
    sender: str,
    recipients: Sequence[str],
    images: Mapping[str, bytes],
    message_id: str,
    date: datetime.datetime,
) -> EmailMessage:
    """Build the message of a report, with images as :class:`~kafka_capacity.report.render.RenderedReport` has them.

    The message id has its angle brackets, and the date a time zone.

    Raises:
        RenderError: an address or the message id has a line break, or there is nobody to send to.
    """
    plan = slug(str(report["plan_id"]))
    cids = {name: f"{slug(name.removesuffix('.png'))}.{plan}@kafka-capacity" for name in sorted(images)}
    if not recipients:
        raise RenderError("recipients: there is nobody to send the report to; name at least one address")
    message = _addressed(visible(report["verdict"]["subject"]), sender, "recipients", recipients, date, message_id)
    message.set_content(render_email_text(report), cte="quoted-printable")
    html = render_email_html(report, {name: f"cid:{cid}" for name, cid in cids.items()})
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    body = message.get_payload(1)
    for name, cid in cids.items():
        body.add_related(images[name], "image", "png", cid=f"<{cid}>", filename=name, disposition="inline")  # type: ignore[union-attr]  # the second part is a message
    _fix_boundaries(message, plan)
    return message


def build_owner_email(
    report: Mapping[str, Any],
    owner: str,
    items: Sequence[Mapping[str, str]],
    *,
    page_uri: str,
    sender: str,
    message_id: str,
    date: datetime.datetime,
) -> EmailMessage:
    """Build the short message to an owner: what to do by a report, each with where more is said, and the owner's page.

    Raises:
        RenderError: an address or the message id has a line break.
    """
    uri = str(report["links"].get("report_uri", ""))
    cluster = visible(report["cluster"])
    subject = f"{MAIL_PREFIX}{clipped(cluster, 60)}: {plural(len(items), 'thing')} for you to do ({report['ds']})"
    message = _addressed(subject, sender, "owner", [owner], date, message_id)
    lines = [f"What you own on Kafka cluster {cluster}, according to its inventory of {report['ds']}:", ""]
    for one in items:
        lines += [f"- {visible(one['text'])}", f"  {uri}#{one['anchor']}", ""]
    lines += [f"Everything you own there: {page_uri}", ""]
    message.set_content("\n".join(lines), cte="quoted-printable")
    return message


def _addressed(
    subject: str, sender: str, kind: str, recipients: Sequence[str], date: datetime.datetime, message_id: str
) -> EmailMessage:
    """Begin a message; ``kind`` is what a complaint about a recipient calls it."""
    message = EmailMessage(policy=_Policy(linesep="\r\n"))
    message["Subject"] = subject
    message["From"] = _header("sender", sender)
    message["To"] = ", ".join(_header(kind, one) for one in recipients)
    message["Date"] = format_datetime(date)
    message["Message-ID"] = _header("message_id", message_id)
    return message


def _header(field: str, value: str) -> str:
    if visible(value) != value:
        raise RenderError(f"{field}: {value!r} has a control character and cannot be used in a header; remove it")
    return value


def _fix_boundaries(message: EmailMessage, plan: str) -> None:
    """Derive the boundaries from the plan, where the library would draw them at random."""
    for place, part in enumerate(part for part in message.walk() if part.is_multipart()):
        digest = hashlib.sha256(f"{plan}/{place}".encode()).hexdigest()[:32]
        part.set_boundary(f"=_kafka-capacity-{digest}")


def render_email_html(report: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """Make the HTML part; a chart without a source is left out."""
    import css_inline  # needs a moment to load, and only e-mails need it

    figure = emailed_chart(report)
    source = sources.get(f"{figure['id']}.png") if figure else None
    page = render_template(
        environment(template_folder()),
        "email.html",
        **_values(report),
        figure=figure,
        figure_source=source,
        image_width=EMAIL_SHOWN,
        light=LIGHT,
        dark=DARK,
    )
    return str(css_inline.CSSInliner(load_remote_stylesheets=False, keep_at_rules=True).inline(page))


def render_email_text(report: Mapping[str, Any]) -> str:
    """Make the plain text part."""
    return render_template(text_environment(template_folder()), "email.txt", **_values(report))


def _values(report: Mapping[str, Any]) -> dict[str, Any]:
    uri = str(report["links"].get("report_uri", ""))
    sections: dict[str, dict[str, Any]] = {one["name"]: one["data"] for one in report["sections"]}
    groups, findings = sections.get(anchors.GROUPS, {}), sections.get(anchors.FINDINGS, {})
    rows = sorted(sections["comparison"]["table"]["rows"] if "comparison" in sections else [], key=_rank)
    has_waves = any(row.get("in_waves") for row in rows)
    # Serious first, and what is only to be known not at all. What is said of consumer groups has a line of its own.
    caveats = [caveat for caveat in report["verdict"]["caveats"] if caveat.get("anchor") != anchors.GROUPS]
    serious_count = sum(1 for caveat in caveats if caveat["severity"] == "serious")
    warned = [caveat for caveat in caveats if caveat["severity"] != "info"][: max(MAX_CAVEATS, serious_count)]
    problems: list[dict[str, Any]] = findings.get("problems", [])
    serious = [problem for problem in problems if problem["severity"] in {Severity.FATAL, Severity.SERIOUS}]
    # In a report of before there were ids, each text stands for itself.
    new: Sequence[str] = (report["changes"] or {}).get("new", ())
    new_ids: Sequence[str] = (report["changes"] or {}).get("new_ids", new)
    # The problems that are shown say so themselves where they are new.
    told = {problem["id"] for problem in serious[:MAX_PROBLEMS] if "state" in problem}
    return {
        "report": report,
        "report_uri": uri,
        "is_link": uri.startswith(("https://", "http://")),
        "groups_line": groups.get("at_risk"),
        # A report of an earlier version has no figures of groups.
        "group_figures": groups.get("figures", ()),
        "groups_uri": f"{uri}#{anchors.GROUPS}",
        "failures": sections.get(anchors.FAILURES),
        "failures_uri": f"{uri}#{anchors.FAILURES}",
        "new_problems": [text for text, key in zip(new, new_ids, strict=True) if key not in told],
        "problems": serious[:MAX_PROBLEMS],
        "more_problems": len(problems) - len(serious[:MAX_PROBLEMS]),
        "dismissed_count": len(findings.get("dismissed", ())),
        "problems_uri": f"{uri}#{anchors.FINDINGS}",
        "caveats": warned,
        "more_caveats": len(caveats) - len(warned),
        "options": [_option(row, is_how_said=has_waves) for row in rows[:MAX_OPTIONS]],
        "option_count": len(rows),
        "more_options": len(rows[MAX_OPTIONS:]),
    }


def _rank(row: Mapping[str, Any]) -> int:
    """Return the place of an option: what is recommended, what may be chosen, what does not fit."""
    return 0 if row["verdict"] in _RECOMMENDED else 1 if row["verdict"] in _CHOOSABLE else 2


_RECOMMENDED = frozenset({"recommended", "recommended_now", "recommended_unjudged"})
_CHOOSABLE = frozenset({*_RECOMMENDED, "fits", "fits_today", "no_worse", "not_judged"})


def _option(row: Mapping[str, Any], *, is_how_said: bool) -> dict[str, Any]:
    """Return an option of the comparison with its verdict in words, the mark before it, the first reason and a time.

    The reason is why it does not fit. The time is that in waves where it was scheduled, and perhaps says which it is.
    """
    _, mark, words = verdict_badge(row["verdict"] if row["verdict"] in _CHOOSABLE else "does_not_fit")
    reason = (row.get(REASON) or "") if row["verdict"] == "does_not_fit" else ""
    in_waves = row.get("in_waves")
    how = "in waves" if in_waves else "all at once"
    return {
        **row,
        "mark": mark,
        "said": uncapitalised(words),
        REASON: textwrap.shorten(reason, REASON_LENGTH, placeholder=" …"),
        "took": in_waves or row.get("alone" if is_how_said else "duration"),
        "took_how": how if is_how_said else "",
    }
