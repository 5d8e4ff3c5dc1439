"""What people see: data on standard output, everything else on standard error.

Names come from clusters and may hold anything: they are never taken for markup, and control characters are spelled.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_WITHOUT_TERMINAL = 200  # a file or a pipe has no edge to fold at

Align = Literal["left", "right"]


def plain(text: str) -> str:
    r"""Spell what is not printable, so that no name steers the terminal: ``\x1b`` instead of an escape."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def say(text: str, *, is_quiet: bool = False) -> None:
    """Tell people something, on standard error."""
    if not is_quiet:
        sys.stderr.write(plain(text) + "\n")


def say_error(text: str) -> None:
    """Tell what went wrong, on standard error."""
    sys.stderr.write(f"error: {plain(text)}\n")


def _console(*, is_error: bool = False) -> Console:
    from rich.console import Console

    stream = sys.stderr if is_error else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDTH_WITHOUT_TERMINAL, highlight=False)


def print_table(title: str, columns: Sequence[tuple[str, Align]], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on standard output; no cell is taken for markup."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(plain(title)), title_justify="left", title_style="bold")
    for heading, align in columns:
        table.add_column(heading, justify=align, overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    _console().print(table)


def print_lines(lines: Sequence[str]) -> None:
    """Print lines on standard output as they are."""
    sys.stdout.write("".join(f"{plain(line)}\n" for line in lines))


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
