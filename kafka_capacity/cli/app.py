"""The command line itself: how commands are found, and how errors end.

A module of :mod:`kafka_capacity.cli.commands` adds its command to :data:`app`; a new one needs no list to be edited.
Such a module imports at its top only what its options are made of, and the rest where it is used: that keeps every
command quick to start.

Exit status: 0 done, 1 an inventory has fatal findings, or the doctor found what it was told to fail on, 2 wrong input
or broken files, 3 nothing fits (on demand).
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from kafka_capacity import __version__
from kafka_capacity.cli import commands
from kafka_capacity.cli.console import say_error
from kafka_capacity.cli.startup import own_the_process
from kafka_capacity.errors import KafkaCapacityError

EXIT_FATAL_FINDINGS = 1
EXIT_ERROR = 2
EXIT_NOTHING_FITS = 3


class _ErrorsInOneLine(TyperGroup):
    """Ends on our own errors, and on those of files, with their message and without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KafkaCapacityError as error:
            say_error(str(error))
        except BrokenPipeError:
            raise
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            say_error(f"{place}{error.strerror or error}")
        raise typer.Exit(EXIT_ERROR)


app = typer.Typer(
    name="kafka-capacity",
    cls=_ErrorsInOneLine,
    help="Plan the capacity of Kafka clusters: what a change moves, how long it takes, whether it fits.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"kafka-capacity {__version__}")
        raise typer.Exit


@app.callback()
def _all_commands(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version and end."
    ),
) -> None:
    del version  # its callback has done the work


def load_commands() -> typer.Typer:
    """Import every module of commands, in the order of their names, and give the whole application."""
    for module in sorted(pkgutil.iter_modules(commands.__path__), key=lambda found: found.name):
        importlib.import_module(f"{commands.__name__}.{module.name}")
    return app


def main() -> NoReturn:
    """Run the command line and end the process."""
    own_the_process()
    load_commands()()
    raise SystemExit(0)
