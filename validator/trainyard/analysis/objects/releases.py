"""Helm releases that a controller creates from an object: the chart's name and the values in the object.

Sources: fluxcd/helm-controller docs/spec/v2 (HelmRelease), argoproj/argo-cd docs/user-guide/helm.md (Application), and
k3s-io/helm-controller doc/helmchart.md (HelmChart).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from trainyard.document.document import Document, Place
from trainyard.document.lookup import items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import pattern

# Kinds of objects that declare releases.
KINDS = ("HelmRelease", "HelmChart", "Application")
# Values in an Application itself, which win over those of its files.
_INLINE = ("values", "valuesObject", "parameters")
_NUMBERS = pattern(r"v?(\d+)\.(\d+)")


class DeclaredRelease(NamedTuple):
    """A release of a chart; `values` are those of the object, `at` is the place of the chart's name.

    `values_at` is the place of the values, present or not; None if they are text in the object. `version` is empty if
    the object leaves it open. `is_open` is true if further values come from somewhere else, and are not known.
    """

    chart: str
    values: dict[str, Any]
    at: Place
    values_at: Place | None
    version: str = ""
    is_open: bool = False

    @property
    def numbers(self) -> tuple[int, int] | None:
        """The first two numbers of the version, None if it does not begin with any."""
        found = _NUMBERS.match(self.version)
        return (int(found[1]), int(found[2])) if found is not None else None

    def flag(self, *path: str) -> bool | None:
        """Returns a boolean value, None if the object leaves it to the chart."""
        value = mapping(self.values, *path[:-1]).get(path[-1])
        return value if isinstance(value, bool) else None

    def place(self, *path: str | int) -> Place:
        """Returns the place of a value, present or not; the chart's name if the values are text."""
        return self.at if self.values_at is None else self.values_at.child(*path)


def releases(project: Project) -> Sequence[DeclaredRelease]:
    """Returns all releases that the files declare."""
    return _releases.of(project)


def chart_version(project: Project, chart: str) -> tuple[int, int] | None:
    """Returns the first two numbers of a chart's version; None if the files declare none, or several."""
    known = {one.numbers for one in releases(project) if one.chart == chart}
    return known.pop() if len(known) == 1 else None


def _find_releases(project: Project) -> list[DeclaredRelease]:
    return [one for resource in project.of_kind(*KINDS) for one in releases_of(resource, project.documents)]


# Rules ask for each pod.
_releases: LastIndex[Project, list[DeclaredRelease]] = LastIndex(_find_releases)


def _values_file(source: Any, documents: Sequence[Document]) -> Document | None:
    """Returns the file with all values of a chart of an Application, if it has one alone, of another source."""
    files, helm = items(source, "helm", "valueFiles"), mapping(source, "helm")
    if not documents or len(files) != 1 or any(helm.get(name) for name in _INLINE):
        return None
    reference, _, path = str(files[0]).partition("/")
    if not reference.startswith("$") or not path:
        return None
    same = _values_files.of(documents).get(path.rpartition("/")[2], [])
    fitting = [one for one in same if f"/{one.source.name}".endswith(f"/{path}") or _lies_in(one, path)]
    return fitting[0] if len(fitting) == 1 else None


def _lies_in(document: Document, path: str) -> bool:
    """True if a folder of the path was linted alone, so that the name of the file is the end of the path.

    Many folders have a file `values.yaml`, so that the name alone does not tell one.
    """
    name = document.source.name.removeprefix("./")
    return name != "values.yaml" and f"/{path}".endswith(f"/{name}")


def _find_values_files(documents: Sequence[Document]) -> dict[str, list[Document]]:
    """Returns the files that hold one mapping and no object, by their last name."""
    found: dict[str, list[Document]] = {}
    for one in documents:
        if isinstance(one.tree, dict) and "kind" not in one.tree and one.index == 0:
            found.setdefault(one.source.name.rpartition("/")[2], []).append(one)
    return found


_values_files: LastIndex[Sequence[Document], dict[str, list[Document]]] = LastIndex(_find_values_files)


def releases_of(resource: Resource, documents: Sequence[Document] = ()) -> Iterator[DeclaredRelease]:
    """Yields the releases that one object declares; `documents` are those that may be its values files."""
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    if resource.kind == "HelmRelease":
        chart = text(spec, "chart", "spec", "chart")
        yield DeclaredRelease(
            _name(chart),
            mapping(spec, "values"),
            at.child("chart", "spec", "chart"),
            at.child("values"),
            text(spec, "chart", "spec", "version"),
            bool(items(spec, "valuesFrom")),
        )
    elif resource.kind == "HelmChart":
        values = _read(text(spec, "valuesContent"))
        is_open = bool(items(spec, "valuesSecrets"))
        yield DeclaredRelease(
            _name(text(spec, "chart")), values, at.child("chart"), None, text(spec, "version"), is_open
        )
    elif resource.kind == "Application":
        yield from _sources(resource, documents)


def _sources(resource: Resource, documents: Sequence[Document]) -> Iterator[DeclaredRelease]:
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    listed = [(source, at.child("sources", index)) for index, source in enumerate(items(spec, "sources"))]
    for source, place in [(mapping(spec, "source"), at.child("source")), *listed]:
        if not text(source, "chart"):
            continue
        helm, file = mapping(source, "helm"), _values_file(source, documents)
        if file is not None:
            yield DeclaredRelease(
                _name(text(source, "chart")),
                file.tree,
                place.child("chart"),
                Place(file),
                text(source, "targetRevision"),
            )
            continue
        values = mapping(helm, "valuesObject") or _read(text(helm, "values"))
        for parameter in items(helm, "parameters"):
            _set(values := dict(values), text(parameter, "name"), text(parameter, "value"))
        written = place.child("helm", "valuesObject") if "valuesObject" in helm else None
        version = text(source, "targetRevision")
        is_open = bool(items(helm, "valueFiles"))
        yield DeclaredRelease(_name(text(source, "chart")), values, place.child("chart"), written, version, is_open)


def _name(chart: str) -> str:
    """Returns the chart without its repository: `nvidia/gpu-operator` and `oci://.../gpu-operator` are one chart."""
    return chart.rstrip("/").rpartition("/")[2]


def _read(written: str) -> dict[str, Any]:
    """Returns values that are text in an object; none if they cannot be parsed."""
    if not written.strip():
        return {}
    from trainyard.document import reading
    from trainyard.document.source import Source

    documents, broken = reading.read(Source("values", written))
    tree = documents[0].tree if documents and not broken else None
    return tree if isinstance(tree, dict) else {}


def _set(values: dict[str, Any], name: str, value: str) -> None:
    """Applies `--set name=value` to values."""
    *above, last = name.split(".")
    for key in above:
        inner = values.get(key)
        values[key] = values = dict(inner) if isinstance(inner, dict) else {}
    values[last] = {"true": True, "false": False}.get(value, value)
