"""The image with Python and git, for the init container that fetches data and for the test's data server."""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Image, Layer, write_archive
from tests.harness.cluster.images.python import USER
from tests.harness.cluster.images.rootfs import Rootfs

DEBIAN = Rootfs("fetcher", "trixie", ("git", "python3"))


def reference() -> str:
    """Return the image reference; its tag is the hash of its Debian system."""
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
