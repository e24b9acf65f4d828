"""Renders charts by Helm, without fetching anything, running hooks or asking a cluster."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from trainyard.document import reading
from trainyard.document.document import Document
from trainyard.document.opening import MAX_BYTES
from trainyard.document.source import Source
from trainyard.facts.kubernetes.served_apis import SERVED_APIS
from trainyard.loaders.helm.errors import RenderingError
from trainyard.loaders.helm.process import MAX_MEMORY, OutputError, run_limited
from trainyard.loaders.helm.release import ChartRelease
from trainyard.loaders.marks import leaves

TIMEOUT_SECONDS = 60
# Aliases can make a short file expand to more than memory holds.
MAX_LEAVES = 100_000
_HEADER = re.compile(r"^---\n# Source: (.+)\n", re.MULTILINE)
_KNOWN_SCHEMA = re.compile(r"https?://json-schema\.org/(?:draft-0[3-7]|draft/20(?:19-09|20-12))/schema#?")
# Helm itself refuses larger files and charts. Source: pkg/chart/loader/archive.go of Helm 3.17.
_MAX_PACKED_FILE = 5 * 2**20
_MAX_PACKED = 100 * 2**20
_MAX_NESTED = 8
# Links can make a chart of a whole file system.
_MAX_FILES = 10_000
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
            references = list(_outside(schema))
        except ValueError as error:
            raise RenderingError(f"{name} is not JSON: {error}") from None
        except RecursionError:
            raise RenderingError(f"{name} is nested too deeply") from None
        for reference in references:
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
        found += [path for name in names if _is_file(path := Path(folder, name))]
        if len(found) > _MAX_FILES:
            raise RenderingError(f"{chart} has more than {_MAX_FILES:,} files; remove links that lead out of it")
    return sorted(found)


def _is_file(path: Path) -> bool:
    """True if a file is there. A folder behind a link may be closed, as in /proc."""
    try:
        return path.is_file()
    except OSError:
        return False


def _schemas(chart: Path) -> Iterator[tuple[str, str]]:
    for path in chart_files(chart):
        if not _is_unicode(str(path.relative_to(chart))):
            raise RenderingError(f"{chart}: the file name {path.name!a} is not UTF-8; rename the file")
        try:
            if path.name == "values.schema.json":
                yield str(path), path.read_text("utf-8", "replace")
            elif path.suffix == ".tgz":
                with path.open("rb") as stream:
                    yield from _packed_schemas(str(path), stream, 0)
        except OSError as error:
            raise RenderingError(f"{path} cannot be opened: {error.strerror or error}") from None


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _packed_schemas(name: str, archive: IO[bytes], depth: int) -> Iterator[tuple[str, str]]:
    """Yields the schemas in the archive of a chart, and in the archives of its subcharts."""
    import tarfile
    import zlib

    if depth == _MAX_NESTED:
        raise RenderingError(f"{name} is nested more than {_MAX_NESTED} archives deep")
    length = 0
    try:
        with tarfile.open(fileobj=archive, mode="r:gz") as packed:
            for member in packed:
                length += member.size
                if member.size > _MAX_PACKED_FILE or length > _MAX_PACKED:
                    raise RenderingError(f"{name}: {member.name} is too large for a chart")
                is_archive = member.name.endswith(".tgz")
                wanted = is_archive or member.name.endswith("values.schema.json")
                stream = packed.extractfile(member) if wanted else None
                if stream is None:
                    continue
                content = stream.read(_MAX_PACKED_FILE)
                if is_archive:
                    yield from _packed_schemas(f"{name}:{member.name}", io.BytesIO(content), depth + 1)
                else:
                    yield f"{name}:{member.name}", content.decode("utf-8", "replace")
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        raise RenderingError(f"{name} cannot be opened: {error}") from None


def _outside(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for item in schema:
            yield from _outside(item)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if isinstance(value, str) and (
            (key in _REFERENCES and not value.startswith("#"))
            or (key == "$schema" and not _KNOWN_SCHEMA.fullmatch(value))
        ):
            yield value
        yield from _outside(value)


def helm_template(
    release: ChartRelease,
    values: Mapping[str, Any],
    *,
    strict: bool = True,
    seconds: float = TIMEOUT_SECONDS,
    most: int = MAX_BYTES,
) -> list[Manifest]:
    """Returns the objects of a release with these values, without CRDs, hooks and tests.

    `strict` is true if the chart's schema applies. Helm ends after `seconds`, or once it prints more than `most` bytes.
    """
    command = [
        find_helm(release.helm), "template", release.name, str(release.chart), "--namespace", release.namespace,
        "--skip-crds", "--no-hooks", "--skip-tests", "--api-versions", ",".join(SERVED_APIS), "--values", "-",
    ]  # fmt: skip
    command += ["--kube-version", release.kube_version] if release.kube_version else []
    command += [] if strict else ["--skip-schema-validation"]
    if next(itertools.islice(leaves(values), MAX_LEAVES, None), None) is not None:
        raise RenderingError(f"the values have more than {MAX_LEAVES} entries")
    given = json.dumps(values, default=str)
    status, output, errors = _run_helm(command, given, release.chart, seconds, most)
    if status:
        raise RenderingError(f"helm does not render {release.chart}: {_reason(errors)}")
    return list(_manifests(output))


def _run_helm(command: list[str], values: str, chart: Path, seconds: float, most: int) -> tuple[int, str, str]:
    """Returns the exit status of Helm, its output and its errors."""
    try:
        status, output, errors = run_limited(command, values.encode("utf-8", "replace"), _environment(), seconds, most)
    except subprocess.TimeoutExpired:
        raise RenderingError(f"helm did not render {chart} within {seconds:.0f} s") from None
    except OutputError:
        raise RenderingError(
            f"helm renders more than {most / 2**20:.0f} MiB of {chart}, which is too much to lint: "
            "lower the value that repeats a part of a template, or lint a part of the output of `helm template`"
        ) from None
    return status, _decoded(output), _decoded(errors)


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _environment() -> dict[str, str]:
    """Returns the user's environment without the variables that lead Helm to a cluster or to plugins."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HELM_KUBE", "HELM_DRIVER"))}
    # Helm ends within a second: collecting garbage less often takes a fifth less processor time.
    return (
        {"GOGC": "400", "GOMEMLIMIT": "1GiB"}
        | kept
        | {"KUBECONFIG": os.devnull, "HELM_NO_PLUGINS": "1", "HELM_DEBUG": "false"}
    )


def _reason(stderr: str) -> str:
    if "out of memory" in stderr or "cannot allocate memory" in stderr:
        return f"it needs more than {MAX_MEMORY // 2**30} GiB of memory"
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
