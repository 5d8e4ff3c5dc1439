"""What travels to executors: large arrays once, however many questions of a plan need them.

A question's inputs are dataclasses around arrays of the pinned inventory. Pickled with :meth:`Cargo.pack`, an array
that has travelled before is only named; executors look it up among what was broadcast.
"""

from __future__ import annotations

import io
import pickle  # of our own objects, on their way to our own executors
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

Array: TypeAlias = NDArray[Any]
Hold: TypeAlias = "Broadcast[list[Array]]"

LARGE_BYTES = 1 << 14  # smaller arrays travel with the inputs: a name and a look-up would not be cheaper


class Cargo:
    """The arrays that were broadcast so far, and their broadcasts; questions may pack at once."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._known: dict[int, tuple[Array, tuple[int, int]]] = {}
        self._holds: list[Hold] = []

    def pack(self, content: Any) -> Packed:
        """Pickle an object, and broadcast those of its large arrays that have not travelled yet."""
        with self._lock:
            new: list[Array] = []
            body = io.BytesIO()
            _Packer(body, self._known, new, hold=len(self._holds)).dump(content)
            if new:
                self._holds.append(self._context.broadcast(new))
            return Packed(self._context.broadcast(_Body(body.getvalue())), list(self._holds))


class _Packer(pickle.Pickler):
    def __init__(
        self,
        body: io.BytesIO,
        known: dict[int, tuple[Array, tuple[int, int]]],
        new: list[Array],
        *,
        hold: int,
    ) -> None:
        super().__init__(body, protocol=pickle.HIGHEST_PROTOCOL)
        self._known, self._new, self._hold = known, new, hold

    def persistent_id(self, item: Any) -> tuple[int, int] | None:
        if type(item) is not np.ndarray or item.nbytes < LARGE_BYTES or item.dtype.hasobject:
            return None
        if id(item) not in self._known:
            self._known[id(item)] = item, (self._hold, len(self._new))  # kept, so that its id stays its own
            self._new.append(item)
        return self._known[id(item)][1]


class _Body:
    """A pickle that a process opens once: Spark keeps the broadcast one as long as it keeps the broadcast."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.content: Any = None


class Packed:
    """Something on its way; :meth:`open` gives it on an executor."""

    def __init__(self, body: Broadcast[_Body], holds: list[Hold]) -> None:
        self._body, self._holds = body, holds

    def open(self) -> Any:
        """Unpickle it, once a process."""
        body = self._body.value
        if body.content is None:
            body.content = _Unpacker(body.data, self._holds).load()
            body.data = b""
        return body.content

    def destroy(self) -> None:
        """Take it back from the executors; the arrays stay for who comes next."""
        self._body.destroy()


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, holds: list[Hold]) -> None:
        super().__init__(io.BytesIO(data))
        self._holds = holds

    def persistent_load(self, pid: tuple[int, int]) -> Array:
        hold, place = pid
        return self._holds[hold].value[place]
