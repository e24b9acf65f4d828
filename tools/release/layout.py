"""Folders in the OCI image layout: charts and images as a registry stores them.

Source of the format: "OCI Image Layout Specification" 1.1. Each artefact has an annotation with its name and tag,
`training-job:0.4.0`, in the index.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
REF_NAME = "org.opencontainers.image.ref.name"

Descriptor = dict[str, Any]


@dataclass
class Layout:
    """A folder that is filled with artefacts; `close` writes its index."""

    folder: Path
    _manifests: list[Descriptor] = field(default_factory=list)

    def add_bytes(self, media_type: str, content: bytes) -> Descriptor:
        """Store a blob and return its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self._place(digest).write_bytes(content)
        return _descriptor(media_type, digest, len(content))

    def add_file(self, media_type: str, path: Path) -> Descriptor:
        """Store a file as a blob and return its descriptor; the file may lie in another file system."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        place = self._place(digest)
        if not place.exists():
            shutil.copyfile(path, place)
        return _descriptor(media_type, digest, path.stat().st_size)

    def add_manifest(
        self,
        name: str,
        config: Descriptor,
        layers: Sequence[Descriptor],
        *,
        annotations: Mapping[str, str],
        named: Mapping[str, str] | None = None,
    ) -> None:
        """Store the manifest of an artefact; `named` are further annotations of its entry in the index."""
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": config,
            "layers": list(layers),
            "annotations": dict(annotations),
        }
        stored = self.add_bytes(MANIFEST_TYPE, _dumped(manifest))
        self._manifests.append({**stored, "annotations": {REF_NAME: name, **(named or {})}})

    def close(self) -> None:
        """Write the index, after which the folder is a layout."""
        index = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": self._manifests}
        (self.folder / "index.json").write_bytes(_dumped(index))
        (self.folder / "oci-layout").write_bytes(_dumped({"imageLayoutVersion": "1.0.0"}))

    def _place(self, digest: str) -> Path:
        folder = self.folder / "blobs" / "sha256"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / digest


def pack(folder: Path, target: Path, seconds: int) -> None:
    """Write a layout as an OCI archive: the same bytes for the same content."""
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.mtime = seconds
            if path.is_dir():
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
                continue
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(entry, content)


def _descriptor(media_type: str, digest: str, size: int) -> Descriptor:
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}


def _dumped(document: object) -> bytes:
    return json.dumps(document, sort_keys=True).encode()
