"""An SMTP server on loopback that keeps every message as a file."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller

START_SECONDS = 120.0  # how long the server may take to answer, on a machine that is busy


class _Keeper:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # aiosmtpd's name
        self._folder.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(file.stem) for file in self._folder.glob("[0-9]*.eml")), default=0)
        (self._folder / f"{number:04d}.eml").write_bytes(envelope.original_content or envelope.content)
        return "250 Message accepted for delivery"


class _Controller(Controller):
    """Serves on a socket that is bound already, so that nobody else can have taken its port."""

    def __init__(self, handler: _Keeper, bound: socket.socket) -> None:
        host, port = bound.getsockname()
        super().__init__(handler, hostname=host, port=port, ready_timeout=START_SECONDS)
        self._bound = bound

    def _create_server(self) -> Any:
        return self.loop.create_server(self._factory_invoker, sock=self._bound)


class MailSink:
    """The server, which numbers the messages in a folder: use it as a context manager. Port 0 takes a free one."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder = folder
        bound = socket.create_server(("127.0.0.1", port))
        self.port = int(bound.getsockname()[1])
        # The report's images make messages larger than the server's default of 32 MiB only in absurd cases.
        self._controller = _Controller(_Keeper(folder), bound)

    def __enter__(self) -> MailSink:
        self._controller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._controller.stop()

    def messages(self) -> list[Path]:
        """List the messages that have come, oldest first."""
        return sorted(self.folder.glob("[0-9]*.eml"))
