"""Images of Python programs: a Debian system, packages from PyPI on it, and files of this repository on top."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Content, Image, Layer, tree, write_archive
from tests.harness.cluster.images.bytecode import with_bytecode
from tests.harness.cluster.images.packages import Packages
from tests.harness.cluster.images.rootfs import Rootfs

# ssh and sshd reject a user id that /etc/passwd does not have.
USER = 1000
# The path of the test programs in every image; here each image has a folder of them.
PROGRAMS = "opt/programs"


def programs(image: str) -> dict[str, Content]:
    """Return the programs that tests run in an image."""
    return tree(Path(__file__).parent / "programs" / image, PROGRAMS)


@dataclass(frozen=True)
class PythonImage:
    """The three layers of an image; `contents` is the top layer: path in the image to file or text."""

    name: str
    debian: Rootfs
    packages: Packages
    contents: Callable[[], Mapping[str, Content]]
    environment: Mapping[str, str] = field(default_factory=dict)
    working_directory: str = "/"
    entrypoint: Sequence[str] = ()
    # Pays for an image that many processes start from.
    bytecode: bool = False

    def reference(self) -> str:
        """Return the image reference; its tag is the hash of all inputs of the image."""
        return f"localhost/trainyard/{self.name}:{self._key()}"

    @property
    def entry(self) -> Path:
        """The folder of the cache that holds it, or will hold it."""
        return cache.root() / "images" / f"{self.name}-{self._key()}"

    @property
    def title(self) -> str:
        """The title of the step that writes it."""
        return f"writing the {self.name} image"

    def archive(self) -> Path:
        """Return the image as an archive, built when the cache has none."""
        return cache.cached("images", self.entry.name, self._build, keep_others=False) / "image.tar"

    def _build(self, folder: Path) -> None:
        debian = Layer.of(self.debian.tar())
        with progress.step(self.title), cache.scratch(f"contents-{self.name}") as scratch:
            packages = self.layer(scratch / "packages", self.packages.contents(scratch / "site"))
            own = self.layer(scratch / "own", self.contents())
            write_archive(folder / "image.tar", [self.image(self.reference(), (debian, packages, own))])

    def image(self, reference: str, layers: Sequence[Layer]) -> Image:
        """Return an image of these layers that starts as this one does."""
        return Image(
            reference,
            tuple(layers),
            entrypoint=tuple(self.entrypoint),
            environment={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", **self.environment},
            user=f"{USER}:{USER}",
            working_directory=self.working_directory,
        )

    def packages_layer(self, folder: Path) -> Layer:
        """Return the layer of PyPI packages, which is taken out of the archive into a folder."""
        with tarfile.open(self.archive()) as archive:
            described = archive.extractfile("manifest.json")
            assert described is not None
            (_, name, _) = json.load(described)[0]["Layers"]
            packed = archive.extractfile(name)
            assert packed is not None
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("wb") as layer:
                shutil.copyfileobj(packed, layer)
        return Layer(folder / name, name.removesuffix(".tar"))

    def layer(self, folder: Path, contents: Mapping[str, Content]) -> Layer:
        """Write a layer on top of the Debian system into a new folder."""
        folder.mkdir()
        if self.bytecode:
            contents = with_bytecode(contents, self.debian.tar(), self.packages.python, folder)
        return Layer.create(folder / "layer.tar", contents)

    def _key(self) -> str:
        parts = [part for name, content in self.contents().items() for part in (name, content or "")]
        variables = (f"{name}={value}" for name, value in self.environment.items())
        return cache.digest(self.debian.key, self.packages.key, str(self.bytecode), *variables, *parts)
