"""Requirements on this machine, checked before anything is built: programs, disk space, a free port."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.errors import ClusterError

GIB = 1024**3
# Of the disk: for a first cluster with everything that is built for it, and for a further one (its nodes take 2.4 GiB).
NEEDED_FREE = 15 * GIB
NEEDED_FREE_WHEN_BUILT = 6 * GIB

# The program whose presence is checked -> the Debian packages that provide it and its runtime dependencies.
ENGINE_PACKAGES = {"podman": ("podman", "runc", "netavark", "aardvark-dns", "iptables")}
IMAGE_PACKAGES = {"mmdebstrap": ("mmdebstrap", "debian-archive-keyring")}


def require_disk_space(folder: Path, *, built: bool = False) -> None:
    """Raise `ClusterError` when the file system under `folder` has too little space for a cluster.

    Nodes need 6 GiB where binaries and images are `built`, otherwise 15 GiB with them.
    """
    free = free_space(folder)
    needed, what = (NEEDED_FREE_WHEN_BUILT, "nodes") if built else (NEEDED_FREE, "binaries, images and nodes")
    if free < needed:
        raise ClusterError(
            f"{_existing(folder)} has {free / GIB:.1f} GiB free; {what} need {needed / GIB:.0f} GiB",
            hint=f"free some space, or set TRAINYARD_CACHE to a folder on a larger disk (now {folder})",
        )


def has_cgroup_v1() -> bool:
    """Return true if the host has cgroup v1, alone or beside v2, which the kubelet refuses by default from 1.35 on."""
    return not Path("/sys/fs/cgroup/cgroup.controllers").exists()


def free_space(folder: Path) -> int:
    """Return the free bytes of the file system under `folder`, which need not exist yet."""
    return shutil.disk_usage(_existing(folder)).free


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


def require_free_port(port: int) -> None:
    """Raise `ClusterError` when this port of 127.0.0.1 is in use; 0 means any free port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ClusterError(
                f"port {port} of 127.0.0.1 cannot be used for the Kubernetes API: {error.strerror}",
                hint="choose another port with --api-port, or omit the option to use a free one",
            ) from error


def require_programs(programs: Mapping[str, tuple[str, ...]], *, install: bool) -> None:
    """Make sure that programs exist: install their Debian packages if allowed and root, else raise `ClusterError`."""
    if not _missing(programs):
        return
    # apt-get refuses to run twice at a time.
    with cache.lock("apt"):
        _install(programs, _missing(programs), install=install)


def program(name: str) -> Path:
    """Return the path of a program that `require_programs` has found."""
    return Path(shutil.which(name) or name)


def _missing(programs: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [program for program in programs if shutil.which(program) is None]


def _install(programs: Mapping[str, tuple[str, ...]], missing: list[str], *, install: bool) -> None:
    if not missing:
        return
    packages = [package for program in missing for package in programs[program]]
    command = f"apt-get install {' '.join(packages)}"
    if not (install and may_install()):
        raise ClusterError(
            f"not installed: {', '.join(missing)}",
            hint=f"on Debian or Ubuntu, as root: {command}; then run this again",
        )
    with progress.step(f"installing {' '.join(packages)}"):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        progress.run(["apt-get", "update"], log="apt-update", environment=environment)
        progress.run(
            ["apt-get", "install", "-y", "--no-install-recommends", *packages],
            log="apt-install",
            environment=environment,
        )


def may_install() -> bool:
    """Returns true if packages can be installed: as root, on a system with apt."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def prepare_cache() -> Path:
    """Create the cache folder; raise `ClusterError` when that fails."""
    folder = cache.root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClusterError(
            f"the cache folder {folder} cannot be created: {error.strerror}",
            hint="set TRAINYARD_CACHE to a folder that you may write",
        ) from error
    return folder
