"""NCCL's path types, from near to far, and the variables that take one.

Source: src/graph/topo.cc topoPathTypeStr, src/graph/paths.cc ncclGetLevel and levelsOldToNew of NVIDIA/nccl v2.30.7-1;
2.8 and 2.18 read both in the same way.
"""

from __future__ import annotations

LEVELS = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS")
# The meaning of NCCL 2.3's numbers; higher ones mean the last.
NUMBERED = ("LOC", "PIX", "PXB", "PHB", "SYS")
VARIABLES = ("NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL")
