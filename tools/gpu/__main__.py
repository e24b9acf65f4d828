"""The command line: `python -m tools.gpu`, or `make gpu`."""

from __future__ import annotations

import argparse
import importlib.util
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tools.gpu import machine, report
from tools.gpu.check import Check, Outcome, Result
from tools.gpu.checks import ALL
from tools.gpu.errors import GpuError
from tools.gpu.machine import Machine
from tools.gpu.runner import Runner

DESCRIPTION = """\
Check a machine with GPUs: NCCL, the strategies and precisions of the trainer, checkpoints, faults, speed and memory.

The machine needs Linux, Python 3.11 or newer, one or more GPUs, and these packages: torch 2.13 or newer, numpy, pyyaml
and prometheus-client. Checks that need more, such as two GPUs or the package deepspeed, are reported as `not run`.
Nothing is downloaded. Nothing else should use the GPUs meanwhile.
"""
EPILOG = """\
examples:
  python -m tools.gpu                                 all checks, in 10 to 20 minutes
  python -m tools.gpu --only ddp --only killed-rank   two checks
  python -m tools.gpu --rehearse                      the checks that also run on processors, with gloo
  python -m tools.gpu --only nccl-registry --libnccl /usr/lib/x86_64-linux-gnu/libnccl.so.2

The report is gpu.json and gpu.md in the output folder. A failed check leaves the logs of its programs in logs/NAME.

exit status: 0 no check failed, 1 a check failed, 2 wrong arguments, or no GPU, or a package is missing
"""
# The names of modules, and of the packages to install.
REQUIRED = {"torch": "torch", "numpy": "numpy", "yaml": "pyyaml", "prometheus_client": "prometheus-client"}
USAGE_STATUS = 2


def main(arguments: Sequence[str]) -> int:
    """Runs the checks, and returns the exit status."""
    given = _parser().parse_args(arguments)
    if given.list:
        _list()
        return 0
    try:
        checks = select(given.only)
        found = find_machine(checks, rehearse=given.rehearse, libnccl=given.libnccl)
    except GpuError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE_STATUS
    results = []
    runner = Runner(found, given.output, libnccl=given.libnccl)
    for result in runner.run(checks, lambda check: print(f"… {check.name}", flush=True)):
        results.append(result)
        print(line(result), flush=True)
        # After each check, so that an interrupted call leaves its results.
        report.write(given.output, found, results, " ".join(["python -m tools.gpu", *arguments]))
    counts = ", ".join(f"{number} {outcome}" for outcome, number in report.count(results).items())
    print(f"{counts}; report: {given.output / 'gpu.md'}")
    return 1 if any(result.outcome is Outcome.FAILED for result in results) else 0


def select(names: Sequence[str]) -> list[Check]:
    """Returns the named checks, in the order in which they run; all if none is named.

    Raises:
        GpuError: There is no check of a name.
    """
    known = [check.name for check in ALL]
    if wrong := sorted(set(names) - set(known)):
        raise GpuError(f"there is no check {', '.join(f'`{name}`' for name in wrong)}: write one of {', '.join(known)}")
    return [check for check in ALL if not names or check.name in names]


def find_machine(checks: Sequence[Check], *, rehearse: bool, libnccl: str) -> Machine:
    """Returns the machine, with the device that the checks use.

    Raises:
        GpuError: It lacks a package or a GPU.
    """
    if all(check.gpus == 0 for check in checks) and (libnccl or importlib.util.find_spec("torch") is None):
        return Machine(device="cpu")
    missing = [package for module, package in REQUIRED.items() if importlib.util.find_spec(module) is None]
    if missing:
        command = f"{sys.executable} -m pip install {' '.join(missing)}"
        raise GpuError(f"{sys.executable} lacks {', '.join(missing)}: run `{command}`")
    found = machine.probe()
    if rehearse:
        return replace(found, device="cpu")
    if not found.gpus and any(check.gpus for check in checks):
        raise GpuError(
            f"torch {found.torch} sees no GPU: run `nvidia-smi`, install a torch for CUDA, or write --rehearse for the "
            "checks that also run on processors"
        )
    return found


def line(result: Result) -> str:
    """Returns the line of a check that has ended."""
    said = result.reason or report.summary(result.measured)
    log = f"; log: {result.log}" if result.log else ""
    return f"{result.outcome.value:<7} {result.check.name} ({result.seconds:.1f} s) {said}{log}"


def _list() -> None:
    for check in ALL:
        needs = [f"{check.gpus} GPU{'s' * (check.gpus > 1)}"] * (check.gpus > 0) + list(check.packages)
        print(f"{check.name}: {check.what}\n    needs: {', '.join(needs) or 'no GPU'}\n    bar: {check.bar}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.gpu",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="run this check only; repeatable")
    parser.add_argument("--list", action="store_true", help="list the checks with their needs and bars, and exit")
    folder = Path("build/gpu")
    parser.add_argument("--output", metavar="FOLDER", type=Path, default=folder, help=f"output folder ({folder})")
    parser.add_argument("--rehearse", action="store_true", help="use two processes with gloo instead of GPUs")
    parser.add_argument("--libnccl", metavar="FILE", default="", help="read this NCCL instead of PyTorch's")
    return parser


def end_on_sigterm() -> None:
    """Lets SIGTERM end this process as an error does, so that the programs of a check end too."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


if __name__ == "__main__":
    end_on_sigterm()
    sys.exit(main(sys.argv[1:]))
