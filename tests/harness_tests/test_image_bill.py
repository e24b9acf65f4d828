"""The bill of materials of an image: the Debian packages of its system and the Python packages above it."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

from tools.release import bills

STATUS = """\
Package: bash
Status: install ok installed
Version: 5.2.15-2+b7

Package: nano
Status: deinstall ok config-files
Version: 7.2-1
"""


def layer(path: Path, files: dict[str, str]) -> Path:
    """Write a layer with these files."""
    with tarfile.open(path, "w") as archive:
        for name, text in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(text.encode())
            archive.addfile(about, io.BytesIO(text.encode()))
    return path


def about(name: str, version: str) -> str:
    """The metadata of a Python package."""
    return f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nText: no field\n"


def test_the_bill_of_an_image_lists_what_is_installed(tmp_path: Path) -> None:
    system = layer(
        tmp_path / "system.tar",
        {
            "var/lib/dpkg/status": STATUS,
            # Debian's own Python packages are listed once, as packages of Debian.
            "usr/lib/python3/dist-packages/pip-23.0.dist-info/METADATA": about("pip", "23.0"),
        },
    )
    own = layer(
        tmp_path / "own.tar",
        {
            "opt/lib/python3.11/site-packages/click-8.5.1.dist-info/METADATA": about("click", "8.5.1"),
            "opt/lib/python3.11/site-packages/click/METADATA": "no package",
        },
    )
    archive = tmp_path / "image.tar"
    archive.write_bytes(b"image")

    bill = bills.write(archive, bills.of_image([system, own]), 0)

    listed = {one["purl"] for one in json.loads(bill.read_text())["components"]}
    assert listed == {"pkg:deb/debian/bash@5.2.15-2%2Bb7", "pkg:pypi/click@8.5.1"}
