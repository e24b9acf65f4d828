"""The variable names a file that no volume of the container provides, so NCCL may run without it.

NCCL treats a missing file differently for each variable. Without the topology of `NCCL_TOPO_FILE` it continues with the
topology that it detects, which in a virtual machine is a flat tree without NVLink or NIC affinity: the run is slow, and
only `NCCL_DEBUG=INFO` logs the reason. Without `NCCL_CONF_FILE` it continues without a message. Without
`NCCL_GRAPH_FILE` it fails with a system error.

A path outside every mount can still be part of the image, which the files do not show; therefore the confidence is
medium. A path in an `emptyDir` that no init container fills, or in a ConfigMap without such a key, cannot exist. NC046
reports values that are no path.

Mount the file from a ConfigMap or from the host, or unset the variable.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.pods.environment import is_effective
from trainyard.analysis.pods.mounts import mount_of
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.files import FILES
from trainyard.model.run import Container, Pod, Resource, Setting


@rule(
    code="NC034",
    severity="error",
    confidence="medium",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/graph/xml.cc: ncclTopoGetXmlFromFile, ncclTopoGetXmlGraphFromFile",
        "NVIDIA/nccl v2.30.7-1 src/misc/param.cc: setEnvFile",
    ),
    needs=("NCCL_CONF_FILE", "NCCL_GRAPH_FILE", "NCCL_TOPO_FILE"),
)
def nccl_topo_file_not_mounted(setting: Setting, context: Context) -> Iterator[Problem]:
    """A file that no volume provides."""
    path = setting.value or ""
    if setting.name not in FILES or not is_effective(setting, context.container):
        return
    if not path.startswith("/") or "$" in path:
        return
    missing = next((words for place in _readers(setting, context) if (words := _missing(path, *place, context))), "")
    if missing:
        yield Problem(
            setting.at,
            f"{missing} {path}: {FILES[setting.name]}",
            f"mount the file at {path}, or remove {setting.name}",
        )


def _readers(setting: Setting, context: Context) -> Iterator[tuple[Container, Pod]]:
    """The containers that read the file: with `mpirun -x` those of the workers."""
    if setting.via == "mpirun" and context.run is not None:
        yield from ((role.container, role.pod) for role in context.run.training_roles if role.container is not None)
    elif context.container is not None and context.pod is not None:
        yield context.container, context.pod


def _missing(path: str, container: Container, pod: Pod, context: Context) -> str:
    """The reason why the file is missing, as the start of a message; empty if it may exist."""
    mount = mount_of(container, path)
    if mount is None:
        return "no mounted volume holds" if has_all_pods(context.run) else ""
    volume = pod.volume(mount.volume)
    # A mount at the path itself is a single file, selected with `subPath`.
    if volume is None or mount.mount_path == path:
        return ""
    if volume.kind == "emptyDir":
        filled = any(other.volume == volume.name for init in pod.init_containers for other in init.mounts)
        filled = filled or len(pod.containers) > 1
        return "" if filled else f"nothing fills the emptyDir `{volume.name}` that should hold"
    if volume.kind == "configMap" and not items(volume.body, "items"):
        namespace = context.run.namespace if context.run is not None else ""
        found = context.project.named("ConfigMap", text(volume.body, "name"), namespace)
        key = path[len(mount.mount_path.rstrip("/")) :].strip("/")
        return "" if found is None or key in _keys(found) else f"ConfigMap `{found.name}` does not hold"
    return ""


def _keys(config_map: Resource) -> set[str]:
    return {*mapping(config_map.tree, "data"), *mapping(config_map.tree, "binaryData")}
