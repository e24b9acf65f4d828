"""The manifest names the files of a checkpoint, and nothing else passes for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainer.checkpoint import manifest
from trainer.checkpoint.files import DigestingFileSystem, Entry
from trainer.checkpoint.manifest import (
    InvalidCheckpointError,
    UnreadableCheckpointError,
    read_json,
    read_manifest,
    verify_files,
    write_manifest,
)
from trainer.checkpoint.metadata import read_metadata
from trainer.checkpoint.peers import Peers

EMPTY = Entry(bytes=0, sha256="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")


def test_a_manifest_reads_as_it_was_written_with_its_files_in_order(tmp_path: Path) -> None:
    entries = {"b": EMPTY, "a.pt": Entry(bytes=7, sha256="0" * 64)}
    write_manifest(tmp_path, entries)
    assert read_manifest(tmp_path) == entries
    assert (tmp_path / "manifest.json").read_text() == (
        '{\n  "format": 3,\n  "files": {\n'
        f'    "a.pt": {{\n      "bytes": 7,\n      "sha256": "{"0" * 64}"\n    }},\n'
        f'    "b": {{\n      "bytes": 0,\n      "sha256": "{EMPTY.sha256}"\n    }}\n  }},\n'
        '  "sha256": "8d109c9db5f38e152607e5436002e118ca99d0d71152030d8a396427366da3dd"\n}'
    )


@pytest.mark.parametrize("name", ["../b", "/b", "a/../b", "a//b", "./b", "b/", "", ".", "b\n", "b\ud800"])
def test_a_name_outside_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    files = {name: {"bytes": 0, "sha256": EMPTY.sha256}}
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 2, "files": files}))
    with pytest.raises(InvalidCheckpointError, match="which is not a file of the checkpoint"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "listed",
    [
        {"bytes": "0", "sha256": EMPTY.sha256},
        {"bytes": None, "sha256": EMPTY.sha256},
        {"bytes": True, "sha256": EMPTY.sha256},
        {"bytes": 0.0, "sha256": EMPTY.sha256},
        {"bytes": 0, "sha256": None},
        {"bytes": 0, "sha256": EMPTY.sha256.upper()},
        {"bytes": 0, "sha256": EMPTY.sha256[:-1]},
        {"bytes": 0, "sha256": EMPTY.sha256 + "0"},
        {"bytes": 0},
        {"bytes": 0, "sha256": EMPTY.sha256, "more": 1},
        [],
    ],
    ids=str,
)
def test_a_file_without_its_size_and_digest_is_refused(tmp_path: Path, listed: object) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 2, "files": {"b": listed}}))
    with pytest.raises(InvalidCheckpointError, match=r"manifest\.json lacks the size and digest of b"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("[]", InvalidCheckpointError, "lists no files"),
        ('{"format": 2}', InvalidCheckpointError, "lists no files"),
        ('{"files": {}}', InvalidCheckpointError, "has no format"),
        ('{"format": 2, "files": {}, "tokens": 1}', InvalidCheckpointError, "has 'tokens', which no trainer writes"),
        ('{"format": 4, "files": {}, "sha256": "0"}', InvalidCheckpointError, "does not have the sha256 digest"),
        ('{"format": 4, "files": {}, "tokens": 1}', UnreadableCheckpointError, "format 4"),
        ('{"format": true, "files": {}}', InvalidCheckpointError, "has no format"),
        (
            '{"format": 1, "files": {}}',
            UnreadableCheckpointError,
            "format 1, but .* reads formats 2 and 3",
        ),
        (
            '{"format": 4, "files": {}}',
            UnreadableCheckpointError,
            "format 4, but .* reads formats 2 and 3",
        ),
    ],
)
def test_a_manifest_of_another_kind_is_refused(tmp_path: Path, text: str, error: type, message: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(error, match=message):
        read_manifest(tmp_path)


@pytest.mark.parametrize(("listed", "message"), [(2, "has 3 bytes instead of 2"), (4, "has 3 bytes instead of 4")])
def test_a_file_of_another_size_is_refused(tmp_path: Path, listed: int, message: str) -> None:
    (tmp_path / "b").write_bytes(b"abc")
    write_manifest(tmp_path, {"b": Entry(bytes=listed, sha256="0" * 64)})
    with pytest.raises(InvalidCheckpointError, match=message):
        verify_files(tmp_path, Peers())


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state.json").mkdir()
    with pytest.raises(InvalidCheckpointError, match=r"state\.json is not a regular file"):
        read_json(tmp_path / "state.json")


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ((".metadata",), UnreadableCheckpointError),
        ((".metadata", "state.json"), InvalidCheckpointError),
        ((), InvalidCheckpointError),
    ],
)
def test_a_folder_without_a_manifest_is_damaged_unless_another_program_wrote_it(
    tmp_path: Path, names: tuple[str, ...], error: type
) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(error):
        read_manifest(tmp_path)


def test_a_file_that_may_not_be_read_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patches:
        patches.setattr(Path, "stat", refuse)
        with pytest.raises(UnreadableCheckpointError, match=r"^cannot read state\.json: Permission denied$"):
            read_json(tmp_path / "state.json")
        with pytest.raises(UnreadableCheckpointError, match=r"^cannot read \.metadata: Permission denied$"):
            read_metadata(tmp_path, ())


def test_a_large_file_is_read_a_mebibyte_at_a_time(tmp_path: Path) -> None:
    files = DigestingFileSystem()
    files.write(tmp_path / "b", lambda stream: stream.write(bytes(5 << 19)))
    write_manifest(tmp_path, files.entries)
    read: list[str] = []
    verify_files(tmp_path, Peers(on_read=lambda: read.append("part")))
    assert len(read) == 3


def test_the_ranks_read_about_equally_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"a": 1, "b": 100, "c": 50, "d": 2, "e": 50}
    write_manifest(tmp_path, {name: Entry(bytes=size, sha256="0" * 64) for name, size in sizes.items()})
    read: list[str] = []
    monkeypatch.setattr(manifest, "_check", lambda path, *_: read.append(path.name))
    peers = Peers()
    monkeypatch.setattr(peers, "on_rank_zero", lambda act: act())
    peers.size = 2
    for peers.rank in range(2):
        verify_files(tmp_path, peers)
        read.append("")
    assert read == ["b", "e", "a", "", "c", "d", ""]
