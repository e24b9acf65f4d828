"""`envFrom` makes variables of a ConfigMap that holds files, so the program finds neither the file nor the settings.

Each key becomes a variable with the whole text of the file as its value. A program that reads its configuration from a
file, as the NVIDIA device plugin does with `CONFIG_FILE`, ignores them. Names with a dot or a dash, such as
`config.yaml`, are skipped by older releases of Kubernetes.

The rule applies to a ConfigMap in the files whose values are all of several lines.

Mount the ConfigMap as a volume, and pass the path of the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import fitting
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod

LINES = 2


@rule(
    code="RF021",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/tasks/configure-pod-container/configure-pod-configmap: envFrom, volumes",
        "github.com/NVIDIA/k8s-device-plugin issue 615",
    ),
    needs=("envFrom",),
)
def variables_from_files(container: Container, context: Context) -> Iterator[Problem]:
    """Report ConfigMaps of files among the variables."""
    run = context.run
    if run is None:
        return
    for number, entry in enumerate(items(container.tree, "envFrom")):
        name, at = text(entry, "configMapRef", "name"), container.at.child("envFrom", number, "configMapRef", "name")
        if _is_mounted(name, context.pod):
            continue
        known = fitting(context.project, "ConfigMap", name, run.namespace, at) if name else []
        if len(known) != 1:
            continue
        data = mapping(known[0].tree, "data")
        if data and all(isinstance(value, str) and value.strip().count("\n") >= LINES for value in data.values()):
            yield Problem(
                at,
                f"ConfigMap `{name}` holds files: envFrom makes a variable of each whole text, and no file",
                "mount it as a volume, and pass the path of the file",
                related=((known[0].at, "the ConfigMap"),),
            )


def _is_mounted(name: str, pod: Pod | None) -> bool:
    """True if a volume of the pod holds the files, too."""
    volumes = pod.volumes if pod is not None else ()
    sources = (one for volume in volumes for one in ({volume.kind: volume.body}, *items(volume.body, "sources")))
    return any(text(source, "configMap", "name") == name for source in sources)
