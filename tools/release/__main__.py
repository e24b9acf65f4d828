"""`python -m tools.release 0.3.0`, or `make release VERSION=0.3.0`: the files of a release of the last commit."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from packaging.requirements import Requirement
from rich.markup import escape

from tests.harness.cluster import host, progress
from tools.outdated import python_pins
from tools.release import address, bills, chart_layout, charts, images, python, site, source, sums
from tools.release.errors import ReleaseError
from tools.release.notes import notes

ROOT = Path(__file__).parents[2]


def command(
    version: Annotated[str, typer.Argument(help="Version, such as 0.3.0.")],
    output: Annotated[Path, typer.Option(help="Folder of the files. A folder of the version is made in it.")] = (
        ROOT / "build" / "release"
    ),
    key: Annotated[str, typer.Option(help="Key of GnuPG that signs the charts. Default: they are not signed.")] = "",
    cosign_key: Annotated[
        Path | None, typer.Option(help="Private key of cosign that signs the checksums. Default: they are not signed.")
    ] = None,
    with_images: Annotated[
        bool,
        typer.Option("--images/--no-images", help="Images are built from Debian packages, which only root can do."),
    ] = True,
    with_site: Annotated[
        bool, typer.Option("--site/--no-site", help="The documentation site, built in a minute.")
    ] = True,
    url: Annotated[
        str, typer.Option(help="Public address of the project, to which charts and packages link. Default: no links.")
    ] = "",
    root: Annotated[Path, typer.Option(help="Checkout that is released.")] = ROOT,
) -> None:
    """Build the files of a release from the last commit. Two runs write the same bytes, except for signatures."""
    try:
        names = images.NAMES if with_images else ()
        target = release(
            root.resolve(),
            version,
            output,
            key=key,
            cosign_key=cosign_key,
            image_names=names,
            with_site=with_site,
            url=url,
        )
    except ReleaseError as error:
        progress.console.print(f"[bold red]error:[/] {escape(str(error))}")
        sys.exit(1)
    print(target)


def release(
    root: Path,
    version: str,
    output: Path,
    *,
    key: str = "",
    cosign_key: Path | None = None,
    image_names: Sequence[str] = (),
    with_site: bool = False,
    url: str = "",
) -> Path:
    """Write the files of a release into a folder of its version, which replaces an older one, and return it."""
    if url:
        address.check(url)
    check(root, version)
    seconds = source.time_of(root)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output) as name:
        checkout, made = Path(name, "checkout"), Path(name, "made")
        source.export(root, checkout)
        if url:
            address.write(checkout, url)
        made.mkdir()
        (made / "NOTES.md").write_text(notes(checkout / "CHANGELOG.md", version), encoding="utf-8")
        _charts(checkout, made, seconds, key)
        wheel = _python(checkout, made / "python", seconds)
        if with_site:
            with progress.step("site"):
                site.write(checkout, made, seconds)
        _images(image_names, checkout, wheel, version, made / "images", seconds)
        written = sums.write(made)
        if cosign_key:
            sums.sign(written, cosign_key)
        # Only whole releases have the name of a version.
        shutil.rmtree(output / version, ignore_errors=True)
        return made.rename(output / version)


def check(root: Path, version: str) -> None:
    """Refuse a release that would not be what its version says."""
    charts.order(version)
    source.require_committed(root)
    stated = python.project(root)["version"]
    if stated != version:
        raise ReleaseError(f"pyproject.toml has version {stated}. Set it, and `__version__`, to {version}.")
    notes(root / "CHANGELOG.md", version)
    last = source.last_release(root, version)
    if last is not None:
        charts.require_raised_versions(root, last)


def _charts(checkout: Path, made: Path, seconds: int, key: str) -> None:
    target = made / "charts"
    target.mkdir()
    packages = []
    for chart in charts.released(checkout / "charts"):
        with progress.step(f"chart {chart.name}"):
            package = charts.package(chart, target, seconds)
            bills.write(package, bills.of_chart(chart), seconds)
            if key:
                charts.sign(package, chart, key)
            packages.append((chart, package))
    chart_layout.write(packages, made / "oci", seconds)


def _python(checkout: Path, target: Path, seconds: int) -> Path:
    """Write wheels and source distributions, and return the wheel of the command line."""
    pins = {pin.name: pin.version for pin in python_pins(checkout / "pyproject.toml")}
    wheels = []
    for folder in (checkout / name for name in python.PROJECTS):
        about = python.project(folder)
        with progress.step(f"package {about['name']}"):
            needed = [one for one in about["dependencies"] if Requirement(one).name in pins]
            wheel, archive = python.build(folder, target, seconds)
            for package in (wheel, archive):
                bills.write(package, bills.of_project(needed, pins), seconds)
            wheels.append(wheel)
    return wheels[0]


def _images(names: Sequence[str], checkout: Path, wheel: Path, version: str, target: Path, seconds: int) -> None:
    if names:
        host.require_programs(host.IMAGE_PACKAGES, install=True)
        target.mkdir()
    for name in names:
        with progress.step(f"image {name}"):
            images.write(name, checkout, wheel, version, target, seconds)


if __name__ == "__main__":
    typer.run(command)
