"""The image with Debian's Alertmanager, and Python for a receiver of its notifications.

Alertmanager's Go module lacks the files of its page, so that it cannot be built from the module proxy.
"""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Image, Layer, write_archive
from tests.harness.cluster.images.python import USER
from tests.harness.cluster.images.rootfs import Rootfs

DEBIAN = Rootfs("alertmanager", "trixie", ("prometheus-alertmanager", "python3"))


def reference() -> str:
    """Return the image reference; its tag is the hash of its Debian system."""
    return f"localhost/trainyard/alertmanager:{DEBIAN.key}"


def archive() -> Path:
    """Return the image as an archive, built when the cache has none."""

    def build(folder: Path) -> None:
        debian = Layer.of(DEBIAN.tar())
        with progress.step("writing the alertmanager image"):
            image = Image(reference(), (debian,), environment={"PYTHONUNBUFFERED": "1"}, user=f"{USER}:{USER}")
            write_archive(folder / "image.tar", [image])

    return cache.cached("images", f"alertmanager-{DEBIAN.key}", build, keep_others=False) / "image.tar"
