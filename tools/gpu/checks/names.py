"""Names that this repository uses, compared with those of the installed software."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from tools.gpu import nccl_library
from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError, NotRunError
from tools.gpu.machine import ROOT
from tools.gpu.session import Session
from trainyard.facts.hardware.dcgm import SERVED
from trainyard.facts.nccl import registry

_DCGM_NAME = re.compile(rb"DCGM_FI_[A-Z0-9_]+")
# Where the packages datacenter-gpu-manager 3 and 4, and the image of dcgm-exporter, have them.
_DCGM_FILES = (
    "/usr/include/dcgm_fields.h",
    "/usr/include/datacenter-gpu-manager-4/dcgm_fields.h",
    "/usr/local/dcgm/bindings/dcgm_fields.py",
    "/usr/share/datacenter-gpu-manager-4/bindings/python3/dcgm_fields.py",
    "/etc/dcgm-exporter/default-counters.csv",
)
_CHARTS = ("training-monitoring", "gpu-rdma-policy")


def nccl_registry(session: Session) -> Measured:
    """Compares the variables of the installed NCCL with the validator's registry."""
    path = session.libnccl or session.machine.libnccl
    if not path:
        raise NotRunError("needs a PyTorch with NCCL, or --libnccl FILE")
    try:
        library = nccl_library.read(Path(path))
    except (OSError, ValueError) as error:
        raise CheckFailedError(f"{path}: {error}") from error
    if library.version is None:
        raise CheckFailedError(f"{path} does not say its release")
    found = nccl_library.compare(library, registry.nccl_variables())
    version, newest = (".".join(map(str, numbers)) for numbers in (library.version, registry.NEWEST))
    lacking, in_vain = ", ".join(found.lacking) or "none", ", ".join(found.in_vain) or "none"
    if library.version > registry.NEWEST:
        raise NotRunError(f"NCCL {version} is newer than the registry, which ends at {newest} and lacks: {lacking}")
    if found.lacking or found.in_vain:
        raise CheckFailedError(f"NCCL {version} has names that the registry lacks: {lacking}; in vain: {in_vain}")
    return {"nccl": version, "names": len(library.names)}


def dcgm_names(_session: Session) -> Measured:
    """Compares the DCGM fields in charts and validator with those that the installed DCGM knows."""
    program = shutil.which("dcgm-exporter")
    files = [Path(name) for name in (*_DCGM_FILES, program) if name and Path(name).is_file()]
    if not files:
        raise NotRunError("needs dcgm_fields.h, dcgm_fields.py or dcgm-exporter: a package of DCGM")
    known = _names(files)
    unknown = sorted(used_dcgm_names() - known)
    if unknown:
        raise CheckFailedError(f"DCGM ({', '.join(map(str, files))}) does not know {', '.join(unknown)}")
    return {"names": len(used_dcgm_names()), "files": ", ".join(map(str, files))}


def used_dcgm_names() -> frozenset[str]:
    """Returns the fields in alerts, dashboards and metric lists of the charts, and in the facts of the validator."""
    parts = ("files", "templates", "types", "values.yaml")
    paths = [path for chart in _CHARTS for part in parts for path in _files(ROOT / "charts" / chart / part)]
    return _names(paths) | SERVED


def _files(path: Path) -> Iterable[Path]:
    return (child for child in path.rglob("*") if child.is_file()) if path.is_dir() else [path] * path.exists()


def _names(paths: Iterable[Path]) -> frozenset[str]:
    return frozenset(name.decode() for path in paths for name in _DCGM_NAME.findall(path.read_bytes()))


CHECKS = (
    Check(
        name="nccl-registry",
        what="names of variables in libnccl.so, and in the registry of the validator",
        bar="the registry has each name of this release and no other; a newer release than the registry is reported",
        run=nccl_registry,
        gpus=0,
        rehearsed=True,
    ),
    Check(
        name="dcgm-names",
        what="DCGM fields in alerts, dashboards and the validator, and those that the installed DCGM knows",
        bar="DCGM knows each of them: an alert on an unknown field never fires",
        run=dcgm_names,
        gpus=0,
        rehearsed=True,
    ),
)
