"""The shell of commands that ask one question: what is typed, progress, what is written and printed, how it ends."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import print_answer, progress_bar
from kafka_capacity.cli.options import OutFolder, Quiet, takes_snapshot, with_parameters
from kafka_capacity.cli.plan_options import takes
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.objects.dataset import canonical_json


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """What a command has found out.

    Attributes:
        answer: in one line, which is all that ``--quiet`` prints.
        document: returns it as plain data.
        show: prints for people what it rests on.
        hint: what to type next, if anything.
        write: writes it into a folder or below an address, where that is more than the document.
        exit_status: to end with.
    """

    answer: str
    document: Callable[[], dict[str, Any]]
    show: Callable[[], None]
    hint: str = ""
    write: Callable[[str, Mapping[str, Any]], None] | None = None
    exit_status: int = 0


def asks(
    name: str, document: str, *fields: str, text: str, also: Mapping[str, str] | None = None
) -> Callable[[Callable[..., Found]], Callable[..., None]]:
    """Decorate a function that answers, as a command.

    It is called with ``snapshot``, with ``given``, the parameters of the plan that were typed, with ``begin``, to tell
    its steps, and with options of its own.

    Args:
        name: of the command.
        document: the file that ``--out`` writes, and that ``--json`` prints.
        *fields: parameters of a plan that are options.
        text: the help.
        also: further names that the command has for some of these.
    """
    is_json = Annotated[bool, typer.Option("--json", help=f"Print what {document} holds instead of tables.")]
    options = {"out": (OutFolder, None), "is_json": (is_json, False), "is_quiet": (Quiet, False)}
    added = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for option, (annotation, default) in options.items()
    ]

    def decorate(answer: Callable[..., Found]) -> Callable[..., None]:
        def called(*, out: str | None, is_json: bool, is_quiet: bool, **typed: Any) -> None:
            keep_pandas_out()
            with progress_bar(is_quiet=is_quiet) as begin:
                found = answer(begin=begin, **typed)
                content = found.document() if is_json or out is not None else {}
                if out is not None:
                    begin("writing")
                    _write(out, document, content, found)
            if is_json:
                typer.echo(canonical_json(content), nl=False)
            else:
                print_answer(found.answer, found.show, hint=found.hint, is_quiet=is_quiet)
            if found.exit_status:
                raise typer.Exit(found.exit_status)

        command = with_parameters(answer, "begin", added, called)
        return app.command(name, help=text)(takes_snapshot()(takes(*fields, also=also)(command)))

    return decorate


def _write(out: str, name: str, content: Mapping[str, Any], found: Found) -> None:
    from kafka_capacity.cli.documents import write_document

    if found.write is not None:
        found.write(out, content)
    else:
        write_document(out, name, content)
