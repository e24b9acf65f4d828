"""Measures the network between nodes before a run: an all-reduce over all of them, then pairs of nodes.

torchrun starts it on each node by itself, so that nodes which never come are told by name. The first process of the
first node prints a table and one line of JSON, and alone fails the test. What counts is the last row: small sizes
measure latency. Then pairs of nodes find the slow one. PyTorch's collectives measure, or NVIDIA's nccl-tests.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import measuring
import nccl_tests
import pairs
import remote
import roll_call
import torch
import torch.distributed as dist
import transports
from torch.distributed.distributed_c10d import Store

# By default less of the best pair's bandwidth than this makes a pair slow: processors are shared with who knows what.
RATIO = {"nccl": 0.8, "nccl-tests": 0.8, "gloo": 0.5}
TERMINATION_MESSAGE = Path("/dev/termination-log")
# What measures pairs of numbers, where the list has the node behind each number.
MakeMeter = Callable[[list[int]], Callable[[list[pairs.Pair]], pairs.Bandwidths]]


class Process(NamedTuple):
    """This one of all processes: its node, and its place among those of the node."""

    node: int
    local: int
    of_node: int

    @property
    def rank(self) -> int:
        """Its place among all."""
        return self.node * self.of_node + self.local


def main() -> int:
    """Meet, measure, judge and print: 1 when something is wrong, in the process that says what."""
    options = _options()
    own = Process(options.index, int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"]))
    report: dict[str, Any] = {"nodes": [], "world": options.nodes * own.of_node, "rows": []}
    try:
        # The store lives in the first process, and ends with it.
        store = _meet(own, options, report)
        how = measure_with_nccl_tests if options.nccl_tests else measure
        how(store, own, options, report)
    except roll_call.Absent as absent:
        report["nodes"], report["missing"] = list(absent.names.values()), absent_names(absent, options)
        faults = [f"{', '.join(report['missing'])} did not come within {options.start_seconds} s"]
    except (RuntimeError, ValueError) as error:
        # Collectives say by these that a connection is lost or that the time is over.
        faults = [f"the measurement broke off: {' '.join(str(error).split())}"]
    else:
        if own.rank > 0:
            return 0
        faults = judge(report, options.min_bus_bandwidth)
    _say(report, faults, is_first=own.rank == 0)
    return 1 if faults else 0


def _meet(own: Process, options: argparse.Namespace, report: dict[str, Any]) -> Store:
    seconds, is_host = options.start_seconds, own.rank == 0
    store = roll_call.meet(options.address, options.port, is_host=is_host, seconds=seconds)
    name = os.environ.get("NODE_NAME") or socket.gethostname()
    names = roll_call.names(store, own.node, name, count=options.nodes, is_host=is_host, seconds=seconds)
    # One that sees no GPUs, or fewer, would keep the others waiting.
    roll_call.agree(store, own.node, names, f"{torch.cuda.device_count()} GPUs and {own.of_node} processes")
    # Two pods may share a node.
    report["nodes"] = [
        name if names.count(name) == 1 else f"{name} (pod {number})" for number, name in enumerate(names)
    ]
    return store


def absent_names(absent: roll_call.Absent, options: argparse.Namespace) -> list[str]:
    """The nodes that are missing, or their pods where the nodes cannot be known."""
    nodes = sorted(set(filter(None, options.expect.split(","))) - set(absent.names.values()))
    if len(nodes) == len(absent.nodes):
        return nodes
    if not options.address.partition(".")[0].endswith("-0"):
        return [f"node {number}" for number in absent.nodes]
    return [f"pod {host(options.address, number).partition('.')[0]}" for number in absent.nodes]


def host(first: str, number: int) -> str:
    """The host name of a node, by that of the first: `<pod>-0.<service>`, or all are the one machine."""
    pod, dot, service = first.partition(".")
    return f"{pod[:-1]}{number}{dot}{service}" if pod.endswith("-0") else first


def _options() -> argparse.Namespace:
    # None begins as one of torchrun's does: it would take `--start` for its `--start-method`.
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, metavar="N", default=1, help="number of nodes")
    parser.add_argument("--index", type=int, metavar="N", default=0, help="number of this one, from 0")
    parser.add_argument("--address", default="localhost", help="host name of the first node")
    parser.add_argument("--port", type=int, metavar="N", default=29400, help="port on which the nodes meet there")
    parser.add_argument("--start-seconds", type=int, metavar="N", default=300, help="how long they wait for each other")
    parser.add_argument("--expect", default="", help="names of the nodes, with commas, where they are known")
    parser.add_argument("--first-size", type=int, metavar="N", default=2**20, help="smallest size in bytes")
    parser.add_argument("--last-size", type=int, metavar="N", default=2**26, help="largest size in bytes")
    parser.add_argument("--size-factor", type=int, metavar="N", default=2, help="from one size to the next")
    parser.add_argument(
        "--warm-up", type=int, metavar="N", default=2, help="all-reduces of each size before those that count"
    )
    parser.add_argument("--iterations", type=int, metavar="N", default=5, help="all-reduces of each size that count")
    parser.add_argument("--min-bus-bandwidth", type=float, default=0.0, metavar="X", help="GB/s for the last row")
    parser.add_argument("--slow-ratio", type=float, metavar="X", help="part of the best pair's bandwidth that is slow")
    parser.add_argument("--nccl-tests", type=json.loads, metavar="JSON", help="words that start all_reduce_perf")
    parser.add_argument("--run-by", type=json.loads, metavar="JSON", help="words that start mpirun", default=["mpirun"])
    parser.add_argument(
        "--call-port", type=int, metavar="N", default=29401, help="port on which nodes are called by it"
    )
    parser.add_argument("--call-key", type=Path, metavar="FILE", help="what both ends must have for that")
    return parser.parse_args()


def measure(store: Store, own: Process, options: argparse.Namespace, report: dict[str, Any]) -> None:
    """Collective: the sweep and the pairs, which go into the report as they come."""
    has_gpus = torch.cuda.is_available()
    device = torch.device("cuda", own.local) if has_gpus else torch.device("cpu")
    if has_gpus:
        torch.cuda.set_device(device)
    log = transports.watch_nccl() if has_gpus else None
    report["backend"] = "nccl" if has_gpus else "gloo"
    # Without `device_id`: a group of a bound device is split off by all processes, and pairs are made by two nodes.
    dist.init_process_group(
        report["backend"], store=store, rank=own.rank, world_size=report["world"], timeout=measuring.TIMEOUT
    )
    try:
        for row in _sweep(device, options):
            _add(row, report, is_said=own.rank == 0)
        report["transport"] = sorted(_everywhere(_transports(log, options.port)))
        report |= _pairs(_torch_meter(device, own, options), options, report)
        dist.barrier(device_ids=[own.local] if has_gpus else None)
    finally:
        if log is not None:
            shutil.rmtree(log)
    dist.destroy_process_group()


def measure_with_nccl_tests(store: Store, own: Process, options: argparse.Namespace, report: dict[str, Any]) -> None:
    """The same by mpirun on the first node, which calls the others; each node has one process that waits for it."""
    if own.local > 0:
        return
    report["backend"] = "nccl-tests"
    log = transports.watch_nccl()
    remote.serve(options.call_port, options.call_key)
    roll_call.say(store, "listens", own.node)
    if own.node == 0:
        roll_call.hear(store, "listens", options.nodes)
        try:
            _command_nccl_tests(own, options, report)
        finally:
            store.set("measured", "")
        roll_call.say(store, "transport", own.node, _ways(log))
        said = roll_call.hear(store, "transport", options.nodes)
        report["transport"] = sorted(set().union(*map(json.loads, said)))
    else:
        # A first node that breaks off says why, and its store goes with it.
        with suppress(RuntimeError):
            roll_call.wait(store, "measured")
            roll_call.say(store, "transport", own.node, _ways(log))


def _ways(log: Path | None) -> str:
    return json.dumps(sorted(transports.nccl_transports(log)))


def _command_nccl_tests(own: Process, options: argparse.Namespace, report: dict[str, Any]) -> None:
    programs = nccl_tests.Programs(options.run_by, options.nccl_tests, options.call_port, options.call_key)
    # Open MPI knows its own node by this name alone.
    hosts = [socket.gethostname(), *(host(options.address, number) for number in range(1, options.nodes))]
    meter = nccl_tests.Meter(programs, hosts, own.of_node)
    sums = nccl_tests.Sums(
        options.first_size, options.last_size, options.size_factor, options.warm_up, options.iterations
    )
    for row in meter.sweep(sums):
        _add(row, report, is_said=True)
    report |= _pairs(lambda order: lambda wanted: meter.pairs(wanted, order, sums), options, report)


def _sweep(device: torch.device, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for size in measuring.sizes(options.first_size, options.last_size, options.size_factor):
        yield measuring.row(size, device, warm_up=options.warm_up, iterations=options.iterations)


def _pairs(meter: MakeMeter, options: argparse.Namespace, report: dict[str, Any]) -> dict[str, Any]:
    ratio, names = options.slow_ratio or RATIO[report["backend"]], report["nodes"]
    # Nodes with names alike are near to each other.
    order = sorted(range(len(names)), key=lambda number: _natural(names[number]))
    return compare(pairs.search(len(names), meter(order), ratio), [names[number] for number in order], ratio)


def _torch_meter(device: torch.device, own: Process, options: argparse.Namespace) -> MakeMeter:
    size, iterations, processes = options.last_size, options.iterations, own.of_node
    return lambda order: measuring.PairMeter(size, device, iterations=iterations, order=order, processes=processes)


def compare(measured: pairs.Bandwidths, names: list[str], ratio: float) -> dict[str, Any]:
    """What the pairs say: each of them, the slow nodes, and those that it cannot tell of."""
    best = max(measured.values(), default=0.0)
    slow = []
    for number, partners in pairs.slow(measured, ratio).items():
        bandwidths = {names[other]: measured[min(number, other), max(number, other)] for other in partners}
        said = " and ".join(f"{bandwidth:g} GB/s with {other}" for other, bandwidth in bandwidths.items())
        slow.append({"node": names[number], "evidence": f"{said}, where the best pair has {best:g} GB/s"})
    return {
        "pairs": [{"nodes": [names[one], names[other]], "busbw": found} for (one, other), found in measured.items()],
        "slow": slow,
        "slowest": slow[0] if slow else None,
        "unknown": [names[number] for number in pairs.unknown(len(names), measured, ratio)] if measured else [],
    }


def judge(report: dict[str, Any], min_bus_bandwidth: float) -> list[str]:
    """What is wrong with the measurements."""
    rows, last = report["rows"], report["rows"][-1]
    report["threshold"] = min_bus_bandwidth or None
    faults = [f"an all-reduce of {row['bytes']} bytes gave {row['wrong']} wrong sums" for row in rows if row["wrong"]]
    faults += [f"{found['node']} is slow: {found['evidence']}" for found in report["slow"]]
    if report["unknown"]:
        faults.append(f"{', '.join(report['unknown'])}: slow wherever measured, but not with nodes known to be good")
    if last["busbw"] < min_bus_bandwidth:
        reached = f"{last['busbw']:.3f} GB/s of bus bandwidth at {last['bytes']} bytes is below {min_bus_bandwidth:g}"
        faults.append(reached if report["slow"] else f"{reached}; {_nobody(report)}")
    return faults


def _nobody(report: dict[str, Any]) -> str:
    """Why no node is named."""
    found = [pair["busbw"] for pair in report["pairs"]]
    if not found:
        return "it is this node's own"
    if len(found) == 1:
        return f"either of {' and '.join(report['nodes'])} or the path between them: a third node would tell"
    return f"no node stands out, the pairs have {min(found):g} to {max(found):g} GB/s: look at what all nodes share"


def _say(report: dict[str, Any], faults: list[str], *, is_first: bool) -> None:
    """Every process says what is wrong, and the first one what was found."""
    for fault in faults:
        print(f"preflight: error: {fault}", file=sys.stderr, flush=True)
    verdict = "failed" if faults else "passed"
    if is_first:
        print(json.dumps({**report, "faults": faults, "verdict": verdict}), flush=True)
    # In a pod `kubectl get pod -o yaml` shows it; elsewhere there is no such file.
    if TERMINATION_MESSAGE.is_file():
        with suppress(OSError):
            TERMINATION_MESSAGE.write_text("\n".join([verdict, *faults])[:4000])


def _add(row: dict[str, Any], report: dict[str, Any], *, is_said: bool) -> None:
    if is_said and not report["rows"]:
        print("".join(f"{name:>14}" for name in row), flush=True)
    if is_said:
        print("".join(f"{value:>14}" for value in row.values()), flush=True)
    report["rows"].append(row)


def _everywhere(found: set[str]) -> set[str]:
    """Collective: what any process has found."""
    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, found)
    return set().union(*gathered)


def _transports(log: Path | None, port: int) -> set[str]:
    if dist.get_backend() == "nccl":
        return transports.nccl_transports(log)
    return {f"tcp/{name}" for name in transports.interfaces(port)}


def _natural(name: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


if __name__ == "__main__":
    sys.exit(main())
