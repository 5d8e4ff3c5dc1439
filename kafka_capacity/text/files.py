"""Text files as people save what a tool printed: UTF-8, with or without its mark, or PowerShell's UTF-16."""

from __future__ import annotations

import codecs
from pathlib import Path

from kafka_capacity.errors import DamagedInputError, InventoryError

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read_text_file(path: Path) -> str:
    """Read a text file whole.

    Raises:
        InventoryError: there is no such file, or it cannot be read.
        DamagedInputError: it is not text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InventoryError(f"{path}: cannot be read ({error.strerror}); give the path of a file") from error
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DamagedInputError(f"{path}: is not {encoding} text (byte {error.start}); save it as UTF-8") from error
