"""The sockets of a connection exceed 64, so NCCL reduces `NCCL_NSOCKS_PERTHREAD`.

A connection over TCP has `NCCL_SOCKET_NTHREADS` helper threads, at most 16, with `NCCL_NSOCKS_PERTHREAD` sockets each.
If the product is above 64, NCCL logs one warning and divides 64 by the number of threads: 16 threads with 8 sockets
become 16 with 4. Likewise 16 threads with 5 sockets become a configuration that nobody measured. The benchmark behind
the manifest did not use these numbers.

Make the product 64 or less. For 100 Gbit/s networks without RDMA, 4 times 4 is a good start; more threads take CPU that
the data loader needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Container

MOST_SOCKETS = 64
MOST_THREADS = 16


@rule(
    code="NC028",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_SOCKET_NTHREADS, NCCL_NSOCKS_PERTHREAD",
        "NVIDIA/nccl v2.30.7-1 src/transport/net_socket.cc: ncclNetSocketGetNsockNthread",
    ),
    needs=("NCCL_NSOCKS_PERTHREAD", "NCCL_SOCKET_NTHREADS"),
)
def nccl_socket_threads_product(container: Container) -> Iterator[Problem]:
    """More sockets than NCCL opens."""
    per_thread, per_connection = container.setting("NCCL_NSOCKS_PERTHREAD"), container.setting("NCCL_SOCKET_NTHREADS")
    if per_thread is None or per_connection is None:
        return
    sockets, threads = parse_integer(per_thread.value), parse_integer(per_connection.value)
    # Another rule reports more threads than NCCL allows.
    if sockets is None or threads is None or not 0 < threads <= MOST_THREADS or sockets * threads <= MOST_SOCKETS:
        return
    yield Problem(
        per_thread.at,
        f"{threads} threads with {sockets} sockets each exceed {MOST_SOCKETS} sockets: NCCL opens "
        f"{MOST_SOCKETS // threads} per thread",
        f"write {MOST_SOCKETS // threads} or less",
        related=((per_connection.at, "the threads per connection"),),
    )
