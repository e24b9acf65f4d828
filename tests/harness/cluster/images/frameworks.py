"""The frameworks of the kinds of jobs other than PyTorchJob: MPI, JAX, PaddlePaddle, XGBoost, and TensorFlow.

One image and not one for each kind: they share Python and NumPy, and a cluster unpacks it once. Only TensorFlow has an
image of its own, on the same Debian: it would nearly double the other, and one test needs it.
"""

from __future__ import annotations

import functools

from .packages import Packages
from .python import USER, PythonImage, programs
from .rootfs import Rootfs

# Drivers of AMD's GPUs and their compiler are half of Open MPI's installation; UCX loads them only if they exist. Perl
# comes for a script of MPICH's that ends lost processes.
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
    # Paddle loads the two only to run finished models with Intel's libraries.
    Packages("frameworks", PYTHON, unused=("libmklml_intel.so", "libopenvino_intel_cpu_plugin.so")),
    functools.partial(programs, "frameworks"),
)
TENSORFLOW = PythonImage(
    "tensorflow",
    DEBIAN,
    # It is a tool for TensorFlow's own build.
    Packages("tensorflow", PYTHON, unused=("clang",)),
    functools.partial(programs, "tensorflow"),
)
