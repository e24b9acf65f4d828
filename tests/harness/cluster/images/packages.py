"""Layers of packages from PyPI, installed here for the Python of an image."""

from __future__ import annotations

import platform
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import cache, progress
from .archive import Layer, tree

# Headers and the packages' own tests.
UNUSED = ("include", "tests")


@dataclass(frozen=True)
class Packages:
    """All packages of `<name>.lock` for a version of Python, which `make lock` resolves for it too.

    `unused` are names of files and folders that the image can do without, beside `UNUSED`. Of `sources` PyPI has no
    wheel.
    """

    name: str
    python: str
    unused: Sequence[str] = ()
    sources: Sequence[str] = ()

    @property
    def key(self) -> str:
        """Hash of what the layer is made from."""
        return cache.digest(self._lock, self.python, *UNUSED, *self.unused)

    def layer(self, path: Path) -> Layer:
        """Write the layer to `path`."""
        with cache.scratch(self.name) as site:
            progress.run(
                [
                    *(Path(sysconfig.get_path("scripts")) / "uv", "pip", "install", "--quiet", "--target", site),
                    *("--python-version", self.python, "--python-platform", f"{platform.machine()}-manylinux_2_28"),
                    *("--no-deps", "--require-hashes", "--requirements", self._lock, "--only-binary", ":all:"),
                    *(word for source in self.sources for word in ("--no-binary", source)),
                ],
                log=f"packages-{self.name}",
            )
            place = f"usr/local/lib/python{self.python}/dist-packages"
            return Layer.create(path, tree(site, place, unused={*UNUSED, *self.unused}))

    @property
    def _lock(self) -> Path:
        return Path(__file__).with_name(f"{self.name}.lock")
