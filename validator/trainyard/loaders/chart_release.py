"""Releases of any chart, rendered without Helm: each field leads back to its value or to a line of its template."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gotemplate import merging, rendering
from gotemplate.charts import Chart
from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.tracked import Value
from gotemplate.yaml_reader import BrokenError
from trainyard.document.document import Document, Place
from trainyard.document.source import Position, Source
from trainyard.facts.kubernetes.served_apis import BUILT_IN_APIS, SERVED_APIS
from trainyard.loaders import trial
from trainyard.loaders.chart_files import ABOUT
from trainyard.loaders.origins import Layers, RenderedDocument
from trainyard.loaders.template_lines import TemplateLines

if TYPE_CHECKING:
    from yaml import Node

    from gotemplate.origin import Origin
    from gotemplate.rendering import RenderedObject

_TEXTS = (
    ".yaml",
    ".yml",
    ".tpl",
    ".json",
    ".txt",
    ".sh",
    ".py",
    ".conf",
    ".cfg",
    ".ini",
    ".toml",
    ".properties",
    ".md",
)
_MAX_FILE = 1024 * 1024


class NotRenderedError(Exception):
    """A release that cannot be rendered here; `args[0]` gives the reason."""


class About(NamedTuple):
    """The release: its name, its namespace, and the version of Kubernetes of its cluster."""

    name: str = "run"
    namespace: str = "default"
    kube_version: str | None = None


def open_chart(folder: Path, default: Document | None = None) -> Chart:
    """Returns the chart in a folder, with all the files that its templates may read. Raises `NotRenderedError`.

    `default` are its default values, if they are read already.
    """
    try:
        chart = Chart(folder, default.tree if default is not None else None)
        _with_files(chart)
    except (OSError, UnicodeDecodeError, BrokenError, KeyError) as error:
        raise NotRenderedError(f"its files cannot be read: {error}") from None
    if not isinstance(chart.about.get("name"), str):
        raise NotRenderedError(f"its {ABOUT} has no name")
    packed = sorted(path.name for path in folder.glob("charts/*.tgz"))
    if packed:
        raise NotRenderedError(f"its subchart charts/{packed[0]} is packed; unpack it")
    missing = [name for name in _dependencies(chart) if name not in chart.parts]
    if missing:
        raise NotRenderedError(f"its subchart {missing[0]} is not in charts/; run `helm dependency build`")
    return chart


def _with_files(chart: Chart) -> None:
    found: dict[str, str] = {}
    for parent, folders, names in os.walk(chart.folder, followlinks=True):
        top = Path(parent) == chart.folder
        folders[:] = [
            name for name in folders if not (name.startswith(".") or (top and name in ("templates", "charts", "crds")))
        ]
        for path in (Path(parent, name) for name in names):
            if path.suffix in _TEXTS and path.is_file() and path.stat().st_size < _MAX_FILE:
                found[str(path.relative_to(chart.folder))] = path.read_text("utf-8")
        if len(Path(parent).relative_to(chart.folder).parts) > 8:
            folders.clear()
    chart.files = found
    for part in chart.parts.values():
        _with_files(part)


def _dependencies(chart: Chart) -> list[str]:
    entries = chart.about.get("dependencies") or ()
    return [str(entry["name"]) for entry in entries if isinstance(entry, dict) and "name" in entry]


def release_documents(chart: Chart, default: Document, files: Sequence[Document], about: About) -> list[Document]:
    """Returns the objects of a release with these values files over the chart's defaults. Raises `NotRenderedError`."""
    layers = Layers(default, [default, *files])
    own = merging.merge(document.tree for document in files if isinstance(document.tree, dict))
    try:
        render = functools.partial(rendered_objects, chart, merging.coalesce(chart, own), about)
        trial.try_out(render)
        made = render()
    except trial.ExcessiveError as error:
        raise NotRenderedError(f"its templates take {error}") from None
    except FailedError as error:
        raise NotRenderedError(f"the chart refuses the values: {error.message}") from None
    except UnsupportedError as error:
        raise NotRenderedError(f"its templates use {error}, which is not supported without Helm") from None
    except RecursionError:
        raise NotRenderedError("its templates are nested too deeply") from None
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise NotRenderedError(f"its templates cannot be rendered without Helm: {error!r}") from None
    templates = _TemplateSources(chart.folder)
    return [
        TemplateDocument(one, layers, templates, about)
        for one in made
        if not one.is_hook and one.tree.get("kind") != "CustomResourceDefinition"
    ]


def rendered_objects(chart: Chart, values: Mapping[str, Any], about: About) -> list[RenderedObject]:
    """Returns the objects of a release from coalesced values. Raises `FailedError` and `UnsupportedError`."""
    return rendering.render_chart(
        chart,
        values,
        {"Name": about.name, "Namespace": about.namespace},
        apis=(*SERVED_APIS, *BUILT_IN_APIS),
        kube_version=about.kube_version or rendering.KUBE_VERSION,
        functions=_STAND_INS,
        is_wanted=_is_wanted,
    )


