"""Image layers are unpacked once, named as containerd names them, and removed when nothing uses them."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from tests.harness.cluster import layers
from tests.harness.cluster.archive import Image, Layer, write_archive
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError

REFERENCE = "localhost/tool:1"


@pytest.fixture
def archive(own_cache: Path) -> Path:
    """An image of two layers among the images of the cache."""
    folder = own_cache / "images" / "tool-1"
    folder.mkdir(parents=True)
    made = [Layer.create(own_cache / f"{name}.tar", {name: f"#!/bin/{name}\n"}) for name in ("lower", "upper")]
    write_archive(folder / "image.tar", [Image(REFERENCE, tuple(made))])
    return folder / "image.tar"


def sha(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_chain_is_named_by_the_layers_below_it(archive: Path) -> None:
    contents = layers.Contents.read(archive, REFERENCE)
    lower, upper = (f"sha256:{digest}" for digest, _ in contents.layers)

    assert contents.chains == [lower, sha(f"{lower} {upper}")]


def test_an_index_names_the_image_and_has_every_blob_but_the_layers(archive: Path, tmp_path: Path) -> None:
    contents = layers.Contents.read(archive, REFERENCE)
    contents.write_index(tmp_path / "index.tar")

    with tarfile.open(tmp_path / "index.tar") as tar:
        texts = {name: tar.extractfile(name).read().decode() for name in tar.getnames()}  # type: ignore[union-attr]
    (named,) = json.loads(texts["index.json"])["manifests"]
    manifest = json.loads(texts[f"blobs/{named['digest'].replace(':', '/')}"])
    assert named["annotations"] == {"io.containerd.image.name": REFERENCE}
    assert texts[f"blobs/{manifest['config']['digest'].replace(':', '/')}"] == contents.config.decode()
    assert all(sha(text) == name.replace("blobs/sha256/", "sha256:") for name, text in texts.items() if "blobs" in name)
    assert [(layer["digest"], layer["size"]) for layer in manifest["layers"]] == [
        (f"sha256:{digest}", size) for digest, size in contents.layers
    ]
    assert len(texts) == 4


def test_an_image_that_no_node_could_link_is_missing_and_its_layers_are_unpacked(archive: Path) -> None:
    cluster = Cluster("trial")
    cluster.loaded.mkdir(parents=True)

    with pytest.raises(ClusterError, match="link-image"):
        # An engine that runs nothing.
        layers.add(cluster, Engine("false"), archive, REFERENCE, cluster.workers)

    assert layers.missing(cluster, cluster.workers, REFERENCE) == list(cluster.workers)
    files = [path for path in layers.folder().rglob("*") if path.is_file() and path.parent != layers.folder()]
    assert sorted((path.name, path.stat().st_mode & 0o777) for path in files) == [("lower", 0o755), ("upper", 0o755)]


def test_layers_of_images_and_clusters_are_kept_and_others_removed(archive: Path, own_cache: Path) -> None:
    cluster = Cluster("trial")
    cluster.loaded.mkdir(parents=True)
    layers.add(cluster, Engine("true"), archive, REFERENCE, cluster.workers)
    assert layers.missing(cluster, cluster.workers, REFERENCE) == []
    ours = {path.name for path in layers.folder().glob("[!.]*")}
    (layers.folder() / "outdated").mkdir()

    layers.prune()
    assert {path.name for path in layers.folder().glob("[!.]*")} == ours
    archive.unlink()
    layers.prune()
    assert {path.name for path in layers.folder().glob("[!.]*")} == ours
    for file in cluster.loaded.iterdir():
        file.unlink()
    layers.prune()
    assert list(layers.folder().glob("[!.]*")) == []
    assert len(ours) == 2
    assert own_cache == layers.folder().parent
