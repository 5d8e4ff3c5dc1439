"""Every order in which the store calls of several writers can happen, without threads.

A writer is a function of a store, and does the same again when the store answers the same. So it is run from its start
with the answers it had so far, up to the first call that has none yet; that call is made on a small model of a store,
and its answer remembered. States that are reached in several ways are explored once, and their ways are counted.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_capacity.errors import KafkaCapacityError, MissingObjectError
from kafka_capacity.objects.store import Listed

LONG_AGO = -30 * 86_400.0
"""When what is old was written, in seconds; all writes of an exploration happen at 0."""

Content = tuple[tuple[str, bytes, float], ...]
"""What a store holds: key, data and time of each object, sorted."""
Writer = Callable[["Model"], object]


class _Unanswered(BaseException):  # no "except Exception" of a writer may take it
    def __init__(self, call: tuple[Any, ...]) -> None:
        self.call = call


class Model:
    """A store as a value: S3 and folders do the same, one call at a time."""

    def __init__(self, content: Content = ()) -> None:
        self.content = content

    def call(self, name: str, *arguments: Any) -> Any:
        """Make one call, and return its answer."""
        objects = {key: (data, written) for key, data, written in self.content}
        answer: Any = None
        if name == "read_bytes":
            answer = objects[arguments[0]][0] if arguments[0] in objects else None
        elif name == "exists":
            answer = arguments[0] in objects
        elif name == "list_objects":
            answer = tuple((k, len(d), w) for k, (d, w) in sorted(objects.items()) if k.startswith(arguments[0]))
        elif name == "delete":
            objects.pop(arguments[0], None)
        elif name == "write_bytes":
            objects[arguments[0]] = (arguments[1], 0.0)
        else:
            key, data, expected = arguments
            found = hashlib.sha256(objects[key][0]).hexdigest() if key in objects else None
            answer = found == expected
            if answer:
                objects[key] = (data, 0.0)
        self.content = tuple((key, data, written) for key, (data, written) in sorted(objects.items()))
        return answer

    def read_bytes(self, key: str) -> bytes:
        data = self.call("read_bytes", key)
        if data is None:
            raise MissingObjectError(f"there is no object {key}")
        return data

    def write_bytes(self, key: str, data: bytes, *, content_type: str = "") -> None:
        self.call("write_bytes", key, data)

    def replace_bytes(self, key: str, data: bytes, *, expected_sha256: str | None, content_type: str = "") -> bool:
        return self.call("replace_bytes", key, data, expected_sha256)

    def list_objects(self, prefix: str) -> dict[str, Listed]:
        return {key: Listed(size, written) for key, size, written in self.call("list_objects", prefix)}

    def exists(self, key: str) -> bool:
        return self.call("exists", key)

    def delete(self, key: str) -> None:
        self.call("delete", key)

    def uri(self, key: str) -> str:
        return f"model:{key}"


class _Replayed(Model):
    def __init__(self, answers: Sequence[Any]) -> None:
        super().__init__()
        self._answers: Iterator[Any] = iter(answers)

    def call(self, name: str, *arguments: Any) -> Any:
        for answer in self._answers:
            return answer
        raise _Unanswered((name, *arguments))


@dataclass(frozen=True)
class Found:
    """What an exploration came to: orders of calls, different states on the way, and the contents at the ends."""

    orders: int
    states: int
    ends: frozenset[tuple[Content, tuple[str, ...]]]


def explore(
    writers: Sequence[Writer],
    start: Content = (),
    *,
    at_every_state: Callable[[Content], None] = lambda content: None,
    kills: int = 0,
) -> Found:
    """Try every order of the writers' calls.

    Args:
        writers: each given a store.
        start: what is there before.
        at_every_state: checks what a reader would find.
        kills: how many writers may die, each at any point.
    """

    @functools.cache
    def step(writer: int, answers: tuple[Any, ...]) -> tuple[Any, ...] | str:
        """Return the next call of a writer, or how it ended."""
        try:
            writers[writer](_Replayed(answers))
        except _Unanswered as unanswered:
            return unanswered.call
        except KafkaCapacityError as error:
            return type(error).__name__
        return "done"

    ends = set()
    checked = set()

    @functools.cache
    def ways(content: Content, logs: tuple[tuple[Any, ...] | None, ...], kills_left: int) -> int:
        if content not in checked:
            checked.add(content)
            at_every_state(content)
        nexts = ["killed" if log is None else step(number, log) for number, log in enumerate(logs)]
        if all(isinstance(one, str) for one in nexts):
            ends.add((content, tuple(str(one) for one in nexts)))
            return 1
        total = 0
        for number, (call, log) in enumerate(zip(nexts, logs, strict=True)):
            if isinstance(call, str) or log is None:
                continue
            model = Model(content)
            answer = model.call(*call)
            total += ways(model.content, (*logs[:number], (*log, answer), *logs[number + 1 :]), kills_left)
            if kills_left:
                total += ways(content, (*logs[:number], None, *logs[number + 1 :]), kills_left - 1)
        return total

    orders = ways(start, tuple(() for _ in writers), kills)
    return Found(orders, ways.cache_info().currsize, frozenset(ends))


def after(writer: Writer, start: Content = (), *, written: float | None = None) -> Content:
    """Return what a store holds after one writer alone, all of it written at one time where that is given."""
    model = Model(start)
    writer(model)
    return model.content if written is None else tuple((key, data, written) for key, data, _ in model.content)


def as_mapping(content: Content) -> Mapping[str, bytes]:
    """Return the objects by key."""
    return {key: data for key, data, _ in content}
