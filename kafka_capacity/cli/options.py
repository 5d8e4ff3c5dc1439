"""Options that several commands have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from kafka_capacity.errors import RequestError

SnapshotFormat = Annotated[Literal["parquet", "json"], typer.Option("--format", help="Of the tables of the snapshot.")]
_OUT = typer.Option("--out", metavar="DIR", help="The folder to write to, or an s3:// address.")
NeededFolder = Annotated[str, _OUT]
OutFolder = Annotated[str | None, _OUT]
StorePlace = Annotated[
    str, typer.Argument(metavar="STORE", help="Where the scheduled plans are: s3://bucket/prefix, or a folder.")
]
MaxRows = Annotated[int, typer.Option("--rows", min=1, metavar="N", help="Of each table.")]
HasToFit = Annotated[bool, typer.Option("--fail-if-unfit", help="End with status 3 when no option fits.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON; schema says what it holds.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print one line, the answer, and errors.")]
ClusterName = Annotated[str, typer.Option("--cluster", help="How to name the cluster.")]
Day = Annotated[
    str | None,
    typer.Option("--ds", metavar="YYYY-MM-DD", help="The day that the snapshot stands for. Default: today, UTC."),
]


def _brokers_file(path: Path | None) -> Path | None:
    """Refuse what is no file, with the option that takes counts where these were typed."""
    if path is None or path.is_file():
        return path
    counts = str(path).replace(" ", "")
    remedy = f"; for counts write --broker-counts {counts}" if counts.replace(",", "").isdecimal() else ""
    raise typer.BadParameter(f"file '{path}' does not exist{remedy}")


BrokersFile = Annotated[
    Path | None,
    typer.Option(
        callback=_brokers_file,
        metavar="B2.json",
        help='The whole list of brokers wanted, [{"id": 1, "rack": "a"}, …] with optional disk_capacity_bytes and '
        "network_in/out_bytes_per_second: one that is not listed is removed, one that is new does not exist yet. "
        "What is left out stays as observed; a new broker has the median capacities. Instead of --broker-counts.",
    ),
]


def file_option(*names: str, metavar: str, text: str) -> Any:
    """Return the option of a file that must be there."""
    return typer.Option(*names, exists=True, dir_okay=False, metavar=metavar, help=text)


ShapesFile = Annotated[
    Path | None,
    file_option(
        "--shapes-file",
        metavar="SHAPES.json",
        text="Shapes and prices of your own, in the form of the shipped catalogue; they take the place of shipped "
        "ones of the same name.",
    ),
]
CpuSamples = Annotated[
    Path | None,
    file_option(
        "--cpu-samples",
        metavar="SAMPLES.csv",
        text="What your brokers use: the columns cores_used, leader_in_bytes_per_second, follower_in_bytes_per_second "
        "and out_bytes_per_second, one row a broker and moment. Fitted and used where they explain enough; the output "
        "says so.",
    ),
]
OwnersFile = Annotated[
    Path | None,
    file_option(
        "--owners",
        metavar="OWNERS.json",
        text='Who owns which topics and groups, as {"payments-*": "team"}; the first pattern that matches counts.',
    ),
]


def no_clusters(place: str) -> RequestError:
    """Return what says that no store is there."""
    return RequestError(
        f"{place} holds no clusters; give the folder or s3:// address where scheduled plans are stored: what "
        "report --out writes is a report by itself"
    )


def day_or_today(ds: str | None) -> str:
    """Check a day, or take today's in UTC.

    Raises:
        RequestError: it is no day.
    """
    import datetime

    from kafka_capacity.objects.keys import check_ds

    if ds is None:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        return check_ds(ds)
    except RequestError as error:
        raise RequestError(f"--ds: {str(error).removeprefix('ds ')}") from error


def takes_snapshot(*, is_needed: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command whose ``snapshot`` is typed first, or as ``--snapshot``; ``None`` where it may be left out."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in (("first", _FIRST), ("named", _NAMED))
        ]

        def called(*, first: str | None, named: str | None, **typed: Any) -> None:
            found = [place for place in (first, named) if place is not None]
            if len(found) > 1:
                raise RequestError("--snapshot: is given twice; give the folder of the snapshot once")
            if is_needed and not found:
                raise RequestError("--snapshot: is missing; give the folder of a native snapshot, or an s3:// address")
            command(snapshot=found[0] if found else None, **typed)

        return with_parameters(command, "snapshot", added, called)

    return decorate


_PLACE = "The folder of a native snapshot, or an s3:// address."
_FIRST = Annotated[str | None, typer.Argument(metavar="SNAPSHOT", help=_PLACE, show_default=False)]
_NAMED = Annotated[str | None, typer.Option("--snapshot", metavar="DIR", help="The same as SNAPSHOT.")]


def with_parameters(
    command: Callable[..., object], place: str, added: Sequence[inspect.Parameter], called: Callable[..., None]
) -> Callable[..., None]:
    """Return ``called`` as a command: with the parameters of another, but some in the place of one of them."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        own = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        parameters += added if parameter.name == place else [own]

    @functools.wraps(command)
    def wrapper(**typed: Any) -> None:
        called(**typed)

    # What typer reads: the command's own parameters, with ours in the place of one.
    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # a function may carry one
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper
