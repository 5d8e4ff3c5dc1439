"""Names from outside, made safe to look at.

Topic, rack and cluster names may hold anything. Markup in them is escaped by the templates; what is left to do is what
no escaping helps against: line breaks and control characters, and the invisible characters that turn text around so
that a name reads as another one. They are shown as escapes; everything else is shown as typed.
"""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")  # invisible, and needed to write some scripts


def visible(text: str) -> str:
    r"""Replace what cannot be seen or reorders text by its escape.

    >>> visible('a\nb\u202ec')
    'a\\nb\\u202ec'
    """
    if text.isprintable() and text.isascii():
        return text
    return "".join(_escape(character) if _is_hidden(character) else character for character in text)


def _is_hidden(character: str) -> bool:
    # Surrogates cannot be encoded, and non-characters are errors in HTML.
    return (
        (unicodedata.category(character) in _HIDDEN and character not in _JOINERS)
        or (ord(character) & 0xFFFE) == 0xFFFE
        or 0xFDD0 <= ord(character) <= 0xFDEF
    )


def _escape(character: str) -> str:
    code = ord(character)
    numbered = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, numbered)


_FIGURE = re.compile(
    r"(?<=\d) (?=(?:%|×|B|[kKMGTPE]i?B(?:/s)?|d|h|min|s)\b|%)"  # 7.6 TiB, 19.6 %, 18 h 54 min
)
_UNBROKEN = re.compile(r"(?<!\S)--[a-z][a-z-]*|\b\d{4}-\d\d-\d\d\b")


def prose(text: str) -> Markup:
    r"""Escape a sentence, and keep a figure and its unit on one line, and so the name of an option and a day.

    >>> prose("<b> 3 h 12 min with --generate")
    Markup('&lt;b&gt; 3\xa0h 12\xa0min with <span class="whole">--generate</span>')
    """
    joined = _FIGURE.sub("\u00a0", str(escape(visible(text))))
    return Markup(_UNBROKEN.sub(r'<span class="whole">\g<0></span>', joined))  # noqa: S704 - escaped above


_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


def without_markdown(text: str) -> str:
    r"""Escape what Markdown would take for markup, and bring a text onto one line.

    >>> without_markdown("topic __a_b__ on `x`")
    'topic \\_\\_a\\_b\\_\\_ on \\`x\\`'
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def clipped(text: str, length: int) -> str:
    """Cut a long name and say so by an ellipsis.

    >>> clipped("a" * 9, 5)
    'aaaa…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def slug(text: str) -> str:
    """Turn an identifier into one that is safe as an HTML id, a file name and a Content-ID.

    >>> slug("015-brokers.fewest-bytes")
    '015-brokers-fewest-bytes'
    """
    return re.sub(r"[^a-zA-Z0-9]+", "-", text).strip("-") or "x"
