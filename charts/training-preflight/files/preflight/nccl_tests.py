"""Measures with `all_reduce_perf` of NVIDIA's nccl-tests, built with MPI, instead of PyTorch's collectives.

mpirun of Open MPI starts it from the first node and reaches the others through `remote`. The results come from the JSON
that the option -J of v2.18.5 and newer writes. The in-place results count, because gradients are summed in place.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

import remote
from measuring import ITEM
from pairs import Bandwidths, Pair

# All nodes have joined: a sum that takes longer hangs, and so does a whole measurement.
SUM_SECONDS = 120
LIMIT_SECONDS = 600
# Only rank 0 writes to mpirun's output, which is then the JSON. Without a report the output is empty.
RANK = """
if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then
  report=$(mktemp -u).json
  "$@" -J "$report" >&2
  status=$?
  [ ! -e "$report" ] || cat "$report"
  rm -f "$report"
  exit $status
fi
exec "$@" >&2
"""
# Number of last output lines that follow a fault in the verdict.
LINES = 5


class Programs(NamedTuple):
    """The commands that start mpirun and all_reduce_perf, and the arguments of `remote.agent`."""

    mpirun: list[str]
    all_reduce_perf: list[str]
    port: int
    key: Path


class Sums(NamedTuple):
    """The measured sums: sizes in bytes from the first, times the factor, up to the last, which is always included."""

    first: int
    last: int
    factor: int
    warm_up: int
    iterations: int

    @property
    def only_last(self) -> Sums:
        """Returns the sums of the last size only."""
        return self._replace(first=self.last)


class Meter:
    """Measures nodes by host name, each with `processes` processes of one GPU. Runs on the first node only."""

    def __init__(self, programs: Programs, hosts: list[str], processes: int) -> None:
        self._programs = programs
        self._hosts = hosts
        self._processes = processes

    def sweep(self, sums: Sums) -> Iterator[dict[str, Any]]:
        """Yields rows over all nodes. Raises `RuntimeError` or `ValueError` if all_reduce_perf cannot measure them."""
        everyone = list(range(len(self._hosts)))
        last = sums.last // ITEM * ITEM
        rows = self._rows(everyone, sums, echo=True)
        if rows[-1]["bytes"] < last:
            rows += self._rows(everyone, sums.only_last, echo=True)
        if rows[-1]["bytes"] < last:
            reason = f"nccl-tests measures at most {rows[-1]['bytes']} bytes with the memory of these GPUs"
            raise ValueError(f"{reason}, and the last size is {sums.last}: set sizes.end")
        yield from rows

    def pairs(self, wanted: list[Pair], order: list[int], sums: Sums) -> Bandwidths:
        """Measures pairs in parallel, and returns the bus bandwidth of the last size. `order` maps numbers to nodes."""
        with ThreadPoolExecutor(len(wanted)) as pool:
            nodes = [sorted(order[number] for number in pair) for pair in wanted]
            measured = pool.map(lambda two: self._rows(two, sums.only_last, echo=False)[-1]["busbw"], nodes)
            return dict(zip(wanted, measured))

    def _rows(self, nodes: list[int], sums: Sums, *, echo: bool) -> list[dict[str, Any]]:
        try:
            status, output, said = _run(self._command(nodes, sums), self._environment(), echo=echo)
        except OSError as error:
            raise RuntimeError(f"{self._programs.mpirun[0]} cannot be started in this image: {error}") from error
        rows = read(output)
        # all_reduce_perf also fails for wrong sums, which the rows report in more detail.
        if not rows or (status and not any(row["wrong"] for row in rows)):
            pods = " and ".join(self._hosts[node].partition(".")[0] for node in nodes)
            hint = "" if rows else " and wrote no complete JSON, as v2.18.5 and newer do"
            raise RuntimeError(f"nccl-tests in {pods} ended with status {status}{hint}: {said}")
        return rows

    def _command(self, nodes: list[int], sums: Sums) -> list[str]:
        slots = ",".join(f"{self._hosts[node]}:{self._processes}" for node in nodes)
        mpirun = [*self._programs.mpirun, "--host", slots, "-np", str(len(nodes) * self._processes)]
        mpirun += ["--map-by", f"ppr:{self._processes}:node", "--bind-to", "none"]
        if os.getuid() == 0:
            mpirun.append("--allow-run-as-root")
        sizes = ["-b", str(sums.first), "-e", str(sums.last), "-f", str(sums.factor)]
        times = ["-w", str(sums.warm_up), "-n", str(sums.iterations), "-T", str(SUM_SECONDS)]
        program = [*self._programs.all_reduce_perf, "-g", "1", "-c", "1", *sizes, *times]
        return [*mpirun, "sh", "-c", RANK, "sh", *program]

    def _environment(self) -> dict[str, str]:
        # Open MPI 4 reads the first name, Open MPI 5 the second. Only the first node may start processes on others.
        agent = remote.agent(self._programs.port, self._programs.key)
        names = {"OMPI_MCA_plm_rsh": agent, "PRTE_MCA_plm_ssh": agent}
        settings = {f"{name}_agent": value for name, value in names.items()}
        settings |= {f"{name}_no_tree_spawn": "true" for name in names}
        # Otherwise Open MPI 4 resolves `check-1`, but Kubernetes only knows the name `check-1.check`.
        return os.environ | settings | {"OMPI_MCA_orte_keep_fqdn_hostnames": "true"}


def read(text: str) -> list[dict[str, Any]]:
    """Returns the rows of a report of all_reduce_perf, or none if it is incomplete."""
    try:
        return [_row(result) for result in json.loads(text).get("results", [])]
    except json.JSONDecodeError:
        return []


def _row(result: dict[str, Any]) -> dict[str, Any]:
    place = result["in_place"]
    return {
        "bytes": result["size"],
        "time_us": round(place["time"], 1),
        "algbw": round(place["alg_bw"], 3),
        "busbw": round(place["bus_bw"], 3),
        "wrong": int(place["nwrong"] + result["out_of_place"]["nwrong"]),
    }


def _run(command: list[str], environment: dict[str, str], *, echo: bool) -> tuple[int, str, str]:
    """Returns exit status, output, and the last lines of stderr."""
    said: deque[str] = deque(maxlen=LINES)
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as running,
    ):
        limit = Timer(LIMIT_SECONDS, running.terminate)
        limit.start()
        for line in running.stderr or ():
            if echo:
                sys.stderr.write(line)
            # mpirun frames its messages with lines of dashes.
            if line.strip("-\n "):
                said.append(line.strip())
        status = running.wait()
        limit.cancel()
        output.seek(0)
        return status, output.read(), " / ".join(said)
