"""Images of Multus and Whereabouts: the programs at the paths of the published images, on the shared Debian base."""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Content, Image, Layer, write_archive
from tests.harness.cluster.images.system import BASE
from tests.harness.cluster.tools import binary

MULTUS, WHEREABOUTS = "multus", "whereabouts"
# The path in the image, and the binary at this path.
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
    """Return the image reference; its tag is the hash of the programs and of the Debian base."""
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
