"""Fetches a data set onto a volume before training starts: the init container `dataset` of every pod of a run.

`python3 fetch.py PLAN` reads a JSON file that the chart writes:

    {"folder": "/data/flowers", "source": {"kind": "http", "urls": [...]}, "checksum": {"files": {}, "manifest": ""}}

The data is staged in a hidden folder beside `folder`, verified there and renamed into place, so that a visible `folder`
is always complete. A marker in it holds a digest of the source: a pod that finds its own digest has nothing to do, and
the data of another source is neither used nor changed. Of the pods that share a volume one fetches (`leases`), and
the next attempt continues with the staged data of an interrupted one.

The program needs only Python 3.9 or newer and its standard library, because it runs in the image of the run.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import leases
import sources
from report import FetchError, Progress, say
from transfer import CHUNK, sync

MARKER = ".trainyard-dataset.json"


@dataclass(frozen=True)
class Plan:
    """Source, destination and checksums of a data set: see the module's description."""

    folder: Path
    source: dict[str, Any]
    files: dict[str, str]
    manifest: str

    @staticmethod
    def read(path: Path) -> Plan:
        """Returns the plan in a JSON file."""
        written = json.loads(path.read_text(encoding="utf-8"))
        checksum = written["checksum"]
        return Plan(Path(written["folder"]), written["source"], checksum["files"], checksum["manifest"])

    @property
    def digest(self) -> str:
        """Digest of the source without its checksums, which only verify the result, and without signatures."""
        return _digest(sources.identity(self.source))

    @property
    def work(self) -> Path:
        """Staging folder: on the same volume, and separate for each source."""
        return self.folder.with_name(f".{self.folder.name}.{self.digest[:12]}")

    @property
    def checks(self) -> str:
        """Digest of the checksums; empty if there are none."""
        return _digest([self.files, self.manifest]) if self.files or self.manifest else ""


def bring(plan: Plan, pod: str, name: str, timing: leases.Timing) -> None:
    """Return when the data is in place. Raises FetchError and OSError."""
    folder = plan.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    lease = leases.acquire(plan.work, pod, name, lambda: is_done(plan), timing)
    if lease is not None:
        with lease:
            # Another pod may have finished before this pod got the lease.
            if not is_done(plan):
                gather(plan, lease, timing.report)
    say(f"{folder} is complete")


def is_done(plan: Plan) -> bool:
    """Returns true if the folder holds this data, verified as requested. Raises FetchError if it holds other data."""
    folder = plan.folder
    marker = _marker(folder)
    if marker is None:
        if folder.is_dir() and not any(folder.iterdir()):
            return False
        if os.path.lexists(folder) and _marker(folder) is None:
            raise FetchError(f"{folder} holds files that no run has fetched: move them, or set dataset.path to another")
        return False
    if marker["digest"] != plan.digest:
        other = json.dumps(sources.public(marker["source"]), sort_keys=True)
        raise FetchError(
            f"{folder} holds the data of another source, {other}: "
            "set dataset.path to another folder, or delete this one"
        )
    return plan.checks in ("", marker["checks"])


def gather(plan: Plan, lease: leases.Lease, interval: float) -> None:
    """Fetch, verify and publish the data. Existing data with new checksums is only verified."""
    data = lease.staged / "data"
    found = _marker(plan.folder)
    if found is None:
        say(f"fetching {sources.title(plan.source)} into {plan.folder}")
        progress = Progress("fetched", interval)
        lease.status = progress.line
        version = sources.fetch(plan.source, lease.staged, progress)
        say(progress.line())
    else:
        data, version = plan.folder, found["version"]
    progress = Progress("verified", interval)
    lease.status = progress.line
    verify(plan, data, progress)
    marker = {"digest": plan.digest, "checks": plan.checks, "source": sources.public(plan.source), "version": version}
    fresh = data / f"{MARKER}.new"
    fresh.write_text(json.dumps(marker, indent=2) + "\n", encoding="utf-8")
    fresh.replace(data / MARKER)
    if found is None:
        _settle(data)
        try:
            data.rename(plan.folder)
        except OSError:
            # Another process has created the folder meanwhile; is_done checks its source.
            if not is_done(plan):
                raise


def verify(plan: Plan, data: Path, progress: Progress) -> None:
    """Compare the files with their checksums. A wrong staged file is removed, so that it is fetched again."""
    for name, wanted in sorted(plan.files.items()):
        path = data / name
        if data.resolve() not in path.resolve().parents or not path.is_file():
            raise FetchError(f"dataset.checksum.files names {name}, which is not among the fetched files")
        found = _sha256(path, progress)
        if found != wanted.lower():
            if data != plan.folder:
                path.unlink()
            raise FetchError(f"{name} has the SHA-256 {found}, but dataset.checksum.files says {wanted}")
    if plan.manifest:
        digest = hashlib.sha256()
        for path in _files(data):
            listed = os.fsencode(path.relative_to(data))
            digest.update(_sha256(path, progress).encode() + b"  " + listed + b"\n")
        if digest.hexdigest() != plan.manifest.lower():
            raise FetchError(
                f"the manifest of the fetched files has the SHA-256 {digest.hexdigest()}, but "
                f"dataset.checksum.manifest says {plan.manifest}: if that is right, delete "
                f"{data if data == plan.folder else plan.work} and start again"
            )
    if plan.checks:
        say(progress.line())


def _files(data: Path) -> list[Path]:
    """Returns all regular files except the marker, sorted by the bytes of their names."""
    found = [Path(root, name) for root, _, names in os.walk(data) for name in names]
    own = (data / MARKER, data / f"{MARKER}.new")
    return sorted(
        (path for path in found if path.is_file() and not path.is_symlink() and path not in own), key=os.fsencode
    )


def _sha256(path: Path, progress: Progress) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
        progress.add(len(chunk))
    progress.add(files=1)
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


def _settle(data: Path) -> None:
    """Sync all files before the rename: a power cut must not leave empty files under the final name."""
    for path in [*_files(data), data / MARKER, *(Path(root) for root, _, _ in os.walk(data))]:
        sync(path)


def _marker(folder: Path) -> dict[str, Any] | None:
    try:
        marker: dict[str, Any] = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise FetchError(f"{folder / MARKER} is damaged: delete {folder}, or set dataset.path to another") from error
    return marker


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _explained(error: OSError) -> str:
    """Returns the text of a system error, with its cause and the next step."""
    text = f"{error.filename or 'the volume'}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{text}: the volume is too small for the data; enlarge it, and the next attempt continues"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{text}: user {os.getuid()} has no permission; see podSecurityContext.fsGroup and the volume's owner"
    return text


def main() -> int:
    """Command line. The exit status is 1 for an error and 143 for a deleted pod."""
    defaults = leases.Timing()
    parser = argparse.ArgumentParser(description="Fetch a data set onto a volume.")
    parser.add_argument("plan", type=Path)
    parser.add_argument("--beat", type=float, default=defaults.beat)
    parser.add_argument("--patience", type=float, default=defaults.patience)
    parser.add_argument("--report", type=float, default=defaults.report)
    options = parser.parse_args()
    # Raised as an exception, so that the lease is released and the next pod does not wait.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    name = os.environ.get("DATASET_POD_NAME", socket.gethostname())
    pod = os.environ.get("DATASET_POD_UID", f"{name}-{os.getpid()}")
    try:
        bring(Plan.read(options.plan), pod, name, leases.Timing(options.beat, options.patience, options.report))
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        print(f"error: {_explained(error)}", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
