"""Python and git: an image for the init container that fetches data, and for a server that has some."""

from __future__ import annotations

from pathlib import Path

from .. import cache, progress
from .archive import Image, Layer, write_archive
from .python import USER
from .rootfs import Rootfs

DEBIAN = Rootfs("fetcher", "trixie", ("git", "python3"))


def reference() -> str:
    """Image reference; its tag is the hash of the Debian system that it is."""
    return f"localhost/trainyard/fetcher:{DEBIAN.key}"


def archive() -> Path:
    """Return the image as an archive, built when the cache has none."""

    def build(folder: Path) -> None:
        debian = Layer.of(DEBIAN.tar())
        with progress.step("writing the fetcher image"):
            environment = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
            image = Image(reference(), (debian,), environment=environment, user=f"{USER}:{USER}")
            write_archive(folder / "image.tar", [image])

    return cache.cached("images", f"fetcher-{DEBIAN.key}", build, keep_others=False) / "image.tar"
