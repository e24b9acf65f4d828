"""What this machine must offer before anything is built: programs, disk space, a free port."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from . import cache, progress
from .errors import ClusterError

GIB = 1024**3
NEEDED_FREE = 15 * GIB

# Program that shows a package is there -> Debian packages that bring it and what it needs at run time.
ENGINE_PACKAGES = {"podman": ("podman", "runc", "netavark", "aardvark-dns", "iptables")}
IMAGE_PACKAGES = {"mmdebstrap": ("mmdebstrap", "debian-archive-keyring")}


def require_disk_space(folder: Path) -> None:
    """Raise `ClusterError` when the file system under `folder` has less than 15 GiB free."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < NEEDED_FREE:
        raise ClusterError(
            f"{existing} has {free / GIB:.1f} GiB free; binaries, images and nodes need {NEEDED_FREE / GIB:.0f} GiB",
            hint=f"free some space, or set TRAINYARD_CACHE to a folder on a larger disk (now {folder})",
        )


def require_free_port(port: int) -> None:
    """Raise `ClusterError` when something already listens on this port of 127.0.0.1; 0 means any free port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ClusterError(
                f"port {port} of 127.0.0.1 cannot be used for the Kubernetes API: {error.strerror}",
                hint="name another with --api-port, or leave it out and a free one is chosen",
            ) from error


def require_programs(programs: Mapping[str, tuple[str, ...]], *, install: bool) -> None:
    """Make sure that programs exist: install their Debian packages when allowed and root, else say what to install."""
    missing = [program for program in programs if shutil.which(program) is None]
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
    """Whether packages can be installed here: root, on a system that has apt."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def prepare_cache() -> Path:
    """Create the cache folder; raise `ClusterError` when it cannot be written."""
    folder = cache.root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClusterError(
            f"the cache folder {folder} cannot be created: {error.strerror}",
            hint="set TRAINYARD_CACHE to a folder that you may write",
        ) from error
    return folder
