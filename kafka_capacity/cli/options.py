"""Options that several commands have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from kafka_capacity.errors import RequestError


def option(typed: str, text: str, **more: Any) -> Any:
    """Return an option by what is typed, as in ``--max-failures --failures N``: its names, and its value if any."""
    words = typed.split()
    metavar = None if words[-1].startswith("-") else words.pop()
    return typer.Option(*words, metavar=metavar, help=text, **more)


def file_option(typed: str, text: str) -> Any:
    """Return the option of a file that must be there."""
    return option(typed, text, exists=True, dir_okay=False)


SnapshotFormat = Annotated[Literal["parquet", "json"], option("--format", "File format of the snapshot's tables.")]
KeptFormat = Annotated[
    Literal["parquet", "json"] | None,
    option("--format", "File format of the tables. Default: as they are where they are replaced, else parquet."),
]
_OUT = option("--out DIR", "The folder or s3:// address to write to.")
NeededFolder = Annotated[str, _OUT]
OutFolder = Annotated[str | None, _OUT]
StorePlace = Annotated[
    str, typer.Argument(metavar="STORE", help="Where scheduled plans are stored: s3://bucket/prefix, or a folder.")
]
MaxRows = Annotated[int, option("--rows N", "Max rows to print per table.", min=1)]
HasToFit = Annotated[bool, option("--fail-if-unfit", "Exit with status 3 if no option is known to fit.")]
AsJson = Annotated[bool, option("--json", "Print JSON; the command schema describes it.")]
Quiet = Annotated[bool, option("--quiet -q", "Print only the answer, one line, and errors.")]
ClusterName = Annotated[str, option("--cluster", "Name of the cluster.")]
Day = Annotated[str | None, option("--ds YYYY-MM-DD", "The day that the snapshot is for. Default: today, UTC.")]


def _brokers_file(path: Path | None) -> Path | None:
    """Refuse what is no file, with the option that takes counts where these were typed."""
    if path is None or path.is_file():
        return path
    counts = str(path).replace(" ", "")
    remedy = f"; for broker counts, write --broker-counts {counts}" if counts.replace(",", "").isdecimal() else ""
    raise typer.BadParameter(f"file '{path}' does not exist{remedy}")


BrokersFile = Annotated[
    Path | None,
    option(
        "--brokers B2.json",
        'The complete list of brokers that you want, [{"id": 1, "rack": "a"}, …] with optional '
        "disk_capacity_bytes and network_in/out_bytes_per_second: a broker missing from the list is removed, a "
        "new one is hypothetical. Fields that are left out stay as observed; a new broker gets the median "
        "capacities. Instead of --broker-counts.",
        callback=_brokers_file,
    ),
]


ShapesFile = Annotated[
    Path | None,
    file_option(
        "--shapes-file SHAPES.json",
        "Your own shapes and prices, in the format of the built-in catalogue; they replace built-in ones of "
        "the same name.",
    ),
]
CpuSamples = Annotated[
    Path | None,
    file_option(
        "--cpu-samples SAMPLES.csv",
        "CPU usage of your brokers: the columns cores_used, leader_in_bytes_per_second, "
        "follower_in_bytes_per_second and out_bytes_per_second, one row per broker and point in time. Used if "
        "a fit explains enough of it; the output says so.",
    ),
]
OwnersFile = Annotated[
    Path | None,
    file_option(
        "--owners OWNERS.json", 'Who owns which topics and groups, as {"payments-*": "team"}; the first match wins.'
    ),
]


def no_clusters(place: str) -> RequestError:
    """Return what says that no store is there."""
    return RequestError(
        f"{place!r} holds no clusters; give the folder or s3:// address where scheduled plans are stored: what "
        "report --out writes is a report by itself"
    )


def day_or_today(ds: str | None) -> str:
    """Check a day, or take today's in UTC; raises RequestError where it is no day."""
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
        def called(*, first: str | None, named: str | None, **typed: Any) -> None:
            found = [place for place in (first, named) if place is not None]
            if len(found) > 1:
                raise RequestError("--snapshot: the snapshot is given twice; give its folder once")
            if is_needed and not found:
                raise RequestError("--snapshot: is required; give the folder or s3:// address of a native snapshot")
            command(snapshot=found[0] if found else None, **typed)

        return with_parameters(command, "snapshot", {"first": (_FIRST, None), "named": (_NAMED, None)}, called)

    return decorate


_PLACE = "The folder or s3:// address of a native snapshot."
_FIRST = Annotated[str | None, typer.Argument(metavar="SNAPSHOT", help=_PLACE, show_default=False)]
_NAMED = Annotated[str | None, option("--snapshot DIR", "The same as SNAPSHOT.")]


def with_parameters(
    command: Callable[..., object], place: str, added: Mapping[str, tuple[Any, Any]], called: Callable[..., None]
) -> Callable[..., None]:
    """Return ``called`` as a command: with the parameters of another, but some in the place of one of them.

    Those are annotation and default by name.
    """
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    only_by_name = inspect.Parameter.KEYWORD_ONLY
    for parameter in signature.parameters.values():
        if parameter.name != place:
            parameters.append(parameter.replace(kind=only_by_name))
            continue
        for name, (annotation, default) in added.items():
            parameters.append(inspect.Parameter(name, only_by_name, default=default, annotation=annotation))

    @functools.wraps(command)
    def wrapper(**typed: Any) -> None:
        called(**typed)

    # What typer reads: the command's own parameters, with ours in the place of one.
    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # a function may carry one
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper
