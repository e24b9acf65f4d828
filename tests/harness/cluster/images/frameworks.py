"""Images with the frameworks of the job kinds other than PyTorchJob: MPI, JAX, PaddlePaddle, XGBoost, TensorFlow.

One image for all kinds: they share Python and NumPy, and a node unpacks it once. TensorFlow has an image of its own on
the same Debian, because it would nearly double the other and only one test needs it.
"""

from __future__ import annotations

import functools

from tests.harness.cluster.images.packages import Packages
from tests.harness.cluster.images.python import USER, PythonImage, programs
from tests.harness.cluster.images.rootfs import Rootfs

# Half of Open MPI's installation is drivers and a compiler for AMD GPUs, which UCX loads only if they exist. Perl is
# there for a script of MPICH's that kills orphaned processes.
DROP_UNUSED = 'cd "$1"/usr/lib/*-linux-gnu && rm -rf libLLVM* libamd* libz3* ucx/*rocm* perl ../../share/perl'
ADD_USER = f'chroot "$1" useradd --create-home --uid {USER} mpiuser'
DEBIAN = Rootfs(
    "frameworks",
    "trixie",
    ("libc-bin", "mpich", "openmpi-bin", "openssh-server", "python3"),
    hooks=(DROP_UNUSED, ADD_USER),
)
PYTHON = "3.13"  # trixie's

IMAGE = PythonImage(
    "frameworks",
    DEBIAN,
    # Paddle loads these two only for inference with Intel's libraries.
    Packages("frameworks", PYTHON, unused=("libmklml_intel.so", "libopenvino_intel_cpu_plugin.so")),
    # sshd of root needs this folder, which Debian creates when a machine boots.
    lambda: programs("frameworks") | {"run/sshd/": None},
)
TENSORFLOW = PythonImage(
    "tensorflow",
    DEBIAN,
    # Used only to build TensorFlow.
    Packages("tensorflow", PYTHON, unused=("clang",)),
    functools.partial(programs, "tensorflow"),
)
