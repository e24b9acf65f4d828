"""`NCCL_NET` names no network that NCCL has, or `NCCL_COMM_ID` is no address with a port: the run stops at start-up.

NCCL compares `NCCL_NET` with the names of its networks, which are `IB` and `Socket`, and with those that the loaded
plugins give themselves. For EFA that is `AWS Libfabric`, as all releases of aws-ofi-nccl call themselves, and neither
`EFA` nor the name of its file. Without a match, NCCL ends with "Failed to initialize any NET plugin" or "network EFA
not found", although it would have found the plugin without the variable.

`NCCL_COMM_ID` is the address of the first rank: `HOST:PORT` or `[IPv6]:PORT`. NCCL answers another form with "Invalid
NCCL_COMM_ID, please use format: <ipv4>:<port> or [<ipv6>]:<port> or <hostname>:<port>".

Remove the variable, or write what the message says.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.texts import ADAPTER, ADDRESS, INTERFACE, LIBRARY, NETWORK, NETWORKS, WITH_PORT
from trainyard.model.run import Setting


@rule(
    code="NC049",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/nccl v2.32.3-1 src/plugin/net.cc: ncclNetInit, strcasecmp with the name of each plugin",
        "NVIDIA/nccl v2.32.3-1 src/bootstrap.cc: bootstrapNetInit, ncclSocketGetAddrFromString",
        "aws/aws-ofi-nccl src/nccl_ofi_interface_nvidia.cc: nvidia_plugin_name_fixup",
    ),
    needs=(NETWORK, ADDRESS),
)
def nccl_text_refused(setting: Setting) -> Iterator[Problem]:
    """Report names of networks and addresses that NCCL refuses."""
    if setting.name not in (NETWORK, ADDRESS):
        return
    value = literal_value(setting)
    if not value or any(sign in value for sign in "{<$"):
        return
    if setting.name == ADDRESS:
        if WITH_PORT.fullmatch(value) is None:
            message = f"NCCL_COMM_ID is `{value}`, and NCCL takes nothing but HOST:PORT: the run stops"
            yield Problem(setting.at, message, f"write `{_address(value)}`, or remove it: PyTorch needs none")
        return
    told = _told(value)
    if told:
        yield Problem(setting.at, f"NCCL has no network `{value}`, and no plugin has this name: the run stops", told)


def _told(value: str) -> str:
    """Returns what to write instead of the name of a network; empty if a plugin may have it."""
    word = value.strip().lower()
    if LIBRARY.fullmatch(word):
        return "write the file into NCCL_NET_PLUGIN, and remove NCCL_NET"
    if INTERFACE.fullmatch(word):
        return "write the interface into NCCL_SOCKET_IFNAME, and remove NCCL_NET"
    if ADAPTER.fullmatch(word):
        return "write the adapter into NCCL_IB_HCA, and remove NCCL_NET"
    meant = NETWORKS.get(word)
    return f"remove it, or write `{meant}`" if meant is not None else ""


def _address(value: str) -> str:
    host = value.rpartition("//")[2].strip("[]")
    if WITH_PORT.fullmatch(host):
        return host
    host = host.rstrip(":")
    return f"[{host}]:29500" if ":" in host else f"{host}:29500"
