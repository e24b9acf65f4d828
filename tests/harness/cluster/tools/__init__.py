"""Go tools, each pinned by a go.mod and go.sum of its own in this folder and built from the Go module proxy.

The `tool` directives of a go.mod name its packages. A folder with one package gives one binary named like the folder.
With several packages, each binary is named like the last element of the package's path. A folder without packages only
pins a module, of which a source file is read.
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

from tests.harness.cluster import cache, go_build_cache, progress
from tests.harness.cluster.errors import ClusterError

FOLDER = Path(__file__).parent
# The folders that pin the releases of Kubernetes that clusters run, by the value of TRAINYARD_KUBERNETES.
KUBERNETES = {"newest": "kubernetes", "oldest": "kubernetes-oldest"}
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
    "actionlint",
)
# The linker strips debug information anyway; without it compiling takes an eighth less time. The flag is not part of
# a binary's key, because it does not change the binary.
BUILD = ("build", "-trimpath", "-gcflags=all=-dwarf=false")
# By default Prometheus has service discovery, and a client library, for two dozen clouds.
TAGS = {"prometheus": "remove_all_sd,enable_kubernetes_sd"}


def binary(name: str) -> Path:
    """Return the path of a tool's binary, building its folder first when the cache has none.

    Raises `ClusterError` for an unknown name and for a build that fails.
    """
    folder = _folder_of().get(name)
    if folder is None:
        raise ClusterError(f"no tool is called {name!r}", hint=f"one of: {', '.join(sorted(_folder_of()))}")
    return build(folder) / name


def kubernetes() -> str:
    """Return the folder that pins the Kubernetes of clusters: the newest one, or TRAINYARD_KUBERNETES.

    Raises `ClusterError` for another value of the variable.
    """
    chosen = os.environ.get("TRAINYARD_KUBERNETES", "newest")
    if chosen not in KUBERNETES:
        raise ClusterError(f"no Kubernetes is called {chosen!r}", hint=f"TRAINYARD_KUBERNETES={'|'.join(KUBERNETES)}")
    return KUBERNETES[chosen]


def build(folder: str) -> Path:
    """Build every binary of one tool folder (static, stripped) and return the folder that holds them."""
    source = FOLDER / folder

    def compile_into(target: Path) -> None:
        flags = _linker_flags(folder)
        command = [go(), *BUILD, *_tags(folder), "-ldflags", flags, "-o", f"{target}/", *_packages(source)]
        with go_build_cache.building(), progress.step(title(folder)):
            progress.run(command, log=f"build-{folder}", cwd=source, environment=go_environment())
        names = _names(folder)
        if len(names) == 1:
            (built,) = target.iterdir()
            built.rename(target / names[0])

    return cache.cached("bin", entry(folder).name, compile_into)


def entry(folder: str) -> Path:
    """Return the folder of the cache that holds a tool folder's binaries, or will hold them."""
    recipe = " ".join(["CGO_ENABLED=0 -trimpath", *_tags(folder)])
    key = cache.digest(FOLDER / folder, _linker_flags(folder), go_version(), recipe)
    return cache.root() / "bin" / f"{folder}-{key}"


def title(folder: str) -> str:
    """Return the title of the step that builds a tool folder."""
    return f"building {folder} {module_version(folder)}".rstrip()


def _tags(folder: str) -> list[str]:
    return [f"-tags={TAGS[folder]}"] if folder in TAGS else []


def link(target: Path, names: Iterable[str] = DEVELOPER_TOOLS) -> None:
    """Link tools into `target`, building those that are missing."""
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        source = binary(name)
        path = target / name
        if path.is_symlink() and path.readlink() == source:
            continue
        path.unlink(missing_ok=True)
        path.symlink_to(source)
    go_build_cache.drop()


def go() -> str:
    """Return the path of `go`: the pinned one of the virtual environment, else the one on PATH."""
    pinned = Path(sysconfig.get_path("scripts")) / "go"
    found = str(pinned) if pinned.exists() else shutil.which("go")
    if found is None:
        raise ClusterError("no `go` command was found", hint="run `make setup`, which installs the pinned Go toolchain")
    return found


@functools.cache
def go_version() -> str:
    """Return the version of the Go toolchain, such as `go1.26.6`: part of every binary's cache key."""
    return subprocess.run([go(), "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout.strip()


def go_environment() -> dict[str, str]:
    """Return the environment for `go`: our own module and build caches, static binaries, no toolchain download."""
    folder = cache.root() / "go"
    return os.environ | {
        "GOMODCACHE": str(folder / "mod"),
        "GOCACHE": str(go_build_cache.folder()),
        # Modules are read-only by default, so that `rm -r` could not remove the cache folder.
        "GOFLAGS": "-modcacherw -buildvcs=false",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
        # Collect garbage less often: memory is available.
        "GOGC": "400",
    }


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
    others = set(KUBERNETES.values()) - {kubernetes()}
    folders = sorted(path.parent.name for path in FOLDER.glob("*/go.mod") if path.parent.name not in others)
    return {name: folder for folder in folders for name in _names(folder)}


def module_version(folder: str) -> str:
    """Return the pinned version of a tool folder's first package, empty if its go.mod names none."""
    source = FOLDER / folder
    text = (source / "go.mod").read_text()
    modules = re.findall(r"^\s*(?:require )?(\S+) (v\S+)", text, re.MULTILINE)
    first = _packages(source)[0]
    return max(((len(path), version) for path, version in modules if first.startswith(path)), default=(0, ""))[1]


def _linker_flags(folder: str) -> str:
    if folder in KUBERNETES.values():
        # kubeadm compares the versions of its components; unstamped binaries all report v0.0.0-master.
        version, major, minor = _release(folder)
        values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
        packages = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"]
    elif folder == "helm":
        # `helm template` checks a chart's kubeVersion against this; unstamped it is v1.20.
        _, major, minor = _release(KUBERNETES["newest"])
        values = {"k8sVersionMajor": major, "k8sVersionMinor": minor}
        packages = ["helm.sh/helm/v3/pkg/chartutil", "helm.sh/helm/v3/pkg/lint/rules"]
    else:
        values, packages = {}, []
    words = [f"-X {package}.{name}={value}" for package in packages for name, value in values.items()]
    return " ".join(["-s", "-w", *words])


def _release(folder: str) -> tuple[str, str, str]:
    """Return the pinned release of Kubernetes, its major and its minor version."""
    version = module_version(folder)
    major, minor, _ = version.removeprefix("v").split(".")
    return version, major, minor
