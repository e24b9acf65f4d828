"""A web server with files and a git repository; the first transfer of one file is cut off. It prints requests."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT = 8000
SIZE = 4_000_000
ROOT = Path("/srv/git")
PAGES = {f"/files/{name}": random.Random(name).randbytes(SIZE) for name in ("whole.bin", "cut.bin")}  # noqa: S311
# The length of the first response.
CUT_AT = {"/files/cut.bin": SIZE // 2}


class Handler(BaseHTTPRequestHandler):
    """Serves byte ranges as `If-Range` requests them, and git's smart HTTP protocol."""

    def do_GET(self) -> None:
        """Answer with a file, or pass the request to git."""
        # One write: `print` writes the end of the line apart, and another thread's line comes between.
        sys.stdout.write(f"{self.command} {self.path} {self.headers.get('Range', 'whole')}\n")
        sys.stdout.flush()
        path, _, query = self.path.partition("?")
        if path.startswith("/git/"):
            return self._git(path.removeprefix("/git"), query)
        page = PAGES.get(path)
        if page is None:
            return self.send_error(404)
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(asked[1]) if asked else 0
        self.send_response(206 if asked else 200)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", str(len(page) - begin))
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{len(page) - 1}/{len(page)}")
        self.end_headers()
        self.wfile.write(page[begin : CUT_AT.pop(path, len(page))])
        return None

    def do_POST(self) -> None:
        """Pass git's request with a body on."""
        self.do_GET()

    def _git(self, path: str, query: str) -> None:
        about = {
            "GIT_PROJECT_ROOT": str(ROOT),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        done = subprocess.run(
            ["git", "http-backend"], input=sent, env=os.environ | about, capture_output=True, check=True
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Suppress the standard log: `do_GET` prints requests."""


def git(*arguments: str) -> None:
    """Run git on the repository."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", "-C", str(ROOT / "set"), *who, *arguments], check=True)


def commit(text: str, tag: str) -> None:
    """Commit and tag a version of the one file."""
    (ROOT / "set" / "data" / "labels.txt").write_text(text)
    git("add", ".")
    git("commit", "--quiet", "--message", tag)
    git("tag", tag)


if __name__ == "__main__":
    (ROOT / "set" / "data").mkdir(parents=True)
    git("init", "--quiet")
    commit("the first\n", "v1")
    commit("the second\n", "v2")
    server = ThreadingHTTPServer(("", PORT), Handler)
    print("serving", file=sys.stderr)
    server.serve_forever()
