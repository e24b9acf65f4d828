"""A run as files: texts that `trainyard doctor` reads, and its objects. A bundle is a tar archive of them."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from trainyard.commands.status.replicas import containers
from trainyard.commands.status.snapshot import when
from trainyard.commands.support.collecting import Run, Tree
from trainyard.commands.support.redaction import Redaction
from trainyard.document.lookup import items, mapping, text
from trainyard.document.opening import reason

# What `trainyard doctor` reads of a bundle. Objects repeat it, beside fields that only look like an error.
READ = ("pods.txt", "nodes.txt", "events.txt", "logs/")
_MOST_FILES, _MOST_BYTES = 50_000, 8 << 30
_LONGEST = 1000


class BundleError(Exception):
    """The bundle cannot be written or read; `args[0]` gives the reason."""


def files(run: Run) -> Iterator[tuple[str, str]]:
    """Yields names and texts of the files of a run, without secrets."""
    redaction = Redaction((*run.objects, *run.pods))
    about = {"run": run.name, "namespace": run.namespace, "notes": run.notes}
    yield "bundle.json", json.dumps(about, indent=1)
    yield "pods.txt", redaction.text("".join(map(_pod, run.pods)))
    yield "nodes.txt", "".join(map(_node, run.nodes))
    yield "events.txt", redaction.text("".join(map(_event, sorted(run.events, key=when))))
    for tree in (*run.objects, *({"kind": "Pod", **pod} for pod in run.pods)):
        name = f"objects/{text(tree, 'kind').lower()}.{text(tree, 'metadata', 'name')}.json"
        yield name, json.dumps(redaction.tree(tree), indent=1)
    for log in run.logs:
        # The prefix of `kubectl logs --prefix` names the pod in each line.
        prefix = f"[pod/{log.pod}/{log.container}] "
        lines = redaction.text(log.text).splitlines()
        end = ".previous.log" if log.previous else ".log"
        yield f"logs/{log.pod}/{log.container}{end}", "".join(f"{prefix}{line}\n" for line in lines)


def write(run: Run, path: Path) -> list[str]:
    """Writes a bundle, and returns the names of its files. Raises `BundleError`."""
    names = []
    try:
        with tarfile.open(path, "w:gz") as archive:
            for name, content in files(run):
                data = content.encode()
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
                names.append(name)
    except OSError as error:
        raise BundleError(f"{path}: the bundle cannot be written: {reason(error)}") from None
    return names


def unpack(bundle: Path, folder: Path) -> None:
    """Writes those files of a bundle into a folder that doctor reads. Raises `BundleError`."""
    left = _MOST_BYTES
    try:
        with tarfile.open(bundle) as archive:
            for count, member in enumerate(archive):
                left -= member.size
                if count >= _MOST_FILES or left < 0:
                    raise BundleError(f"{bundle}: the bundle is larger than {_MOST_FILES:,} files or 8 GiB")
                if member.isfile() and member.name.startswith(READ):
                    _write(archive, member, folder)
    except (OSError, EOFError, tarfile.TarError) as error:
        raise BundleError(f"{bundle}: the bundle cannot be read: {error}") from None


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    # The filters of tarfile are missing before Python 3.11.4, which Debian 12 has.
    if ".." in Path(member.name).parts:
        raise tarfile.ReadError(f"{member.name!r} leads out of the bundle")
    path, content = folder / member.name, archive.extractfile(member)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(cast("IO[bytes]", content), file)


def lay_out(run: Run, folder: Path) -> None:
    """Writes those files of a run into a folder that doctor reads."""
    for name, content in files(run):
        if name.startswith(READ):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


def _pod(pod: Tree) -> str:
    status = mapping(pod, "status")
    lines = [f"Name:  {text(pod, 'metadata', 'name')}", f"Node:  {text(pod, 'spec', 'nodeName')}"]
    lines += _reason(status, "")
    for one in items(status, "conditions"):
        if one.get("status") == "False" and one.get("message"):
            lines.append(f"{text(one, 'type')}: {text(one, 'reason')}: {_line(one.get('message'))}")
    for one in containers(pod):
        lines.append(f"Container {text(one, 'name')}, restarts {one.get('restartCount', 0)}")
        for title, key in (("State", "state"), ("Last State", "lastState")):
            for kind, state in mapping(one, key).items():
                lines += [f"  {title}:  {kind}", *_reason(state, "    ")]
                if isinstance(state, dict) and "exitCode" in state:
                    lines.append(f"    Exit Code:  {state['exitCode']}")
    return "\n".join(lines) + "\n\n"


def _reason(state: Any, indent: str) -> list[str]:
    if not isinstance(state, dict):
        return []
    found = ((title, state.get(key)) for title, key in (("Reason", "reason"), ("Message", "message")))
    return [f"{indent}{title}:  {_line(value)}" for title, value in found if value]


def _line(value: Any) -> str:
    return " ".join(str(value).split())[:_LONGEST]


def _node(node: Tree) -> str:
    conditions = (
        f"  {text(one, 'type')}={text(one, 'status')} {text(one, 'reason')}: {_line(one.get('message'))}\n"
        for one in items(node, "status", "conditions")
    )
    return f"Node {text(node, 'metadata', 'name')}\n{''.join(conditions)}\n"


def _event(event: Tree) -> str:
    about = mapping(event, "involvedObject")
    name = f"{text(about, 'kind').lower()}/{text(about, 'name')}"
    return f"{when(event)} {text(event, 'type')} {text(event, 'reason')} {name} {_line(event.get('message'))}\n"
