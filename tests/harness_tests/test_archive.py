"""Image archives: several images share one layer, and equal content gives equal bytes."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.harness.cluster.archive import Image, Layer, write_archive


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    program = tmp_path / "program"
    program.write_text("binary")
    program.chmod(0o755)
    layer = Layer.create(
        tmp_path / "layer.tar", {"bin/run": program, "etc/hosts": "127.0.0.1 localhost\n", "tmp/": None}
    )
    images = [Image(f"localhost/{name}:1", (layer,), entrypoint=("/bin/run", name), user="1000") for name in "ab"]
    write_archive(tmp_path / "images.tar", images)
    return tmp_path / "images.tar"


def member(archive: Path, name: str) -> Any:
    with tarfile.open(archive) as tar:
        file = tar.extractfile(name)
        assert file is not None
        return json.load(file)


def test_images_share_one_layer_and_keep_their_own_entrypoint(archive: Path) -> None:
    manifest = member(archive, "manifest.json")
    assert [image["RepoTags"] for image in manifest] == [["localhost/a:1"], ["localhost/b:1"]]
    assert manifest[0]["Layers"] == manifest[1]["Layers"]
    with tarfile.open(archive) as tar:
        assert len([name for name in tar.getnames() if name.endswith(".tar")]) == 1
    entrypoints = [member(archive, image["Config"])["config"]["Entrypoint"] for image in manifest]
    assert entrypoints == [["/bin/run", "a"], ["/bin/run", "b"]]


def test_files_in_a_layer_belong_to_root_and_programs_stay_executable(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "layer.tar") as layer:
        modes = {entry.name: (entry.uid, entry.mode & 0o777) for entry in layer if entry.isfile()}
    assert modes == {"bin/run": (0, 0o755), "etc/hosts": (0, 0o644)}


def test_a_layer_is_named_by_the_digest_of_its_tar_file(archive: Path) -> None:
    (layer,) = member(archive, "manifest.json")[0]["Layers"]
    config = member(archive, member(archive, "manifest.json")[0]["Config"])
    assert config["rootfs"]["diff_ids"] == [f"sha256:{layer.removesuffix('.tar')}"]
