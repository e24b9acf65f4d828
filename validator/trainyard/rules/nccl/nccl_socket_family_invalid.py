"""`NCCL_SOCKET_FAMILY` is not a family that NCCL knows, so NCCL uses the first address that it finds.

NCCL compares the value character by character with `AF_INET` (IPv4) and `AF_INET6` (IPv6). `ipv4`, `IPv6`, `4` or
`af_inet` match neither. The log still shows "NCCL_SOCKET_FAMILY set by environment to ipv4", which looks as if it
worked. In dual-stack clusters, pods may then offer each other addresses of different families, and the bootstrap fails
or uses a network that is not routed.

Write `AF_INET` or `AF_INET6`, in capital letters.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Setting

FAMILIES = ("AF_INET", "AF_INET6")
MEANT = {
    **dict.fromkeys(("4", "V4", "IPV4", "IP4", "INET", "INET4", "AF_INET", "AF_INET4", "AF_IPV4"), "AF_INET"),
    **dict.fromkeys(("6", "V6", "IPV6", "IP6", "INET6", "AF_INET6", "AF_IPV6"), "AF_INET6"),
}


@rule(
    code="NC016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclEnvSocketFamily",),
    fix="safe",
    needs=("NCCL_SOCKET_FAMILY",),
)
def nccl_socket_family_invalid(setting: Setting) -> Iterator[Problem]:
    """An unknown address family."""
    value = literal_value(setting) if setting.name == "NCCL_SOCKET_FAMILY" else None
    if not value or value in FAMILIES:
        return
    meant = MEANT.get(value.strip().upper())
    yield Problem(
        setting.at,
        f"NCCL ignores NCCL_SOCKET_FAMILY=`{value}`: it accepts only AF_INET and AF_INET6",
        f'write "{meant}"' if meant else 'write "AF_INET" or "AF_INET6"',
        change_value(setting, meant) if meant else (),
    )
