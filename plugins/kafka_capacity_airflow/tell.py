"""Tell Slack, Teams, PagerDuty or any other webhook what is new about a cluster, once a plan.

Each is an Airflow connection; ``kafka_capacity_tell`` names those to tell. What is secret is the connection's password:
of Slack and Teams the end of the webhook's address, of PagerDuty the routing key, of a webhook a bearer token, if any.
No message of ours and no exception holds an address: it may be the secret.
"""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.sdk import BaseHook

from kafka_capacity.errors import MissingManifestError, MissingObjectError, RenderError, RequestError, StorageError
from kafka_capacity.objects.keys import unheard_key, unheard_prefix
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.changes import is_judged
from kafka_capacity.plan.lifecycle import gravest
from kafka_capacity.plan.news import message, reasons
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.plan.publish import published_report
from kafka_capacity.plan.untold import keep_untold, read_untold, untold_text
from kafka_capacity_airflow.report_mail import UntoldError, claimed, keep_told
from kafka_capacity_airflow.settings import browser_url

if TYPE_CHECKING:
    from kafka_capacity.report.charts import Picture

log = logging.getLogger("kafka_capacity")

SILENT_SECONDS = 20  # how long a server may be silent
_TEAMS_BYTES = 28_000  # that a webhook of Teams takes at most
_TOO_MANY = "HTTP 429"  # passes, as what servers get wrong themselves does
_NO_FORM = "form is "  # of why somebody is not told: no further try helps
_PAGERDUTY = "https://events.pagerduty.com/v2/enqueue"


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is told."""

    plan: PinnedPlan  # of which plan
    kind: str  # of the verdict: `good`, `note`, `warn` or `bad`
    is_grave: bool  # whether a serious problem stands that nobody dismissed
    is_judged: bool  # whether it is known how many brokers are needed
    lines: Sequence[str]  # five of text
    reasons: Sequence[str]  # why it is told
    url: str  # of the report
    picture: Picture | None = None  # of what binds

    @property
    def link(self) -> str | None:
        """The report's address where a browser takes it."""
        return self.url if self.url.startswith(("https://", "http://")) else None

    @property
    def picture_url(self) -> str | None:
        """The picture's address where a service may fetch it, if it is let in."""
        if self.picture is None or not self.url.startswith("https://"):
            return None
        return f"{self.url.rpartition('/')[0]}/{self.picture.file}"


def _slack(news: News) -> dict[str, Any]:
    first, *others = (_escaped(line) for line in news.lines)
    link = f"<{_escaped(news.link)}|Open the report>" if news.link else _escaped(news.url)
    # What is escaped makes no link and calls nobody, whatever names a cluster has.
    message: dict[str, Any] = {"text": "\n".join([f"*{first}*", *others, link]), "unfurl_links": False}
    if news.picture is not None and news.picture_url is not None:
        # An attachment that Slack may not fetch is left out; a block would have the message refused.
        message["attachments"] = [{"fallback": _escaped(news.picture.title), "image_url": news.picture_url}]
    return message


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _teams(news: News) -> dict[str, Any]:
    lines = [*news.lines, *([] if news.link else [news.url])]
    # Runs of rich text, which take no marks, each a paragraph; the first is bold.
    runs = [{"type": "TextRun", "text": line, **({"weight": "bolder"} if line == lines[0] else {})} for line in lines]
    texts: list[dict[str, Any]] = [{"type": "RichTextBlock", "inlines": [run]} for run in runs]
    link = [{"type": "Action.OpenUrl", "title": "Open the report", "url": news.link}] if news.link else []
    card: dict[str, Any] = {"type": "AdaptiveCard", "version": "1.4", "body": texts, "actions": link}
    kind = "application/vnd.microsoft.card.adaptive"
    message = {"type": "message", "attachments": [{"contentType": kind, "content": card}]}
    if news.picture is not None:
        url = f"data:image/png;base64,{base64.b64encode(news.picture.png).decode()}"
        shown = {"type": "Image", "url": url, "altText": news.picture.title}
        if len(json.dumps(message)) + len(json.dumps(shown)) < _TEAMS_BYTES:
            texts.append(shown)
    return message


