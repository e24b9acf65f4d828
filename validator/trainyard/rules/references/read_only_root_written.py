"""The root file system is read-only, and the program writes to a folder that is on no volume.

With `readOnlyRootFilesystem: true`, a container can write to its volumes alone. Outputs, downloads of models and caches
elsewhere fail with "Read-only file system". torchrun, Accelerate and vLLM also need a folder for temporary files, and
stop without one: "No usable temporary directory found".

The rule looks at options for outputs, at variables for caches, at launchers without `/tmp`, and at downloads from
Hugging Face in a container without any writable volume. A cache may be part of the image if
`HF_HUB_OFFLINE=1` is set.

Mount an `emptyDir` at the folder.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import starts
from trainyard.analysis.launchers.model_servers import server_starts
from trainyard.analysis.pods import caches
from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.pods.writes import written_paths
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod

_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN")


@rule(
    code="RF025",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/security/pod-security-standards; docs.python.org/3/library/tempfile: gettempdir",
        "huggingface_hub constants.py: HF_HOME, ~/.cache/huggingface; github.com/kubeflow/mcp-server pull 160",
        "github.com/OHF-Voice/wyoming-faster-whisper issue 27",
    ),
    needs=("readOnlyRootFilesystem",),
)
def read_only_root_written(container: Container, context: Context) -> Iterator[Problem]:
    """Report writes to the root file system."""
    pod = context.pod
    if pod is None or mapping(container.tree, "securityContext").get("readOnlyRootFilesystem") is not True:
        return
    what = next(_writes(container, pod), None)
    if what is not None:
        yield Problem(
            container.at.child("securityContext", "readOnlyRootFilesystem"),
            f"the root file system is read-only, and {what} is on no writable volume",
            "mount an `emptyDir` there",
        )


def _writes(container: Container, pod: Pod) -> Iterator[str]:
    """Yields what the container writes to its root file system."""
    for written in written_paths(container):
        if mount_of(container, written.path) is None:
            yield f"`{written.path}` of `{written.by}`"
    for name in caches.ALL:
        path = caches.cache_path(container, name)
        only_read = name in caches.OF_HUB and caches.is_offline(container)
        if path is not None and mount_of(container, path) is None and not only_read:
            yield f"the cache `{path}` of {name}"
    writable = caches.writable_paths(pod, container)
    if _needs_temporary(container) and not _has_temporary(container, writable):
        yield "the folder for temporary files (`/tmp`)"
    downloads = any(map(container.setting, _TOKENS)) and not caches.is_offline(container)
    if downloads and not writable and not any(map(container.setting, (*caches.OF_HUB, "HOME", "XDG_CACHE_HOME"))):
        yield "the cache of Hugging Face in the home folder"


def _needs_temporary(container: Container) -> bool:
    return bool(server_starts(container)) or bool(starts(container))


def _has_temporary(container: Container, writable: list[str]) -> bool:
    if any(container.setting(name) for name in ("TMPDIR", "TEMP", "TMP")):
        return True
    folders = {path.rstrip("/") for path in writable}
    return not folders.isdisjoint((*caches.TEMPORARY, "/var", "")) or text(container.tree, "workingDir") in folders
