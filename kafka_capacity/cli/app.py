"""The command line itself: how commands are found, and how errors end.

A module of :mod:`kafka_capacity.cli.commands` adds its command to :data:`app`; a new one needs no list to be edited. A
module is imported when its command is typed, and the list of commands shows the first lines of their modules, so that
``--help`` waits for none of them. For the same reason a module imports at its top only what its options are made of.

Exit status: 0 done, 1 an inventory has fatal findings, or the doctor found what it was told to fail on, 2 something was
typed wrong or cannot be read or written, 3 nothing fits (on demand), 4 a file of input is damaged: not what it should
be, or too large.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import pkgutil
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType

from kafka_capacity import __version__
from kafka_capacity.cli import commands
from kafka_capacity.cli.console import say_error
from kafka_capacity.cli.startup import own_the_process
from kafka_capacity.errors import DamagedInputError, KafkaCapacityError, RequestError
from kafka_capacity.text import capitalised, uncapitalised

usage: Any = importlib.import_module(typer.BadParameter.__module__)
"""The errors of what was typed: of click, or of the copy of it that newer versions of typer have."""

EXIT_FATAL_FINDINGS = 1
EXIT_ERROR = 2
EXIT_NOTHING_FITS = 3
EXIT_DAMAGED_INPUT = 4


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    """End on wrong input, our own errors and those of files with a message and without a traceback."""
    try:
        yield
        return
    except usage.NoArgsIsHelpError:
        raise
    except usage.UsageError as error:
        say_error(_complaint(error))
    except DamagedInputError as error:
        say_error(str(error))
        raise typer.Exit(EXIT_DAMAGED_INPUT) from None
    except KafkaCapacityError as error:
        say_error(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        say_error(f"{place}{error.strerror or error}")
    raise typer.Exit(EXIT_ERROR)


def _complaint(error: Any) -> str:
    """Return what is wrong with what was typed in the words of all our errors: the option first."""
    command = ""
    if error.ctx is not None:
        has_more = isinstance(error.ctx.command, _Command) and error.ctx.command.has_more
        command = f"; {error.ctx.command_path} {HELP_ALL if has_more else '--help'} lists all"
    if isinstance(error, usage.NoSuchOption):
        near = f"; did you mean {' or '.join(sorted(error.possibilities))}?" if error.possibilities else command
        return f"{error.option_name}: no such option{near}"
    name = ""
    if isinstance(error, usage.BadParameter) and error.param is not None:
        name = f"{(error.param.opts or [str(error.param.name)])[0]}: "
    if isinstance(error, usage.MissingParameter):
        return f"{name}is required"
    what = str(error.message).removeprefix("Value error, ").rstrip(".")
    return name + uncapitalised(what)


HELP_ALL = "--help-all"
SHORT_HELP_OPTIONS = 25  # a command with more options keeps those that are seldom set to `--help-all`


class _Command(TyperCommand):
    """A command whose help lists options by the sections of the form, each by its primary name."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._seldom: list[Any] = [
            one for one in self.params if all(getattr(one, name, None) for name in ("hidden", "rich_help_panel"))
        ]
        self._is_whole = len(self.params) <= SHORT_HELP_OPTIONS

    @property
    def has_more(self) -> bool:
        """Whether it has options that its short help leaves out."""
        return bool(self._seldom) and not self._is_whole

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if HELP_ALL in args:
            self._is_whole, was_whole = True, self._is_whole
            typer.echo(ctx.get_help(), color=ctx.color)
            self._is_whole = was_whole
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self._seldom:
            param.hidden = not self._is_whole
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                is_option = param.param_type_name == "option"
                panel = getattr(param, "rich_help_panel", None)  # the section of the form; none of --help
                section = (panel or "Options") if is_option else "Arguments"
                name = _primary(param, ctx) if is_option else str(param.metavar)
                sections.setdefault(section, []).append((name, record[1]))
        for section, records in sections.items():
            formatter.write(f"\n{section}:\n")
            for name, text in records:
                _write_record(formatter, name, text)
        if self.has_more:
            formatter.write(f"\n{len(self._seldom)} more options: {ctx.command_path} {HELP_ALL}\n")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        del ctx
        for paragraph in (self.help or "").split("\n\n"):
            lines = textwrap.wrap(
                paragraph, formatter.width, **_WHOLE_WORDS, initial_indent="  ", subsequent_indent="  "
            )
            formatter.write("\n" + "\n".join(lines) + "\n")


