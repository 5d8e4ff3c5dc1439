"""The options of a plan: the fields of the request model under the names that people type.

A field gives its option everything: the name and its aliases, what may be typed, the help, the default and the bounds;
the model parses what was typed. A command takes fields with :func:`takes`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel

from kafka_capacity.cli.console import prints_options
from kafka_capacity.cli.options import with_parameters
from kafka_capacity.errors import RequestError
from kafka_capacity.plan.request import PlanRequest, add_pair, parse_plan_request, shown_bounds
from kafka_capacity.text.quantities import shown_quantity, unit_of

NO_OPTIONS = ("cluster", "ds", "recipients", "is_approval_required")
"""Parameters that a snapshot answers, and those of the delivery."""


def split_names(text: str) -> list[str]:
    """Split ``a,b``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def fields_of(*models: type[BaseModel]) -> tuple[str, ...]:
    """Return the parameters of some sections of the form, in its order, that are options."""
    own = {name for model in models for name in model.model_fields}
    return tuple(name for name in PlanRequest.model_fields if name in own and name not in NO_OPTIONS)


class FieldOption:
    """One field of the request as an option; its names begin with the primary one."""

    def __init__(self, field: str, also: Sequence[str] = ()) -> None:
        self.field, self._described, self._extra = field, PlanRequest.model_fields[field], _extra(field)
        self.names = (*str(self._extra.get("option") or f"--{field.replace('_', '-')}").split(), *also)
        self._kind = _bare(self._described.annotation)
        self._origin = get_origin(self._kind)
        self._kind_of_one = _bare(get_args(self._kind)[0]) if self._origin is tuple else self._kind
        kinds = get_args(self._kind_of_one) or (self._kind_of_one,)
        has_objects = any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds)
        self._is_file = self._origin is tuple and has_objects
        self._is_flag = self._kind is bool
        self._is_repeated = self._origin in (tuple, dict) and not self._is_file

    def annotation(self) -> Any:
        """Return what typer reads; not given, the model's default holds."""
        names = [f"{name}/--no-{name.removeprefix('--')}" for name in self.names] if self._is_flag else self.names
        option = typer.Option(
            *names,
            metavar=None if self._is_flag else self.metavar(),
            help=self.help(),
            show_default=False,
            rich_help_panel=option_section(self.field),
            hidden=not self._extra.get("is_usual"),
        )
        return Annotated[(bool if self._is_flag else list[str] if self._is_repeated else str) | None, option]

    def metavar(self) -> str:
        """Return what stands for a value in the help."""
        given = self._extra.get("metavar")
        if self._origin is dict:
            return str(given or "OLD=NEW")
        name = str(given or _metavar_of(self.field, self._kind_of_one))
        several = self._origin is tuple and not self._is_file and not self._extra.get("repeats")
        return f"{name},…" if several and "|" not in name else name

    def help(self) -> str:
        """Return its title, the first sentence about it, its default and its bounds."""
        title = re.sub(r" \(.*\)$", "", self._described.title or "")
        first = re.split(r"(?<=\.) (?=[A-Z])", self._described.description or "")[0]
        facts = [f"default: {shown}"] if (shown := self.shown_default()) else []
        facts += [bounds] if (bounds := shown_bounds(self.field)) else []
        text = f"{title}. {first}" if title else first
        choices = _choices(self._kind_of_one)
        text += f" One of {', '.join(choices)}." if len("|".join(choices)) > _WIDEST_CHOICES else ""
        return f"{text} [{'; '.join(facts)}]" if facts else text

    def shown_default(self) -> str:
        """Return its default as it may be typed, empty for none."""
        default = None if self._described.is_required() else self._described.default
        if default in (None, (), {}):
            return ""
        if isinstance(default, bool):
            return "yes" if default else "no"
        if isinstance(default, int | float):
            return shown_quantity(self.field, default)
        return ", ".join(map(str, default)) if isinstance(default, tuple) else f"{default}"

    def read(self, typed: Any) -> Any:
        """Return the value of the field; what is wrong with it is left for the model to refuse.

        Raises RequestError where nothing was typed, or not in the form of the option.
        """
        if self._is_flag or not self._is_repeated:
            if typed == "":
                raise self._nothing(typed)
            return _list_in_file(str(typed), self.names[0]) if self._is_file else typed
        if self._origin is dict:
            return self._pairs(typed)
        values = [one for text in typed for one in ([text] if self._extra.get("repeats") else split_names(text))]
        if not all(values) or not values:
            raise self._nothing(",".join(typed))
        return values

    def _nothing(self, typed: str) -> RequestError:
        return RequestError(f"{self.names[0]}: {typed!r} is invalid: write a value, or leave the option out")

    def _pairs(self, typed: Sequence[str]) -> dict[str, Any]:
        option, is_list = self.names[0], get_origin(_bare(get_args(self._kind)[1])) is tuple
        pairs: dict[str, Any] = {}
        for text in typed:
            key, equals, value = (part.strip() for part in text.partition("="))
            if not equals or not key or not value or (is_list and not split_names(value)):
                raise RequestError(f"{option}: {text!r} is invalid: write {self.metavar()}")
            if is_list:
                pairs.setdefault(key, []).extend(split_names(value))
            else:
                add_pair(pairs, key, value, name=option)
        return pairs


