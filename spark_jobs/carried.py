"""What travels to executors: large arrays once a node, in files, however many questions of a plan need them.

A question's inputs are dataclasses around arrays of the pinned inventory, or Arrow tables. Pickled with
:meth:`Cargo.pack`, a large array is only named: it is in a file that Spark hands to every executor, and the Python
workers there map it into memory, so that all of them share the pages of one copy.
"""

from __future__ import annotations

import atexit
import gc
import io
import pickle  # of our own objects, on their way to our own executors
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

Array: TypeAlias = NDArray[Any]

LARGE_BYTES = 1 << 14  # smaller arrays travel with the inputs: a name and a look-up would not be cheaper
ALIGNED_BYTES = 64  # where an array begins in a file
MAX_OPENED = 8  # so many contents stay open in a process: more than there are questions at work
_opened: dict[str, Any] = {}  # contents by the name of their pickle, in the order in which they were opened


class Place(NamedTuple):
    """Where an array is."""

    file: str  # among those that Spark hands out
    offset: int  # in bytes
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    is_by_column: bool  # how it lies in memory, which the last bit of a sum may hang on


class Cargo:
    """The arrays that were sent so far; questions may pack at once.

    The files last as long as this process: executors that come later fetch them too.
    """

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._folder = Path(tempfile.mkdtemp(prefix="kafka_capacity-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self._known: dict[int, tuple[Array, Place]] = {}
        self._files = self._packed = 0

    def pack(self, content: Any) -> Packed:
        """Pickle an object, and send those of its large arrays that have not travelled yet."""
        with self._lock:
            # Spark has one folder of files for all of an application.
            path = self._folder / f"{self._folder.name}-{self._files}.arrays"
            body = io.BytesIO()
            with path.open("wb") as file:
                packer = _Packer(body, self._known, file)
                packer.dump(content)
                is_new = file.tell() > 0
            if is_new:
                self._context.addFile(str(path))
                self._files += 1
            self._packed += 1
            name = f"{self._folder.name}-{self._packed}"
            return Packed(name, self._context.broadcast((body.getvalue(), packer.buffers)))


class _Packer(pickle.Pickler):
    def __init__(self, body: io.BytesIO, known: dict[int, tuple[Array, Place]], file: io.BufferedWriter) -> None:
        super().__init__(body, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=self._keep)
        self._known, self._file = known, file
        self.buffers: list[Place] = []  # what Arrow tables are made of, in the order of the pickle

    def _keep(self, buffer: pickle.PickleBuffer) -> bool:
        """Write a large buffer; returns whether it stays in the pickle."""
        raw = np.frombuffer(buffer.raw(), dtype=np.uint8)
        if raw.nbytes >= LARGE_BYTES:
            self.buffers.append(self._written(raw))
        return raw.nbytes < LARGE_BYTES

    def persistent_id(self, item: Any) -> Place | None:
        if type(item) is not np.ndarray or item.nbytes < LARGE_BYTES or item.dtype.hasobject:
            return None
        if id(item) not in self._known:
            self._known[id(item)] = item, self._written(item)  # kept, so that its id stays its own
        return self._known[id(item)][1]

    def _written(self, array: Array) -> Place:
        is_by_column = array.flags.f_contiguous and not array.flags.c_contiguous
        self._file.write(bytes(-self._file.tell() % ALIGNED_BYTES))
        offset = self._file.tell()
        self._file.write(np.ascontiguousarray(array.T if is_by_column else array).reshape(-1).view(np.uint8).data)
        return Place(Path(self._file.name).name, offset, array.dtype, array.shape, is_by_column)


class Packed:
    """Something on its way; :meth:`open` gives it on an executor."""

    def __init__(self, name: str, body: Broadcast[tuple[bytes, list[Place]]]) -> None:
        self._name, self._body = name, body

    def open(self) -> Any:
        """Unpickle it, once a process: Spark gives each task a broadcast of its own."""
        if self._name not in _opened:
            data, buffers = self._body.value
            _opened[self._name] = _Unpacker(io.BytesIO(data), buffers=map(_mapped, buffers)).load()
            if len(_opened) > MAX_OPENED:
                del _opened[next(iter(_opened))]
        # A Python worker looks for garbage after each task, in all that it has imported: a tenth of a second.
        gc.freeze()
        return _opened[self._name]

    def destroy(self) -> None:
        """Take it back from the executors; the arrays stay for who comes next."""
        self._body.destroy()


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, pid: Place) -> Array:
        return _mapped(pid)


def _mapped(place: Place) -> Array:
    from pyspark import SparkFiles

    order: Any = "F" if place.is_by_column else "C"
    # What writes to it has a copy of that page for itself.
    mapped = np.memmap(
        SparkFiles.get(place.file), dtype=place.dtype, mode="c", offset=place.offset, shape=place.shape, order=order
    )
    return mapped.view(np.ndarray)
