"""Layers of PyPI packages, installed on this machine for the Python version of an image."""

from __future__ import annotations

import os
import platform
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Content, tree

# Headers, and the tests of the packages.
UNUSED = ("include", "tests")
# Scripts start with the path of the Python that installed them, and RECORD has their digests.
OF_THE_MACHINE = ("bin", "RECORD")


@dataclass(frozen=True)
class Packages:
    """All packages of `<name>.lock` for a version of Python; `make lock` resolves the lock file for it.

    `unused` names files and folders that the image does not need, in addition to `UNUSED`. `sources` are packages for
    which PyPI has no wheel.
    """

    name: str
    python: str
    unused: Sequence[str] = ()
    sources: Sequence[str] = ()

    @property
    def key(self) -> str:
        """The hash of the layer's inputs."""
        return cache.digest(self._lock, self.python, *UNUSED, *self.unused)

    def contents(self, site: Path) -> dict[str, Content]:
        """Install the packages into the new folder `site` and return the layer's contents."""
        progress.run(
            [
                *(Path(sysconfig.get_path("scripts")) / "uv", "pip", "install", "--quiet", "--target", site),
                *("--python-version", self.python, "--python-platform", f"{platform.machine()}-manylinux_2_28"),
                *("--no-deps", "--require-hashes", "--requirements", self._lock, "--only-binary", ":all:"),
                *(word for source in self.sources for word in ("--no-binary", source)),
            ],
            log=f"packages-{self.name}",
            # The metadata of a package that is built from source may list a set.
            environment=os.environ | {"PYTHONHASHSEED": "0"},
        )
        return tree(site, f"usr/local/lib/python{self.python}/dist-packages", unused={*UNUSED, *self.unused})

    @property
    def _lock(self) -> Path:
        return Path(__file__).with_name(f"{self.name}.lock")
