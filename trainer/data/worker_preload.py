"""Imported by the fork server before it forks the worker processes that read ahead.

torchrun forwards Kubernetes' SIGTERM to all processes of a rank. If it ended the workers or their server, the rank
would fail before it has saved. The workers end with the rank, which they watch, and the server after its last worker.
"""

from __future__ import annotations

import signal

# Else each worker would import torch, which takes seconds at the start of each epoch.
import torch.utils.data  # noqa: F401

signal.signal(signal.SIGTERM, signal.SIG_IGN)
# Workers inherit it. Each starts with a handler of torch that ends it, until its first line of the trainer runs.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
