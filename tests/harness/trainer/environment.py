"""The environment of trainers and of other programs with PyTorch."""

from __future__ import annotations

import os

# PYTHONDONTWRITEBYTECODE would make every process compile the thousands of modules that torch imports.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "OMP_NUM_THREADS": "1",
    # If the host name resolves to a network address, gloo would use that network's interface.
    "GLOO_SOCKET_IFNAME": "lo",
}
