"""Who owns which topics and groups: a deployment's own list, since no cluster tells."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Mapping
from pathlib import Path

from kafka_capacity.errors import RequestError
from kafka_capacity.text.files import read_text_file

Owners = Mapping[str, str]  # pattern of names of topics and groups to whoever owns them; the first that matches counts


def parse_owners(text: str, *, source: str) -> Owners:
    """Read ``{"payments-*": "payments@example.com", …}``; nothing is nobody.

    Raises:
        RequestError: it is no object of names.
    """
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{source}: is not JSON ({error}); fix it") from None
    if not isinstance(found, dict) or not all(isinstance(one, str) and one.strip() for one in found.values()):
        raise RequestError(f'{source}: write patterns with owners: {{"payments-*": "team@example.com"}}')
    return found


def read_owners(file: Path | None) -> Owners:
    """Read them from a file; nobody without one.

    Raises:
        RequestError: it is no object of names.
        InventoryError: the file cannot be read.
    """
    return {} if file is None else parse_owners(read_text_file(file), source=f"--owners: {file}")


def owner_of(owners: Owners, name: str) -> str | None:
    """Return who owns a topic or group; ``None`` where nobody is known to."""
    return next((owner for pattern, owner in owners.items() if fnmatch.fnmatchcase(name, pattern)), None)