def _is_wanted(text: str) -> bool:
    """True unless the text is blank or holds only definitions of resources: large, and nothing for rules to check."""
    kinds = [line for line in text.splitlines() if line.startswith("kind:")]
    return bool(text.strip()) and not (kinds and all("CustomResourceDefinition" in kind for kind in kinds))


class _TemplateSources:
    """The templates of a chart as they are in its folder; helpers follow a template."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @functools.cached_property
    def _helpers(self) -> tuple[Source, ...]:
        found = sorted(self._folder.glob("templates/**/*.tpl"))
        return tuple(Source(str(path), path.read_text("utf-8", "replace")) for path in found)

    def name(self, template: str) -> str:
        """Returns the path of a template that Helm names `chart/templates/file`."""
        return str(self._folder / template.partition("/")[2])

    @functools.cache  # noqa: B019 - one object for each lint of a chart
    def of(self, template: str) -> tuple[Source, ...]:
        """Returns the sources of a template: its file, then the helpers."""
        path = Path(self.name(template))
        own = (Source(str(path), path.read_text("utf-8", "replace")),) if path.is_file() else ()
        return (*own, *self._helpers)


class TemplateDocument(RenderedDocument):
    """A rendered object. A place that is no copy of a value leads to the line of the template that writes it."""

    __slots__ = ("_about", "_lines", "_made")

    def __init__(self, made: RenderedObject, layers: Layers, templates: _TemplateSources, about: About) -> None:
        text = Document(Source(templates.name(made.template), made.text), 0, made.tree, ())
        super().__init__(made.tree, layers, made.origins, made.template.partition("/")[2], text)
        self._made = made
        self._about = about
        self._lines = TemplateLines(text.source, templates.of(made.template))

    @property
    def node(self) -> Node:
        """The rendered object with its marks."""
        return self._made.root

    @property
    def release_and_chart(self) -> tuple[str, str] | None:
        """The names of the release and of the chart, or of its subchart."""
        folder = self._made.template.partition("/templates/")[0]
        return self._about.name, folder.rpartition("/")[2]

    @property
    def assumed_namespace(self) -> str:
        """The namespace of a release in a folder."""
        return self._about.namespace

    def locate(self, place: Place) -> Position:
        """Returns the position of the value behind the place, or of the line in the template."""
        missing, origin = self._missing(place), self.origin(place)
        shown = Document.locate(self, place)
        reading = self._lines.reading(shown, missing.path) if missing is not None else None
        if reading is not None:
            return reading
        if origin is not None and origin.exact:
            return super().locate(place)
        literal = self._lines.literal(shown)
        if literal is not None:
            return literal
        return super().locate(place) if origin is not None and origin.path else self._lines.nearest(shown)

    def _missing(self, place: Place) -> Origin | None:
        """Returns the value that decides a place if nobody has set it."""
        origin = self.origin(place)
        return origin if origin is not None and origin.path and self.layers.lacks(origin) else None

    def explain(self, place: Place) -> tuple[tuple[Position, str], ...]:
        """Returns the position in the template of a place that a value decides, or where the value is missing."""
        missing = self._missing(place)
        if missing is not None:
            found = self.layers.place(missing)
            return ((found.document.locate(found), f"`{'.'.join(map(str, missing.path))}` is not set in"),)
        position = self.locate(place)
        if position.source not in {document.source for document in self.layers.files}:
            return ()
        return ((self._lines.nearest(Document.locate(self, place)), "rendered from"),)


def _fixed(text: str) -> Callable[[Sequence[Value]], Value]:
    return lambda args: Value(text)  # noqa: ARG005


def _repeated(letter: str) -> Callable[[Sequence[Value]], Value]:
    return lambda args: Value(letter * min(int(args[0].data), 1000))


_CERTIFICATE = Value({"Cert": Value("certificate"), "Key": Value("key")})
# Random texts, keys and times: no rule depends on them, and the same values give the same findings.
_STAND_INS: dict[str, Callable[[Sequence[Value]], Value]] = {
    "randAlphaNum": _repeated("x"),
    "randAlpha": _repeated("x"),
    "randAscii": _repeated("x"),
    "randNumeric": _repeated("7"),
    "uuidv4": _fixed("00000000-0000-4000-8000-000000000000"),
    "genPrivateKey": _fixed("key"),
    "now": _fixed("2000-01-01T00:00:00Z"),
    "date": _fixed("2000-01-01"),
    "dateInZone": _fixed("2000-01-01"),
    "htmlDate": _fixed("2000-01-01"),
    "unixEpoch": _fixed("946684800"),
    "bcrypt": _fixed("hash"),
    "htpasswd": _fixed("user:hash"),
    "randBytes": _repeated("x"),
    "genCA": lambda args: _CERTIFICATE,  # noqa: ARG005
    "genSelfSignedCert": lambda args: _CERTIFICATE,  # noqa: ARG005
    "genSignedCert": lambda args: _CERTIFICATE,  # noqa: ARG005
}
