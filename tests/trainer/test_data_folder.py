"""Samples from files in a folder: identical from each format, with errors that name the file."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file

from trainer.config import TrainerConfig
from trainer.data.folder import load_folder
from trainer.errors import ConfigError
from trainer.run import train
from trainer.runtime.distributed import World

Arrays = dict[str, NDArray[Any]]
GENERATOR = np.random.default_rng(0)
IMAGES: Arrays = {
    "inputs": GENERATOR.random((6, 4, 4), dtype=np.float32),
    "targets": np.arange(6, dtype=np.int64) % 3,
}
TOKENS: Arrays = {"tokens": GENERATOR.integers(0, 50, (6, 9))}


def npz(path: Path, arrays: Arrays) -> None:
    named: dict[str, Any] = dict(arrays)
    np.savez(path.with_suffix(".npz"), **named)


def safetensors(path: Path, arrays: Arrays) -> None:
    save_file(arrays, path.with_suffix(".safetensors"))


def parquet(path: Path, arrays: Arrays) -> None:
    table = pa.table({name: pa.array(array.tolist()) for name, array in arrays.items()})
    pq.write_table(table, path.with_suffix(".parquet"))


def webdataset(path: Path, arrays: Arrays) -> None:
    kinds = {"inputs": "npy", "targets": "cls", "tokens": "tokens.npy"}
    with tarfile.open(path.with_suffix(".tar"), "w") as archive:
        for row in range(len(next(iter(arrays.values())))):
            for name, array in arrays.items():
                content = io.BytesIO()
                if name == "targets":
                    content.write(str(array[row]).encode())
                else:
                    np.save(content, array[row])
                member = tarfile.TarInfo(f"samples/{row:06d}.{kinds[name]}")
                member.size = content.tell()
                content.seek(0)
                archive.addfile(member, content)


WRITERS: list[Callable[[Path, Arrays], None]] = [npz, safetensors, parquet, webdataset]


def write(folder: Path, arrays: Arrays, *writers: Callable[[Path, Arrays], None]) -> None:
    """Writes the samples for training and testing, split over one file of each writer."""
    for part in ("train", "test"):
        (folder / part).mkdir(parents=True)
        for number, writer in enumerate(writers):
            share = slice(number * 6 // len(writers), (number + 1) * 6 // len(writers))
            writer(folder / part / f"part-{number}", {name: array[share] for name, array in arrays.items()})


@pytest.mark.parametrize("writers", [*([writer] for writer in WRITERS), WRITERS], ids=lambda them: them[-1].__name__)
def test_images_are_the_same_from_each_format_and_in_the_order_of_the_files(
    tmp_path: Path, writers: list[Callable[[Path, Arrays], None]]
) -> None:
    write(tmp_path, IMAGES, *writers)
    data = load_folder(TrainerConfig(data="folder", data_dir=tmp_path, classes=3))
    order = np.array([5, 0, 3, 3])
    batch = data.training.take(order)
    assert data.test is not None
    assert len(data.training) == len(data.test) == 6
    assert data.shape == (4, 4)
    assert torch.equal(batch.inputs, torch.from_numpy(IMAGES["inputs"][order]))
    assert torch.equal(batch.targets, torch.from_numpy(IMAGES["targets"][order]))
    assert len(data.training.take(np.zeros(0, np.int64))) == 0


@pytest.mark.parametrize("writer", WRITERS)
def test_tokens_have_the_next_one_as_their_target(tmp_path: Path, writer: Callable[[Path, Arrays], None]) -> None:
    write(tmp_path, TOKENS, writer)
    config = TrainerConfig(data="folder", data_dir=tmp_path, model="gpt", classes=50, context_length=8)
    batch = load_folder(config).training.take(np.array([4, 1]))
    assert torch.equal(batch.inputs, torch.from_numpy(TOKENS["tokens"][[4, 1], :-1]))
    assert torch.equal(batch.targets, torch.from_numpy(TOKENS["tokens"][[4, 1], 1:]))


def test_bytes_of_images_are_scaled(tmp_path: Path) -> None:
    write(tmp_path, IMAGES | {"inputs": np.full((6, 4, 4), 255, np.uint8)}, npz)
    data = load_folder(TrainerConfig(data="folder", data_dir=tmp_path, classes=3))
    assert float(data.training.take(np.array([0])).inputs.max()) == 1.0


def test_a_folder_is_trained_on(tmp_path: Path, alone: World) -> None:
    write(tmp_path / "data", IMAGES, *WRITERS)
    config = TrainerConfig(
        data="folder", data_dir=tmp_path / "data", classes=3, batch_size=4, checkpoint_dir=tmp_path / "checkpoints"
    )
    assert train(config, alone) == 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "gpt", "context_length": 8}, "has inputs with one target each, and the model is gpt: write --model"),
        ({"data_dir": Path("nowhere")}, "cannot list nowhere/train: No such file or directory: write --data-dir"),
    ],
)
def test_data_that_do_not_fit_the_model_are_refused(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    write(tmp_path, IMAGES, npz)
    with pytest.raises(ConfigError, match=message):
        load_folder(TrainerConfig(**{"data": "folder", "data_dir": tmp_path, **fields}))


def test_a_wrong_context_length_is_reported_with_that_of_the_rows(tmp_path: Path) -> None:
    write(tmp_path, TOKENS, npz)
    with pytest.raises(ConfigError, match="has rows of 9 tokens: write --context-length 8"):
        load_folder(TrainerConfig(data="folder", data_dir=tmp_path, model="gpt"))


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    write(tmp_path, IMAGES, npz)
    broken = tmp_path / "train" / "part-0.npz"
    broken.write_bytes(broken.read_bytes()[:-100])
    with pytest.raises(ConfigError, match=r"cannot read .*part-0\.npz: .*: write it again, or remove it"):
        load_folder(TrainerConfig(data="folder", data_dir=tmp_path))


def test_unknown_array_names_are_reported_with_the_expected_ones(tmp_path: Path) -> None:
    write(tmp_path, {"pixels": IMAGES["inputs"]}, npz)
    with pytest.raises(ConfigError, match=r"holds pixels: write `inputs` and `targets`, or rows of `tokens`"):
        load_folder(TrainerConfig(data="folder", data_dir=tmp_path))


def archive_of(path: Path, members: dict[str, bytes]) -> None:
    """Writes a tar file of these members."""
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            ["0.jpg", "0.cls", "1.jpg", "1.png", "1.cls"],
            r"has members with \.jpg, \.png, which the trainer does not read",
        ),
        (["0.jpg", "1"], r"has members with \.jpg, no suffix, which .*: write each image as an array in \.npy and"),
        ([f"0.{n}.jpg" for n in range(5)], r"has members with \.0\.jpg, \.1\.jpg, \.2\.jpg and 2 others, which"),
    ],
)
def test_members_that_are_not_read_are_named(tmp_path: Path, members: list[str], message: str) -> None:
    archive_of(tmp_path / "train" / "part.tar", dict.fromkeys(members, b"0"))
    with pytest.raises(ConfigError, match=message):
        load_folder(TrainerConfig(data="folder", data_dir=tmp_path))


def npy(value: float) -> bytes:
    content = io.BytesIO()
    np.save(content, np.full((2, 2), value, np.float32))
    return content.getvalue()


def test_members_of_a_sample_belong_together_in_whichever_order_they_stand(tmp_path: Path) -> None:
    # As `tar` writes the files of a folder.
    members = {
        "b/0.npy": npy(0.2),
        "a/1.cls": b"1",
        "b/0.cls": b"2",
        "a/1.npy": npy(0.1),
        "a/0.npy": npy(0),
        "a/0.cls": b"0",
    }
    archive_of(tmp_path / "train" / "part.tar", members)
    samples = load_folder(TrainerConfig(data="folder", data_dir=tmp_path, classes=3)).training
    batch = samples.take(np.arange(3))
    assert batch.targets.tolist() == [2, 1, 0]
    assert torch.equal(batch.inputs[:, 0, 0], torch.tensor([0.2, 0.1, 0]))


def test_a_sample_without_one_of_its_members_is_named(tmp_path: Path) -> None:
    members = {"a/0.npy": npy(0), "a/0.cls": b"0", "a/1.npy": npy(1), "a/2.cls": b"2"}
    archive_of(tmp_path / "train" / "part.tar", members)
    with pytest.raises(
        ConfigError, match=r"part\.tar: a/1\.npy has no \.cls beside it: write both, or leave the sample"
    ):
        load_folder(TrainerConfig(data="folder", data_dir=tmp_path, classes=3))


def test_members_that_are_not_read_do_no_harm_beside_complete_samples(tmp_path: Path) -> None:
    array = io.BytesIO()
    np.save(array, IMAGES["inputs"][0])
    archive_of(tmp_path / "train" / "part.tar", {"0.npy": array.getvalue(), "0.cls": b"1", "0.json": b"{}"})
    assert len(load_folder(TrainerConfig(data="folder", data_dir=tmp_path, classes=3)).training) == 1