def _extra(field: str) -> Mapping[str, Any]:
    extra = PlanRequest.model_fields[field].json_schema_extra
    return extra if isinstance(extra, dict) else {}


def option_section(field: str) -> str:
    """Return the section of the form that a parameter stands in."""
    return str(_extra(field).get("section", ""))


def _bare(kind: Any) -> Any:
    """Return a type without ``None`` and without what ``Annotated`` says of it."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind):
        return _bare(next(one for one in get_args(kind) if one is not NoneType))
    return kind


def _metavar_of(field: str, kind: Any) -> str:
    unit = unit_of(field)
    if unit is not None:
        return unit.metavar
    choices = "|".join(_choices(kind))
    if choices:
        return choices if len(choices) <= _WIDEST_CHOICES else "NAME"
    return "NAME" if kind is str else "N"


def _choices(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return tuple(map(str, get_args(kind)))
    return tuple(str(one.value) for one in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


_WIDEST_CHOICES = 60  # so wide may all values stand in the place of one; of more the help has a sentence


def _list_in_file(path: str, option: str) -> Any:
    """Read a list of objects from a JSON file; what is in it is left for the model to refuse."""
    try:
        found = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise RequestError(f"{option}: {path!r} cannot be read ({error.strerror}); name a JSON file") from error
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{option}: {path!r} is not JSON ({error}); fix it") from error
    if not isinstance(found, list):
        raise RequestError(f"{option}: {path!r} is not a list; write a list of events, [{{…}}, …]")
    return found


def takes(*fields: str, also: Mapping[str, str] | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command whose parameter ``given`` gets what was typed of the options of these fields of the request.

    The options stand in the help where ``given`` stands among the parameters; ``also`` has further names of some for
    this command. Whatever is refused on the way, however late, is told under the names of these options: all below here
    knows the fields only.
    """
    further = also or {}
    options = [FieldOption(field, further.get(field, "").split()) for field in dict.fromkeys(fields)]
    names = {option.field: option.names[0] for option in options}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def called(**typed: Any) -> None:
            with named_as_options(names), prints_options(names):
                read = {option.field: (option, typed.pop(option.field)) for option in options}
                given = {
                    field: option.read(value) for field, (option, value) in read.items() if value not in (None, [])
                }
                command(given=given, **typed)

        return with_parameters(command, "given", {one.field: (one.annotation(), None) for one in options}, called)

    return decorate


def request_of(cluster: str, ds: str, given: Mapping[str, Any]) -> PlanRequest:
    """Parse the options that were given, with the model that every plan is parsed with.

    A RequestError has one line for each wrong field, under its name; :func:`takes` says the options'.
    """
    fields = {name: value for name, value in given.items() if value not in (None, [], ())}
    return parse_plan_request({"cluster": cluster, "ds": ds, **fields})


@contextmanager
def named_as_options(option_of_field: Mapping[str, str]) -> Iterator[None]:
    """Return what is refused inside under the names that people typed; everything below the commands knows fields."""
    try:
        yield
    except RequestError as error:
        raise RequestError(in_names_of_options(str(error), option_of_field)) from error


def in_names_of_options(text: str, option_of_field: Mapping[str, str]) -> str:
    """Return ``--throttle`` where a complaint begins with ``throttle_bytes_per_second``, or names it later on.

    Which of several values is wrong shows in the value itself; which field of which object does not, and is kept.
    """
    for field, option in option_of_field.items():
        text = re.sub(rf"^{field}\.(\d+\.[^:\s]+)", rf"{option} \1", text, flags=re.MULTILINE)
        text = re.sub(rf"^{field}\b(\.[^:\s]+)?", option, text, flags=re.MULTILINE)
        if "_" in field:  # the others are words
            text = re.sub(rf"\b{field}\b", option, text)
    return text
