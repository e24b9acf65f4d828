"""Every framework that a kind of job other than PyTorchJob runs, on one Debian: Open MPI, JAX, PaddlePaddle, XGBoost.

One image and not one for each kind: they share Python and NumPy, and a cluster unpacks it once. TensorFlow is left out,
because it would double the image; a TFJob here only proves its rendezvous.
"""

from __future__ import annotations

import platform
import sysconfig
from pathlib import Path

from .. import cache, progress
from .archive import Content, Image, Layer, write_archive
from .rootfs import Rootfs

# Drivers of AMD's GPUs and their compiler are half of Open MPI's installation; UCX loads them only if they exist.
DROP_GPU_DRIVERS = 'cd "$1"/usr/lib/*-linux-gnu && rm -f libLLVM* libamd* libz3* ucx/*rocm*'
# ssh and sshd refuse a user id that /etc/passwd does not know.
USER = 1000
ADD_USER = f'chroot "$1" useradd --create-home --uid {USER} mpiuser'
DEBIAN = Rootfs(
    "frameworks",
    "trixie",
    ("libc-bin", "openmpi-bin", "openssh-server", "python3-mpi4py"),
    hooks=(DROP_GPU_DRIVERS, ADD_USER),
)
PYTHON = "3.13"  # trixie's; `make lock` resolves for it too
LOCK = Path(__file__).with_name("frameworks.lock")
SITE = f"usr/local/lib/python{PYTHON}/dist-packages"
PROGRAMS = Path(__file__).with_name("programs")
# Headers and the packages' own tests.
UNUSED = {"include", "tests"}


def reference() -> str:
    """Image reference; its tag is the hash of all that the image is made from."""
    return f"localhost/trainyard/frameworks:{_key()}"


def archive() -> Path:
    """Return the image as an archive, built when the cache has none."""

    def build(folder: Path) -> None:
        debian = Layer.of(DEBIAN.tar())
        with progress.step("writing the frameworks image"):
            packages = _packages(folder)
            programs = Layer.create(folder / "programs.tar", _contents(PROGRAMS, "opt/programs"))
            image = Image(
                reference(),
                (debian, packages, programs),
                environment={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
                user=f"{USER}:{USER}",
            )
            write_archive(folder / "image.tar", [image])
            packages.path.unlink()
            programs.path.unlink()

    return cache.cached("images", f"frameworks-{_key()}", build, keep_others=False) / "image.tar"


def _packages(folder: Path) -> Layer:
    """The layer of the packages from PyPI, installed here for the image's Python."""
    with cache.scratch("frameworks") as site:
        progress.run(
            [
                *(Path(sysconfig.get_path("scripts")) / "uv", "pip", "install", "--quiet", "--target", site),
                *("--python-version", PYTHON, "--python-platform", f"{platform.machine()}-manylinux_2_28"),
                *("--only-binary", ":all:", "--no-deps", "--require-hashes", "--requirements", LOCK),
            ],
            log="frameworks",
        )
        return Layer.create(folder / "packages.tar", _contents(site, SITE))


def _key() -> str:
    return cache.digest(DEBIAN.key, LOCK, PROGRAMS, *sorted(UNUSED))


def _contents(folder: Path, place: str) -> dict[str, Content]:
    """Every file below `folder`, by its path below `place` in the image."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {file: file.relative_to(folder) for file in files}
    return {f"{place}/{name}": file for file, name in names.items() if UNUSED.isdisjoint(name.parts)}
