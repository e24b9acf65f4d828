"""A chart and values to the objects that Helm would render, each node with its origin."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from validator import reading
from validator.facts.served_apis import SERVED_APIS
from validator.roads.origins import Origin
from validator.roads.templates.functions import FUNCTIONS
from validator.roads.templates.running import FailedError, Templates, chart_data
from validator.roads.templates.syntax import Definitions, parse
from validator.roads.templates.tracked import Value, spanned
from validator.roads.templates.yaml_text import origins
from validator.source import Path as Steps
from validator.source import Source

# The order in which Helm installs, as far as our charts have these kinds; others come behind, by name.
_ORDER = (
    "NetworkPolicy", "ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim", "Role", "RoleBinding", "Service",
    "Pod", "HorizontalPodAutoscaler", "Job",
)  # fmt: skip


class Chart(NamedTuple):
    """The templates of a chart and of those that it depends on, by their names in Helm, and what is said of it.

    `makers` are those that make objects; `files` are the texts that templates may ask for by their paths.
    """

    about: dict[str, Any]
    definitions: Definitions
    makers: tuple[str, ...]
    files: dict[str, str]


class Made(NamedTuple):
    """An object: the template that makes it, and the value behind each of its nodes."""

    template: str
    tree: dict[str, Any]
    origins: dict[Steps, Origin]

    @property
    def is_hook(self) -> bool:
        """Whether Helm makes it at another time than the release, such as for `helm test`."""
        annotations = (self.tree.get("metadata") or {}).get("annotations") or {}
        return "helm.sh/hook" in annotations


def load(folder: Path, about: Mapping[str, Any]) -> Chart:
    """Read a chart's templates. Raises `UnsupportedError`."""
    definitions: Definitions = {}
    makers = []
    for path in templates(folder):
        name = str(path.relative_to(folder))
        nodes = parse(path.read_text("utf-8"), definitions)
        if not path.name.startswith("_"):
            definitions[name] = nodes
            makers.append(name)
    named = {"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]}
    texts = {str(path.relative_to(folder)): path.read_text("utf-8") for path in files(folder)}
    return Chart(named, definitions, tuple(makers), texts)


def templates(folder: Path) -> list[Path]:
    """The templates in a chart's folder that make objects, and those that they call."""
    found = [*folder.glob("charts/*/templates/**/*"), *folder.glob("templates/**/*")]
    return sorted(path for path in found if path.suffix in (".tpl", ".yaml"))


def files(folder: Path) -> list[Path]:
    """The files in a chart's folder that templates may ask for."""
    found = folder.glob("files/**/*")
    return sorted(path for path in found if path.is_file() and path.parent.name != "__pycache__")


def render(
    chart: Chart, values: Mapping[str, Any], release: Mapping[str, str], read: set[Steps] | None = None
) -> list[Made]:
    """The objects of a release in Helm's order, and its hooks among them. Raises `FailedError` and `UnsupportedError`.

    The paths of all values that a template looks at are put into `read`; items of lists are not told apart.
    """
    made = [one for name, text in texts(chart, values, release, read=read) for one in _objects(name, text)]
    return sorted(made, key=_rank)


def texts(
    chart: Chart,
    values: Mapping[str, Any],
    release: Mapping[str, str],
    *,
    apis: Collection[str] = SERVED_APIS,
    read: set[Steps] | None = None,
) -> Iterator[tuple[str, Value]]:
    """What each template writes, unless it is nothing, on a cluster that has these APIs. Raises as `render` does."""
    capabilities = {"APIVersions": Value({"Has": Value(lambda name: name in apis)})}
    about = {**release, "Service": "Helm", "IsInstall": True, "IsUpgrade": False, "Revision": 1}
    contents = {"Get": Value(lambda name: chart.files.get(name, ""))}
    others = {"Release": about, "Chart": chart.about, "Capabilities": capabilities, "Files": contents}
    data = chart_data(chart_values(values, read), **others)
    templates = Templates(chart.definitions, FUNCTIONS)
    for name in chart.makers:
        text = templates.render(name, data)
        if text.data.strip():
            yield name, text


def _objects(name: str, text: Value) -> Iterator[Made]:
    documents, broken = reading.read(Source(name, text.data))
    if broken:
        raise FailedError(
            f"the manifest that is made is no YAML: {broken[0].message}", _origin_at(text, broken[0].line)
        )
    for document in documents:
        if document.node is not None and isinstance(document.tree, dict):
            yield Made(name, document.tree, origins(document.node, text))


def _origin_at(text: Value, line: int) -> Origin | None:
    """The value on a line of the text, or the last one before it."""
    end = sum(len(part) + 1 for part in text.data.split("\n")[:line])
    before = [span for span in spanned(text) if span.start < end and span.origin.path]
    return max(before, key=lambda span: span.start).origin if before else None


def _rank(made: Made) -> tuple[int, str]:
    kind = str(made.tree.get("kind"))
    return (_ORDER.index(kind), "") if kind in _ORDER else (len(_ORDER), kind)


class _Watched(dict[str, Any]):
    """A mapping that says what is looked up in it."""

    __slots__ = ("_path", "_read")

    def __init__(self, items: dict[str, Any], path: Steps, read: set[Steps]) -> None:
        super().__init__(items)
        self._path, self._read = path, read

    def get(self, key: str, default: Any = None) -> Any:
        self._read.add((*self._path, key))
        return super().get(key, default)


def chart_values(tree: Any, read: set[Steps] | None = None, path: Steps = ()) -> Any:
    """Values as Helm reads them: every number is a float. What is looked up in them is put into `read`."""
    if isinstance(tree, dict):
        items = {key: chart_values(item, read, (*path, key)) for key, item in tree.items()}
        return items if read is None else _Watched(items, path, read)
    if isinstance(tree, list):
        return [chart_values(item, read, path) for item in tree]
    return float(tree) if isinstance(tree, int) and not isinstance(tree, bool) else tree
