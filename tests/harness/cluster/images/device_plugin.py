"""The image of the device plugin: one static program without a base image."""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Image, Layer, write_archive
from tests.harness.cluster.tools import binary

NAME = "device-plugin"


def reference() -> str:
    """Image reference; its tag is the hash of the program."""
    return f"localhost/trainyard/{NAME}:{_key()}"


def archive() -> Path:
    """Return the image as an archive, built when the cache has none."""

    def build(folder: Path) -> None:
        with progress.step(f"writing the {NAME} image"):
            layer = Layer.create(folder / "layer.tar", {NAME: binary(NAME)})
            write_archive(folder / "image.tar", [Image(reference(), (layer,), entrypoint=(f"/{NAME}",))])
            layer.path.unlink()

    return cache.cached("images", f"{NAME}-{_key()}", build, keep_others=False) / "image.tar"


def _key() -> str:
    return binary(NAME).parent.name.rsplit("-", 1)[-1]
