"""torch.compile, block by block."""

import torch

from trainer.errors import ConfigError
from trainer.models.model import Model


def compile_blocks(model: Model, device: torch.device) -> None:
    """Compiles the forward of each block, or of a model without blocks; names of parameters stay as they are.

    Blocks, since equal ones are compiled once, and gradients of one are exchanged while the next one's are computed.

    Raises:
        ConfigError: This machine cannot compile.
    """
    _check(device)
    for part in model.blocks() or [model]:
        part.forward = torch.compile(part.forward)


def _check(device: torch.device) -> None:
    """Compiles next to nothing, since what it takes depends on torch's version and the device."""
    try:
        torch.compile(lambda tensor: tensor.sin() + 1)(torch.zeros(8, device=device))
    except RuntimeError as error:
        needed = "Triton and a C compiler" if device.type == "cuda" else "a C++ compiler and Python's headers"
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ConfigError(
            f"--compile does not work here ({reason}): it needs {needed}, such as Debian's g++ and python3-dev, "
            "in the image; or write --no-compile"
        ) from error
