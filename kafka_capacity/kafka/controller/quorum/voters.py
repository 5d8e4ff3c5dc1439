"""Who votes for the controller: ``controller.quorum.voters`` and the racks that the voters stand in.

>>> [(voter.node_id, voter.host, voter.port) for voter in parse_voters("1@c1:9093,2@c2:9093,3@[::1]:9093")]
[(1, 'c1', 9093), (2, 'c2', 9093), (3, '::1', 9093)]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kafka_capacity.errors import RequestError

MAX_VOTERS = 9
"""More voters than anybody runs: every write waits for a majority of them."""

LARGEST_NODE_ID = 2**31 - 1
"""``node.id`` is a Java int."""

VOTERS_PROPERTY = "controller.quorum.voters"
_VOTER = re.compile(r"(?P<id>\d+)@(?:\[(?P<ipv6>[^\]]+)\]|(?P<host>[^\[\]:@]+)):(?P<port>\d+)")
_LARGEST_PORT = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """One controller that votes.

    Attributes:
        node_id: its ``node.id``.
        host: name or address.
        port: of the controller listener.
        rack: what fails together, such as an availability zone; ``None`` where it is not known.
    """

    node_id: int
    host: str = ""
    port: int = 0
    rack: str | None = None


def parse_voters(text: str, racks: Mapping[int, str] | None = None) -> tuple[Voter, ...]:
    """Read ``{id}@{host}:{port}`` entries, which commas separate.

    Args:
        text: the value of ``controller.quorum.voters``.
        racks: the rack of each voter, by id.

    Raises:
        RequestError: an entry is not of that form, or the voters are none that :func:`checked_voters` lets pass.
    """
    racks = racks or {}
    voters = tuple(_parsed(entry.strip()) for entry in text.split(",") if entry.strip())
    return checked_voters(tuple(replace(voter, rack=racks.get(voter.node_id)) for voter in voters))


def checked_voters(voters: tuple[Voter, ...]) -> tuple[Voter, ...]:
    """Let 1 to 9 voters with ids of their own pass.

    Raises:
        RequestError: there are none or too many, or two have one id.
    """
    if not 1 <= len(voters) <= MAX_VOTERS:
        raise RequestError(f"{VOTERS_PROPERTY}: name 1 to {MAX_VOTERS} voters, not {len(voters)}")
    ids = [voter.node_id for voter in voters]
    doubled = sorted({node_id for node_id in ids if ids.count(node_id) > 1})
    if doubled:
        raise RequestError(f"{VOTERS_PROPERTY}: node.id {doubled[0]} stands there twice; give each voter its own")
    return voters


def _parsed(entry: str) -> Voter:
    match = _VOTER.fullmatch(entry)
    if match is None or not 0 < int(match["port"]) <= _LARGEST_PORT:
        raise RequestError(f"{VOTERS_PROPERTY}: {entry!r} is not {{id}}@{{host}}:{{port}}, such as 1@controller-1:9093")
    return Voter(node_id=int(match["id"]), host=match["ipv6"] or match["host"], port=int(match["port"]))
