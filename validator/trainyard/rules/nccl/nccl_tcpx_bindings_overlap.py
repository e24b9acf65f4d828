"""Threads of GPUDirect-TCPX that send and those that receive are bound to the same processors, so both become slower.

`NCCL_GPUDIRECTTCPX_TX_BINDINGS` and `NCCL_GPUDIRECTTCPX_RX_BINDINGS` list processors for each interface, as in
`eth1:8-21,112-125`. The bindings of Google's machine types give each side its own. A sample bound 124 and 125 to
both.

Write ranges without a common processor, as in the documentation of the machine type.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_SEND, _RECEIVE = "NCCL_GPUDIRECTTCPX_TX_BINDINGS", "NCCL_GPUDIRECTTCPX_RX_BINDINGS"
# No machine has more processors.
_MOST = 4096


@rule(
    code="NC052",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "https://docs.cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx",
        "github.com/GoogleCloudPlatform/container-engine-accelerators pull request 570",
    ),
    needs=(_SEND, _RECEIVE),
)
def nccl_tcpx_bindings_overlap(container: Container) -> Iterator[Problem]:
    """Report processors that both sides of an interface have."""
    send, receive = container.setting(_SEND), container.setting(_RECEIVE)
    if send is None or receive is None:
        return
    senders = _processors(send.value or "")
    for interface, numbers in _processors(receive.value or "").items():
        both = numbers & senders.get(interface, 0)
        if both:
            first, last = (both & -both).bit_length() - 1, both.bit_length() - 1
            told = f"{first} to {last}" if last > first else f"{first}"
            yield Problem(
                receive.at,
                f"{_RECEIVE} and {_SEND} bind threads of {interface} to the same processors, {told}",
                "write ranges without a common processor",
                related=((send.at, "the threads that send"),),
            )
            return


def _processors(value: str) -> dict[str, int]:
    """Returns the processors of each interface, a bit for each; 0 for a list that is not understood."""
    found = {}
    for entry in value.split(";"):
        interface, _, ranges = entry.strip().partition(":")
        numbers = 0
        for part in ranges.split(","):
            first, dash, last = part.strip().partition("-")
            low, high = decimal(first), decimal(last if dash else first)
            if low is None or high is None or high >= _MOST:
                numbers = 0
                break
            numbers |= (1 << (high + 1)) - (1 << low) if low <= high else 0
        found[interface] = numbers
    return found
