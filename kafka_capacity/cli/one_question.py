"""The shell of commands that ask one question: what is typed, progress, what is written and printed, how it ends."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import print_answer, print_json, progress_bar
from kafka_capacity.cli.options import OutFolder, Quiet, option, takes_snapshot, with_parameters
from kafka_capacity.cli.plan_options import takes
from kafka_capacity.cli.startup import keep_pandas_out

if TYPE_CHECKING:
    from kafka_capacity.kafka.cluster.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """What a command has found out."""

    of: Snapshot  # the snapshot that was asked: its cluster and day stand before the answer, and in the document
    answer: Callable[[], str]  # returns it in one line, which is all that `--quiet` prints
    document: Callable[[], dict[str, Any]]  # returns it as plain data
    show: Callable[[], None]  # prints for people what it rests on
    hint: str = ""  # what to type next, if anything
    # writes it into a folder or below an address, where that is more than the document
    write: Callable[[str, Mapping[str, Any]], None] | None = None
    exit_status: int = 0  # to end with


def asks(
    name: str, *fields: str, version: int, also: Mapping[str, str] | None = None
) -> Callable[[Callable[..., Found]], Callable[..., None]]:
    """Decorate a function that answers, as a command of that name; the function's docstring is the help.

    It is called with ``snapshot``, with ``given``, the parameters of the plan that were typed, with ``begin``, to tell
    its steps, and with options of its own. ``--out`` writes the document ``NAME.json``, of that version, and ``--json``
    prints it. Fields are parameters of a plan that are options; ``also`` has further names of some.
    """
    document = f"{name}.json"
    is_json = Annotated[bool, option("--json", f"Print the contents of {document} instead of tables.")]
    added = {"out": (OutFolder, None), "is_json": (is_json, False), "is_quiet": (Quiet, False)}

    def decorate(answer: Callable[..., Found]) -> Callable[..., None]:
        def called(*, out: str | None, is_json: bool, is_quiet: bool, **typed: Any) -> None:
            from kafka_capacity.cli.documents import document_head, write_document

            keep_pandas_out()
            with progress_bar(is_quiet=is_quiet) as begin:
                found = answer(begin=begin, **typed)
                content = {}
                if is_json or out is not None:
                    head = document_head(version, cluster=found.of.cluster, ds=found.of.ds)
                    content = {**head, **found.document()}
                if out is not None:
                    begin("writing")
                    write = found.write or functools.partial(write_document, name=document)
                    write(out, content)
            if is_json:
                print_json(content)
            else:
                answered = f"{found.of.cluster} on {found.of.ds}: {found.answer()}"
                print_answer(answered, found.show, hint=found.hint, is_quiet=is_quiet)
            if found.exit_status:
                raise typer.Exit(found.exit_status)

        command = with_parameters(answer, "begin", added, called)
        return app.command(name)(takes_snapshot()(takes(*fields, also=also)(command)))

    return decorate
