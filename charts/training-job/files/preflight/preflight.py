"""Measures the network between nodes before a run: an all-reduce over all nodes, then pairs of nodes.

torchrun starts the program separately on each node, so that the report can name missing nodes. The first process of the
first node prints a table and one line of JSON, and it alone fails the test. The last row counts, because small sizes
measure latency. Then pairs of nodes identify slow nodes. PyTorch's collectives or NVIDIA's nccl-tests measure.
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

# Default: a pair below this fraction of the best pair's bandwidth is slow. On CPU other programs share the processors.
RATIO = {"nccl": 0.8, "nccl-tests": 0.8, "gloo": 0.5}
TERMINATION_MESSAGE = Path("/dev/termination-log")
# Creates a function that measures pairs of numbers; the list maps each number to its node.
MakeMeter = Callable[[list[int]], Callable[[list[pairs.Pair]], pairs.Bandwidths]]


class Process(NamedTuple):
    """This process: its node, and its index among the processes of the node."""

    node: int
    local: int
    of_node: int

    @property
    def rank(self) -> int:
        """Index among all processes."""
        return self.node * self.of_node + self.local


def main() -> int:
    """Rendezvous, measurement, verdict and report. Returns 1 for a fault, in the process that reports it."""
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
        faults = [f"{', '.join(report['missing'])} did not join within {options.start_seconds} s"]
    except (RuntimeError, ValueError) as error:
        # Collectives raise these for a lost connection or a timeout.
        faults = [f"the measurement failed: {' '.join(str(error).split())}"]
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
    # A node with no GPUs, or fewer than the others, would block the collectives of the others.
    roll_call.agree(store, own.node, names, f"{torch.cuda.device_count()} GPUs and {own.of_node} processes")
    # Two pods may share a node.
    report["nodes"] = [
        name if names.count(name) == 1 else f"{name} (pod {number})" for number, name in enumerate(names)
    ]
    return store


def absent_names(absent: roll_call.Absent, options: argparse.Namespace) -> list[str]:
    """Returns the names of missing nodes, or of their pods if the nodes are unknown."""
    nodes = sorted(set(filter(None, options.expect.split(","))) - set(absent.names.values()))
    if len(nodes) == len(absent.nodes):
        return nodes
    if not options.address.partition(".")[0].endswith("-0"):
        return [f"node {number}" for number in absent.nodes]
    return [f"pod {host(options.address, number).partition('.')[0]}" for number in absent.nodes]


def host(first: str, number: int) -> str:
    """Returns the host name of a node, derived from `<pod>-0.<service>` of the first; otherwise all share one host."""
    pod, dot, service = first.partition(".")
    return f"{pod[:-1]}{number}{dot}{service}" if pod.endswith("-0") else first


def _options() -> argparse.Namespace:
    # No option may be a prefix of torchrun's options: torchrun would read `--start` as its `--start-method`.
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, metavar="N", default=1, help="number of nodes")
    parser.add_argument("--index", type=int, metavar="N", default=0, help="number of this node, from 0")
    parser.add_argument("--address", default="localhost", help="host name of the first node")
    parser.add_argument("--port", type=int, metavar="N", default=29400, help="port of the rendezvous on the first node")
    parser.add_argument("--start-seconds", type=int, metavar="N", default=300, help="timeout of the rendezvous")
    parser.add_argument("--expect", default="", help="names of the nodes, separated by commas, if known")
    parser.add_argument("--first-size", type=int, metavar="N", default=2**20, help="smallest size in bytes")
    parser.add_argument("--last-size", type=int, metavar="N", default=2**26, help="largest size in bytes")
    parser.add_argument("--size-factor", type=int, metavar="N", default=2, help="factor between two sizes")
    parser.add_argument(
        "--warm-up", type=int, metavar="N", default=2, help="all-reduces of each size before the measured ones"
    )
    parser.add_argument("--iterations", type=int, metavar="N", default=5, help="measured all-reduces of each size")
    parser.add_argument(
        "--min-bus-bandwidth", type=float, default=0.0, metavar="X", help="GB/s at least in the last row"
    )
    parser.add_argument("--slow-ratio", type=float, metavar="X", help="minimum fraction of the best pair's bandwidth")
    parser.add_argument("--nccl-tests", type=json.loads, metavar="JSON", help="command of all_reduce_perf")
    parser.add_argument("--run-by", type=json.loads, metavar="JSON", help="command of mpirun", default=["mpirun"])
    parser.add_argument(
        "--call-port", type=int, metavar="N", default=29401, help="port on which nodes accept commands of mpirun"
    )
    parser.add_argument("--call-key", type=Path, metavar="FILE", help="key that authenticates these commands")
    return parser.parse_args()


def measure(store: Store, own: Process, options: argparse.Namespace, report: dict[str, Any]) -> None:
    """Collective: measures the sweep and the pairs, and adds each result to the report."""
    has_gpus = torch.cuda.is_available()
    device = torch.device("cuda", own.local) if has_gpus else torch.device("cpu")
    if has_gpus:
        torch.cuda.set_device(device)
    log = transports.watch_nccl() if has_gpus else None
    report["backend"] = "nccl" if has_gpus else "gloo"
    # Without `device_id`: splitting a group of a bound device takes all processes, but a pair has only two nodes.
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
    """Measures with mpirun on the first node, which starts processes on the others. One process of each node waits."""
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
        # A first node that fails reports the cause itself, and its store closes.
        with suppress(RuntimeError):
            roll_call.wait(store, "measured")
            roll_call.say(store, "transport", own.node, _ways(log))


def _ways(log: Path | None) -> str:
    return json.dumps(sorted(transports.nccl_transports(log)))


def _command_nccl_tests(own: Process, options: argparse.Namespace, report: dict[str, Any]) -> None:
    programs = nccl_tests.Programs(options.run_by, options.nccl_tests, options.call_port, options.call_key)
    # Open MPI recognizes its own node by this name only.
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
    ratio, names = slow_ratio(options.slow_ratio, report["backend"]), report["nodes"]
    # Nodes with similar names are probably close to each other.
    order = sorted(range(len(names)), key=lambda number: _natural(names[number]))
    return compare(pairs.search(len(names), meter(order), ratio), [names[number] for number in order], ratio)


def slow_ratio(given: float | None, backend: str) -> float:
    """Returns the fraction of the best pair below which a pair is slow. With 0, none is."""
    return RATIO[backend] if given is None else given


def _torch_meter(device: torch.device, own: Process, options: argparse.Namespace) -> MakeMeter:
    size, iterations, processes = options.last_size, options.iterations, own.of_node
    return lambda order: measuring.PairMeter(size, device, iterations=iterations, order=order, processes=processes)


def compare(measured: pairs.Bandwidths, names: list[str], ratio: float) -> dict[str, Any]:
    """Returns the result of the pairs: all pairs, slow nodes, and nodes without a verdict."""
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
    """Returns the faults of the measurements."""
    rows, last = report["rows"], report["rows"][-1]
    report["threshold"] = min_bus_bandwidth or None
    faults = [f"an all-reduce of {row['bytes']} bytes gave {row['wrong']} wrong sums" for row in rows if row["wrong"]]
    faults += [f"{found['node']} is slow: {found['evidence']}" for found in report["slow"]]
    if report["unknown"]:
        faults.append(f"{', '.join(report['unknown'])}: slow in every pair, but not measured with enough good nodes")
    if last["busbw"] < min_bus_bandwidth:
        reached = f"{last['busbw']:.3f} GB/s of bus bandwidth at {last['bytes']} bytes is below {min_bus_bandwidth:g}"
        faults.append(reached if report["slow"] else f"{reached}; {_nobody(report)}")
    return faults


def _nobody(report: dict[str, Any]) -> str:
    """Returns the reason why no node is named."""
    found = [pair["busbw"] for pair in report["pairs"]]
    if not found:
        return "only this node was measured"
    if len(found) == 1:
        return f"the cause is {' or '.join(report['nodes'])} or the path between them: add a third node to find out"
    return f"no node stands out, the pairs have {min(found):g} to {max(found):g} GB/s: check what all nodes share"


def _say(report: dict[str, Any], faults: list[str], *, is_first: bool) -> None:
    """Print the faults in every process, and the report in the first one."""
    for fault in faults:
        print(f"preflight: error: {fault}", file=sys.stderr, flush=True)
    verdict = "failed" if faults else "passed"
    if is_first:
        print(json.dumps({**report, "faults": faults, "verdict": verdict}), flush=True)
    # `kubectl get pod -o yaml` shows this file; it does not exist outside of a pod.
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
    """Collective: returns the union of the findings of all processes."""
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
