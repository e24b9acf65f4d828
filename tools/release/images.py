"""Images of the trainer and of the command line as OCI archives, from the recipes of the test images.

The Debian system and the packages of the trainer are the very layers that the tests run. They are those of the day on
which this machine built them. Another machine writes the same bytes with the same packages, which the bill of materials
lists.
"""

from __future__ import annotations

import gzip
import json
import platform
import shutil
import tempfile
from pathlib import Path

from tests.harness.cluster.archive import ARCHITECTURES, Image, Layer
from tests.harness.cluster.images import cli, trainer
from tools.release import bills
from tools.release.layout import Layout, pack

NAMES = ("cli", "trainer")
# The default repository of the chart `training-job`, so that a loaded image is the one that it names.
REPOSITORY = "localhost/trainyard"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"


def write(name: str, checkout: Path, wheel: Path, version: str, target: Path, seconds: int) -> Path:
    """Write the archive of an image of `NAMES` and its bill into `target`, and return its path.

    `checkout` has the trainer, and `wheel` is the command line.
    """
    architecture = ARCHITECTURES.get(platform.machine(), platform.machine())
    path = target / f"trainyard-{name}-{version}-linux-{architecture}.tar"
    with tempfile.TemporaryDirectory(dir=target) as folder:
        scratch = Path(folder)
        image = _cli(wheel, version, scratch) if name == "cli" else _trainer(checkout, version, scratch)
        _store(image, f"{name}:{version}", architecture, scratch / "layout")
        pack(scratch / "layout", path, seconds)
        bills.write(path, bills.of_image([layer.path for layer in image.layers]), seconds)
    return path


def _cli(wheel: Path, version: str, scratch: Path) -> Image:
    recipe = cli.IMAGE
    packages = recipe.layer(scratch / "packages", recipe.packages.contents(scratch / "site"))
    own = recipe.layer(scratch / "own", cli.contents(wheel, scratch / "wheel"))
    return recipe.image(f"{REPOSITORY}/cli:{version}", (Layer.of(recipe.debian.tar()), packages, own))


def _trainer(checkout: Path, version: str, scratch: Path) -> Image:
    recipe = trainer.IMAGE
    packages = recipe.packages_layer(scratch)
    own = recipe.layer(scratch / "own", trainer.contents(checkout / "trainer"))
    return recipe.image(f"{REPOSITORY}/trainer:{version}", (Layer.of(recipe.debian.tar()), packages, own))


def _store(image: Image, name: str, architecture: str, folder: Path) -> None:
    """Write an image as a layout, with the additional file that `docker load` and kind read."""
    layout = Layout(folder)
    layers = []
    for layer in image.layers:
        packed = folder.with_name("layer.tar.gz")
        _compress(layer.path, packed)
        layers.append(layout.add_file(LAYER_TYPE, packed))
    config = layout.add_bytes(CONFIG_TYPE, image.config(architecture))
    layout.add_manifest(name, config, layers, annotations={}, named={"io.containerd.image.name": image.reference})
    layout.close()
    places = [f"blobs/{blob['digest'].replace(':', '/')}" for blob in (config, *layers)]
    listed = [{"Config": places[0], "RepoTags": [image.reference], "Layers": places[1:]}]
    (folder / "manifest.json").write_text(json.dumps(listed), encoding="utf-8")


def _compress(source: Path, target: Path) -> None:
    """Compress a file to the same bytes each time, at the fastest level: the trainer is more than a gigabyte."""
    with source.open("rb") as file, target.open("wb") as raw, gzip.GzipFile("", "wb", 1, raw, mtime=0) as packed:
        shutil.copyfileobj(file, packed, 1 << 20)
