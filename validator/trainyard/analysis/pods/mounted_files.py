"""Files in ConfigMaps that a container mounts, such as host files of launchers and programs."""

from __future__ import annotations

from trainyard.analysis.objects.known_objects import fitting
from trainyard.analysis.pods.mounts import mount_of
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context
from trainyard.model.run import Container


def mounted_text(path: str, container: Container, context: Context) -> tuple[str, Place] | None:
    """Returns the text of a file from a ConfigMap, and its place; None if the files do not show it.

    Several ConfigMaps may fit a name, as in folders of environments: then it is not clear which one the pod gets.
    """
    pod, run = context.pod, context.run
    mount = mount_of(container, path)
    volume = pod.volume(mount.volume) if pod is not None and mount is not None else None
    if mount is None or run is None or volume is None or volume.kind != "configMap" or "items" in volume.body:
        return None
    found = fitting(context.project, "ConfigMap", text(volume.body, "name"), run.namespace, volume.at)
    if len(found) != 1:
        return None
    key = path.rpartition("/")[2]
    written = mapping(found[0].tree, "data").get(key)
    if not isinstance(written, str) or "{{" in written:
        return None
    return written, found[0].at.child("data", key)
