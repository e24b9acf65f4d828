"""Files of samples that are read on demand, also by loader workers."""

from __future__ import annotations

import pickle
import re
from itertools import chain
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
from trainer.data.batch import Data
from trainer.data.folder import load_folder
from trainer.data.formats import parquet
from trainer.data.loader import BatchLoader
from trainer.data.sampler import GlobalSampler
from trainer.errors import ConfigError, DataError, TrainerError

LENGTH, VOCABULARY = 8, 50
TOKENS = np.random.default_rng(0).integers(0, VOCABULARY, 100).astype(np.uint16)
ROWS = TOKENS[: 11 * (LENGTH + 1)].reshape(-1, LENGTH + 1)
CPU = torch.device("cpu")


def load(folder: Path, **fields: Any) -> Data:
    config = TrainerConfig(
        **{"data": "folder", "data_dir": folder, "model": "gpt", "classes": VOCABULARY, "context_length": 8, **fields}
    )
    return load_folder(config)


@pytest.fixture
def train(tmp_path: Path) -> Path:
    """The folder of training data of `tmp_path`."""
    (tmp_path / "train").mkdir()
    return tmp_path / "train"


def header(magic: int, version: int) -> bytes:
    """Returns a header as llm.c writes it."""
    return np.array([magic, version, len(TOKENS), *[0] * 253], "<i4").tobytes()


TOKEN_FILES = {
    "a.bin": TOKENS.tobytes(),
    "a.uint32.bin": TOKENS.astype(np.uint32).tobytes(),
    "gpt2.bin": header(20240520, 1) + TOKENS.tobytes(),
    "llama3.bin": header(20240801, 7) + TOKENS.astype(np.uint32).tobytes(),
}


@pytest.mark.parametrize("name", TOKEN_FILES)
def test_a_token_file_is_cut_into_windows(train: Path, name: str) -> None:
    (train / name).write_bytes(TOKEN_FILES[name])
    samples = load(train.parent).training

    assert len(samples) == 12
    batch = samples.take(np.array([11, 0]))
    assert batch.inputs.tolist() == [TOKENS[88:96].tolist(), TOKENS[:8].tolist()]
    assert batch.targets.tolist() == [TOKENS[89:97].tolist(), TOKENS[1:9].tolist()]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no sample of 9 tokens"),
        (TOKENS[:8].tobytes(), "has no sample of 9 tokens"),
        (TOKENS.tobytes()[:-1], r"has 199 bytes of tokens, no multiple of 2: write uint16 tokens, in a file named \*"),
        (header(20240520, 2) + TOKENS.tobytes(), "has version 2 of the header of llm.c: write a plain array"),
    ],
)
def test_a_token_file_of_another_format_is_refused(train: Path, content: bytes, message: str) -> None:
    (train / "a.bin").write_bytes(content)
    with pytest.raises(ConfigError, match=rf"a\.bin {message}"):
        load(train.parent)


def test_an_indexed_token_file_is_refused(train: Path) -> None:
    (train / "a.bin").write_bytes(TOKENS.tobytes())
    (train / "a.idx").touch()
    with pytest.raises(ConfigError, match=r"a\.bin has an index, a\.idx: write the tokens as a plain array"):
        load(train.parent)


def write_every_format(train: Path) -> None:
    """Writes the same rows into a file of each format that is read on demand."""
    (train / "a.bin").write_bytes(TOKENS.tobytes())
    save_file({"tokens": ROWS}, train / "b.safetensors")
    table = pa.table({"tokens": pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), LENGTH + 1)})
    pq.write_table(table, train / "c.parquet", row_group_size=4)


