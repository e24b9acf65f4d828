"""The image of a kind node, built from packages: Debian with systemd and containerd, Kubernetes' binaries, our files.

kind's source defines what it needs of a node image: `/kind/version`, `/kind/manifests`, an entrypoint that reports the
cgroup version, and the control plane's images in containerd's store.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Content, Image, Layer, write_archive
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.images import system
from tests.harness.cluster.images.rootfs import Rootfs
from tests.harness.cluster.tools import KUBERNETES, binary, build, kubernetes, module_version

REPOSITORY = "localhost/trainyard/node"
FILES = Path(__file__).parent.parent / "node"
# bookworm, because trixie's systemd (256 and later) does not run on cgroup v1.
PACKAGES = """
    bash ca-certificates conntrack containerd curl dbus ebtables ethtool gawk hostname iproute2 iptables
    jq kmod libnss-myhostname libseccomp2 mount nftables pigz procps runc socat systemd systemd-sysv
    util-linux
"""
DEBIAN = Rootfs("node", "bookworm", tuple(PACKAGES.split()))
BINARIES = ("kubeadm", "kubelet", "kubectl")
PRELOADED = (*system.CONTROL_PLANE, *system.TOOLS)
ENTRYPOINT = ("/usr/local/bin/entrypoint", "/sbin/init")
STOP_SIGNAL = "SIGRTMIN+3"

# A container of the image itself fills the store. Only unpacked layers stay: their archives would double the size of
# the image and of every node's volume.
PRELOAD = """\
set -eu
containerd >/tmp/containerd.log 2>&1 &
until ctr version >/dev/null 2>&1; do sleep 0.2; done
ctr --namespace k8s.io images import --snapshotter overlayfs /preload/images.tar
ctr --namespace k8s.io content prune references >/dev/null
kill %1
wait || true
rm -f /tmp/containerd.log
"""


def ensure(engine: Engine) -> str:
    """Return the reference of the node image in the engine's store, building it if it is missing."""
    images = system.archive(PRELOADED)
    contents = _contents()
    key = cache.digest(DEBIAN.key, images.parent.name, PRELOAD, *ENTRYPOINT, FILES, *_names(contents))
    reference = f"{REPOSITORY}:{module_version(kubernetes())}-{key}"
    if not engine.has_image(reference):
        with cache.lock("node-image"), progress.step("assembling the node image"):
            _assemble(engine, reference, contents, images)
            _drop_others(engine, reference)
    return reference


def _drop_others(engine: Engine, reference: str) -> None:
    """Remove outdated node images, 2 GB each; the engine keeps an image that a cluster uses.

    The image of another pinned release of Kubernetes stays, so that clusters of both can take turns.
    """
    pinned = {module_version(folder) for folder in KUBERNETES.values()} - {module_version(kubernetes())}
    listed = engine.check("images", "--format", "{{.Repository}}:{{.Tag}}").split()
    for other in listed:
        repository, _, tag = other.partition(":")
        if repository == REPOSITORY and other != reference and tag.rsplit("-", 1)[0] not in pinned:
            engine.run("image", "rm", other)


def _assemble(engine: Engine, reference: str, contents: dict[str, Content], images: Path) -> None:
    if engine.has_image(reference):
        return
    unloaded = f"{reference}-unloaded"
    container = f"trainyard-preload-{uuid.uuid4().hex[:8]}"
    with cache.scratch("node-image") as folder:
        layers = (Layer.of(DEBIAN.tar()), Layer.create(folder / "layer.tar", contents))
        image = Image(
            unloaded, layers, entrypoint=ENTRYPOINT, environment={"container": "docker"}, stop_signal=STOP_SIGNAL
        )
        write_archive(folder / "image.tar", [image])
        engine.run_logged("load", "--input", str(folder / "image.tar"), log="node-load")
        try:
            engine.run_logged(
                *("run", "--name", container, "--privileged", "--network=none", "--tmpfs", "/run"),
                *("--volume", f"{images.parent}:/preload:ro", "--entrypoint", "/bin/bash", unloaded, "-c", PRELOAD),
                log="node-preload",
            )
            engine.run_logged(
                *("commit", "--change", f"ENTRYPOINT {_json(ENTRYPOINT)}", "--change", "CMD []"),
                *("--change", f"STOPSIGNAL {STOP_SIGNAL}", container, reference),
                log="node-commit",
            )
        finally:
            engine.run("rm", "--force", "--volumes", container)
            engine.run("image", "rm", unloaded)


def _contents() -> dict[str, Content]:
    """Return everything above the Debian packages, by its path in the image."""
    contents: dict[str, Content] = {f"usr/bin/{name}": binary(name) for name in BINARIES}
    contents |= {f"opt/cni/bin/{plugin.name}": plugin for plugin in sorted(build("cni-plugins").iterdir())}
    for file in sorted(path for path in FILES.rglob("*") if path.is_file()):
        contents[str(file.relative_to(FILES))] = _filled(file)
    contents["kind/version"] = module_version(kubernetes())
    contents["kind/product_name"] = "kind\n"
    return contents


def _filled(file: Path) -> str:
    text = file.read_text().replace("@PAUSE@", system.control_plane_references()["pause"])
    return text.replace("@KUBECTL@", system.reference(system.KUBECTL))


def _names(contents: dict[str, Content]) -> list[str]:
    return [
        f"{name}={content.parent.name if isinstance(content, Path) else content}" for name, content in contents.items()
    ]


def _json(words: tuple[str, ...]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"
