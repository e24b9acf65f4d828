"""The container starts a file of a ConfigMap that is not executable, so it ends with "permission denied".

Files of a ConfigMap or Secret have mode 0644 unless `defaultMode` or an item's `mode` says otherwise, and the volume is
read-only: `chmod` fails in it. No user can start such a file, not even root.

Write `defaultMode: 0755` into the volume, or start the file with `bash /path/to/file`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.pods.mounts import mount_of
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Volume

KINDS = {"configMap": "ConfigMap", "secret": "Secret"}
EXECUTABLE = 0o111


@rule(
    code="RF018",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34 pkg/apis/core/types.go: ConfigMapVolumeSourceDefaultMode 0644",
        "github.com/kubernetes/kubernetes issue 71356",
    ),
    needs=("configMap", "secret"),
)
def script_not_executable(container: Container, context: Context) -> Iterator[Problem]:
    """Report programs in volumes whose files cannot be executed."""
    pod = context.pod
    # Without a command, the arguments are those of the image's program.
    if pod is None or not container.command or not any(volume.kind in KINDS for volume in pod.volumes):
        return
    done: set[str] = set()
    # A script of the files is read in place of the command that starts it.
    first = [(container.command[0], container.at.child("command", 0))]
    for path, at in (*first, *((one.words[0], one.word_at[0]) for one in container.commands if one.words)):
        mount = mount_of(container, path) if path.startswith("/") and path not in done else None
        volume = pod.volume(mount.volume) if mount is not None else None
        if mount is None or volume is None or volume.kind not in KINDS:
            continue
        done.add(path)
        if not _mode(volume, path[len(mount.mount_path.rstrip("/")) + 1 :]) & EXECUTABLE:
            yield Problem(
                at,
                f"`{path}` of the {KINDS[volume.kind]} is not executable: the start fails with `permission denied`",
                "write `defaultMode: 0755` into the volume, or start it with `bash`",
                related=((volume.at, "the volume"),),
            )


def _mode(volume: Volume, rest: str) -> int:
    """Returns the mode of a file; 0777 if it cannot be told."""
    listed = items(volume.body, "items")
    own: list[Any] = [entry.get("mode") for entry in listed if isinstance(entry, dict) and text(entry, "path") == rest]
    if not own and listed and any(isinstance(entry, dict) and "mode" in entry for entry in listed):
        return 0o777
    mode = next((one for one in own if one is not None), volume.body.get("defaultMode", 0o644))
    return mode if isinstance(mode, int) else 0o777
