"""Fields of a plan's parameters: each in a section of the form, with its bounds, its option and what it means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, field_validator

from kafka_capacity.text.quantities import parse_quantity

BrokerCount = Annotated[int, Field(ge=1, le=2_000)]
Rate = Annotated[float, Field(gt=0.0, le=1e12, allow_inf_nan=False)]  # bytes per second
OptionalRate = Annotated[float | None, Field(gt=0.0, le=1e12, allow_inf_nan=False)]  # likewise, shown with its bounds
Ratio = Annotated[float, Field(gt=0.0, le=1.0, allow_inf_nan=False)]
Pattern = Annotated[
    str, Field(min_length=1, max_length=249, description="topic name pattern; * matches any characters")
]
MAX_RETENTION_SECONDS = 100 * 366 * 86_400.0


def named_number(item: str, kind: TypeAdapter[float], refusal: str) -> tuple[str, float]:
    """Return the name and the number of ``name=number``, or ``name=40%``; ``refusal`` follows where it is none."""
    name, _, text = (part.strip() for part in item.partition("="))
    try:
        number = kind.validate_python(parse_quantity("_ratio", text) if text.endswith("%") else text)
    except ValueError:
        number = None
    if not name or number is None:
        raise ValueError(f"{item!r} {refusal}")
    return name, number


def readable(field: str, read: Callable[[str], object]) -> Any:
    """Return a validator for a field whose items stay as they were typed: ``read`` refuses what it cannot read."""

    def are_readable(items: tuple[str, ...]) -> tuple[str, ...]:
        for item in items:
            read(item)
        return items

    return field_validator(field)(are_readable)


@dataclass(frozen=True, slots=True)
class FormSection:
    """A section of the trigger form."""

    name: str

    def field(
        self,
        default: Any,
        title: str | None = None,
        option: str | None = None,
        *,
        is_usual: bool = False,
        form: Any = None,
        **bounds: Any,
    ) -> Callable[[str], Any]:
        """Return what makes the field of its description; bounds are those of :func:`pydantic.Field`.

        The default is ``...`` where a value must be given. Title and option, names on the command line with the shown
        one first, are by default the field's name. ``is_usual`` is what most who ask set: of the others the short help
        is silent. ``form`` is what else ``json_schema_extra`` holds.
        """
        about = {"section": self.name, **({} if option is None else {"option": option}), **(form or {})}
        about |= {"is_usual": True} if is_usual else {}
        return lambda text: Field(default, title=title, description=text, json_schema_extra=about, **bounds)

    def lines(self, title: str, option: str, item: str, *, max_length: int = 1000) -> Callable[[str], Any]:
        """Return what makes a field of items, by default none, each on a line of its own and typed as ``item`` says."""
        return self.field((), title, option, form={"metavar": item, "repeats": True}, max_length=max_length)
