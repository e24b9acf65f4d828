"""Programs of the charts on a node with GPUs: the preflights, and the checks of node health."""

from __future__ import annotations

import json
from pathlib import Path

from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError, NotRunError
from tools.gpu.machine import ROOT
from tools.gpu.session import Session, torchrun

_CHARTS = ROOT / "charts"
PREFLIGHT = _CHARTS / "training-job" / "files" / "preflight" / "preflight.py"
NODE_CHECK = _CHARTS / "training-runtimes" / "files" / "preflight" / "node_check.py"
NODE_HEALTH = _CHARTS / "node-health" / "image"


def preflight(session: Session) -> Measured:
    """Runs the preflight of training-job on this node."""
    lines = _on_all_ranks(session, PREFLIGHT)
    report = json.loads(next(line for line in lines if line.startswith("{")))
    _require_backend(session, report["backend"])
    last = report["rows"][-1]
    return {
        "ranks": report["world"],
        "backend": report["backend"],
        "bytes": last["bytes"],
        "bus_gb_per_second": last["busbw"],
        "transport": ", ".join(report["transport"]) or "none",
    }


def node_check(session: Session) -> Measured:
    """Runs the check of training-runtimes on this node."""
    lines = _on_all_ranks(session, NODE_CHECK, f"--gpus={session.machine.gpus}", f"--folder={session.folder}")
    said = next(line for line in lines if line.startswith("preflight: node="))
    fields = dict(part.split("=", 1) for part in said.removeprefix("preflight: ").split() if "=" in part)
    _require_backend(session, fields["backend"])
    return {"ranks": int(fields["processes"]), "said": said}


def node_health(session: Session) -> Measured:
    """Asks NVML for the faults of each GPU, and the kernel for those that the driver has reported."""
    arguments = ["tools.gpu.programs.node_health", str(session.folder)]
    lines = session.output_of("health", arguments, "the program of node health", [NODE_HEALTH])
    found = json.loads(lines[-1])
    if found["faults"] or found["unknown"]:
        raise CheckFailedError("; ".join([*found["faults"], *filter(None, [found["unknown"]])]))
    if not found["gpus"]:
        raise NotRunError("sysfs shows no GPU with NVIDIA's driver: needs a GPU, and the /sys of its host")
    return {name: value for name, value in found.items() if name != "faults"}


def _on_all_ranks(session: Session, program: Path, *flags: str) -> list[str]:
    arguments = [*torchrun(session.machine.ranks), str(program), *flags]
    return session.output_of(program.stem, arguments, program.name)


def _require_backend(session: Session, found: str) -> None:
    if found != session.machine.backend:
        raise CheckFailedError(f"the preflight has measured with {found}, not with {session.machine.backend}")


CHECKS = (
    Check(
        name="preflight",
        what="the preflight of training-job on all GPUs of this node",
        bar="all sums are right, and the report names NCCL",
        run=preflight,
        rehearsed=True,
    ),
    Check(
        name="node-check",
        what="the check of training-runtimes on all GPUs of this node",
        bar="it finds all GPUs and no fault, and names NCCL",
        run=node_check,
        rehearsed=True,
    ),
    Check(
        name="node-health",
        what="the GPU check of node-health by NVML, and the XIDs in the log of the kernel",
        bar="NVML answers for each GPU on the PCI bus, and no fault is found on a healthy machine",
        run=node_health,
        packages=("pynvml",),
        rehearsed=True,
    ),
)
