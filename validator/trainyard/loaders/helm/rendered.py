"""The loader of charts that are not ours: Helm renders them, and provenance leads back to the values."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gotemplate.merging import merge, with_defaults
from gotemplate.origin import Origin
from trainyard.document.document import Document
from trainyard.document.opening import MAX_BYTES
from trainyard.document.source import Path as Steps
from trainyard.loaders.helm import provenance, rendering
from trainyard.loaders.helm.errors import RenderingError
from trainyard.loaders.helm.provenance import Objects, Trace
from trainyard.loaders.helm.release import ChartRelease
from trainyard.loaders.helm.rendering import Manifest
from trainyard.loaders.json_schema import Fault, format_path
from trainyard.loaders.marks import leaves
from trainyard.loaders.origins import Layers, RenderedDocument
from trainyard.loaders.training_job.values import ValuesDocument

# A count that drives a loop multiplies the size of a render by this much, and nothing can be learnt from it.
_GROWTH = 20
# A trace renders a chart up to 160 times, each in up to a minute.
_TRACE_SECONDS = 120


def rendered_documents(release: ChartRelease, default: Document, files: Sequence[Document]) -> list[Document]:
    """Returns the values files and the rendered objects; their origins are traced on first use."""
    rendering.check_helm_values(release.chart)
    layers = [ValuesDocument(document) for document in files]
    last = layers[-1]
    last.layers = Layers(default, layers)
    own = merge(layer.tree for layer in layers)
    merged = with_defaults(own, default.tree if isinstance(default.tree, dict) else {})
    manifests = rendering.helm_template(release, own)
    traced = functools.cache(lambda: _trace(release, manifests, own, merged))
    last.inert = lambda: _written(layers, traced().inert)
    last.faults = functools.cache(lambda: tuple(_unknown_keys(release.chart, own, default.tree, traced)))
    return [*layers, *(_document(manifest, n, last.layers, traced) for n, manifest in enumerate(manifests))]


def _document(manifest: Manifest, number: int, layers: Layers, traced: Callable[[], Trace]) -> RenderedDocument:
    document = manifest.document
    origins = _Lazily(lambda: traced().origins[number])
    template = manifest.template.partition("/")[2] or manifest.template
    return RenderedDocument(document.tree, layers, origins, template, document)


class _Lazily(Mapping[Steps, Origin]):
    """Origins that are traced on first use."""

    def __init__(self, origins: Callable[[], Mapping[Steps, Origin]]) -> None:
        self._origins = origins

    def __getitem__(self, path: Steps) -> Origin:
        return self._origins()[path]

    def __iter__(self) -> Iterator[Steps]:
        return iter(self._origins())

    def __len__(self) -> int:
        return len(self._origins())


def _trace(release: ChartRelease, manifests: Sequence[Manifest], own: dict[str, Any], merged: dict[str, Any]) -> Trace:
    """Returns the trace of a release, from the user's cache if the chart and the values are the same."""
    from trainyard.loaders.helm import trace_cache

    base = _objects(manifests)
    size = sum(len(manifest.document.source.text) for manifest in manifests)
    most = min(_GROWTH * size + 100_000, MAX_BYTES)

    def work() -> Trace:
        end = time.monotonic() + _TRACE_SECONDS

        def render(values: Mapping[str, Any]) -> Objects | None:
            seconds = min(rendering.TIMEOUT_SECONDS, end - time.monotonic())
            try:
                return _objects(rendering.helm_template(release, values, strict=False, seconds=seconds, most=most))
            except RenderingError:
                return None

        return provenance.trace(base, render(own) or base, render, own, merged, end)

    return trace_cache.cached_trace(release, own, work)


def _objects(manifests: Sequence[Manifest]) -> Objects:
    return [(manifest.template, manifest.document.tree) for manifest in manifests]


def _written(files: Sequence[Document], paths: Sequence[Steps]) -> tuple[Steps, ...]:
    """Returns those of the paths that a values file sets."""
    said = {path for document in files for path, _ in leaves(document.tree)}
    return tuple(path for path in paths if path in said)


def _unknown_keys(chart: Path, own: Any, default: Any, traced: Callable[[], Trace]) -> Iterator[Fault]:
    """Yields keys that look like misspelt ones of the chart's and change nothing."""
    candidates = list(_keys_without_default(own, default, ()))
    if not candidates:
        return
    templates = (path for path in rendering.chart_files(chart) if "templates" in path.parts)
    text = "\n".join(path.read_text("utf-8", "replace") for path in templates)
    inert = traced().inert if any(str(path[-1]) not in text for path, _ in candidates) else ()
    for path, known in candidates:
        below = [leaf for leaf, _ in leaves(own) if leaf[: len(path)] == path]
        if str(path[-1]) not in text and below and all(leaf in inert for leaf in below):
            yield Fault(path, "unknown key", f"the chart has no value {format_path(path)}", known)


def _keys_without_default(own: Any, default: Any, path: Steps) -> Iterator[tuple[Steps, tuple[str, ...]]]:
    if not isinstance(own, dict) or not isinstance(default, dict) or not default:
        return
    for key, value in own.items():
        if key in default:
            yield from _keys_without_default(value, default[key], (*path, key))
        elif key != "global":
            yield (*path, key), tuple(default)
