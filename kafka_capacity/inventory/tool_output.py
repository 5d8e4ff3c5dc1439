"""JSON documents inside what Kafka's tools print: prose, warnings of the logger, and documents between them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka_capacity.errors import DamagedInputError

CURRENT_HEADING = "Current partition replica assignment"
PROPOSED_HEADING = "Proposed partition reassignment configuration"
_DOCUMENT_START = re.compile(r"^[ \t]*\{", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDocument:
    """One JSON object of an output and the last line that stands before it."""

    heading: str
    content: dict[str, Any]


def find_documents(text: str, file: str) -> list[ToolDocument]:
    """Find the JSON objects that start a line.

    Raises:
        DamagedInputError: an object starts and does not end, or none is there.
    """
    found = list(_documents(text, file))
    if not found:
        raise DamagedInputError(f"{file}: has no JSON object; save the whole output of the tool")
    return found


def _documents(text: str, file: str) -> Iterator[ToolDocument]:
    decoder = json.JSONDecoder()
    place = 0
    while match := _DOCUMENT_START.search(text, place):
        start = match.end() - 1
        heading = next((line.strip() for line in reversed(text[place:start].splitlines()) if line.strip()), "")
        try:
            content, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, start) + 1
            msg = f"{file}: the JSON that starts on line {line} cannot be read ({error}); save the tool's whole output"
            raise DamagedInputError(msg) from error
        yield ToolDocument(heading=heading, content=content)


def current_assignment(text: str, file: str) -> dict[str, Any]:
    """Return the assignment that stands now, of a reassignment file or what ``kafka-reassign-partitions`` printed.

    Of what it prints with ``--generate`` or ``--execute`` the current assignment counts, and not the proposed one.

    Raises:
        DamagedInputError: there is none, or nobody can tell which one is current.
    """
    documents = [document for document in find_documents(text, file) if "partitions" in document.content]
    current = [document for document in documents if document.heading.startswith(CURRENT_HEADING)]
    plain = [document for document in documents if not document.heading.startswith(PROPOSED_HEADING)]
    candidates = current or plain
    if not candidates:
        raise DamagedInputError(
            f"{file}: has no current assignment, a JSON object with 'partitions'; give the output of "
            "kafka-reassign-partitions --generate"
        )
    if len(candidates) > 1:
        msg = f"{file}: has {len(candidates)} assignments and nothing says which one is current; keep only that one"
        raise DamagedInputError(msg)
    return candidates[0].content


def log_dirs_document(text: str, file: str) -> dict[str, Any]:
    """Return the document in what ``kafka-log-dirs --describe`` printed.

    Raises:
        DamagedInputError: there is none, or more than one.
    """
    documents = [document for document in find_documents(text, file) if "brokers" in document.content]
    if len(documents) != 1:
        many = "no JSON object" if not documents else f"{len(documents)} JSON objects"
        msg = f"{file}: has {many} with 'brokers'; give the output of a single run of kafka-log-dirs --describe"
        raise DamagedInputError(msg)
    return documents[0].content
