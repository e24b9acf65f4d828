"""Go tools, each pinned by a go.mod and go.sum of its own in this folder and built from the Go module proxy.

The `tool` directives of a folder name its packages. A folder with one package gives one binary of the folder's name; a
folder with several gives each the last element of its package's path. A folder with none only pins a module, of which a
file is read.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from .. import cache, progress
from ..errors import ClusterError

FOLDER = Path(__file__).parent
KUBERNETES_VERSION = "v1.34.4"
DEVELOPER_TOOLS = (
    "helm",
    "helm4",
    "kubectl",
    "kind",
    "kubeconform",
    "helm-unittest",
    "controller-gen",
    "helm-docs",
    "helm-values-schema-json",
    "promtool",
)
# The linker drops what debuggers want anyway; without it the compiler takes an eighth less. No part of a binary's key,
# because nothing of it is in the binary.
BUILD = ("build", "-trimpath", "-gcflags=all=-dwarf=false")
# Unless it is told not to, Prometheus looks for its targets in two dozen clouds and has the clients of all of them.
TAGS = {"prometheus": "remove_all_sd,enable_kubernetes_sd"}


def binary(name: str) -> Path:
    """Return the path of a tool's binary, building its folder first when the cache has none.

    Raises `ClusterError` for an unknown name and for a build that fails.
    """
    folder = _folder_of().get(name)
    if folder is None:
        raise ClusterError(f"no tool is called {name!r}", hint=f"one of: {', '.join(sorted(_folder_of()))}")
    return build(folder) / name


def build(folder: str) -> Path:
    """Build every binary of one tool folder (static, stripped) and return the folder that holds them."""
    source = FOLDER / folder
    flags = _linker_flags(folder)
    tags = [f"-tags={TAGS[folder]}"] if folder in TAGS else []
    key = cache.digest(source, flags, go_version(), " ".join(["CGO_ENABLED=0 -trimpath", *tags]))

    def compile_into(target: Path) -> None:
        title = f"building {folder} {module_version(folder)}".rstrip()
        command = [go(), *BUILD, *tags, "-ldflags", flags, "-o", f"{target}/", *_packages(source)]
        with progress.step(title):
            progress.run(command, log=f"build-{folder}", cwd=source, environment=go_environment())
        names = _names(folder)
        if len(names) == 1:
            (built,) = target.iterdir()
            built.rename(target / names[0])

    return cache.cached("bin", f"{folder}-{key}", compile_into)


def link(target: Path, names: Iterable[str] = DEVELOPER_TOOLS) -> None:
    """Put links to tools into `target`, building what is missing."""
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        source = binary(name)
        path = target / name
        if path.is_symlink() and path.readlink() == source:
            continue
        path.unlink(missing_ok=True)
        path.symlink_to(source)
    drop_build_cache()


def go() -> str:
    """Path of the `go` command: the pinned one that the virtual environment holds, else the one on PATH."""
    pinned = Path(sysconfig.get_path("scripts")) / "go"
    found = str(pinned) if pinned.exists() else shutil.which("go")
    if found is None:
        raise ClusterError("no `go` command was found", hint="run `make setup`, which installs the pinned Go toolchain")
    return found


@functools.cache
def go_version() -> str:
    """Version of the Go toolchain, such as `go1.26.6`: part of every binary's cache key."""
    return subprocess.run([go(), "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout.strip()


def go_environment() -> dict[str, str]:
    """Environment for `go`: the harness's own module and build caches, static binaries, no toolchain download."""
    folder = cache.root() / "go"
    return os.environ | {
        "GOMODCACHE": str(folder / "mod"),
        "GOCACHE": str(folder / "build"),
        # Modules are stored read-only by default, and then the cache folder cannot be removed with `rm -r`.
        "GOFLAGS": "-modcacherw -buildvcs=false",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
        # The compiler collects garbage less often, in memory that is there.
        "GOGC": "400",
    }


def drop_build_cache() -> None:
    """Remove Go's intermediate objects: several GB that only an interrupted build can still use."""
    shutil.rmtree(cache.root() / "go" / "build", ignore_errors=True)


def _packages(source: Path) -> list[str]:
    text = (source / "go.mod").read_text()
    lines = re.findall(r"^tool ([^\s(]+)$", text, re.MULTILINE)
    for block in re.findall(r"^tool \((.*?)^\)", text, re.MULTILINE | re.DOTALL):
        lines += block.split()
    return lines or ["."] * any(source.glob("*.go"))


def _names(folder: str) -> list[str]:
    packages = _packages(FOLDER / folder)
    return [folder] if len(packages) == 1 else [package.rsplit("/", 1)[-1] for package in packages]


@functools.cache
def _folder_of() -> dict[str, str]:
    folders = sorted(path.parent.name for path in FOLDER.glob("*/go.mod"))
    return {name: folder for folder in folders for name in _names(folder)}


def module_version(folder: str) -> str:
    """The pinned version of a tool folder's first package, empty where its go.mod names none."""
    source = FOLDER / folder
    text = (source / "go.mod").read_text()
    modules = re.findall(r"^\s*(?:require )?(\S+) (v\S+)", text, re.MULTILINE)
    first = _packages(source)[0]
    return max(((len(path), version) for path, version in modules if first.startswith(path)), default=(0, ""))[1]


def _linker_flags(folder: str) -> str:
    major, minor = KUBERNETES_VERSION.removeprefix("v").split(".")[:2]
    version = {"gitVersion": KUBERNETES_VERSION, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    release = {"k8sVersionMajor": major, "k8sVersionMinor": minor}
    stamps = {
        # kubeadm compares the versions of its parts, and unstamped binaries all say v0.0.0-master.
        "kubernetes": {"k8s.io/component-base/version": version, "k8s.io/client-go/pkg/version": version},
        # `helm template` holds a chart's kubeVersion against this, and takes v1.20 when it is unstamped.
        "helm": {"helm.sh/helm/v3/pkg/chartutil": release, "helm.sh/helm/v3/pkg/lint/rules": release},
    }
    words = [
        f"-X {package}.{name}={value}"
        for package, values in stamps.get(folder, {}).items()
        for name, value in values.items()
    ]
    return " ".join(["-s", "-w", *words])
