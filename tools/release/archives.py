"""Archives with the same bytes for the same content."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path


def normalize(path: Path, seconds: int) -> None:
    """Rewrite a .tar.gz in place: members in the order of their names, of one time, and of no user of this machine.

    Helm writes the parts of a chart in a random order, and setuptools writes the time of the build.
    """
    with tarfile.open(path, "r:gz") as archive:
        members = [(member, archive.extractfile(member)) for member in archive.getmembers()]
        contents = [(member, file.read() if file else b"") for member, file in members]
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for member, content in sorted(contents, key=lambda pair: pair[0].name):
            archive.addfile(_plain(member, seconds), io.BytesIO(content))


def _plain(member: tarfile.TarInfo, seconds: int) -> tarfile.TarInfo:
    """Return the entry of a member without what differs between machines."""
    plain = tarfile.TarInfo(member.name)
    plain.type, plain.size, plain.mtime = member.type, member.size, seconds
    plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return plain
