"""Bandwidths by `all_reduce_perf` of NVIDIA's nccl-tests, built with MPI, in place of PyTorch's collectives.

mpirun of Open MPI starts it from the first node and reaches the others by `remote`. The sums in place are taken, since
gradients are summed in place, from the JSON that the option -J of v2.18.5 and newer writes.
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

# Everyone is there already: a sum that takes longer hangs, and so does a whole measurement.
SUM_SECONDS = 120
LIMIT_SECONDS = 600
# Rank 0 alone has mpirun's output for itself, which is the JSON then. Where it wrote none, this says nothing.
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
# What follows a fault in the verdict: the end of what the program printed.
LINES = 5


class Programs(NamedTuple):
    """The words that start mpirun and all_reduce_perf, and the arguments of `remote.agent`."""

    mpirun: list[str]
    all_reduce_perf: list[str]
    port: int
    key: Path


class Sums(NamedTuple):
    """What is measured: sizes in bytes from the first, times the factor, up to the last, which is always there."""

    first: int
    last: int
    factor: int
    warm_up: int
    iterations: int

    @property
    def only_last(self) -> Sums:
        """The last size alone."""
        return self._replace(first=self.last)


class Meter:
    """Measures nodes by their host names, each with this many processes of one GPU; runs on the first node alone."""

    def __init__(self, programs: Programs, hosts: list[str], processes: int) -> None:
        self._programs = programs
        self._hosts = hosts
        self._processes = processes

    def sweep(self, sums: Sums) -> Iterator[dict[str, Any]]:
        """Rows over all nodes. Raises `RuntimeError` or `ValueError` when all_reduce_perf cannot measure them."""
        everyone = list(range(len(self._hosts)))
        last = sums.last // ITEM * ITEM
        rows = self._rows(everyone, sums, echo=True)
        if rows[-1]["bytes"] < last:
            rows += self._rows(everyone, sums.only_last, echo=True)
        if rows[-1]["bytes"] < last:
            reason = f"nccl-tests goes up to {rows[-1]['bytes']} bytes with the memory of these GPUs"
            raise ValueError(f"{reason}, and the last size is {sums.last}: set sizes.end")
        yield from rows

    def pairs(self, wanted: list[Pair], order: list[int], sums: Sums) -> Bandwidths:
        """The bus bandwidth of the last size between two nodes each, at the same time; `order` has their numbers."""
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
        # It also fails when sums are wrong, which the rows say better.
        if not rows or (status and not any(row["wrong"] for row in rows)):
            pods = " and ".join(self._hosts[node].partition(".")[0] for node in nodes)
            hint = "" if rows else " and wrote no whole JSON, as v2.18.5 and newer do"
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
        # Open MPI 4 knows the agent by the first name, 5 by the second; only the first node may start others.
        agent = remote.agent(self._programs.port, self._programs.key)
        names = {"OMPI_MCA_plm_rsh": agent, "PRTE_MCA_plm_ssh": agent}
        settings = {f"{name}_agent": value for name, value in names.items()}
        settings |= {f"{name}_no_tree_spawn": "true" for name in names}
        # Without it Open MPI 4 calls for `check-1` where `check-1.check` is the name that Kubernetes knows.
        return os.environ | settings | {"OMPI_MCA_orte_keep_fqdn_hostnames": "true"}


def read(text: str) -> list[dict[str, Any]]:
    """Rows of a report that all_reduce_perf wrote; none where it was cut off."""
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
    """Exit status, output, and the end of what was printed beside it."""
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
            # mpirun frames what it says.
            if line.strip("-\n "):
                said.append(line.strip())
        status = running.wait()
        limit.cancel()
        output.seek(0)
        return status, output.read(), " / ".join(said)
