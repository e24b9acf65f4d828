"""Bills of materials (SBOM) in the format CycloneDX: what a package contains, and what it starts or needs."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tarfile
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.parser import BytesHeaderParser
from pathlib import Path

import yaml
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

from tests.harness.cluster import tools
from tools.release.charts import described
from tools.release.errors import ReleaseError

# Fields of rendered objects that name a container image. A template inside a ConfigMap names none.
IMAGE = re.compile(r"^\s*(?:- )?image:\s*[\"']?(?P<image>[\w.][\w./:@-]*)[\"']?\s*$", re.MULTILINE)
PARTS = re.compile(r"(?P<name>.+?)(?::(?P<tag>[\w.-]+))?(?:@(?P<digest>.+))?")


def write(package: Path, components: Iterator[Component], seconds: int) -> Path:
    """Write the bill of a package beside it. The same package and components give the same bytes."""
    with package.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    name = Component(
        type=ComponentType.FILE, name=package.name, bom_ref=package.name,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )  # fmt: skip
    bom = Bom(
        components=components,
        serial_number=uuid.uuid5(uuid.NAMESPACE_OID, digest),
        metadata=BomMetaData(component=name, timestamp=datetime.fromtimestamp(seconds, UTC)),
    )
    bom.register_dependency(name, bom.components)
    target = package.with_name(f"{package.name}.cdx.json")
    target.write_text(JsonV1Dot6(bom).output_as_string(indent=2) + "\n", encoding="utf-8")
    return target


def of_chart(chart: Path) -> Iterator[Component]:
    """Yield the parts of a chart, and the images that it starts with its default values."""
    for part in described(chart).get("dependencies", ()):
        yield _component(ComponentType.APPLICATION, "helm", part["name"], part["version"])
    for image in sorted(set(images(chart))):
        parts = PARTS.fullmatch(image)
        assert parts is not None
        yield _component(ComponentType.CONTAINER, "docker", parts["name"], parts["digest"] or parts["tag"] or "latest")


def images(chart: Path) -> Iterator[str]:
    """Yield the names of the images in the objects that a chart renders with its default values."""
    command = [str(tools.binary("helm4")), "template", "release", str(chart)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ReleaseError(f"helm template failed for {chart.name}: {result.stderr.strip()}")
    for document in re.split(r"^---$", result.stdout, flags=re.MULTILINE):
        # A definition of a resource has fields of this name, and no image.
        if (yaml.load(document, Loader=yaml.CSafeLoader) or {}).get("kind") != "CustomResourceDefinition":
            yield from (match["image"] for match in IMAGE.finditer(document))


def of_project(requirements: list[str], pins: dict[str, str]) -> Iterator[Component]:
    """Yield what a Python package requires, in the versions of `pins` that the tests use."""
    for requirement in map(Requirement, requirements):
        yield _component(ComponentType.LIBRARY, "pypi", requirement.name, pins[requirement.name])


def of_image(layers: Sequence[Path]) -> Iterator[Component]:
    """Yield the Debian packages of an image, which are those of its lowest layer, and the Python packages above it."""
    for layer in layers:
        with tarfile.open(layer) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file and member.name.endswith("var/lib/dpkg/status"):
                    yield from _debian(file.read())
                elif file and layer is not layers[0] and member.name.endswith(".dist-info/METADATA"):
                    about = BytesHeaderParser().parse(file)
                    yield _component(ComponentType.LIBRARY, "pypi", about["Name"], about["Version"])


def _debian(status: bytes) -> Iterator[Component]:
    """Yield the packages of dpkg's record of what is installed."""
    for paragraph in status.strip().split(b"\n\n"):
        about = BytesHeaderParser().parsebytes(paragraph)
        # Of a package that was removed, the record keeps the configuration.
        if about["Status"].endswith(" installed"):
            yield _component(ComponentType.LIBRARY, "deb", about["Package"], about["Version"], "debian")


def _component(kind: ComponentType, source: str, name: str, version: str, owner: str | None = None) -> Component:
    url = PackageURL(source, owner, name=name, version=version)
    return Component(type=kind, name=name, version=version, purl=url, bom_ref=str(url))
