"""Renders a chart to objects, each node with its origin. Source: pkg/engine of Helm 3."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from yaml import Node

from gotemplate.charts import Chart
from gotemplate.errors import FailedError
from gotemplate.functions import FUNCTIONS
from gotemplate.merging import installed
from gotemplate.origin import Origin, Path
from gotemplate.programs import Function
from gotemplate.running import Templates
from gotemplate.syntax import Definitions
from gotemplate.tracked import Value, spans_of
from gotemplate.yaml_reader import BrokenError, load_documents
from gotemplate.yaml_text import block_text, node_origins

# Helm's install order; other kinds follow, by name. Source: pkg/releaseutil/kind_sorter.go of Helm 3.
_ORDER = (
    "PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy",
    "PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass", "PersistentVolume",
    "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleList", "ClusterRoleBinding",
    "ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service", "DaemonSet", "Pod",
    "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob",
    "IngressClass", "Ingress", "APIService",
)  # fmt: skip

# Helm splits a text at `---` whatever follows, as in `---apiVersion: v1` after `{{- if }}`. The length stays, and so do
# the places. Source: pkg/releaseutil/manifest.go of Helm 3, sep.
_GLUED = re.compile(r"\s\n---(?=[^\s-])")

# The version for which Helm renders if it asks no cluster and nobody names another.
KUBE_VERSION = "1.33.0"


class RenderedObject:
    """A rendered object: its template, its data, and the origin of each of its nodes."""

    def __init__(self, template: str, tree: dict[str, Any], root: Node, text: Value) -> None:
        self.template = template
        self.tree = tree
        self._root = root
        self._text = text

    @property
    def text(self) -> str:
        """The whole text of the template, with the other objects that it renders."""
        return str(self._text.data)

    @property
    def root(self) -> Node:
        """The root node of the object, with its marks in the text."""
        return self._root

    @functools.cached_property
    def origins(self) -> dict[Path, Origin]:
        """The origin of each node that has one of its own."""
        return node_origins(self._root, self._text)

    def embedded(self, path: Path) -> tuple[Any, dict[Path, Origin]]:
        """Returns the data of the YAML in a block scalar, and the origin of each of its nodes."""
        text = block_text(self._root, path, self._text)
        ((tree, root),) = load_documents(text.data)
        return tree, node_origins(root, text)

    @property
    def is_hook(self) -> bool:
        """True if the object is a hook, such as a `helm test` pod, and not part of the release itself."""
        annotations = (self.tree.get("metadata") or {}).get("annotations") or {}
        return "helm.sh/hook" in annotations


def render_chart(
    chart: Chart,
    values: Mapping[str, Any],
    release: Mapping[str, str],
    *,
    apis: Collection[str] = (),
    kube_version: str = KUBE_VERSION,
    functions: Mapping[str, Function] | None = None,
    is_wanted: Callable[[str], bool] = bool,
    read: set[Path] | None = None,
    traced: bool = True,
) -> list[RenderedObject]:
    """Returns the objects of a release in Helm's order, hooks included, for a cluster that serves these APIs.

    `values` come from `coalesce`. `functions` are added to those that templates may call. Texts for which `is_wanted`
    is false are not parsed. The paths of all values that a template looks up are added to `read`; items of lists are
    not told apart. Unless `traced`, nodes have no origins, which saves a third of the time. Raises `FailedError` and
    `UnsupportedError`.
    """
    written = render_texts(
        chart, values, release, apis=apis, kube_version=kube_version, functions=functions, read=read, traced=traced
    )
    wanted = sorted((name, text) for name, text in written if is_wanted(text.data))
    return sorted((made for name, text in wanted for made in _objects(name, text)), key=_rank)


def render_texts(
    chart: Chart,
    values: Mapping[str, Any],
    release: Mapping[str, str],
    *,
    apis: Collection[str] = (),
    kube_version: str = KUBE_VERSION,
    functions: Mapping[str, Function] | None = None,
    read: set[Path] | None = None,
    traced: bool = True,
) -> Iterator[tuple[str, Value]]:
    """Yields the text of each template, unless it is blank, in Helm's order. Raises the errors of `render_chart`."""
    about = {**release, "Service": "Helm", "IsInstall": True, "IsUpgrade": False, "Revision": 1}
    capabilities = {
        "APIVersions": Value({"Has": Value(lambda name: _is_served(name, apis))}),
        "KubeVersion": Value(_kube_version(kube_version)),
    }
    shared = {"Release": Value(about), "Capabilities": Value(capabilities)}
    root = Value(chart_values(values, read), Origin((), exact=True) if traced else None)
    charts = list(_charts(chart, chart.about["name"], chart.about["name"], root, shared))
    definitions: Definitions = {}
    makers: dict[str, Value] = {}
    files = {f"{one.path}/{path}": (one.data, file) for one in charts for path, file in one.chart.templates.items()}
    # If two templates have one name, the last definition wins: a parent chart's follow those of its subcharts.
    for name in sorted(files, key=lambda name: (name.count("/"), name), reverse=True):
        data, file = files[name]
        definitions |= {name: file.block, **file.definitions}
        if not name.rpartition("/")[2].startswith("_"):
            makers[name] = data
    templates = Templates(definitions, {**FUNCTIONS, **(functions or {})}, [one.data for one in charts])
    for name, data in makers.items():
        text = templates.render(name, data)
        if text.data.strip():
            yield name, text