def test_workers_read_the_same_batches_over_several_epochs_and_leave_the_random_state_alone(train: Path) -> None:
    write_every_format(train)
    samples = load(train.parent).training
    sampler = GlobalSampler(num_samples=len(samples), batch_size=5, seed=0, rank=1, world_size=2)
    alone, ahead = BatchLoader(samples, 0, CPU), BatchLoader(samples, 1, CPU)
    state, workers = torch.get_rng_state(), set[int]()
    for epoch in (0, 1):
        found = ahead.load(sampler.rest_of_epoch(epoch * len(samples)))
        for (step, batch), (wanted_step, wanted) in zip(
            chain(found), alone.load(sampler.rest_of_epoch(epoch * len(samples))), strict=True
        ):
            assert not isinstance(batch, DataError)
            assert not isinstance(wanted, DataError)
            assert step.position == wanted_step.position
            assert torch.equal(batch.inputs, wanted.inputs)
            assert torch.equal(batch.targets, wanted.targets)
        workers |= {worker.pid for worker in ahead._loader._iterator._workers}  # type: ignore[union-attr]
    ahead.close()

    assert torch.equal(torch.get_rng_state(), state)
    assert len(workers) == 1, "an epoch started another worker"


def test_samples_are_pickled_without_their_data(train: Path) -> None:
    write_every_format(train)
    samples = load(train.parent).training
    samples.take(np.arange(len(samples)))

    assert len(pickle.dumps(samples)) < 2000


def test_steps_are_not_computed_ahead_of_the_workers(train: Path) -> None:
    write_every_format(train)
    samples = load(train.parent).training
    sampler = GlobalSampler(num_samples=len(samples), batch_size=1, seed=0, rank=0, world_size=1)
    computed = 0

    def count() -> Any:
        nonlocal computed
        for step in sampler.rest_of_epoch(0):
            computed += 1
            yield step

    loader = BatchLoader(samples, 1, CPU)
    next(loader.load(count()))
    loader.close()

    assert computed <= 3 < len(samples)


LISTS: dict[str, Any] = {
    "fixed": pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), LENGTH + 1),
    "list": pa.array(list(ROWS), pa.list_(pa.uint16())),
    "large": pa.array(list(ROWS), pa.large_list(pa.uint16())),
}


@pytest.mark.parametrize("kind", LISTS)
def test_parquet_decodes_row_groups_once_while_they_fit(
    train: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"tokens": LISTS[kind], "text": ["unused"] * len(ROWS)}), train / "a.parquet", 4)
    decoded: list[int] = []
    decode = parquet.RowGroup.decode

    def count(self: parquet.RowGroup) -> parquet.Decoded:
        decoded.append(self.number)
        return decode(self)

    monkeypatch.setattr(parquet.RowGroup, "decode", count)
    samples = load(train.parent).training
    order = np.array([10, 0, 5, 4, 9])
    for _ in range(2):
        assert torch.equal(samples.take(order).inputs, torch.from_numpy(ROWS[order, :-1].astype(np.int64)))
    assert sorted(decoded) == [0, 1, 2]

    # Room for one row group of four rows.
    monkeypatch.setattr(parquet, "_cache", parquet._Cache(4 * 2 * (LENGTH + 1)))
    decoded.clear()
    for row in (0, 1, 4, 0):
        samples.take(np.array([row]))
    assert decoded == [0, 1, 0]


def test_more_parquet_than_the_cache_is_logged(
    train: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_every_format(train)
    monkeypatch.setattr(parquet, "CACHE_BYTES", 100)
    load(train.parent)

    assert re.search(
        r"has 0 GiB in \.parquet files, and .* write \.safetensors or \.bin files", capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 2, 3], [1, 2]], "column tokens: the lists differ in length: write lists of one length, without nulls"),
        ([[1, 2, 3], None], "column tokens: has nulls: write lists of one length, without nulls"),
        ([[1, 2, 3], [1, None, 3]], "column tokens: has nulls: write lists of one length, without nulls"),
    ],
)
def test_uneven_lists_in_parquet_are_reported(train: Path, rows: list[Any], message: str) -> None:
    pq.write_table(pa.table({"tokens": rows}), train / "a.parquet")
    samples = load(train.parent, context_length=2).training
    with pytest.raises(DataError, match=rf"a\.parquet \(row group 0\): {message}"):
        samples.take(np.arange(2))


