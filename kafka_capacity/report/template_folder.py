"""Where the templates are, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, Undefined
from markupsafe import Markup

from kafka_capacity.errors import RenderError
from kafka_capacity.report.tables import verdict_badge
from kafka_capacity.text import FORMATS, is_figure, shown
from kafka_capacity.text.names import prose, slug, visible

TEMPLATES_VARIABLE = "KAFKA_CAPACITY_TEMPLATES"


def template_folder() -> Path:
    """Find the templates: by the environment's setting, else the package's, else the repository's.

    Raises:
        RenderError: there is no such folder.
    """
    if setting := os.environ.get(TEMPLATES_VARIABLE):
        if not (Path(setting) / "report.html").is_file():
            msg = f"templates: {setting!r} has no report.html; name the folder with it, or unset {TEMPLATES_VARIABLE}"
            raise RenderError(msg)
        return Path(setting)
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_templates", package.parent / "templates"):
        if (folder / "report.html").is_file():
            return folder
    msg = f"templates: none are installed next to {str(package)!r}; set {TEMPLATES_VARIABLE} to their folder"
    raise RenderError(msg)


@lru_cache(maxsize=4)
def environment(folder: Path) -> Environment:
    """Make the template environment: everything escaped, nothing undefined, figures by filters."""
    made = Environment(
        loader=FileSystemLoader([folder, *sorted(found for found in folder.iterdir() if found.is_dir())]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finished,
    )
    made.filters.update({f"as_{name}": write for name, write in FORMATS.items()})
    made.filters.update(badge=verdict_badge, changed=_changed, prose=prose, shown=shown, slug=slug)
    made.tests["figure"] = is_figure
    return made


@lru_cache(maxsize=4)
def text_environment(folder: Path) -> Environment:
    """Make the environment for plain text: the same, with nothing to escape."""
    return environment(folder).overlay(autoescape=False)


def render_template(made: Environment, name: str, **values: Any) -> str:
    """Render one template.

    Raises:
        RenderError: it is missing, wrong, or asks for what is not there.
    """
    try:
        return made.get_template(name).render(values)
    except TemplateError as error:
        raise RenderError(f"template {name!r} could not be rendered: {error}") from error


def _changed(changes: Mapping[str, Any], answer: str, new: Sequence[str] | None = None) -> Iterator[Mapping[str, str]]:
    """Go through what changed since the last report, a line each; of what is new, all or some is told."""
    yield from changes["lines"] or [{"label": answer, "text": "the same verdict, dates and dollars"}]
    told = {"New": changes["new"] if new is None else new, "Worse": changes.get("worse", ())}
    for label, texts in {**told, "Resolved": changes["resolved"]}.items():
        yield from ({"label": label, "text": text} for text in texts)
    yield from changes.get("followed", ())


def _finished(value: Any) -> Any:
    """Let words through, made safe to look at; a bare figure is a template's mistake."""
    if isinstance(value, Markup | Undefined):
        return value
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise RenderError(f"{value!r} has no format; a template must write it through a filter")