def _kube_version(version: str) -> dict[str, str]:
    major, minor, *_ = (*version.removeprefix("v").split("."), "0")
    whole = f"v{version.removeprefix('v')}"
    return {"Version": whole, "GitVersion": whole, "Major": major, "Minor": minor}


class _Installed(NamedTuple):
    """An installed chart: its prefix in Helm's template names, and the dot of its templates."""

    chart: Chart
    path: str
    data: Value


def _charts(chart: Chart, name: str, path: str, values: Value, shared: Mapping[str, Value]) -> Iterator[_Installed]:
    parts: dict[str, Value] = {}
    for part_name, part in installed(chart, values.data):
        for one in _charts(part, part_name, f"{path}/charts/{part_name}", values.item(part_name), shared):
            yield one
        parts[part_name] = one.data
    about = {key[:1].upper() + key[1:]: value for key, value in chart.about.items()} | {"Name": name}
    contents = {"Get": Value(lambda file: chart.files.get(file, "")), "Glob": Value(chart.glob)}
    data = {
        **shared,
        "Values": values,
        "Chart": Value(about),
        "Files": Value(contents),
        "Template": Value({"BasePath": f"{path}/templates"}),
        "Subcharts": Value(parts),
    }
    yield _Installed(chart, path, Value(data))


def _objects(name: str, text: Value) -> Iterator[RenderedObject]:
    try:
        found = load_documents(_GLUED.sub("\n---\n", text.data))
    except BrokenError as error:
        where = _origin_at(text, error.line)
        raise FailedError(f"the rendered manifest is not valid YAML: {error.message}", where) from None
    for tree, root in found:
        if isinstance(tree, dict):
            yield RenderedObject(name, tree, root, text)


def _origin_at(text: Value, line: int) -> Origin | None:
    """Returns the origin on a line of the text, or the last one before it."""
    end = sum(len(part) + 1 for part in text.data.split("\n")[:line])
    before = [span for span in spans_of(text) if span.start < end and span.origin.path]
    return max(before, key=lambda span: span.start).origin if before else None


def _rank(made: RenderedObject) -> tuple[int, str]:
    kind = str(made.tree.get("kind"))
    return (_ORDER.index(kind), "") if kind in _ORDER else (len(_ORDER), kind)


class _Watched(dict[str, Any]):
    """A mapping that records the keys that are looked up in it."""

    __slots__ = ("_path", "_read")

    def __init__(self, items: dict[str, Any], path: Path, read: set[Path]) -> None:
        super().__init__(items)
        self._path, self._read = path, read

    def get(self, key: str, default: Any = None) -> Any:
        self._read.add((*self._path, key))
        return super().get(key, default)


def chart_values(tree: Any, read: set[Path] | None = None, path: Path = ()) -> Any:
    """Returns values as Helm reads them, with every number a float. Lookups are recorded in `read`."""
    if isinstance(tree, dict):
        items = {key: chart_values(item, read, (*path, key)) for key, item in tree.items()}
        return items if read is None else _Watched(items, path, read)
    if isinstance(tree, list):
        return [chart_values(item, read, path) for item in tree]
    return float(tree) if isinstance(tree, int) and not isinstance(tree, bool) else tree


def _is_served(name: str, apis: Collection[str]) -> bool:
    """True for one of the APIs, and for a kind of Kubernetes' own, as `batch/v1/CronJob`: Helm lists those too."""
    version = name.rpartition("/")[0]
    group = version.partition("/")[0]
    return name in apis or (version in apis and ("." not in group or group.endswith(".k8s.io")))
