"""An all-reduce over all processes, measured before a run: `helm test` starts it with torchrun on the run's own nodes.

Rank 0 prints one line of JSON. A bandwidth is in GB/s, by the conventions of nccl-tests (doc/PERFORMANCE.md): the
algorithm's is bytes over seconds, the bus's is that times 2(n-1)/n, which compares with the speed of the links whatever
the number of processes n. What counts is the last row: small sizes measure latency.
"""

from __future__ import annotations

import argparse
import fcntl
import ipaddress
import json
import os
import re
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

MEBIBYTE = 2**20
WARM_UP, ROUNDS = 2, 5
# Everyone is there already: what takes longer than this hangs, on a path that is blocked.
TIMEOUT = timedelta(seconds=120)
ESTABLISHED = "01"
SIOCGIFADDR = 0x8915
# The end of NCCL's line for each channel, such as "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA".
NCCL_CHANNEL = re.compile(r" via (?:(?P<local>P2P|SHM)\b|NET/(?P<net>[^/\n]+))")


def main() -> int:
    """Measure, print, and judge: 1 when the bandwidth is too low or a sum is wrong."""
    arguments = _arguments()
    has_gpus = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if has_gpus else torch.device("cpu")
    if has_gpus:
        torch.cuda.set_device(device)
    log = _watch_nccl() if has_gpus else None
    dist.init_process_group("nccl" if has_gpus else "gloo", timeout=TIMEOUT, device_id=device if has_gpus else None)
    try:
        rows = [measure(mebibytes, device) for mebibytes in sizes(arguments.max_mebibytes)]
        report = {
            "worldSize": dist.get_world_size(),
            "backend": dist.get_backend(),
            "transport": sorted(_everywhere(_transports(log))),
            "rows": rows,
            "minBusBandwidth": arguments.min_bus_bandwidth,
        }
        faults = judge(rows, arguments.min_bus_bandwidth)
        if dist.get_rank() == 0:
            print(json.dumps({**report, "passed": not faults}), flush=True)
            for fault in faults:
                print(f"preflight: error: {fault}", file=sys.stderr, flush=True)
        # No process leaves before rank 0 has printed: torchrun ends all of them as soon as one has failed.
        dist.barrier()
    finally:
        if log is not None:
            log.unlink()
    dist.destroy_process_group()
    return 1 if faults else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-mebibytes", type=int, default=64, metavar="N", help="largest size in MiB")
    parser.add_argument("--min-bus-bandwidth", type=float, default=0.0, metavar="X", help="GB/s for the last row")
    return parser.parse_args()


def sizes(largest: int) -> list[int]:
    """Sizes in MiB: from 1, doubled, up to the largest."""
    doubled = [2**power for power in range(largest.bit_length()) if 2**power < largest]
    return [*doubled, largest]


def bus_bandwidth(algorithm: float, world_size: int) -> float:
    """What an all-reduce moves over each link: a process sends and receives 2(n-1)/n of the data."""
    return algorithm * 2 * (world_size - 1) / world_size


def judge(rows: list[dict[str, Any]], min_bus_bandwidth: float) -> list[str]:
    """What is wrong with the measurements."""
    last = rows[-1]
    faults = [f"an all-reduce of {row['bytes']} bytes gave a wrong sum" for row in rows if not row["correct"]]
    if last["busBandwidth"] < min_bus_bandwidth:
        reached, size = last["busBandwidth"], last["bytes"]
        faults.append(f"{reached:.3f} GB/s of bus bandwidth at {size} bytes is below {min_bus_bandwidth:g}")
    return faults


def measure(mebibytes: int, device: torch.device) -> dict[str, Any]:
    """Collective: one row. The slowest process is the measure of all."""
    size, count = dist.get_world_size(), mebibytes * MEBIBYTE // 4
    ours = torch.full((count,), float(dist.get_rank() + 1), device=device)
    data = ours.clone()
    dist.all_reduce(data)
    correct = bool((data == size * (size + 1) / 2).all())
    for _ in range(WARM_UP):
        dist.all_reduce(data.copy_(ours))
    dist.barrier()
    _wait(device)
    began = time.perf_counter()
    for _ in range(ROUNDS):
        dist.all_reduce(data)
    _wait(device)
    slowest = torch.tensor([time.perf_counter() - began, float(not correct)], device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    seconds, wrong = (float(value) for value in slowest.tolist())
    algorithm = mebibytes * MEBIBYTE * ROUNDS / seconds / 1e9
    return {
        "bytes": mebibytes * MEBIBYTE,
        "seconds": round(seconds / ROUNDS, 6),
        "algorithmBandwidth": round(algorithm, 3),
        "busBandwidth": round(bus_bandwidth(algorithm, size), 3),
        "correct": not wrong,
    }


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _everywhere(found: set[str]) -> set[str]:
    """Collective: what any process has found."""
    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, found)
    return set().union(*gathered)


def _watch_nccl() -> Path | None:
    """Have NCCL write which way each channel takes; a NCCL_DEBUG of the user's is left to go where it goes."""
    if "NCCL_DEBUG" in os.environ:
        return None
    handle, name = tempfile.mkstemp(prefix="nccl-", suffix=".log")
    os.close(handle)
    os.environ.update(NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT", NCCL_DEBUG_FILE=name)
    return Path(name)


def _transports(log: Path | None) -> set[str]:
    if dist.get_backend() == "nccl":
        return nccl_transports(log.read_text(errors="replace")) if log is not None else set()
    return {f"tcp/{name}" for name in interfaces(int(os.environ["MASTER_PORT"]))}


def nccl_transports(text: str) -> set[str]:
    """Transports in NCCL's log: `p2p`, `shm`, `net/IB`, `net/Socket`, `net/<plugin>`."""
    return {
        match["local"].lower() if match["local"] else "net/" + match["net"].replace(" ", "-")
        for match in NCCL_CHANNEL.finditer(text)
    }


def interfaces(store_port: int) -> set[str]:
    """Names of the interfaces that carry this process's TCP connections, those of the store apart (Linux).

    Source of the columns: https://docs.kernel.org/networking/proc_net_tcp.html
    """
    sockets = set(_own_sockets())
    owners = dict(_owners())
    found = set()
    for table in (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6")):
        rows = table.read_text().splitlines()[1:] if table.exists() else []
        for columns in map(str.split, rows):
            local, port = columns[1].split(":")
            ports = {int(port, 16), int(columns[2].split(":")[1], 16)}
            if columns[3] == ESTABLISHED and columns[9] in sockets and store_port not in ports:
                address = _address(local)
                found.add("lo" if address.is_loopback else owners.get(str(address), str(address)))
    return found


def _own_sockets() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except FileNotFoundError:  # the listing's own descriptor is closed by now
            continue
        if target.startswith("socket:["):
            yield target.removeprefix("socket:[").removesuffix("]")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    # The kernel prints each 32-bit word of the address in the machine's byte order.
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    address = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _owners() -> Iterator[tuple[str, str]]:
    """Address and name of each interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(probe, SIOCGIFADDR, struct.pack("256s", name.encode()))
            except OSError:  # it has no IPv4 address
                continue
            yield socket.inet_ntoa(answer[20:24]), name
    table = Path("/proc/self/net/if_inet6")
    for row in table.read_text().splitlines() if table.exists() else ():
        columns = row.split()
        yield str(ipaddress.IPv6Address(int(columns[0], 16))), columns[5]


if __name__ == "__main__":
    sys.exit(main())
