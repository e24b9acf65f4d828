"""A forged checkpoint is refused, whatever its manifest says, and none of its code is run."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorStorageMetadata,
)

from tests.trainer.fake_strategy import FakeStrategy, new_manager, run, train_state_at
from tests.trainer.forgery import forge, forge_format, forge_list, forge_state
from trainer.checkpoint.catalog import valid_checkpoints
from trainer.checkpoint.manifest import InvalidCheckpointError
from trainer.checkpoint.metadata import read_metadata
from trainer.checkpoint.peers import Peers

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


class Bomb:
    """Runs code when it is unpickled."""

    def __init__(self, crater: Path) -> None:
        self._crater = crater

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._crater,)


@pytest.fixture
def crater(tmp_path: Path) -> Path:
    """A file that exists once a bomb has run."""
    return tmp_path / "crater"


def metadata_of(path: Path) -> Metadata:
    found: Metadata = pickle.loads((path / ".metadata").read_bytes())  # noqa: S301  # our own
    return found


def add_bomb(metadata: Metadata, crater: Path) -> object:
    metadata.planner_data = Bomb(crater)
    return metadata


def add_pickle(metadata: Metadata, _: Path) -> object:
    metadata.state_dict_metadata["model.0"] = BytesStorageMetadata()
    return metadata


def point_outside(metadata: Metadata, _: Path) -> object:
    (index, place), *_rest = metadata.storage_data.items()
    metadata.storage_data[index] = _StorageInfo("../step-00000001/__0_0.distcp", place.offset, place.length)
    return metadata


def ask_for_extension(metadata: Metadata, _: Path) -> object:
    (index, place), *_rest = metadata.storage_data.items()
    metadata.storage_data[index] = _StorageInfo(place.relative_path, place.offset, place.length, ["stream.zstd"])
    return metadata


def say_nothing(_: Metadata, __: Path) -> object:
    return {"model.0": MetadataIndex("model.0")}


def list_tensors(metadata: Any, _: Path) -> object:
    metadata.state_dict_metadata = list(metadata.state_dict_metadata.values())
    return metadata


def number_a_tensor(metadata: Any, _: Path) -> object:
    metadata.state_dict_metadata[0] = metadata.state_dict_metadata["model.0"]
    return metadata


def describe_no_tensor(metadata: Any, _: Path) -> object:
    metadata.state_dict_metadata["model.0"] = MetadataIndex("model.0")
    return metadata


def list_places(metadata: Any, _: Path) -> object:
    metadata.storage_data = list(metadata.storage_data.values())
    return metadata


def place_without_index(metadata: Any, _: Path) -> object:
    metadata.storage_data["model.0"] = metadata.storage_data.pop(next(iter(metadata.storage_data)))
    return metadata


def index_without_place(metadata: Any, _: Path) -> object:
    metadata.storage_data[next(iter(metadata.storage_data))] = MetadataIndex("model.0")
    return metadata


def change_parts(metadata: Metadata, **fields: object) -> Metadata:
    """Replaces fields of the parts of the first weight."""
    weight: Any = metadata.state_dict_metadata["model.0"]
    weight.chunks = [replace(part, **fields) for part in weight.chunks]
    return metadata


def leave_out_parts(metadata: Any, _: Path) -> object:
    metadata.state_dict_metadata["model.0"].chunks = []
    return metadata


def move_parts(metadata: Metadata, _: Path) -> object:
    return change_parts(metadata, offsets=torch.Size([10**6, 0]))


def begin_parts_before(metadata: Metadata, _: Path) -> object:
    return change_parts(metadata, offsets=torch.Size([-1, 0]))


def shorten_parts(metadata: Metadata, _: Path) -> object:
    return change_parts(metadata, sizes=torch.Size([1, 4]))


def count_dimensions_wrongly(metadata: Metadata, _: Path) -> object:
    return change_parts(metadata, offsets=torch.Size([]))


def describe_no_parts(metadata: Any, _: Path) -> object:
    metadata.state_dict_metadata["model.0"].chunks = 5
    return metadata


SOMETHING_ELSE = ".metadata describes something other than tensors in the files of the checkpoint"
INCOMPLETE = ".metadata lacks parts of the tensor 'model.0'"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (add_bomb, ".metadata names pathlib.Path.touch, which no checkpoint contains"),
        (add_pickle, ".metadata names torch.distributed.checkpoint.metadata.BytesStorageMetadata"),
        (point_outside, SOMETHING_ELSE),
        (ask_for_extension, SOMETHING_ELSE),
        (say_nothing, SOMETHING_ELSE),
        (list_tensors, SOMETHING_ELSE),
        (number_a_tensor, SOMETHING_ELSE),
        (describe_no_tensor, SOMETHING_ELSE),
        (list_places, SOMETHING_ELSE),
        (place_without_index, SOMETHING_ELSE),
        (index_without_place, SOMETHING_ELSE),
        (leave_out_parts, INCOMPLETE),
        (move_parts, INCOMPLETE),
        (begin_parts_before, INCOMPLETE),
        (shorten_parts, INCOMPLETE),
        (count_dimensions_wrongly, ".metadata cannot be understood: ValueError"),
        (describe_no_parts, ".metadata cannot be understood: TypeError"),
    ],
)
def test_forged_metadata_are_refused_without_running_their_code(
    directory: Path,
    crater: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Metadata, Path], object],
    reason: str,
) -> None:
    path = directory / "step-00000002"
    forge(path, ".metadata", pickle.dumps(change(metadata_of(path), crater)))
    found = next(valid_checkpoints(directory, Peers()), None)
    assert found is not None
    assert found[1].train_state.step == 1
    assert capsys.readouterr().out.startswith(f"skipped invalid checkpoint {path}: {reason}")
    assert not crater.exists()


@pytest.mark.parametrize("name", ["torch.load", "torch.Tensor", "builtins.float32", "zlib.float32"])
def test_metadata_that_name_more_than_data_of_pytorch_are_refused(
    directory: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = directory / "step-00000002"
    forge(path, ".metadata", "c{}\n{}\n.".format(*name.split(".")).encode())
    next(valid_checkpoints(directory, Peers()), None)
    expected = f"skipped invalid checkpoint {path}: .metadata names {name}, which no checkpoint contains\n"
    assert capsys.readouterr().out == expected


def test_forged_tensors_are_refused_without_running_their_code(directory: Path, crater: Path) -> None:
    path, name = directory / "step-00000002", "__0_0.distcp"
    stream = io.BytesIO()
    torch.save(Bomb(crater), stream)
    forged = stream.getvalue()
    metadata = metadata_of(path)
    metadata.storage_data = {index: _StorageInfo(name, 0, len(forged)) for index in metadata.storage_data}
    forge(path, ".metadata", pickle.dumps(metadata))
    forge(path, name, forged)
    manager = new_manager(directory, FakeStrategy())
    assert manager.resume() == train_state_at(1)
    assert not crater.exists()
    manager.close()


@pytest.mark.parametrize(("before", "after"), [(b"", b""), (b"}", b"\x86")], ids=["alone", "second of a pair"])
def test_forged_metadata_do_not_change_pytorch(
    directory: Path, capsys: pytest.CaptureFixture[str], before: bytes, after: bytes
) -> None:
    path = directory / "step-00000002"
    # TensorStorageMetadata.__init__ = torch.Size
    code = b"ctorch.distributed.checkpoint.metadata\nTensorStorageMetadata\n}X\x08\x00\x00\x00__init__ctorch\nSize\nsb"
    forge(path, ".metadata", b"\x80\x02" + before + code + after + b".")
    known = TensorStorageMetadata.__init__
    run(directory, 3)
    assert TensorStorageMetadata.__init__ is known
    expected = f"skipped invalid checkpoint {path}: .metadata changes TensorStorageMetadata"
    assert expected in capsys.readouterr().out.splitlines()


class ByName(pickle.Pickler):
    """Writes members of enumerations as Python 3.11.2 does."""

    def reducer_override(self, value: Any) -> Any:  # noqa: D102 (a method of pickle)
        return (getattr, (type(value), value.name)) if isinstance(value, Enum) else NotImplemented


def test_metadata_that_python_of_debian_12_wrote_are_read(directory: Path) -> None:
    path, written = directory / "step-00000002", io.BytesIO()
    ByName(written).dump(metadata_of(path))
    assert b"getattr" in written.getvalue()
    forge(path, ".metadata", written.getvalue())
    assert read_metadata(path, {one.name for one in path.iterdir()}) == metadata_of(path)


def test_attributes_that_are_no_members_of_an_enumeration_are_refused(directory: Path) -> None:
    path = directory / "step-00000002"
    code = b"cbuiltins\ngetattr\nctorch\nSize\nX\x05\x00\x00\x00count\x86R."
    forge(path, ".metadata", b"\x80\x02" + code)
    with pytest.raises(InvalidCheckpointError, match="reads the attribute 'count'"):
        read_metadata(path, ())


@pytest.mark.parametrize(
    "fields",
    [
        {"config": None},
        {"extras": []},
        {"progress": {"step": 2}},
        {"progress": asdict(train_state_at(3))},
        {"torch": 2},
        {"torch": "later"},
        {"tokens": 7},
        {"progress": {**asdict(train_state_at(2)), "tokens": 7}},
    ],
    ids=str,
)
def test_a_forged_state_is_passed_over(directory: Path, fields: dict[str, Any]) -> None:
    path = directory / "step-00000002"
    forge_state(path, **fields)
    manager = new_manager(directory, FakeStrategy())
    assert manager.resume() == train_state_at(1)
    manager.close()


@pytest.mark.parametrize("name", ["state.json", ".metadata"])
def test_a_file_that_the_manifest_does_not_vouch_for_is_not_read(directory: Path, name: str) -> None:
    forge_list(directory / "step-00000002", without=name)
    manager = new_manager(directory, FakeStrategy())
    assert manager.resume() == train_state_at(1)
    manager.close()


@pytest.mark.parametrize("number", [0, -3, True, 3.0, "4", None, [4]], ids=repr)
def test_a_format_that_no_version_has_is_passed_over(directory: Path, number: object) -> None:
    forge_format(directory / "step-00000002", number)
    manager = new_manager(directory, FakeStrategy())
    assert manager.resume() == train_state_at(1)
    manager.close()


@pytest.mark.parametrize("fields", [{"position": 10**9}, {"epoch": 77}], ids=str)
def test_a_position_outside_of_its_epoch_is_passed_over(
    directory: Path, capsys: pytest.CaptureFixture[str], fields: dict[str, int]
) -> None:
    path = directory / "step-00000002"
    forge_state(path, progress=asdict(replace(train_state_at(2), **fields)))
    manager = new_manager(directory, FakeStrategy())
    assert manager.resume() == train_state_at(1)
    assert f"skipped invalid checkpoint {path}: state.json has position" in capsys.readouterr().out
    manager.close()


@pytest.mark.parametrize("value", ["x", None, [128]], ids=repr)
def test_a_field_of_another_type_is_passed_over(
    directory: Path, capsys: pytest.CaptureFixture[str], value: object
) -> None:
    path = directory / "step-00000002"
    config = json.loads((path / "state.json").read_text())["config"]
    forge_state(path, config={**config, "hidden_size": value})
    manager = new_manager(directory, FakeStrategy())
    assert manager.resume() == train_state_at(1)
    expected = f"skipped invalid checkpoint {path}: state.json has hidden_size {value!r}, which no trainer writes\n"
    assert capsys.readouterr().out.startswith(expected)
    manager.close()


@pytest.mark.parametrize("error", [TypeError("no text"), ValueError("no number"), KeyError("scale")], ids=repr)
def test_a_state_that_the_strategy_cannot_take_is_passed_over(
    directory: Path, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    class Picky(FakeStrategy):
        def load_extras(self, extras: Mapping[str, Any]) -> None:
            if extras["step"] == 2:
                raise error
            super().load_extras(extras)

    manager = new_manager(directory, Picky())
    assert manager.resume() == train_state_at(1)
    manager.close()
    expected = f"{directory}/step-00000002: state.json does not hold the state of the strategy: {error!r}\n"
    assert f"skipped invalid checkpoint {expected}" in capsys.readouterr().out


def test_metadata_that_are_no_pickle_are_refused(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = directory / "step-00000002"
    forge(path, ".metadata", b"")
    next(valid_checkpoints(directory, Peers()), None)
    assert capsys.readouterr().out == f"skipped invalid checkpoint {path}: cannot read .metadata: EOFError()\n"


def test_a_state_of_another_trainer_is_refused(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = directory / "step-00000002"
    forge(path, "state.json", json.dumps({"progress": {"step": 2, "wheels": 4}}).encode())
    next(valid_checkpoints(directory, Peers()), None)
    expected = f"skipped invalid checkpoint {path}: state.json was not written by this trainer\n"
    assert capsys.readouterr().out.startswith(expected)
