"""Image layers that this machine unpacks once, and that every node of every cluster then uses.

An import costs a node about 45 processor seconds for each GB: containerd reads, hashes, stores and unpacks it. A node
that sees the unpacked layers needs only their names in its store, which takes less than a second.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.cluster import cache
from tests.harness.cluster.cluster import LAYERS_PATH, Cluster
from tests.harness.cluster.engine import Engine

KIND = "layers"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
# Programs such as ping have file capabilities.
UNPACK = ("tar", "--extract", "--numeric-owner", "--preserve-permissions", "--xattrs", "--xattrs-include=security.*")


@dataclass(frozen=True)
class Contents:
    """An image of an archive: its configuration, and the digest and the size of each layer, the lowest first."""

    reference: str
    config: bytes
    layers: tuple[tuple[str, int], ...]

    @classmethod
    def read(cls, archive: Path, reference: str) -> Contents:
        """Read what an archive of the harness says of one of its images."""
        with tarfile.open(archive) as tar:
            manifest = next(entry for entry in _json(tar, "manifest.json") if reference in entry["RepoTags"])
            sizes = [tar.getmember(name).size for name in manifest["Layers"]]
            config = _bytes(tar, manifest["Config"])
        digests = (digest.partition(":")[2] for digest in json.loads(config)["rootfs"]["diff_ids"])
        return cls(reference, config, tuple(zip(digests, sizes, strict=True)))

    @property
    def chains(self) -> list[str]:
        """The names of the layers in containerd's store. Source: "Layer ChainID" of the OCI image specification."""
        names: list[str] = []
        for digest, _ in self.layers:
            names.append(_digest(f"{names[-1]} sha256:{digest}".encode()) if names else f"sha256:{digest}")
        return names

    def write_index(self, path: Path) -> None:
        """Write an archive of the OCI format that has everything but the layers."""
        manifest = _dumped(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST_TYPE,
                "config": _descriptor(CONFIG_TYPE, self.config),
                "layers": [
                    {"mediaType": LAYER_TYPE, "digest": f"sha256:{digest}", "size": size}
                    for digest, size in self.layers
                ],
            }
        )
        named = _descriptor(MANIFEST_TYPE, manifest) | {"annotations": {"io.containerd.image.name": self.reference}}
        files = {
            "oci-layout": _dumped({"imageLayoutVersion": "1.0.0"}),
            "index.json": _dumped({"schemaVersion": 2, "manifests": [named]}),
            **{f"blobs/{_digest(blob).replace(':', '/')}": blob for blob in (manifest, self.config)},
        }
        with tarfile.open(path, "w") as tar:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


def usable(*, published: bool) -> bool:
    """Returns true if nodes can use unpacked layers: our own node image links them, and only root can unpack them."""
    return not published and os.geteuid() == 0


def folder() -> Path:
    """Return the folder that nodes mount, created if it does not exist."""
    path = cache.root() / KIND
    path.mkdir(parents=True, exist_ok=True)
    return path


def add(cluster: Cluster, engine: Engine, archive: Path, reference: str, nodes: Sequence[str]) -> None:
    """Add an image of an archive to the store of nodes whose cluster uses unpacked layers."""
    contents = Contents.read(archive, reference)
    for digest, _ in contents.layers:
        _unpack(archive, digest)
    index = folder() / f".{cluster.name}.tar"
    contents.write_index(index)
    layers = [f"{chain}={digest}" for chain, (digest, _) in zip(contents.chains, contents.layers, strict=True)]
    for node in nodes:
        command = ("link-image", f"{LAYERS_PATH}/{index.name}", _digest(contents.config), *layers)
        cluster.check(engine, node, *command)
        _record(cluster, node, reference).write_text("\n".join(digest for digest, _ in contents.layers))
    index.unlink()


def missing(cluster: Cluster, nodes: Sequence[str], reference: str) -> list[str]:
    """Return the nodes that `add` has not given this image."""
    return [node for node in nodes if not _record(cluster, node, reference).exists()]


def prune() -> None:
    """Remove the layers that no cluster uses and no image of the cache has."""
    used = {digest for file in cache.root().glob("clusters/*/loaded/*") for digest in file.read_text().split()}
    for archive in cache.root().glob("images/*/image*.tar"):
        with tarfile.open(archive) as tar:
            layers = (name for entry in _json(tar, "manifest.json") for name in entry["Layers"])
            used |= {name.removesuffix(".tar") for name in layers}
    for layer in folder().glob("[!.]*"):
        if layer.name not in used:
            shutil.rmtree(layer, ignore_errors=True)


def _unpack(archive: Path, digest: str) -> None:
    def build(target: Path) -> None:
        read = ["tar", "--extract", "--to-stdout", "--file", str(archive), f"{digest}.tar"]
        with subprocess.Popen(read, stdout=subprocess.PIPE) as reader:
            subprocess.run([*UNPACK, "--directory", str(target)], stdin=reader.stdout, check=True)

    cache.cached(KIND, digest, build)


def _record(cluster: Cluster, node: str, reference: str) -> Path:
    return cluster.loaded / f"{node}.{reference.replace('/', '_')}"


def _json(tar: tarfile.TarFile, name: str) -> Any:
    return json.loads(_bytes(tar, name))


def _bytes(tar: tarfile.TarFile, name: str) -> bytes:
    member = tar.extractfile(name)
    assert member is not None
    return member.read()


def _dumped(document: object) -> bytes:
    return json.dumps(document, sort_keys=True).encode()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": _digest(content), "size": len(content)}
