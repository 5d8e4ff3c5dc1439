"""The sections of a report: a module each, and a template of the same name below ``templates``.

A module registers one function that makes the section's data from a plan::

    @section("failures", title="What breaks", order=7)
    def build(view: ReportView) -> dict[str, Any] | None:
        ...

``None`` leaves the section out. A list under ``charts`` in the data is drawn; the template finds it in ``drawings``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kafka_capacity.report.view import ReportView

Build = Callable[[ReportView], dict[str, Any] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section."""

    name: str  # of its template, and its anchor
    title: str  # its heading
    order: int  # sections are shown in ascending order
    is_closed: bool  # whether it is of second rank: the page shows its heading, and the rest when that is opened
    build: Build  # makes its data


_registered: dict[str, Section] = {}


def section(name: str, *, title: str, order: int, is_closed: bool = False) -> Callable[[Build], Build]:
    """Decorate the function that builds a section."""

    def add(build: Build) -> Build:
        _registered[name] = Section(name=name, title=title, order=order, is_closed=is_closed, build=build)
        return build

    return add


def registered_sections() -> tuple[Section, ...]:
    """Return the sections whose modules have been imported, in the order in which they are shown."""
    return tuple(sorted(_registered.values(), key=lambda one: (one.order, one.name)))
