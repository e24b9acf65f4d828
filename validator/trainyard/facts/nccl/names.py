"""Names with the prefix `NCCL_` that are not NCCL's: plugins, related tools, PyTorch, and variables of build scripts.

Sources: plugins/ and contrib/ of NVIDIA/nccl after v2.30.7-1 (profiler, inspector, tuner, EP, reshard, checkpoint);
GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpx and gpudirect-tcpxo, and Google's CoMMA (TELEMETRY);
Mellanox/nccl-rdma-sharp-plugins (IBEXT, SHARP, UCX, PLUGIN_P2P); Meta's NCCLX (CTRAN); NVIDIA/nccl-tests.
"""

from __future__ import annotations

from trainyard.facts.programs import torch_variables
from trainyard.startup import pattern

PLUGIN_PREFIXES = (
    "NCCL_CHECKPOINT_", "NCCL_CTRAN_", "NCCL_EP_", "NCCL_FASTRAK_", "NCCL_GPUDIRECTTCPX_", "NCCL_IBEXT_",
    "NCCL_INSPECTOR_", "NCCL_OFI_", "NCCL_PROFILER_", "NCCL_PROFILE_", "NCCL_RESHARD_", "NCCL_SHARP_", "NCCL_SHIMNET_",
    "NCCL_SPCX_", "NCCL_TELEMETRY_", "NCCL_TESTS_", "NCCL_TUNER_CONFIG_", "NCCL_UCX_",
)  # fmt: skip
# Google's build of NCCL for TCPX and its telemetry; the RDMA and SHARP plugins; settings for the Spectrum-X plugin.
PLUGIN_NAMES = (
    "NCCL_DYNAMIC_CHUNK_SIZE", "NCCL_NET_PLUGIN_TELEMETRY_MODE", "NCCL_IB_IS_GLOBAL", "NCCL_PLUGIN_P2P",
    "NCCL_IB_NET_LATENCY",
)  # fmt: skip
# Folders, versions and flags that images and scripts keep under such names for their own use.
_BUILD = pattern(
    r"NCCL_(?:(?:\w+_)?(?:DIR|HOME|ROOT|VERSION)|ARGS|BRANCH|CMD|ENV|FLAGS|INCDIR|INCLUDE|LIB|LIBDIR|LIBRARIES|LIBRARY"
    r"|LIB_PATH|OPTS|PARAMS|PATH|PLUGIN_PATH|PREFIX|REPO|SRC|TAG|TEST|TESTS|URL|VARS|VER)$"
)


def is_foreign(name: str) -> bool:
    """True if something other than NCCL reads a variable of this name."""
    return (
        name.startswith(PLUGIN_PREFIXES)
        or name in PLUGIN_NAMES
        or name in torch_variables.LEGACY
        or f"TORCH_{name}" in torch_variables.KNOWN
        or _BUILD.match(name) is not None
    )
