"""`make advisories` against a server that answers as OSV does: the real one is not reachable from every machine."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.advisories import locks

HASH = f"sha256:{'0' * 64}"
KNOWN = {
    "id": "PYSEC-2026-1",
    "summary": "runs code of strangers",
    "modified": "2026-01-01T00:00:00Z",
    "affected": [
        {
            "package": {"name": "faulty", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]}],
        }
    ],
}


class Osv(BaseHTTPRequestHandler):
    """Knows one vulnerability, and fails for one package."""

    def do_POST(self) -> None:
        """Answers the query about a package."""
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = query["package"]["name"]
        self.send_response(500 if name == "unanswered" else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"vulns": [KNOWN]} if name == "faulty" else {}).encode())

    def log_message(self, *_: object) -> None:
        """Prints no line per request."""


@pytest.fixture(scope="module")
def source() -> Iterator[str]:
    """The URL of the server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Osv) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/query"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("packages", "status", "shown"),
    [
        # A lock is for all platforms; a package of another one is not installed here.
        (["sound==1.0", "faulty==1.0 ; sys_platform == 'win32'"], 0, "without an answer: 0"),
        (["sound==1.0", "faulty==1.0"], 1, "PYSEC-2026-1 1.1"),
        (["unanswered==1.0"], 1, "without an answer: 1"),
    ],
)
def test_a_lock_fails_with_a_known_vulnerability_or_without_an_answer(
    source: str, tmp_path: Path, packages: list[str], status: int, shown: str
) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("".join(f"{package} --hash={HASH}\n" for package in packages))
    command = [sys.executable, "-m", "tools.advisories", "--source", source, str(lock)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stderr
    assert shown in " ".join(ended.stdout.split())


def test_every_file_with_hashes_is_audited() -> None:
    assert {path.name for path in locks()} >= {"requirements.lock", "requirements-lint.lock", "launchers.lock"}
