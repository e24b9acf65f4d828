"""`make publish`: push the charts and images of a release to a registry, and sign each of them there."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from tests.harness.cluster import progress, tools
from tests.harness.cluster.archive import unpack
from tools.release.errors import ReleaseError


def command(
    folder: Annotated[Path, typer.Argument(help="Folder of a release, such as build/release/0.3.0.")],
    repository: Annotated[str, typer.Argument(help="Place in a registry, such as registry.example.com/trainyard.")],
    cosign_key: Annotated[
        Path | None,
        typer.Option(help="Private key of cosign; COSIGN_PASSWORD is its password. Default: no signatures."),
    ] = None,
) -> None:
    """Push charts to REPOSITORY/charts and images to REPOSITORY, with the logins of Docker or Helm."""
    try:
        for pushed in publish(folder, repository, cosign_key):
            print(pushed)
    except ReleaseError as error:
        progress.console.print(f"[bold red]error:[/] {escape(str(error))}")
        sys.exit(1)


def publish(folder: Path, repository: str, cosign_key: Path | None = None) -> Iterator[str]:
    """Push everything that a registry takes, and yield each name with its digest."""
    if not (folder / "oci" / "index.json").exists():
        raise ReleaseError(f"{folder} is no folder of a release: it has no oci/index.json. Run `make release` first.")
    yield from _push(folder / "oci", f"{repository}/charts", cosign_key)
    for image in sorted((folder / "images").glob("*.tar")):
        with tempfile.TemporaryDirectory(dir=folder) as layout:
            with tarfile.open(image) as archive:
                unpack(archive, layout)
            yield from _push(Path(layout), repository, cosign_key)


def _push(layout: Path, repository: str, cosign_key: Path | None) -> list[str]:
    key = ["--key", str(cosign_key)] if cosign_key else []
    command = [str(tools.binary("signing")), "push", *key, str(layout), repository]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ReleaseError(f"nothing more was pushed to {repository}: {result.stderr.strip()}")
    return result.stdout.splitlines()


if __name__ == "__main__":
    typer.run(command)