def _pagerduty(news: News) -> dict[str, Any]:
    is_urgent = news.is_grave or news.kind == "bad"
    return {
        # A cluster is one incident, of what is urgent: what is needed later is none. What is not known ends none.
        "event_action": "resolve" if not is_urgent and (news.is_judged or news.kind == "good") else "trigger",
        "dedup_key": f"kafka-capacity/{news.plan.cluster}",
        "payload": {
            "summary": news.lines[0],
            "source": news.plan.cluster,
            "severity": "error" if is_urgent else "warning",
            "custom_details": {"text": "\n".join(news.lines[1:]), "report": news.url},
        },
        "links": [{"href": news.link, "text": "Open the report"}] if news.link else [],
        "images": [{"src": news.picture_url, "href": news.link, "alt": news.picture.title}]
        if news.picture is not None and news.picture_url is not None
        else [],
    }


def _webhook(news: News) -> dict[str, Any]:
    return {
        "kind": "kafka-capacity-news",
        "version": 1,
        **{name: getattr(news.plan, name) for name in ("cluster", "ds", "plan_id")},
        "verdict": news.kind,
        "reasons": list(news.reasons),
        "lines": list(news.lines),
        "report": news.url,
        "picture": None
        if news.picture is None
        else {"title": news.picture.title, "png_base64": base64.b64encode(news.picture.png).decode()},
    }


_FORMS: Mapping[str, Callable[[News], dict[str, Any]]] = {
    "slack": _slack,
    "teams": _teams,
    "pagerduty": _pagerduty,
    "webhook": _webhook,
}
_OF_TYPE = {"slackwebhook": "slack", "pagerduty": "pagerduty", "pagerduty_events": "pagerduty"}
"""What connections of these types are, where their extra has no ``form``."""


def tell_news(store: ObjectStore, plan: PinnedPlan, run_id: str, connections: Sequence[str]) -> list[str]:
    """Tell each connection what is new in a report, if anything is, after what earlier runs could not; returns whom.

    Where some could not be told, the others were, and are not told again.

    Raises:
        UntoldError: trying again may help some of them.
        RequestError: it helps none, since their connections are wrong.
    """
    if not connections:
        return []
    earlier = _tell_earlier(store, plan, run_id, connections)
    news = _news_of(store, plan)
    if news is None:
        log.info("there is no news to announce")
        return earlier
    told, untold = _tell_all(store, plan, run_id, connections, news)
    keep_untold(store, unheard_key(plan.cluster, plan.plan_id), plan, untold)
    if untold:
        is_worth_trying = not all(why.startswith(_NO_FORM) for why in untold.values())
        msg = ", ".join(f"{name} was not notified: {why}" for name, why in untold.items())
        raise UntoldError(msg) if is_worth_trying else RequestError(msg)
    return [*earlier, *told]


def _tell_earlier(store: ObjectStore, plan: PinnedPlan, run_id: str, connections: Sequence[str]) -> list[str]:
    """Tell what earlier runs could not, oldest first, so that a pager ends with what is newest; returns whom.

    What is refused for good, and what is of connections that nobody tells any more, is not tried again.
    """
    notes = []
    for key in store.list_objects(unheard_prefix(plan.cluster)):
        with contextlib.suppress(MissingObjectError):  # another run took it away meanwhile
            notes.append(read_untold(store, key))
    told: list[str] = []
    for note in sorted(notes, key=lambda note: (note["plan"]["ds"], note["plan"]["plan_id"])):
        of = PinnedPlan(**note["plan"])
        if of.plan_id == plan.plan_id or of.ds > plan.ds:
            continue
        left = [name for name in connections if name in note["untold"]]
        try:
            news = _news_of(store, of)
        except MissingManifestError as error:
            log.warning("the report of earlier news no longer exists: %s", error)
            news = None
        except StorageError as error:
            log.warning("news of %s could still not be delivered: %s", of.ds, error)
            continue
        took, untold = ([], {}) if news is None else _tell_all(store, of, run_id, left, news)
        for_good = {name: why for name, why in untold.items() if why.startswith("HTTP 4") and why != _TOO_MANY}
        if for_good:
            log.warning("news of %s are rejected again, giving up: %s", of.ds, untold_text(for_good))
        left_over = {name: why for name, why in untold.items() if name not in for_good}
        keep_untold(store, unheard_key(of.cluster, of.plan_id), of, left_over)
        told += took
    return told


