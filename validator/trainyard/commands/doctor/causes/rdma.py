"""Messages about RDMA devices and their links."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

_NCCL = "docs.nvidia.com/deeplearning/nccl/user-guide: troubleshooting"


def _completion(*codes: int) -> Sign:
    """Returns the sign of NCCL for a request that ended with one of these states (enum ibv_wc_status)."""
    wanted = "|".join(map(str, codes))
    state = rf"(?:(?:{wanted})\b|\w+\((?:{wanted})\))"
    return Sign("NET/IB", rf"completion (?:from peer \S+ )?with (?:error |status=){state}")


CAUSES = (
    Cause(
        name="rdma-gid-index",
        title="an RDMA connection cannot be set up: wrong GID or no route",
        signs=(Sign("ibv_modify_qp failed"), Sign("Failed to modify QP")),
        confidence="medium",
        explanation="The GID of the chosen index is absent in this pod, link-local, or in a subnet without a route.",
        remedy="Remove NCCL_IB_GID_INDEX (since NCCL 2.21) or name the index of RoCE v2 that show_gids "
        "prints in the pod; check that the subnets of the rails reach each other.",
        source="github.com/NVIDIA/nccl issue 925",
        rules=("nccl-gid-index-set", "gid-index-link-local"),
    ),
    Cause(
        name="rdma-locked-memory",
        title="RDMA memory cannot be registered: the limit of locked memory",
        signs=(
            Sign("ibv_reg_mr", r"failed.*Cannot allocate memory"),
            Sign("ibv_create_", r"failed.*Cannot allocate memory"),
            Sign("Failed to register mr [-12]"),
            Sign("Please set max locked memory"),
            Sign("REG_MR", r"err -12"),
        ),
        messages=(
            "Call to ibv_reg_mr failed with error Cannot allocate memory",
            "Call to ibv_create_qp failed with error Cannot allocate memory",
            "Failed to register mr [-12]",
        ),
        explanation="RDMA pins memory, and the container may lock too little of it (ulimit -l).",
        remedy="Add the capability IPC_LOCK, or raise the limit of the container runtime to unlimited.",
        source="github.com/NVIDIA/nccl-tests issue 206",
        rules=("rdma-without-ipc-lock",),
    ),
    Cause(
        name="rdma-retry-exceeded",
        title="RDMA packets do not arrive",
        signs=(_completion(12, 13),),
        confidence="medium",
        messages=(
            "NET/IB : Got completion from peer ... with status=12",
            "with error 12",
        ),
        explanation="The adapter sent a packet until its retries were used up. The link or switch drops "
        "packets (PFC, VLAN), the GID has no route, or the other rank has ended.",
        remedy="Test the pair of nodes with ib_write_bw on the same GID and traffic class. Read the counters "
        "of drops and pauses of both ports and of the switch.",
        source="github.com/NVIDIA/nccl issue 426",
        rules=("gid-index-link-local", "nccl-gid-index-set"),
    ),
    Cause(
        name="rdma-protection-error",
        title="the network adapter may not access the memory of a transfer",
        signs=(_completion(4, 8, 10),),
        confidence="medium",
        messages=("NET/IB : Got completion with error 4",),
        explanation="The adapter and the memory do not fit together: GPUDirect with a peer memory module that does not "
        "fit the driver, a second process on the same GPU, or PCIe access control.",
        remedy="Set NCCL_NET_GDR_LEVEL=LOC: if the run then works, update nvidia-peermem or the driver.",
        source="github.com/NVIDIA/nccl issue 214",
    ),
    Cause(
        name="rdma-connection-flushed",
        title="an RDMA connection was closed before its transfers ended",
        signs=(_completion(5),),
        level=Level.CONSEQUENCE,
        confidence="low",
        messages=("NET/IB : Got completion with error 5",),
        explanation="State 5 (flushed) follows from an earlier error of the same connection: another transfer failed, "
        "the link went down, or the process at one end has ended.",
        remedy="Look for the first completion with another state in the logs of both ranks, and for a rank that ended.",
        source="github.com/NVIDIA/nccl issue 1405",
    ),
    Cause(
        name="rdma-device-permission",
        title="the pod may not open the RDMA device",
        signs=(
            Sign("/dev/infiniband", r"(?i)permission denied|errno 13"),
            Sign("Call to ibv_open_device failed"),
            Sign("NET/IB : Unable to open device"),
        ),
        explanation="The device is visible but not granted: the pod does not request it from a device plugin.",
        remedy="Request the resource of the RDMA device plugin, and add the capability IPC_LOCK.",
        source="github.com/NVIDIA/nccl src/transport/net_ib/init.cc",
        rules=("fabric-resource-missing", "rdma-without-ipc-lock"),
    ),
    Cause(
        name="rdma-link-down",
        title="the link of a network adapter went down",
        signs=(
            Sign("mlx5", r"mlx5_core .*[Ll]ink (?:DOWN|[Dd]own)"),
            Sign("async event", r"Got (?:non-fatal )?async event ?: port error"),
        ),
        hides=("rdma-retry-exceeded",),
        messages=(
            "Got async event : port error",
            "mlx5_core ... Link down",
        ),
        explanation="Cable, transceiver or switch port failed, or somebody disabled the port.",
        remedy="Cordon the node, check the port (ibstat, ethtool, the switch), and restart the run on other nodes.",
        source="github.com/NVIDIA/nccl issue 905",
    ),
    Cause(
        name="rdma-adapter-failed",
        title="a network adapter has failed",
        signs=(
            Sign("async ", r"(?:async event :|async fatal event:) (?:local catastrophic error|device fatal)"),
            Sign("mlx5_core", r"mlx5_core .*(?:assert_var|health compromised|device's health)"),
        ),
        messages=(
            "Got async event : local catastrophic error",
            "mlx5_core ... health compromised",
        ),
        explanation="The adapter reports a fatal error of its firmware or hardware, and all its connections are lost.",
        remedy="Drain the node, read the kernel's log of the adapter, update its firmware, and reset or replace it.",
        source="github.com/NVIDIA/nccl issue 230",
    ),
    Cause(
        name="rdma-registration-failed",
        title="RDMA memory cannot be registered",
        signs=(Sign("ibv_reg_", r"failed(?: with error|:) (?!Cannot allocate memory)"),),
        confidence="medium",
        messages=("Call to ibv_reg_mr_iova2 failed with error Invalid argument",),
        explanation="The adapter's driver refuses the memory of the GPU: nvidia-peermem or DMA-BUF is missing or does "
        "not fit the driver, or PCIe access control blocks the path.",
        remedy="Load nvidia-peermem, or use an open driver with DMA-BUF; NCCL_NET_GDR_LEVEL=LOC shows whether "
        "GPUDirect is the reason.",
        source="github.com/modelscope/ms-swift issue 6107",
    ),
    Cause(
        name="efa-device-missing",
        title="libfabric finds no EFA device in the pod",
        signs=(Sign("fi_getinfo() call failed"),),
        confidence="medium",
        explanation="The pod does not request vpc.amazonaws.com/efa, so /dev/infiniband is absent, or the libfabric of "
        "the image is not that of EFA.",
        remedy="Request vpc.amazonaws.com/efa; `fi_info -p efa` must list devices in the pod.",
        source="github.com/aws/aws-ofi-nccl issue 1020",
        rules=("fabric-resource-missing",),
    ),
    Cause(
        name="rdma-without-gpudirect",
        title="RDMA copies through host memory: GPUDirect is off",
        signs=(Sign("NET/IB", r"GPU Direct RDMA Disabled for"),),
        messages=("NET/IB : GPU Direct RDMA Disabled for HCA",),
        level=Level.HINT,
        confidence="medium",
        explanation="The module nvidia-peermem (or DMA-BUF) is missing on this node, or the adapter is far "
        "from the GPU.",
        remedy="Load nvidia-peermem on every GPU node; the GPU operator does so with driver.rdma.enabled.",
        source="github.com/NVIDIA/nccl src/graph/paths.cc",
    ),
)
