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
        both = sorted(numbers & senders.get(interface, frozenset()))
        if both:
            told = f"{both[0]} to {both[-1]}" if len(both) > 1 else f"{both[0]}"
            yield Problem(
                receive.at,
                f"{_RECEIVE} and {_SEND} bind threads of {interface} to the same processors, {told}",
                "write ranges without a common processor",
                related=((send.at, "the threads that send"),),
            )
            return


def _processors(value: str) -> dict[str, frozenset[int]]:
    """Returns the processors of each interface; none for a list that is not understood."""
    found = {}
    for entry in value.split(";"):
        interface, _, ranges = entry.strip().partition(":")
        numbers: set[int] = set()
        for part in ranges.split(","):
            first, dash, last = part.strip().partition("-")
            low, high = decimal(first), decimal(last if dash else first)
            if low is None or high is None or high >= _MOST:
                numbers.clear()
                break
            numbers.update(range(low, high + 1))
        found[interface] = frozenset(numbers)
    return found
