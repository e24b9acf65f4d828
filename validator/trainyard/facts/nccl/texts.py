"""Names of networks and the form of addresses in NCCL's variables.

Sources: NVIDIA/nccl v2.32.3-1 src/plugin/net.cc (ncclNetInit compares NCCL_NET with the name that each plugin has, in
any case), src/transport/net_ib and src/transport/net_socket.cc (the names IB and Socket), src/bootstrap.cc
(NCCL_COMM_ID) and src/misc/socket.cc (ncclSocketGetAddrFromString); aws/aws-ofi-nccl
src/nccl_ofi_interface_nvidia.cc (the name Libfabric; AWS Libfabric up to 1.11.0 and, like OFI in later releases, where
the variable says so).
"""

from __future__ import annotations

from trainyard.startup import pattern

NETWORK = "NCCL_NET"
ADDRESS = "NCCL_COMM_ID"
_LIBFABRIC = "AWS Libfabric"
# Words that no plugin has for a name, with the name that is meant. There are plugins of vendors with further names.
NETWORKS = {
    **dict.fromkeys(("efa", "aws", "aws-ofi", "aws-ofi-nccl", "aws_ofi_nccl", "aws libfabrics"), _LIBFABRIC),
    **dict.fromkeys(("sockets", "tcp", "tcpip", "tcp/ip", "ethernet", "eth", "net/socket"), "Socket"),
    **dict.fromkeys(("infiniband", "roce", "rocev2", "rdma", "verbs", "ibverbs", "mlx5", "net/ib"), "IB"),
}
# The file of a plugin belongs in NCCL_NET_PLUGIN, an interface or an adapter in these.
LIBRARY = pattern(r"(.*/)?lib[\w.-]+\.so[\w.]*|.*/[\w.-]+\.so")
INTERFACE = pattern(r"(eth|ens|eno|enp|bond|ib|net)\d[\w.]*")
ADAPTER = pattern(r"(mlx[45]_|rdmap|bnxt_re|irdma|roce[px])\w*")
# `[IPv6]:PORT`, or a host or an IPv4 address with its port.
WITH_PORT = pattern(r"\[[^\]]+\]:\d+|[^:\[\]/]+:\d+")
