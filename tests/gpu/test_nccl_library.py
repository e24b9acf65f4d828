"""The names of variables in a build of NCCL, and the registry of the validator.

`nccl-X.txt` holds the names in the wheel nvidia-nccl-cu13 X: `python -m tools.gpu.nccl_library libnccl.so.2`.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tools.gpu import nccl_library
from tools.gpu.nccl_library import Comparison, Library
from trainyard.facts.nccl import registry

RELEASES = {path.stem.removeprefix("nccl-"): path for path in Path(__file__).parent.glob("nccl-*.txt")}
RODATA = b".rodata"


def shared_library(*sections: tuple[bytes, bytes]) -> bytes:
    """Returns a 64-bit ELF file with these sections, which is all that the reader needs."""
    sections = (*sections, (b".shstrtab", b""))
    names = b"\0" + b"".join(name + b"\0" for name, _ in sections)
    sections = (*sections[:-1], (b".shstrtab", names))
    body, headers = b"", b""
    for name, data in sections:
        headers += struct.pack("<IIQQQQ", names.index(name + b"\0"), 1, 2, 0, 64 + len(body), len(data)).ljust(
            64, b"\0"
        )
        body += data
    header = bytearray(b"\x7fELF\x02\x01".ljust(64, b"\0"))
    struct.pack_into("<Q", header, 0x28, 64 + len(body))
    struct.pack_into("<HHH", header, 0x3A, 64, len(sections), len(sections) - 1)
    return bytes(header) + body + headers


def test_each_literal_is_a_name_and_no_part_of_a_message_is(tmp_path: Path) -> None:
    text = (
        b"\0NCCL_DEBUG\0swNCCL_IB_HCA\0\x0eNCCL_ALGO\0"
        b"needs NCCL_SECRET\0'NCCL_QUOTED\0TORCH_NCCL_OTHER\0NCCL_SAID=%d\0NCCL version 2.32.3+cuda13.4\0"
    )
    path = tmp_path / "libnccl.so.2"
    path.write_bytes(shared_library((b".debug_str", b"\0NCCL_ENUMERATOR\0"), (RODATA, text)))

    names = frozenset({"NCCL_DEBUG", "NCCL_IB_HCA", "NCCL_ALGO"})
    assert nccl_library.read(path) == Library((2, 32, 3), names)


@pytest.mark.parametrize("data", [b"", b"#!/bin/sh\n", shared_library((b".text", b"\0NCCL_DEBUG\0"))])
def test_a_file_that_is_no_shared_library_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "libnccl.so.2"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"no section \.rodata"):
        nccl_library.read(path)


@pytest.mark.parametrize("release", RELEASES)
def test_the_registry_knows_each_name_of_a_real_library_and_no_other(release: str) -> None:
    version = tuple(int(number) for number in release.split("."))
    library = Library(version, frozenset(RELEASES[release].read_text().split()))

    assert nccl_library.compare(library, registry.nccl_variables()) == Comparison((), ())


def test_both_kinds_of_difference_are_found() -> None:
    library = Library(registry.NEWEST, frozenset({"NCCL_NEW", "NCCL_OFI_OF_A_PLUGIN", "NCCL_DEBUG"}))
    found = nccl_library.compare(library, registry.nccl_variables())

    assert found.lacking == ("NCCL_NEW",)
    assert "NCCL_IB_HCA" in found.in_vain
    assert "NCCL_DEBUG" not in found.in_vain


def test_the_newest_release_of_the_registry_is_the_newest_one_that_was_read() -> None:
    assert max(variable.last for variable in registry.nccl_variables().values() if variable.last) == registry.NEWEST
    assert ".".join(map(str, registry.NEWEST)) in RELEASES


def test_a_file_that_cannot_be_read_is_an_error_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nccl_library.main([str(tmp_path / "none.so")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
