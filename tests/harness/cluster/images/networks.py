"""Multus and Whereabouts: their programs in the places of their published images, on the Debian of other programs."""

from __future__ import annotations

from pathlib import Path

from .. import cache, progress
from ..tools import binary
from .archive import Content, Image, Layer, write_archive
from .system import BASE

MULTUS, WHEREABOUTS = "multus", "whereabouts"
# Place in the image, and the binary that is built for it.
PROGRAMS = {
    MULTUS: {
        "usr/src/multus-cni/bin/install_multus": "install_multus",
        "usr/src/multus-cni/bin/multus-daemon": "multus-daemon",
        "usr/src/multus-cni/bin/multus-shim": "multus-shim",
        "usr/src/multus-cni/bin/passthru": "passthru-cni",
    },
    WHEREABOUTS: {"ip-control-loop": "controlloop", "whereabouts": "cmd"},
}


def reference(name: str) -> str:
    """Image reference; its tag is the hash of the programs and of the Debian under them."""
    return f"localhost/trainyard/{name}:{_key(name)}"


def archive(name: str) -> Path:
    """Return the image as an archive, built when the cache has none."""

    def build(folder: Path) -> None:
        contents: dict[str, Content] = {place: binary(program) for place, program in PROGRAMS[name].items()}
        base = BASE.tar()
        with progress.step(f"writing the {name} image"):
            layer = Layer.create(folder / "layer.tar", contents)
            write_archive(folder / "image.tar", [Image(reference(name), (Layer.of(base), layer))])
            layer.path.unlink()

    return cache.cached("images", f"{name}-{_key(name)}", build, keep_others=False) / "image.tar"


def _key(name: str) -> str:
    programs = PROGRAMS[name]
    return cache.digest(BASE.key, *programs, *sorted({binary(program).parent.name for program in programs.values()}))
