"""Files of a checkpoint that somebody else wrote, with digests that are right."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from trainer.checkpoint.manifest import manifest_text


def forge(path: Path, name: str, content: bytes) -> None:
    """Replaces the content of file `name` in checkpoint `path`, and its entry in the manifest."""
    (path / name).write_bytes(content)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][name] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    (path / "manifest.json").write_bytes(manifest_text(manifest["format"], manifest["files"]))


def forge_format(path: Path, number: object) -> None:
    """Makes the checkpoint `path` one of another format."""
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_bytes(manifest_text(number, manifest["files"]))


def forge_state(path: Path, **fields: object) -> None:
    """Replaces fields of the state in checkpoint `path`."""
    state = json.loads((path / "state.json").read_text()) | fields
    forge(path, "state.json", json.dumps(state).encode())


def forge_list(path: Path, without: str) -> None:
    """Removes the entry of a file from the manifest of checkpoint `path`; the file stays."""
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["files"][without]
    (path / "manifest.json").write_bytes(manifest_text(manifest["format"], manifest["files"]))
