"""Write image archives (the format of `docker save`) without a container engine.

Engines, containerd and kind all load this format. Several images may share one layer, which is stored once.
Source of the format: the Docker image specification, version 1.2.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import shutil
import tarfile
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# The content of a path: a file to copy, a text, or None for a folder (whose path ends in a slash).
Content = Path | str | None

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Layer:
    """An uncompressed tar file and its digest, which is also its `diff_id`."""

    path: Path
    digest: str

    @classmethod
    def create(cls, path: Path, contents: Mapping[str, Content], *, base: Path | None = None) -> Layer:
        """Write a layer of `contents` (path in the image to content), on top of the tar file `base` when given.

        Files are root's; programs keep their executable bit, texts that begin with `#!` get one.
        """
        if base is not None:
            shutil.copyfile(base, path)
        with tarfile.open(path, "a" if base else "w", format=tarfile.PAX_FORMAT) as tar:
            for name, content in contents.items():
                _add(tar, name, content)
        return cls.of(path)

    @classmethod
    def of(cls, path: Path) -> Layer:
        """Describe a tar file that already exists."""
        with path.open("rb") as file:
            return cls(path, hashlib.file_digest(file, "sha256").hexdigest())


@dataclass(frozen=True)
class Image:
    """One image: its reference, its layers (the lowest first), and how its container starts."""

    reference: str
    layers: tuple[Layer, ...]
    entrypoint: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    working_directory: str = "/"
    stop_signal: str = "SIGTERM"

    def config(self, architecture: str) -> bytes:
        """The image's configuration as canonical JSON."""
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"} | dict(self.environment)
        document = {
            "architecture": architecture,
            "os": "linux",
            "config": {
                "Entrypoint": list(self.entrypoint),
                "Env": [f"{name}={value}" for name, value in environment.items()],
                "StopSignal": self.stop_signal,
                "User": self.user,
                "WorkingDir": self.working_directory,
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer.digest}" for layer in self.layers]},
        }
        return json.dumps(document, sort_keys=True).encode()


def write_archive(path: Path, images: Sequence[Image]) -> None:
    """Write one archive that holds every image; a layer that several share is written once."""
    machine = ARCHITECTURES.get(platform.machine(), platform.machine())
    manifest = []
    written: set[str] = set()
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for image in images:
            for layer in image.layers:
                if layer.digest not in written:
                    tar.add(layer.path, f"{layer.digest}.tar", filter=_anonymous)
                    written.add(layer.digest)
            config = image.config(machine)
            name = f"{hashlib.sha256(config).hexdigest()}.json"
            if name not in written:
                _add_bytes(tar, name, config, 0o644)
                written.add(name)
            layers = [f"{layer.digest}.tar" for layer in image.layers]
            manifest.append({"Config": name, "RepoTags": [image.reference], "Layers": layers})
        _add_bytes(tar, "manifest.json", json.dumps(manifest).encode(), 0o644)


def tree(folder: Path, place: str, *, unused: Container[str] = ()) -> dict[str, Content]:
    """Return every file below `folder`, except those with an unused path element, by its path below `place`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {file: file.relative_to(folder) for file in files}
    return {f"{place}/{name}": file for file, name in names.items() if not any(part in unused for part in name.parts)}


def _add(tar: tarfile.TarFile, name: str, content: Content) -> None:
    if content is None:
        folder = tarfile.TarInfo(name.rstrip("/"))
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name.strip("/") == "tmp" else 0o755
        tar.addfile(folder)
    elif isinstance(content, str):
        _add_bytes(tar, name, content.encode(), 0o755 if content.startswith("#!") else 0o644)
    else:
        tar.add(content, name, recursive=False, filter=_anonymous)


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = "root"
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    return entry


def unpack(archive: tarfile.TarFile, folder: Path | str) -> None:
    """Unpack an archive. Nothing leads out of the folder, with Python 3.11.4 and newer, which have filters."""
    filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    archive.extractall(folder, **filtered)  # noqa: S202 (only archives of this project are unpacked without the filter)
