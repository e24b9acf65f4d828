"""DeepSpeed is installed into an image without nvcc, so its installation or its import fails on a node with GPUs.

DeepSpeed compiles its CUDA operators when they are first used. Releases from 0.14.1 to 0.19.4 ask for the compiler when
they are imported, and earlier ones when pip installs them. They end with "CUDA_HOME does not exist, unable to compile
CUDA op(s)". The images `pytorch/pytorch:*-runtime` and `nvidia/cuda:*-runtime` have no nvcc; those that end with
`-devel` do.

The rule looks at scripts that install a release of DeepSpeed by its number. It leaves out scripts that install a
compiler, or that set `CUDA_HOME`.

Use the `-devel` image.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.scripts.pins import pinned
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container
from trainyard.startup import pattern

# The registry may be a mirror.
_IMAGE = pattern(r"(?:.*/)?(?:pytorch/pytorch:\S*-runtime|nvidia/cuda:\S*-(?:runtime|base)(?:-\S+)?)")
_TOOLKIT = ("nvcc", "cuda-toolkit", "cuda_toolkit", "cudatoolkit", "cuda-compiler", "CUDA_HOME", "DS_ACCELERATOR")
# The first release that asks on import, and the first that goes on without a compiler.
_IMPORT, _MENDED = (0, 14, 1), (0, 19, 5)


@rule(
    code="DS032",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "deepspeedai/DeepSpeed v0.19.4 op_builder/builder.py: installed_cuda_version; git_version_info.py",
        "deepspeedai/DeepSpeed v0.14.1 deepspeed/git_version_info.py; v0.14.0 setup.py: builder.is_compatible",
        "deepspeedai/DeepSpeed 646e491c: an op that cannot be built no longer ends the import",
        "github.com/deepspeedai/DeepSpeed issue 2772",
    ),
    needs=("deepspeed==",),
)
def ds_runtime_image(container: Container) -> Iterator[Problem]:
    """Report releases of DeepSpeed in images without a compiler."""
    image = container.image or ""
    if not container.gpus or _IMAGE.fullmatch(image) is None or container.setting("CUDA_HOME") is not None:
        return
    release = pinned(container, "deepspeed")
    if release is None or release >= _MENDED:
        return
    if any(name in script.text for script in container.scripts for name in _TOOLKIT):
        return
    when = "imported" if release >= _IMPORT else "installed"
    number = ".".join(map(str, release))
    yield Problem(
        container.at.child("image"),
        f"the image has no nvcc, and DeepSpeed {number} asks for it when it is {when}: `CUDA_HOME does not exist`",
        "use the `-devel` image",
    )
