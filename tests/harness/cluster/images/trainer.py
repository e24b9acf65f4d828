"""The image of the reference trainer for test clusters: Debian's CPU build of torch, with Accelerate and DeepSpeed.

Users build `trainer/Dockerfile` instead, with the PyTorch of the package index; both run the same package. The two
launchers are a twentieth of this image; in an image of their own, the nodes would load all of torch twice.
"""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster.archive import Content
from tests.harness.cluster.images.packages import OF_THE_MACHINE, Packages
from tests.harness.cluster.images.python import PythonImage, programs
from tests.harness.cluster.images.rootfs import Rootfs

# torch links Open MPI, which comes with drivers and a compiler for AMD GPUs; UCX loads them only if they exist. torch
# comes with its own tests, and NumPy and SciPy are also built for the next Python version of Debian.
DROP_UNUSED = """
set -e
cd "$1/usr/lib"
rm -rf *-linux-gnu/libLLVM* *-linux-gnu/libamd* *-linux-gnu/libhsa* *-linux-gnu/ucx/*rocm* llvm-* libtorch-test
rm -f python3/dist-packages/torch/bin/test_*
version=$(chroot "$1" python3 -c 'import sys; print(sys.implementation.cache_tag)')
find python3/dist-packages -name '*.cpython-3*.so' ! -name "*.$version-*" -delete
"""
# forky, because trixie's torch is older than 2.10 and loads untrusted checkpoints unsafely (CVE-2026-24747).
DEBIAN = Rootfs(
    "trainer",
    "forky",
    (
        *("iproute2", "libc-bin", "openmpi-bin", "python3-mpi4py"),
        *("python3-prometheus-client", "python3-sklearn", "python3-torch"),
    ),
    hooks=(DROP_UNUSED.strip(),),
)
PYTHON = "3.14"  # forky's
PACKAGE = Path(__file__).parents[4] / "trainer"
HOME = "opt/trainyard"
SITE = "usr/lib/python3/dist-packages"
# An import of torch creates a million objects, and garbage collections take a sixth of its processor time. The trainer
# suspends the collector itself; this reaches torchrun and the programs of tests.
FEWER_COLLECTIONS = "import gc; gc.set_threshold(100_000)\n"
# The package's own script is not in the image.
ACCELERATE = "#!/usr/bin/python3\nfrom accelerate.commands.accelerate_cli import main\n\nmain()\n"


def contents(package: Path = PACKAGE) -> dict[str, Content]:
    """Return the top layer of an image with the trainer of a checkout, without the programs of tests."""
    sources = sorted(path for path in package.rglob("*.py") if "__pycache__" not in path.parts)
    found: dict[str, Content] = {f"{HOME}/{path.relative_to(package.parent)}": path for path in sources}
    # As `pip install ./trainer` installs it.
    found |= {f"{SITE}/trainyard_trainer/{path.relative_to(package)}": path for path in sources}
    found[f"{SITE}/trainyard_libuv.py"] = Path(__file__).with_name("libuv.py")
    found[f"{SITE}/trainyard_libuv.pth"] = "import trainyard_libuv\n"
    found[f"{SITE}/trainyard_collector.pth"] = FEWER_COLLECTIONS
    found["usr/local/bin/accelerate"] = ACCELERATE
    return found


IMAGE = PythonImage(
    "trainer",
    DEBIAN,
    Packages("launchers", PYTHON, unused=OF_THE_MACHINE, sources=("deepspeed",)),
    lambda: contents() | programs("trainer"),
    environment={
        "HOME": "/tmp",  # noqa: S108 - the only folder that a read-only container may write
        "PYTHONPATH": f"/{HOME}",
        # Debian's torch links Open MPI, which links UCX. UCX hooks `mmap` in each process, and polls 0.3 s for that.
        "UCX_MEM_MMAP_HOOK_MODE": "none",
    },
    working_directory=f"/{HOME}",
    bytecode=True,
)
