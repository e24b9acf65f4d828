"""Bytecode of an image's Python files, compiled by the image's own Python.

Without it, each process of a test compiles what it imports, since nothing writes bytecode in an image.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

from tests.harness.cluster import progress
from tests.harness.cluster.archive import Content, tree

# The parts of a Debian system with which Python compiles.
PARTS = (
    "./usr/bin/python{python}",
    "./usr/lib/python{python}",
    "./usr/lib/{machine}-linux-gnu/ld-linux*",
    "./usr/lib/{machine}-linux-gnu/lib[cmz].so*",
    "./usr/lib/{machine}-linux-gnu/libexpat*",
)


def with_bytecode(contents: Mapping[str, Content], debian: Path, python: str, folder: Path) -> dict[str, Content]:
    """Return the contents of a layer and their bytecode, which is written to `folder`.

    Args:
        contents: Paths in the image and their contents.
        debian: The tar file of the image's Debian system.
        python: The version of Debian's Python, such as 3.14.
        folder: A new folder, which must exist as long as the result is used.
    """
    system, sources = folder / "system", folder / "sources"
    for name, content in contents.items():
        if name.endswith(".py"):
            copy = sources / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content.read_bytes() if isinstance(content, Path) else str(content).encode())
    system.mkdir()
    parts = [part.format(python=python, machine=platform.machine()) for part in PARTS]
    unpack = ("tar", "--extract", "--file", debian, "--directory", system, "--wildcards")
    progress.run([*unpack, *parts], log="bytecode-unpack")
    libraries = system / f"usr/lib/{platform.machine()}-linux-gnu"
    (loader,) = libraries.glob("ld-linux*")
    python_of_image = (loader, "--library-path", libraries, system / f"usr/bin/python{python}")
    # Images have no times of files, with which bytecode is usually compared.
    options = ("-q", "--invalidation-mode", "unchecked-hash", "-s", sources, "-p", "/")
    environment = os.environ | {"PYTHONHOME": str(system / "usr")}
    progress.run(
        [*python_of_image, "-m", "compileall", *options, sources], log="bytecode-compile", environment=environment
    )
    compiled = {name: file for name, file in tree(sources, "").items() if name.endswith(".pyc")}
    return {**contents, **{name.removeprefix("/"): file for name, file in compiled.items()}}