_WHOLE_WORDS: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
_NAME_COLUMN = 30


def _write_record(formatter: Any, name: str, text: str) -> None:
    """Write an option and what it does, which stands below a name that is too long."""
    lines = textwrap.wrap(text, formatter.width - _NAME_COLUMN, **_WHOLE_WORDS)
    if len(name) > _NAME_COLUMN - 4:
        formatter.write(f"  {name}\n")
        name = ""
    pad = " " * _NAME_COLUMN
    formatter.write(f"  {name}".ljust(_NAME_COLUMN) + f"\n{pad}".join(lines) + "\n")


def _primary(param: Any, ctx: Any) -> str:
    """Return the short name of an option, its first long one, and what stands for its value."""
    shown = [*(one for one in param.opts if not one.startswith("--")), next(o for o in param.opts if o[:2] == "--")]
    if param.is_flag:
        return ", ".join(shown) + (f" / {param.secondary_opts[0]}" if param.secondary_opts else "")
    return f"{', '.join(shown)} {param.display_type_rich(ctx=ctx)}"


class _Group(TyperGroup):
    """Commands with the whole first sentence of each."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.first_line(name)) for name in self.list_commands(ctx)])

    def first_line(self, name: str) -> str:
        """Return what is said of a command in the list of all."""
        return (self.commands[name].help or "").partition(".")[0]


class _Commands(_Group):
    """The commands by the names of their modules, each imported when it is typed."""

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return sorted({name.partition("_")[0] for name in _modules()})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and cmd_name in self.list_commands(ctx):
            load_commands(cmd_name)
            self.commands.update(typer.main.get_group(app).commands)
        return super().get_command(ctx, cmd_name)

    def first_line(self, name: str) -> str:
        """Return what the first line of a command's module says of it, without importing the module."""
        source = (Path(commands.__path__[0]) / f"{name}.py").read_text(encoding="utf-8")
        line = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0].partition(": ")[2].rstrip(".")
        return capitalised(line)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
            raise RequestError(f"{args[0]}: no such command; {remedy}")
        return super().resolve_command(ctx, args)

    def make_context(self, *given: Any, **more: Any) -> Any:
        with _errors_in_one_line():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        with _errors_in_one_line():
            return super().invoke(ctx)


class Application(typer.Typer):
    """Commands with plain help, which fits any width and is there at once."""

    def __init__(self, **more: Any) -> None:
        plain = {"no_args_is_help": True, "pretty_exceptions_enable": False, "rich_markup_mode": None}
        super().__init__(**{"cls": _Group, "add_completion": False, **plain, **more})

    def command(self, name: str | None = None, **more: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Add a command, as :meth:`typer.Typer.command` does."""
        return super().command(name, cls=_Command, **more)


app = Application(
    name="kafka-capacity",
    cls=_Commands,
    add_completion=True,
    help="Plan the capacity of Kafka clusters: what a change moves, how long it takes, whether it fits.",
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"kafka-capacity {__version__}")
        raise typer.Exit


@app.callback()
def _all_commands(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    del version  # its callback has done the work


def _modules() -> list[str]:
    return sorted(found.name for found in pkgutil.iter_modules(commands.__path__))


def load_commands(only: str = "") -> typer.Typer:
    """Import the modules of one command or of all, in the order of their names, and return the application.

    Further modules of a group of commands begin with its name.
    """
    for name in _modules():
        if only in ("", name.partition("_")[0]):
            importlib.import_module(f"{commands.__name__}.{name}")
    return app


def main() -> NoReturn:
    """Run the command line and end the process."""
    own_the_process()
    app(prog_name="kafka-capacity")
    raise SystemExit(0)
