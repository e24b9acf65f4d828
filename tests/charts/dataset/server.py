"""A web server with byte ranges, ETags and configurable faults."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import unquote


@dataclass
class Page:
    """The response at a path.

    `cut_at` are the lengths at which the first responses are cut off, `hold_at` is the length at which one pauses,
    and `then` replaces the page after its first response.
    """

    body: bytes
    tag: str = '"1"'
    cut_at: list[int] = field(default_factory=list)
    hold_at: int | None = None
    knows_ranges: bool = True
    knows_versions: bool = True
    token: str = ""
    location: str = ""
    link: str = ""
    statuses: list[int] = field(default_factory=list)
    then: Page | None = None


@dataclass(frozen=True)
class Request:
    """A request."""

    path: str
    range: str | None
    authorization: str | None


class Server:
    """Serves `pages` and records requests in `requests`; `release` ends the pauses."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[Request] = []
        self.release = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()

    def put(self, path: str, body: bytes | Any, **options: Any) -> str:
        """Serve a page, as JSON unless it is bytes; return its URL."""
        self.pages[path] = Page(body if isinstance(body, bytes) else json.dumps(body).encode(), **options)
        return self.address + path

    def ranges(self, path: str) -> list[str | None]:
        """Return the ranges of the requests for a page, in order."""
        return [one.range for one in self.requests if one.path == path]


class _Handler(BaseHTTPRequestHandler):
    owner: Server

    def do_GET(self) -> None:
        authorization = self.headers.get("Authorization")
        self.owner.requests.append(Request(self.path, self.headers.get("Range"), authorization))
        page = self.owner.pages.get(unquote(self.path))
        if page is None:
            return self.send_error(404)
        if page.then:
            self.owner.pages[unquote(self.path)] = page.then
        if page.token and authorization != f"Bearer {page.token}":
            return self.send_error(401)
        if page.statuses:
            return self.send_error(page.statuses.pop(0))
        if page.location:
            self.send_response(302)
            self.send_header("Location", page.location)
            return self.end_headers()
        return self._send(page)

    def _send(self, page: Page) -> None:
        total, begin = len(page.body), 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range") == page.tag or not page.knows_versions
        if asked and page.knows_ranges and same:
            begin = int(asked[1])
            if begin >= total:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{total}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{total - 1}/{total}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(total - begin))
        if page.tag:
            self.send_header("ETag", page.tag)
        if page.link:
            self.send_header("Link", page.link)
        self.end_headers()
        end = page.cut_at.pop(0) if page.cut_at else total
        if page.hold_at is not None and begin < page.hold_at:
            self.wfile.write(page.body[begin : page.hold_at])
            begin = page.hold_at
            self.owner.release.wait(60)
        try:
            self.wfile.write(page.body[begin : max(begin, end)])
        except OSError:
            self.close_connection = True
        return None

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Suppress the log: `requests` has the requests."""