def _news_of(store: ObjectStore, plan: PinnedPlan) -> News | None:
    """Return what is told of a plan; ``None`` where nothing is new."""
    report = published_report(store, plan)
    lines = message(report)
    if not lines:
        return None
    verdict = report["verdict"]
    return News(
        plan=plan,
        kind=(verdict.get("sizing") or verdict)["badge"]["kind"],
        is_grave=gravest(verdict) is not None,
        is_judged=is_judged(verdict),
        lines=lines,
        reasons=reasons(report),
        url=browser_url(store, plan.report_key),
        picture=_picture_of(report),
    )


def _picture_of(report: Mapping[str, Any]) -> Picture | None:
    """Draw the picture of a message; one that cannot be drawn takes no message with it."""
    from kafka_capacity.report.charts import draw_picture
    from kafka_capacity.report.template_folder import template_folder

    try:
        return draw_picture(report, template_folder())
    except RenderError as error:
        log.warning("the message has no picture: %s", error)
        return None


def _tell_all(
    store: ObjectStore, plan: PinnedPlan, run_id: str, connections: Sequence[str], news: News
) -> tuple[list[str], dict[str, str]]:
    """Tell those who were not told yet; returns whom, and who could not be told, each with why."""
    told: list[str] = []
    untold: dict[str, str] = {}
    for name in connections:
        with claimed(store, plan, [name], run_id) as mine:
            if not mine:
                log.info("%s was already notified of this plan, or another run is at it", name)
            elif why := _tell(name, news):
                untold[name] = why
            else:
                keep_told(store, plan, [name], run_id)
                told.append(name)
                log.info("notified %s: %s", name, news.lines[0])
    return told, untold


def _tell(name: str, news: News) -> str:
    """Send the news through a connection; returns why it was not taken, empty where it was."""
    try:
        connection = BaseHook.get_connection(name)
    except Exception as error:  # of many classes, by where connections are kept; their messages may hold secrets
        return f"the connection cannot be read ({type(error).__name__})"
    form = str(connection.extra_dejson.get("form") or _OF_TYPE.get(connection.conn_type or "", "webhook"))
    if form not in _FORMS:
        return f"{_NO_FORM}{form!r}; write one of {', '.join(_FORMS)} into the connection's extra"
    secret = connection.password or ""
    headers = {"Content-Type": "application/json"}
    if form == "webhook" and secret:
        headers["Authorization"] = f"Bearer {secret}"
    try:
        address = _address(connection, secret if form in {"slack", "teams"} else "", usual=_PAGERDUTY)
        body = {"routing_key": secret} if form == "pagerduty" else {}
        data = json.dumps(body | _FORMS[form](news)).encode()
        request = urllib.request.Request(address, data=data, headers=headers, method="POST")  # noqa: S310  # http(s) only, see _address
        with urllib.request.urlopen(request, timeout=SILENT_SECONDS):  # noqa: S310  # likewise
            return ""
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}"
    except urllib.error.URLError as error:
        return f"no answer ({type(error.reason).__name__})"
    except (OSError, ValueError) as error:
        return f"no answer ({type(error).__name__})"


def _address(connection: Any, path: str, *, usual: str) -> str:
    """Return where to send to; raises ValueError where it is no address of HTTP."""
    host = str(connection.host or usual)
    base = host if "://" in host else f"{connection.schema or 'https'}://{host}"
    parts = urlsplit(base)
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise ValueError("no address")
    if connection.port and parts.port is None:
        base = parts._replace(netloc=f"{parts.netloc}:{connection.port}").geturl()
    return f"{base.rstrip('/')}/{path.lstrip('/')}" if path else base
