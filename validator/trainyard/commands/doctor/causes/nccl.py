"""Messages of NCCL and of PyTorch's process group on top of it."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

_NCCL = "docs.nvidia.com/deeplearning/nccl/user-guide: troubleshooting"
# A communicator that spans nodes; within one node NCCL needs no network.
_NODES = (Sign("nNodes", r"nNodes (?:[2-9]|\d\d)"), Sign("via NET/"))

CAUSES = (
    Cause(
        name="nccl-watchdog-timeout",
        title="a collective operation timed out",
        signs=(
            Sign("Watchdog caught collective operation timeout"),
            Sign("Some NCCL operations have failed or timed out"),
            Sign("Received a dump signal due to a collective timeout"),
            Sign("WorkNCCL(", r"ran for \d+ millisecond"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        hides=("process-crashed", "nccl-aborted"),
        explanation="A rank waited for the others until its timeout. One of them has failed, hangs, is slow "
        "or has taken another path. The rank with the lowest sequence number, or the last one to report, is "
        "the one to look at.",
        remedy="Read the log of that rank and of its node: GPU (nvidia-smi, dmesg), link (ibstat), pod events. "
        "`flightRecorder.enabled` records which collective each rank has reached.",
        source="github.com/pytorch/pytorch issue 118369",
        rules=(
            "nccl-env-differs-across-roles",
            "torch-dump-without-buffer",
            "nccl-ib-timeout-infinite",
        ),
    ),
    Cause(
        name="nccl-system-error",
        title="a system call of NCCL failed",
        signs=(Sign("unhandled system error"), Sign("ncclSystemError")),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="Shared memory, locked memory or a socket failed. The error itself does not say which.",
        remedy="Set NCCL_DEBUG=WARN and run again: NCCL then prints the call that failed above this error.",
        source="github.com/NVIDIA/Megatron-LM issue 71",
        rules=("shm-default-64mi", "rdma-without-ipc-lock"),
    ),
    Cause(
        name="nccl-cuda-error",
        title="a CUDA call of NCCL failed",
        signs=(Sign("unhandled cuda error"), Sign("ncclUnhandledCudaError"), Sign("NCCL WARN Cuda failure")),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="No free GPU memory, a driver that is too old, or a GPU with an error.",
        remedy="Set NCCL_DEBUG=WARN and read the line above the error; check the GPU with nvidia-smi and dmesg.",
        source=_NCCL,
        rules=("nccl-cumem-host-numa",),
    ),
    Cause(
        name="nccl-remote-error",
        title="the connection to another rank broke",
        signs=(
            Sign("ncclRemoteError"),
            Sign("remote process exited or there was a network error"),
            Sign("Connection closed by remote peer"),
            Sign("NCCL WARN Call to ", r"failed : (?:Connection reset by peer|Broken pipe)"),
        ),
        messages=(
            "ncclRemoteError",
            "remote process exited or there was a network error",
            "Connection closed by remote peer",
            "NCCL WARN Call to recv failed : Connection reset by peer",
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="The other rank has ended, so its connections closed. This rank did nothing wrong.",
        remedy="Find the rank or pod that failed first; its log has the cause.",
        source="github.com/NVIDIA/nccl issue 1232",
    ),
    Cause(
        name="nccl-internal-error",
        title="a check inside of NCCL failed",
        signs=(Sign("internal error - please report this issue to the NCCL developers"), Sign("ncclInternalError")),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="NCCL found something that it does not expect: network devices or a topology that differ between "
        "the nodes, a plugin of another version, or a state that an earlier error has left.",
        remedy="Read the lines with `NCCL WARN` above it. Compare NCCL, its plugin and the devices of all nodes.",
        source="github.com/NVIDIA-NeMo/Run issue 266",
    ),
    Cause(
        name="nccl-watchdog-stuck",
        title="the watchdog of a rank hung",
        signs=(Sign("Heartbeat monitor timed out"), Sign("watchdog got stuck for")),
        level=Level.CONSEQUENCE,
        confidence="low",
        hides=("process-crashed",),
        explanation="A CUDA or NCCL call did not return, so the thread that watches the collectives stood still. Often "
        "another rank has failed or starts late.",
        remedy="Find the rank that did not arrive. py-spy dump shows the call; TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC gives "
        "more time.",
        source="github.com/pytorch/pytorch pull request 115888",
    ),
    Cause(
        name="nccl-invalid-usage",
        title="NCCL refused a call",
        signs=(
            Sign("ncclInvalidUsage"),
            Sign("ncclInvalidArgument"),
            Sign("invalid ", r"NCCL (?:failure|error)\b.*\binvalid (?:usage|argument)"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="The program passed arguments that do not fit together: ranks, GPUs, or buffers on another device.",
        remedy="Read `Last error` below it, or set NCCL_DEBUG=WARN: NCCL names the argument.",
        source="github.com/verl-project/verl issue 161",
    ),
    Cause(
        name="nccl-aborted",
        title="the communicator of a rank was aborted",
        signs=(Sign("NCCL communicator was aborted"),),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="The watchdog or the program ended the communicator after an earlier error of a rank.",
        remedy="Find the first error: the rank that failed or timed out before this message.",
        source="github.com/pytorch/pytorch torch/csrc/distributed/c10d/NCCLUtils.hpp",
    ),
    Cause(
        name="nccl-connect-failed",
        title="NCCL cannot connect to the address of another rank",
        signs=(
            Sign("NCCL WARN", r"[Cc]onnect to \S+ (?:failed|returned).*(?:refused|[Nn]o route|timed out|unreachable)"),
        ),
        confidence="medium",
        messages=(
            "NCCL WARN Connect to 172.18.0.1<49273> failed : Connection refused",
            "socketPollConnect: Connect to ... returned 113(No route to host)",
        ),
        explanation="The other rank announced an address that this pod cannot reach: that of a bridge such as "
        "docker0, of another network, or of a port that a firewall closes. Or the other rank has ended.",
        remedy="Look at the address: if it is none of the pod network, set NCCL_SOCKET_IFNAME to an interface that all "
        "pods share. Else read the log of the rank at this address, and the network policies.",
        source="github.com/NVIDIA/nccl src/os/linux.cc",
        rules=("nccl-ifname-absent-in-pod", "nccl-env-differs-across-roles"),
    ),
    Cause(
        name="nccl-rank-twice",
        title="two processes have the same rank",
        signs=(Sign("has already checked in", r"rank \d+ of \d+"),),
        messages=("Bootstrap Root : rank 1 of 8 ranks has already checked in",),
        explanation="A node was started with the rank of another one, or a process of an older run still connects.",
        remedy="Give each node its own --node-rank, or use the dynamic rendezvous; end old processes.",
        source="github.com/Lightning-AI/pytorch-lightning issue 14986",
    ),
    Cause(
        name="gpu-peer-access",
        title="two GPUs cannot access each other",
        signs=(Sign("peer access is not supported between these two devices"),),
        explanation="The board, the virtual machine or the PCIe settings do not allow peer access, and NCCL or a "
        "custom "
        "all-reduce tries it nevertheless.",
        remedy="Set NCCL_P2P_DISABLE=1 for these GPUs; in virtual machines, check PCIe access control (ACS).",
        source="github.com/ray-project/ray_lightning issue 24",
    ),
    Cause(
        name="nccl-no-socket-interface",
        title="no network interface matches NCCL_SOCKET_IFNAME",
        signs=(
            Sign("no socket interface found"),
            Sign("is neither AF_INET(2) nor AF_INET6(10)"),
            Sign("no NCCL_SOCKET_IFNAME interface found"),
        ),
        explanation="The pod has no interface of that name, or the name has a sign that this NCCL does not know.",
        remedy="List the interfaces of a pod (ip -br addr) and name one that all pods have, such as eth0 or net1.",
        source="github.com/NVIDIA/nccl issue 1837",
        rules=("nccl-ifname-absent-in-pod", "nccl-ifname-excludes-pod-eth0"),
    ),
    Cause(
        name="nccl-version-mismatch",
        title="the ranks run different versions of NCCL",
        signs=(Sign("Mismatched NCCL version detected"),),
        explanation="All ranks of a communicator need one NCCL. Different images, or a library on "
        "LD_LIBRARY_PATH, differ.",
        remedy="Use one image for all replicas, and remove NCCL libraries that the node or a volume adds.",
        source="github.com/NVIDIA/nccl src/init.cc",
    ),
    Cause(
        name="nccl-network-plugin",
        title="NCCL cannot load the network that NCCL_NET names",
        signs=(Sign("NCCL WARN Error: network"), Sign("Failed to initialize any NET plugin")),
        explanation="The plugin (libnccl-net.so) is not in the image, is built for another NCCL, or finds no device.",
        remedy="Install the plugin that fits the NCCL of the image and put it on LD_LIBRARY_PATH, or remove NCCL_NET.",
        source="github.com/NVIDIA/nccl src/plugin/net.cc",
    ),
    Cause(
        name="nccl-duplicate-gpu",
        title="two ranks use the same GPU",
        signs=(Sign("Duplicate GPU detected"),),
        explanation="The program does not select its GPU by LOCAL_RANK, or there are more ranks than GPUs.",
        remedy="Call torch.cuda.set_device(LOCAL_RANK) first, and start one process per GPU.",
        source="github.com/NVIDIA/nccl src/init.cc",
        rules=("torchrun-nproc-gpu-mismatch",),
    ),
    Cause(
        name="nccl-tcp-fallback",
        title="NCCL uses TCP between nodes",
        signs=(Sign("Using network Socket"), Sign("via NET/Socket")),
        needs=_NODES,
        level=Level.HINT,
        confidence="medium",
        explanation="NCCL found no RDMA device, or may not use it, so all traffic between nodes takes the "
        "socket path. On a cluster with a fast network, training is then several times slower.",
        remedy="Request the RDMA resource and the network of the fabric, remove NCCL_IB_DISABLE, and look for "
        "`Using network IB` with GDRDMA. On a cluster without RDMA, this is expected.",
        source="github.com/InternLM/lmdeploy issue 3286",
        rules=("fabric-resource-missing", "nccl-ib-disabled-with-rdma"),
    ),
)
