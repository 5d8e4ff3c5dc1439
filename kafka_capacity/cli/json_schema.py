"""The JSON schema of the documents that commands print and write, and the page about them: made of their classes.

What a field is stands behind it, or above it, as a comment: that is its description.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import textwrap
import tokenize
import types
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from kafka_capacity.cli.json_documents import DOCUMENTS

SCHEMA = "https://json-schema.org/draft/2020-12/schema"
_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}

_HEAD = """# JSON documents

What commands print with `--json` and write with `--out`, and the `decision.json` of every plan and report. Every
document is one UTF-8 object with sorted keys, and the same input gives the same bytes. All listed names are present
unless marked as optional; removing a name or changing its meaning raises `schema_version`. Rows of tables have the
columns of those tables. This page is the output of `kafka-capacity schema`; with `--json` it prints the same as a [JSON
schema](json-schema.json).
"""


def json_schema() -> dict[str, Any]:
    """Return the schema of all documents: each under its file's name in ``properties``, which a document stands for."""
    definitions: dict[str, Any] = {}
    documents = {name: _of(Union[kinds], definitions) for name, kinds in DOCUMENTS.items()}  # noqa: UP007 - of as many as there are
    return {
        "$schema": SCHEMA,
        "title": "JSON documents of kafka-capacity, by file name",
        "type": "object",
        "properties": documents,
        "$defs": dict(sorted(definitions.items())),
    }


def document_schema(name: str) -> dict[str, Any]:
    """Return the schema of one document by the name of its file."""
    whole = json_schema()
    return {"$schema": SCHEMA, **whole["properties"][name], "$defs": whole["$defs"]}


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; classes become definitions."""
    origin, of = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if origin is Annotated:
        return {"anyOf": [_of(of[0], definitions), {"type": "null"}]}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(one, definitions) for one in of]}
    if origin in (tuple, list, Sequence):
        return {"type": "array", "items": _of(of[0], definitions)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _of(of[1], definitions)}
    if issubclass(kind, StrEnum):
        return {"enum": [str(one) for one in kind]}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # for a class that holds its own kind
        definitions[kind.__name__] = _of_class(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _of_class(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints, fields = get_type_hints(kind, include_extras=True), dataclasses.fields(kind)
    said = {name: text for base in reversed(kind.__mro__[:-1]) for name, text in comments_of(base).items()}
    return {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " "),
        "properties": {
            one.name: {**_of(hints[one.name], definitions), "description": said.get(one.name, "")} for one in fields
        },
        "required": [one.name for one in fields if one.default is dataclasses.MISSING],
        "additionalProperties": bool(getattr(kind, "is_open", False)),
    }


@cache
def comments_of(kind: type) -> Mapping[str, str]:
    """Return the comments of a class's own fields: behind a field, else above it.

    >>> comments_of(type("Nothing", (), {}))
    {}
    """
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        return {}
    comments = {
        token.start[0]: (token.string.lstrip("# ").rstrip(), token.line.strip().startswith("#"))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    found = {}
    for statement in ast.parse(source).body[0].body:  # type: ignore[attr-defined]  # a class
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            line = statement.lineno
            above: list[str] = []
            while comments.get(line - len(above) - 1, ("", False))[1]:
                above.insert(0, comments[line - len(above) - 1][0])
            behind = comments.get(statement.end_lineno or line, ("", True))
            found[statement.target.id] = behind[0] if not behind[1] else " ".join(above)
    return found


def schema_page() -> str:
    """Return docs/json.md."""
    schema = json_schema()
    parts = [_HEAD]
    shown: list[str] = []
    for name, document in schema["properties"].items():
        heads = [one["$ref"].rpartition("/")[2] for one in document.get("anyOf", [document])]
        parts.append(f"\n## {name}\n")
        for head in heads:
            parts += _class_parts(head, schema["$defs"])
            shown.append(head)
    parts.append("\n## What they hold\n")
    for name, definition in schema["$defs"].items():
        if name not in shown:
            parts += [f"\n### {name}\n", *_class_parts(name, schema["$defs"], is_named=False)]
            assert definition["properties"]  # noqa: S101  # what holds nothing is no class of a document
    return "".join(parts)


def _class_parts(name: str, definitions: Mapping[str, Any], *, is_named: bool = True) -> list[str]:
    found = definitions[name]
    rows = [
        f"| `{field}` | {_shown(kind)}{'' if field in found['required'] else ', optional'} | "
        f"{kind['description'].replace('|', chr(92) + '|')} |\n"
        for field, kind in found["properties"].items()
    ]
    lead = f"**{name}.** " if is_named else ""
    return [f"\n{lead}{found['description']}\n\n", "| name | type | meaning |\n|---|---|---|\n", *rows]


def _shown(kind: Mapping[str, Any]) -> str:
    """Return a type in words; a class by its name."""
    if "$ref" in kind:
        return str(kind["$ref"]).rpartition("/")[2]
    if "anyOf" in kind:
        return " or ".join(_shown(one) for one in kind["anyOf"])
    if "enum" in kind:
        return " or ".join(f"`{one}`" for one in kind["enum"])
    if kind.get("type") == "array":
        return f"list of {_shown(kind['items'])}"
    return str(kind.get("type", "any"))
