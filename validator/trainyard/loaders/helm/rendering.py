"""Renders charts by Helm, without fetching anything, running hooks or asking a cluster."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trainyard.document import reading
from trainyard.document.document import Document
from trainyard.document.source import Source
from trainyard.facts.served_apis import SERVED_APIS
from trainyard.loaders.helm.errors import RenderingError
from trainyard.loaders.helm.release import ChartRelease
from trainyard.loaders.marks import leaves

TIMEOUT_SECONDS = 60
# Aliases can make a short file expand to more than memory holds.
MAX_LEAVES = 100_000
_HEADER = re.compile(r"^---\n# Source: (.+)\n", re.MULTILINE)
_KNOWN_SCHEMAS = ("http://json-schema.org/", "https://json-schema.org/")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Manifest(NamedTuple):
    """A rendered object: its template, and the document with its text."""

    template: str
    document: Document


def find_helm(given: str | None = None) -> str:
    """Returns the Helm to use: the given one, or the one on the PATH."""
    found = shutil.which(given or "helm")
    if found is None:
        raise RenderingError(
            f"{given or 'helm'} was not found; Helm renders charts: install Helm 3.14 or newer, or lint the output of "
            "`helm template` from elsewhere"
        )
    return found


def check_helm_values(chart: Path) -> None:
    """Refuses a chart that cannot be rendered without files outside of it."""
    if not (chart / "Chart.yaml").is_file():
        raise RenderingError(
            f"{chart} is not a chart: it has no Chart.yaml; name the folder of a chart on this machine"
        )
    for name, text in _schemas(chart):
        try:
            schema = json.loads(text)
        except ValueError as error:
            raise RenderingError(f"{name} is not JSON: {error}") from None
        for reference in _outside(schema):
            raise RenderingError(f"{name} refers to {reference}, outside of the chart; Helm would fetch it")


def chart_files(chart: Path) -> list[Path]:
    """Returns all files of a chart; like Helm it follows links, but not in circles."""
    found: list[Path] = []
    seen: set[str] = set()
    for folder, folders, names in os.walk(chart, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        found += [Path(folder, name) for name in names if Path(folder, name).is_file()]
    return sorted(found)


def _schemas(chart: Path) -> Iterator[tuple[str, str]]:
    for path in chart_files(chart):
        if path.name == "values.schema.json":
            yield str(path), path.read_text("utf-8", "replace")
        elif path.suffix == ".tgz":
            yield from _packed_schemas(path)


def _packed_schemas(archive: Path) -> Iterator[tuple[str, str]]:
    import tarfile

    try:
        with tarfile.open(archive) as packed:
            for member in packed:
                stream = packed.extractfile(member) if member.name.endswith("values.schema.json") else None
                if stream is not None:
                    yield f"{archive}:{member.name}", stream.read().decode("utf-8", "replace")
    except (tarfile.TarError, OSError) as error:
        raise RenderingError(f"{archive} cannot be opened: {error}") from None


def _outside(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for item in schema:
            yield from _outside(item)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if isinstance(value, str) and (
            (key in _REFERENCES and not value.startswith("#"))
            or (key == "$schema" and not value.startswith(_KNOWN_SCHEMAS))
        ):
            yield value
        yield from _outside(value)


def helm_template(
    release: ChartRelease, values: Mapping[str, Any], *, strict: bool = True, limit: int | None = None
) -> list[Manifest]:
    """Returns the objects of a release with these values, without CRDs, hooks and tests.

    `strict` is true if the chart's schema applies. A text of more than `limit` characters is not read.
    """
    command = [
        find_helm(release.helm), "template", release.name, str(release.chart), "--namespace", release.namespace,
        "--skip-crds", "--no-hooks", "--skip-tests", "--api-versions", ",".join(SERVED_APIS), "--values", "-",
    ]  # fmt: skip
    command += ["--kube-version", release.kube_version] if release.kube_version else []
    command += [] if strict else ["--skip-schema-validation"]
    if next(itertools.islice(leaves(values), MAX_LEAVES, None), None) is not None:
        raise RenderingError(f"the values have more than {MAX_LEAVES} entries")
    try:
        done = subprocess.run(
            command,
            input=json.dumps(values, default=str),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
            env=_environment(),
        )
    except subprocess.TimeoutExpired:
        raise RenderingError(f"helm did not render {release.chart} within {TIMEOUT_SECONDS} s") from None
    if done.returncode:
        raise RenderingError(f"helm does not render {release.chart}: {_reason(done.stderr)}")
    if limit is not None and len(done.stdout) > limit:
        raise RenderingError(f"helm renders more than {limit} characters")
    return list(_manifests(done.stdout))


def _environment() -> dict[str, str]:
    """Returns the user's environment without the variables that lead Helm to a cluster or to plugins."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HELM_KUBE", "HELM_DRIVER"))}
    # Helm ends within a second: collecting garbage less often takes a fifth less processor time.
    return {"GOGC": "400"} | kept | {"KUBECONFIG": os.devnull, "HELM_NO_PLUGINS": "1", "HELM_DEBUG": "false"}


def _reason(stderr: str) -> str:
    lines = [
        line for line in stderr.strip().splitlines() if line and "walk.go" not in line and "level=INFO" not in line
    ]
    text = " ".join(line.strip() for line in lines) or "it gives no reason"
    if "missing in charts/" in text:
        text += "; nothing is fetched here: run `helm dependency build` first"
    return text.removeprefix("Error: ")


def _manifests(text: str) -> Iterator[Manifest]:
    by_template: dict[str, list[str]] = defaultdict(list)
    parts = _HEADER.split(text)
    for template, body in zip(parts[1::2], parts[2::2], strict=True):
        by_template[template.strip()].append(body)
    for template, bodies in by_template.items():
        source = Source(f"{template} (rendered)", "---\n".join(bodies))
        documents, broken = reading.read(source)
        if broken:
            raise RenderingError(f"{template} renders invalid YAML: {broken[0].message}, line {broken[0].line}")
        for document in documents:
            if not _is_crd(document.tree):
                yield Manifest(template, document)


def _is_crd(tree: Any) -> bool:
    return isinstance(tree, dict) and tree.get("kind") == "CustomResourceDefinition"