@pytest.mark.parametrize("name", ["a.bin", "b.safetensors", "c.parquet"])
def test_a_file_that_changes_or_disappears_is_reported(train: Path, name: str) -> None:
    write_every_format(train)
    samples: Any = load(train.parent).training
    everything = np.arange(len(samples))
    samples.take(everything)
    size = (train / name).stat().st_size
    with (train / name).open("ab") as stream:
        stream.write(bytes(2))
    message = rf"{name} had {size} bytes when the run started and has {size + 2} now: restore the file and start"
    with pytest.raises(DataError, match=message):
        samples.take(everything)
    (train / name).unlink()
    with pytest.raises(DataError, match=rf"cannot read .*{name}: No such file or directory: start the run again once"):
        samples.take(everything)


def images(shape: tuple[int, ...], targets: NDArray[Any] | None = None) -> dict[str, NDArray[Any]]:
    """Returns three images."""
    return {"inputs": np.zeros((3, *shape), np.float32), "targets": np.arange(3) if targets is None else targets}


@pytest.mark.parametrize(
    ("files", "fields", "message"),
    [
        ([images((3, 8, 8))], {"model": "cnn"}, r"has inputs of shape \(3, 8, 8\), and the model cnn reads \(height,"),
        (
            [images((1, 8))],
            {"model": "cnn"},
            r"has inputs of shape \(1, 8\), .* at least \(2, 2\): write images of one",
        ),
        ([images(())], {}, r"has inputs of one number: write at least one dimension, such as \(n, 1\)"),
        (
            [images((8, 8)), images((9, 9))],
            {},
            r"1\.npz has inputs of shape \(9, 9\), and the first file has .*\(8, 8\)",
        ),
        ([images((8, 8)), {"tokens": ROWS}], {}, r"1\.npz and the files before it mix images and tokens"),
        ([images((8, 8)), {"inputs": np.zeros((0, 8, 8)), "targets": np.zeros(0, int)}], {}, r"1\.npz has no sample: "),
        (
            [images((8, 8), np.array([0, 2, 7]))],
            {"classes": 3},
            r"0\.npz, row 2 has class 7, and --classes is 3: write",
        ),
        ([images((8, 8), np.array([0, -1, 0]))], {}, r"0\.npz, row 1 has class -1, .*: write numbers from 0"),
        ([images((8, 8), np.zeros(3))], {}, r"0\.npz has values of type float64: write whole numbers"),
        (
            [{"tokens": ROWS}, {"tokens": ROWS[:, :5]}],
            {"model": "gpt", "classes": 50, "context_length": 8},
            r"1\.npz has rows of 5 tokens, and the first file has rows of 9 tokens: write samples of one shape",
        ),
        (
            [{"tokens": ROWS}],
            {"model": "gpt", "classes": 20, "context_length": 8},
            rf"0\.npz, row 0 has token {ROWS[0, 1:].max()}, and --classes is 20: write --classes with the size of the",
        ),
        (
            [{"tokens": TOKENS}],
            {"model": "gpt", "context_length": 8},
            r"0\.npz has `tokens` in 1 dimensions: write rows",
        ),
    ],
)
def test_samples_that_do_not_suit_the_run_are_reported(
    train: Path, files: list[dict[str, Any]], fields: dict[str, Any], message: str
) -> None:
    for number, arrays in enumerate(files):
        np.savez(train / f"{number}.npz", **arrays)

    def read() -> None:
        samples = load(train.parent, **{"model": "mlp", **fields}).training
        samples.take(np.arange(len(samples)))

    with pytest.raises(TrainerError, match=message):
        read()


def test_an_empty_file_is_reported(train: Path) -> None:
    for name in ("a.npz", "a.safetensors", "a.parquet", "a.tar"):
        (train / name).touch()
        with pytest.raises(ConfigError, match=rf"{name}.*: write"):
            load(train.parent)
        (train / name).unlink()
