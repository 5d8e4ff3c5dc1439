"""Names from outside, made safe to look at.

Topic, rack and cluster names may hold anything. Markup in them is escaped by the templates; what is left to do is what
no escaping helps against: line breaks and control characters, and the invisible characters that turn text around so
that a name reads as another one. They are shown as escapes; everything else is shown as typed.
"""

from __future__ import annotations

import re
import unicodedata

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SEPARATORS = frozenset("\u2028\u2029")


def visible(text: str) -> str:
    r"""Replace what cannot be seen or reorders text by its escape.

    >>> visible('a\nb\u202ec')
    'a\\nb\\u202ec'
    """
    if text.isprintable() and text.isascii():
        return text
    return "".join(_escape(character) if _is_hidden(character) else character for character in text)


def _is_hidden(character: str) -> bool:
    # Surrogates cannot be encoded and non-characters are errors in HTML.
    return (
        unicodedata.category(character) in {"Cc", "Cs"}
        or character in _TURNING
        or character in _SEPARATORS
        or (ord(character) & 0xFFFE) == 0xFFFE
        or 0xFDD0 <= ord(character) <= 0xFDEF
    )


def _escape(character: str) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, f"\\u{ord(character):04x}")


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
