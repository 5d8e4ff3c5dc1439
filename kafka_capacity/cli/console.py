"""What people see: data on standard output, everything else on standard error.

Names come from clusters and may hold anything: they are never taken for markup, and control characters are spelled.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, Protocol

from kafka_capacity.health.problem import Problem
from kafka_capacity.report.tables import NOTE, Column, column, verdict_badge
from kafka_capacity.text import is_figure, shown, uncapitalised

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_WITHOUT_TERMINAL = 200  # a file or a pipe has no edge to fold at
HEADING_WIDTH = 14
MAX_CELL_LINES = 5  # of a table; longer ones are read better one below the other

Align = Literal["left", "right"]
_OPTIONS: ContextVar[Mapping[str, str] | None] = ContextVar("_OPTIONS", default=None)


@contextmanager
def prints_options(option_of_field: Mapping[str, str]) -> Iterator[None]:
    """Print ``--throttle`` where a text names the field ``throttle_bytes_per_second``; plain words stay as they are."""
    token = _OPTIONS.set({field: option for field, option in option_of_field.items() if "_" in field})
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def plain(text: str) -> str:
    r"""Spell what is not printable, so that no name steers the terminal: ``\x1b`` instead of an escape."""
    options = _OPTIONS.get()
    if options and "_" in text:
        text = re.sub(rf"\b({'|'.join(options)})\b", lambda found: options[found[0]], text)
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def say(text: str, *, is_quiet: bool = False) -> None:
    """Tell people something, on standard error."""
    if not is_quiet:
        sys.stderr.write(plain(text) + "\n")


def say_error(text: str) -> None:
    """Tell people what went wrong, on standard error."""
    sys.stderr.write(f"error: {plain(text)}\n")


def _console(*, is_error: bool = False) -> Console:
    from rich.console import Console

    stream = sys.stderr if is_error else sys.stdout
    width = _asked_width() or WIDTH_WITHOUT_TERMINAL
    return Console(file=stream, width=None if stream.isatty() else width, highlight=False)


def _asked_width() -> int:
    """Return the width that the environment asks for, 0 for none."""
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdecimal() else 0


def print_table(title: str, columns: Sequence[tuple[str, Align]], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on standard output; no cell is taken for markup.

    No word is ever broken: where the columns are too narrow for their longest words, rows stand one below the other.
    """
    from rich.table import Table
    from rich.text import Text

    console = _console()
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = column_widths([heading for heading, _ in columns], cells, console.width)
    for line in _within_edge([title]):
        console.print(Text(line, style="bold"), soft_wrap=True)
    if widths is None:
        print_lines(stacked_lines([heading for heading, _ in columns], cells, console.width))
        return
    table = Table()
    for (heading, align), width in zip(columns, widths, strict=True):
        table.add_column(heading, justify=align, overflow="fold", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def print_rows(title: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print rows as the page shows them: the same columns, headings and formats."""
    print_table(
        title,
        [(_heading(one.label), "right" if is_figure(one.kind) else "left") for one in columns],
        [[_cell(row[one.key], one.kind) for one in columns] for row in rows],
    )


def print_problem_rows(title: str, problems: Iterable[Problem], *, has_codes: bool = False) -> None:
    """Print a row a problem; with the codes, for who looks for one."""
    names = [name for name in ("severity", "code", "where", "message", "remedy") if has_codes or name != "code"]
    rows = [{name: str(getattr(one, name)) for name in names} for one in problems]
    print_rows(title, [column(name, name.capitalize()) for name in names], rows)


def print_data(made: Mapping[str, Any]) -> None:
    """Print a table of the page, its caption above it and its note below; a note of a row is a line of its own."""
    columns = [column(one["key"], one["label"], one["format"]) for one in made["columns"]]
    print_rows(made["caption"], columns, made["rows"])
    print_lines([f"{_cell(row[columns[0].key], columns[0].kind)}: {row[NOTE]}" for row in made["rows"] if row[NOTE]])
    if made["note"]:
        print_lines([made["note"]])


def _heading(label: str) -> str:
    """Break a heading between words, so that a narrow column breaks its values as late as it can."""
    text = label if label[1:2].isupper() else uncapitalised(label)
    return "\n".join(textwrap.wrap(text, HEADING_WIDTH, break_long_words=False))


def _cell(value: Any, kind: str) -> str:
    return verdict_badge(value)[-1].lower() if kind == "verdict" else shown(value, kind)


def column_widths(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return how wide the columns of a table are, ``None`` where their longest words do not fit side by side.

    Nor do they where a cell would be broken into more than :data:`MAX_CELL_LINES`.

    >>> column_widths(["name", "what it is"], [["a", "one two three"]], 24)
    [4, 13]
    >>> column_widths(["name", "what it is"], [["a", "one two three"]], 19)
    [4, 8]
    >>> column_widths(["name", "what it is"], [["a", "one two three"]], 12) is None
    True
    >>> column_widths(["name", "what it is"], [["a", "one two three four five six seven eight"]], 18) is None
    True
    """
    from rich.cells import cell_len

    columns = list(zip(headings, *rows, strict=True))
    widths = [max(cell_len(line) for cell in each for line in cell.split("\n")) for each in columns]
    least = [max(cell_len(word) for cell in each for word in (cell.split() or [""])) for each in columns]
    room = width - 3 * len(columns) - 1
    if sum(least) > room:
        return None
    while sum(widths) > room:
        at = max(range(len(widths)), key=lambda place: (widths[place] > least[place], widths[place]))
        widths[at] -= 1
    broken = (
        len(textwrap.wrap(cell, wide, break_on_hyphens=False)) > MAX_CELL_LINES
        for each, wide in zip(columns, widths, strict=True)
        for cell in each[1:]
        if cell_len(cell) > MAX_CELL_LINES * wide // 2
    )
    return None if any(broken) else widths


def stacked_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the rows of a table one below the other, each cell beside its heading; empty cells are left out."""
    broken = [heading.split("\n") for heading in headings]
    indent = max(len(line) for heading in broken for line in heading) + 4
    lines: list[str] = []
    for row in rows:
        for heading, cell in zip(broken, row, strict=True):
            if cell:
                wrapped = textwrap.wrap(cell, max(width - indent, 20), break_on_hyphens=False, break_long_words=False)
                side_by_side = zip_longest(heading, wrapped, fillvalue="")
                lines += [(f"  {name}".ljust(indent) + part).rstrip() for name, part in side_by_side]
        lines.append("")
    return lines


def print_lines(lines: Sequence[str]) -> None:
    """Print lines on standard output, wrapped between words where there is an edge."""
    sys.stdout.write("".join(f"{line}\n" for line in _within_edge(lines)))


def _within_edge(lines: Sequence[str]) -> list[str]:
    printed = [plain(line) for line in lines]
    if not sys.stdout.isatty() and not _asked_width():
        return printed
    width = _console().width
    return [part for line in printed for part in wrapped_line(line, width)]


def wrapped_line(line: str, width: int) -> list[str]:
    """Break a line between words, each part as far from the edge as the first.

    >>> wrapped_line("  one two", 8), wrapped_line("one", 8), wrapped_line("", 8)
    (['  one', '  two'], ['one'], [''])
    """
    if len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False, drop_whitespace=True
    )


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document on standard output: the same bytes for the same data."""
    from kafka_capacity.objects.dataset import canonical_json

    sys.stdout.write(canonical_json(dict(document)).decode())


def print_answer(answer: str, show: Callable[[], None], *, hint: str = "", is_quiet: bool) -> None:
    """Print an answer of one line, then what it rests on, and on standard error what to type next."""
    print_lines([answer])
    if not is_quiet:
        show()
        if hint:
            say(f"next: {hint}")


class Steps(Protocol):
    """Told of the steps of a longer piece of work."""

    def __call__(self, what: str, *, steps: int | None = None) -> None:
        """Say what begins now, the step before being done; ``steps`` is how many there are in all, once known."""


def _say_nothing(what: str, *, steps: int | None = None) -> None:
    del what, steps


@contextmanager
def progress_bar(*, is_quiet: bool) -> Iterator[Steps]:
    """Show a progress bar on standard error, where that is a terminal."""
    if is_quiet or not sys.stderr.isatty():
        yield _say_nothing
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_console(is_error=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        done = -1

        def begin(what: str, *, steps: int | None = None) -> None:
            nonlocal done
            done += 1
            progress.update(task, description=plain(what), completed=done, total=steps)

        yield begin
