"""What the pydantic models of input files share: text that can be stored, and complaints in plain lines."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, ValidationError


def check_text(text: str) -> str:
    """Return the text, or raise ``ValueError`` where no file could hold it."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        msg = "it has half of a surrogate pair, which is no text; mend it"
        raise ValueError(msg)
    return text


Text = Annotated[str, AfterValidator(check_text)]
"""Any text but half characters, which JSON can spell and nothing else can hold."""

_PLAINER = {
    "extra_forbidden": "there is no such field; remove it or mend its name",
    "model_type": "write an object, {…}",
    "dict_type": "write an object, {…}",
    "list_type": "write a list, […]",
    "int_type": "write a whole number",
    "float_type": "write a number",
    "finite_number": "write a finite number",
    "string_type": "write a text",
    "bool_type": "write true or false",
}


def describe_mistakes(error: ValidationError) -> list[str]:
    """Say each of pydantic's complaints in one line: where, what is wrong, and the value seen."""
    lines = []
    for mistake in error.errors(include_url=False):
        where = ".".join(str(part) for part in mistake["loc"]) or "the document"
        what = mistake["msg"].removeprefix("Value error, ")
        what = _PLAINER.get(mistake["type"], what)
        if mistake["type"] == "missing":
            lines.append(f"{where} is missing; add it")
        elif mistake["type"] == "json_invalid":
            lines.append(f"{what[:1].lower()}{what[1:]}; mend the JSON")
        else:
            lines.append(f"{where} is {_shown(mistake['input'])}: {what[:1].lower()}{what[1:]}")
    return lines


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
