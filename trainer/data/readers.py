"""What the processes that read ahead are forked from: its server imports this before it forks the first of them.

torchrun sends Kubernetes' SIGTERM to all processes of a rank. Readers that ended by it, or their server, would take the
rank down before it has saved. They end with the rank, whose end closes the pipes between them.
"""

import signal

# Else each reader would import torch anew, which takes it seconds at the begin of each epoch.
import torch.utils.data  # noqa: F401

signal.signal(signal.SIGTERM, signal.SIG_IGN)
