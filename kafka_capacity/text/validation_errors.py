"""What the pydantic models of input files share: text that can be stored, and complaints in plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationError

from kafka_capacity.errors import DamagedInputError, KafkaCapacityError, RequestError
from kafka_capacity.text.wording import uncapitalised


def is_unicode(text: str) -> bool:
    """Return whether this is text: JSON can spell half of a surrogate pair, which no file can hold."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def check_text(text: str) -> str:
    """Return the text, or raise ``ValueError`` where no file could hold it."""
    if not is_unicode(text):
        raise ValueError("it contains half of a surrogate pair, which is not valid text; fix it")
    return text


def shown_text(value: Any) -> str:
    """Return what somebody else sent, as text that can be shown and stored."""
    return str(value).encode(errors="replace").decode()


Text = Annotated[str, AfterValidator(check_text)]
"""Any text but half characters, which JSON can spell and nothing else can hold."""

_PLAINER = {
    "extra_forbidden": "no such field; remove it or correct its name",
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "write an object, {…}"),
    **dict.fromkeys(("list_type", "tuple_type"), "write a list, […]"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "write a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "write a number"),
    "finite_number": "write a finite number",
    "missing": "it is missing; add it",
    "string_type": "write a string",
    **dict.fromkeys(("bool_type", "bool_parsing"), "write true or false"),
    "greater_than": "give more than {gt}",
    "greater_than_equal": "give at least {ge}",
    "less_than": "give less than {lt}",
    "less_than_equal": "give at most {le}",
    **dict.fromkeys(("enum", "literal_error"), "choose {expected}"),
    "union_tag_not_found": "it has no {discriminator}, which says what it is; add it",
    "union_tag_invalid": "choose {discriminator} from {expected_tags}",
    "too_short": "give at least {min_length}, not {actual_length}",
    "too_long": "give at most {max_length}, not {actual_length}",
    "string_too_short": "write at least {min_length} characters",
    "string_too_long": "write at most {max_length} characters",
}


def plain_words(mistake: Mapping[str, Any]) -> str:
    """Describe what is wrong and how to fix it, without pydantic's own names of types."""
    if mistake["type"] == "string_too_short" and mistake["ctx"]["min_length"] == 1:
        return "must not be empty"
    plainer = _PLAINER.get(mistake["type"])
    if plainer is not None:
        for name, value in mistake.get("ctx", {}).items():
            plainer = plainer.replace(f"{{{name}}}", str(value))
        return plainer
    what = str(mistake["msg"]).removeprefix("Value error, ")
    return uncapitalised(what)


def _mistakes(error: ValidationError, **shown: bool) -> list[Mapping[str, Any]]:
    """Return pydantic's complaints but that a list is too short, where it is because an item of it is wrong."""
    found: list[Mapping[str, Any]] = [*error.errors(include_url=False, **shown)]
    parents = {one["loc"][:-1] for one in found}
    return [one for one in found if one["type"] != "too_short" or one["loc"] not in parents]


def describe_mistakes(error: ValidationError) -> list[str]:
    """Describe each of pydantic's complaints in one line: where, what is wrong, and the value seen."""
    lines = []
    for mistake in _mistakes(error):
        where = ".".join(str(part) for part in mistake["loc"]) or "the document"
        what = plain_words(mistake)
        if mistake["type"] == "missing":
            lines.append(f"{where} is missing; add it")
        elif mistake["type"] == "json_invalid":
            lines.append(f"{what}; fix the JSON")
        else:
            lines.append(f"{where} is {_shown(mistake['input'])}: {what}")
    return lines


@contextmanager
def naming_mistakes(file: str, kind: type[KafkaCapacityError] = DamagedInputError) -> Iterator[None]:
    """Raise an error of a kind for pydantic's complaints: a line for each, which begins with the file."""
    try:
        yield
    except ValidationError as error:
        raise kind("\n".join(f"{file}: {line}" for line in describe_mistakes(error))) from error


@contextmanager
def hiding_values(what: str, names: Mapping[str, str] | None = None) -> Iterator[None]:
    """Raise :class:`RequestError` for what is wrong with a setting or a connection, a line for each.

    Values are left out, any of which may be a secret. ``names`` are those that users know fields by, where they are
    other ones.
    """
    try:
        yield
    except ValidationError as error:
        lines = []
        for mistake in _mistakes(error, include_input=False):
            parts = [str(part) for part in mistake["loc"]]
            where = ".".join([(names or {}).get(part, part) for part in parts[:1]] + parts[1:])
            lines.append(": ".join([what, *([where] if where else []), plain_words(mistake)]))
        raise RequestError("\n".join(lines)) from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
