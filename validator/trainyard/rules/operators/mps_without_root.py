"""The device plugin shares GPUs by MPS and gets no folder for MPS, so it does not start.

With `sharing.mps` in its configuration, the plugin ends with "using MPS requires --mps-root to be specified". It also
needs the control daemon of MPS beside it, which the chart installs.

The rule looks at DaemonSets of the plugin, from release 0.15 on, whose configuration is a ConfigMap in the files.
`flags.mpsRoot` in the configuration also names the folder.

Install the plugin with its chart, or set `MPS_ROOT`, mount that folder and start the control daemon.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.gpu_sharing import held_by
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.images import short_name
from trainyard.model.run import Container, Pod
from trainyard.startup import pattern

_IMAGE = "k8s-device-plugin"
# Earlier releases do not know MPS.
_FIRST = (0, 15)
_RELEASE = pattern(r":v?(\d+)\.(\d+)\.")


@rule(
    code="GO026",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/k8s-device-plugin v0.20.0 cmd/nvidia-device-plugin/main.go: validateFlags, --mps-root",
        "github.com/NVIDIA/k8s-device-plugin issue 816",
    ),
    needs=(_IMAGE,),
)
def mps_without_root(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report plugins that share by MPS without a folder for it."""
    mounted = {str(volume.body.get("name")) for volume in pod.volumes if volume.kind == "configMap"}
    for container in pod.containers if mounted else ():
        at = _configured(container) if _knows_mps(container.image or "") else None
        if at is None or container.setting("MPS_ROOT") or _has(container, "--mps-root"):
            continue
        for found in (one for name in sorted(mounted) for one in held_by(context.project, name)):
            root = mapping(found.tree, "flags").get("mpsRoot")
            if mapping(found.tree, "sharing", "mps") and not root:
                yield Problem(
                    at,
                    "the configuration shares GPUs by MPS, and the plugin has no `MPS_ROOT`: it does not start",
                    "install the plugin with its chart, or set `MPS_ROOT` and start the control daemon of MPS",
                    related=((found.at.child("sharing", "mps"), "the configuration"),),
                )
                break


def _knows_mps(image: str) -> bool:
    found = _RELEASE.search(image)
    return short_name(image) == _IMAGE and (found is None or (int(found[1]), int(found[2])) >= _FIRST)


def _configured(container: Container) -> Place | None:
    """Returns the place that names the file with the configuration; None if nothing does."""
    setting = container.setting("CONFIG_FILE")
    if setting is not None and setting.value:
        return setting.at
    for field, words in (("command", container.command), ("args", container.args)):
        for index, word in enumerate(words):
            if word.startswith("--config-file"):
                return container.at.child(field, index)
    return None


def _has(container: Container, option: str) -> bool:
    return any(word.partition("=")[0] == option for word in (*container.command, *container.args))
