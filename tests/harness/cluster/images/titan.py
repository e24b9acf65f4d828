"""The image of the recipe torchtitan for test clusters: Debian's CPU build of torch, as in the trainer's image.

It cannot be a part of that image: torchtitan holds back packages which the other recipes need in newer versions.
"""

from __future__ import annotations

from tests.harness.cluster.images import trainer
from tests.harness.cluster.images.packages import OF_THE_MACHINE, Packages
from tests.harness.cluster.images.python import PythonImage

# The compilers for GPUs in triton, which torchtitan only imports.
GPU_COMPILERS = ("ptxas", "ptxas-blackwell", "nvdisasm", "cuobjdump")

IMAGE = PythonImage(
    "titan",
    trainer.DEBIAN,
    Packages("titan", trainer.PYTHON, unused=(*OF_THE_MACHINE, *GPU_COMPILERS)),
    trainer.contents,
    environment=trainer.IMAGE.environment,
    bytecode=True,
)
