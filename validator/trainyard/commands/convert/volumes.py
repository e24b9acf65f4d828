"""Volumes: the values `checkpoints`, `sharedMemory`, `temporaryStorage`, `volumes`, and the rest in `podTemplate`."""

from __future__ import annotations

import re
from typing import Any

from trainyard.commands.convert.draft import Draft
from trainyard.commands.convert.roles import Part, Tree
from trainyard.document.lookup import items, mapping, text

_CHECKPOINTS = re.compile(r"check-?points?|ckpts?", re.IGNORECASE)
_SIZE = re.compile(r"^[1-9][0-9]*(Ki|Mi|Gi|Ti|k|M|G|T)?$")
_NAME = re.compile(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
_PATH = re.compile(r"^(/[^/:]+)+$")
# Names of volumes that the chart has itself.
_TAKEN = frozenset((
    "checkpoints", "shared-memory", "tmp", "launch", "deepspeed-scratch", "scratch", "dataset", "dataset-source",
    "flight-recorder", "preflight",
))  # fmt: skip
_MEMORY, _TEMPORARY = "/dev/shm", "/tmp"  # noqa: S108
_UNUSED = "/unused-checkpoints"


def put_volumes(draft: Draft, part: Part) -> dict[str, str]:
    """Writes the volumes of a part's pods. Returns new names of volumes, for other containers that mount them."""
    volumes = {text(volume, "name"): volume for volume in items(part.template, "spec", "volumes")}
    mounts = [mount for mount in items(part.container, "volumeMounts") if isinstance(mount, dict)]
    users = _users(part)
    names: dict[str, str] = {}
    kept = _checkpoints(draft, mounts, volumes, users)
    if kept is not None:
        names[text(kept, "name")] = "checkpoints"
    for mount in mounts:
        name = text(mount, "name")
        if mount is kept:
            continue
        path, volume = text(mount, "mountPath").rstrip("/"), volumes.get(name, {})
        alone = users.get(name) == 1
        if path == _MEMORY and alone and _put_memory(draft, volume):
            names[name] = "shared-memory"
        elif path == _TEMPORARY and alone and set(volume) == {"name", "emptyDir"} and _put_temporary(draft, volume):
            names[name] = "tmp"
        elif not (alone or (users.get(name, 0) > 1 and _single(mounts, name))) or not _put_volume(draft, mount, volume):
            _put_mount(draft, mount, volume, names)
    for name, volume in volumes.items():
        if name not in names and not any(text(mount, "name") == name for mount in mounts) and name:
            draft.add_pod("volumes", _renamed(volume, names))
    return names


def _checkpoints(draft: Draft, mounts: list[Tree], volumes: dict[str, Tree], users: dict[str, int]) -> Tree | None:
    """Writes the claim of the checkpoints, and returns its mount; without one the chart's folder is the pod's own."""
    found = [mount for mount in mounts if _is_claim(mount, volumes) and not mount.get("readOnly")]
    found = [mount for mount in found if users.get(text(mount, "name")) == 1 or _single(mounts, text(mount, "name"))]
    named = [mount for mount in found if _CHECKPOINTS.search(text(mount, "mountPath") + text(mount, "name"))]
    if named:
        mount = named[0]
        draft.put("checkpoints.existingClaim", volumes[text(mount, "name")]["persistentVolumeClaim"]["claimName"])
        draft.put("checkpoints.mountPath", text(mount, "mountPath").rstrip("/"))
        draft.put("checkpoints.subPath", text(mount, "subPath"))
        return mount
    paths = [text(mount, "mountPath").rstrip("/") for mount in mounts]
    reason = "The job has no claim that is called checkpoints. Its own volumes keep what it writes"
    draft.put("checkpoints.enabled", False, reason)
    if "/checkpoints" in paths:
        draft.put("checkpoints.mountPath", _UNUSED)
    return None


def _is_claim(mount: Tree, volumes: dict[str, Tree]) -> bool:
    volume = volumes.get(text(mount, "name"), {})
    claim = mapping(volume, "persistentVolumeClaim")
    return bool(text(claim, "claimName")) and not claim.get("readOnly") and _is_plain(mount)


def _is_plain(mount: Tree) -> bool:
    return set(mount) <= {"name", "mountPath", "subPath", "readOnly"}


def _single(mounts: list[Tree], name: str) -> bool:
    """Returns true if the program mounts a volume once; other containers may mount it too."""
    return sum(text(mount, "name") == name for mount in mounts) == 1


def _users(part: Part) -> dict[str, int]:
    """Returns the number of mounts of each volume in all containers of the pod."""
    counts: dict[str, int] = {}
    for field in ("containers", "initContainers"):
        for container in items(part.template, "spec", field):
            for mount in items(container, "volumeMounts"):
                counts[text(mount, "name")] = counts.get(text(mount, "name"), 0) + 1
    return counts


def _put_memory(draft: Draft, volume: Tree) -> bool:
    body = mapping(volume, "emptyDir")
    if body.get("medium") != "Memory":
        return False
    size = body.get("sizeLimit")
    if size is None:
        draft.add_pod("volumes", {"name": "shared-memory", "emptyDir": {"sizeLimit": None}})
    elif _SIZE.match(str(size)):
        draft.put("sharedMemory.size", str(size))
    else:
        draft.add_pod("volumes", {"name": "shared-memory", "emptyDir": {"sizeLimit": size}})
    return True


def _put_temporary(draft: Draft, volume: Tree) -> bool:
    body = volume["emptyDir"] or {}
    if not set(body) <= {"sizeLimit"} or not _SIZE.match(str(body.get("sizeLimit", "1"))):
        return False
    draft.put("temporaryStorage.size", body.get("sizeLimit"))
    return True


def _put_volume(draft: Draft, mount: Tree, volume: Tree) -> bool:
    """Writes a volume as a value, if the value has its source and the path is free."""
    name, path = text(mount, "name"), text(mount, "mountPath")
    path = path.rstrip("/") or path
    source = _source(volume)
    inside = path.startswith((f"{_MEMORY}/", f"{_TEMPORARY}/")) or path in (_MEMORY, _TEMPORARY)
    taken = name in _TAKEN or not _NAME.match(name) or name in draft.values.get("volumes", {})
    if source is None or inside or taken or not _PATH.match(path) or not _is_plain(mount):
        return False
    value = {**source, "mountPath": path}
    if text(mount, "subPath"):
        value["subPath"] = mount["subPath"]
    if mount.get("readOnly") or mapping(volume, "persistentVolumeClaim").get("readOnly"):
        value["readOnly"] = True
    draft.values.setdefault("volumes", {})[name] = value
    return True


def _source(volume: Tree) -> Tree | None:
    """Returns the source of a volume as the value `volumes` has it, None if it has no such source."""
    claim, nfs = mapping(volume, "persistentVolumeClaim"), mapping(volume, "nfs")
    if text(claim, "claimName"):
        return {"claim": claim["claimName"]}
    if "emptyDir" in volume or set(volume) == {"name"}:
        body = mapping(volume, "emptyDir")
        is_known = body.get("medium", "") == "" and _SIZE.match(str(body.get("sizeLimit", "1")))
        return {"emptyDir": {k: str(v) for k, v in body.items() if k == "sizeLimit"}} if is_known else None
    if nfs and not nfs.get("readOnly"):
        return {"nfs": {"server": text(nfs, "server"), "path": text(nfs, "path")}}
    folder = mapping(volume, "hostPath")
    if folder.get("type"):
        return {"hostPath": folder}
    for kind, field in (("configMap", "name"), ("secret", "secretName")):
        body = mapping(volume, kind)
        if text(body, field):
            return _files(kind, field, body)
    return None


def _files(kind: str, field: str, body: Tree) -> Tree | None:
    entries = [entry for entry in items(body, "items") if isinstance(entry, dict)]
    if not set(body) <= {field, "optional", "defaultMode", "items"}:
        return None
    if any(set(entry) != {"key", "path"} for entry in entries):
        return None
    value: dict[str, Any] = {"name": body[field]}
    value |= {key: body[key] for key in ("optional", "defaultMode") if key in body}
    if entries:
        value["items"] = {entry["key"]: entry["path"] for entry in entries}
    return {kind: value}


def _put_mount(draft: Draft, mount: Tree, volume: Tree, names: dict[str, str]) -> None:
    """Writes a mount and its volume into `podTemplate`."""
    name = text(mount, "name")
    if name in draft.values.get("volumes", {}) or name in names:
        draft.program().setdefault("volumeMounts", []).append({**mount, "name": names.get(name, name)})
        return
    path = text(mount, "mountPath").rstrip("/")
    if path == _MEMORY:
        draft.put("sharedMemory.enabled", False)
    new = f"own-{name}" if name in _TAKEN else name
    if path == _TEMPORARY:
        # The chart mounts its own volume there, whose source is replaced.
        new = "tmp"
        volume = {**volume, **({} if "emptyDir" in volume else {"emptyDir": None})}
    known = draft.pods.get("spec", {}).get("volumes", [])
    if new != name:
        names[name] = new
    if volume and not any(text(one, "name") == new for one in known):
        draft.add_pod("volumes", {**volume, "name": new})
    draft.program().setdefault("volumeMounts", []).append({**mount, "name": new})


def _renamed(volume: Tree, names: dict[str, str]) -> Tree:
    name = text(volume, "name")
    if name in _TAKEN:
        names[name] = f"own-{name}"
    return {**volume, "name": names.get(name, name)}
