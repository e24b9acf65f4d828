"""Loads values of Trainyard's charts beside training-job: the objects that Helm would render, with their places."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

from gotemplate.origin import Origin
from trainyard.document.document import Document
from trainyard.loaders import json_schema
from trainyard.loaders.chart_release import About
from trainyard.loaders.known.charts import KnownChart, merged_values, objects, schema_faults
from trainyard.loaders.marks import leaves
from trainyard.loaders.origins import Layers, RenderedDocument
from trainyard.loaders.training_job.values import ValuesDocument

if TYPE_CHECKING:
    from gotemplate.rendering import RenderedObject

# Reading templates for more values would take seconds.
MAX_VALUES = 20_000


def documents_from_values(known: KnownChart, document: Document, about: About | None = None) -> list[Document]:
    """Returns the values file and the objects of a release with it. Values that the chart refuses give no objects."""
    from gotemplate.errors import FailedError, UnsupportedError

    values = ValuesDocument(document)
    if next(itertools.islice(leaves(values.tree), MAX_VALUES, None), None) is not None:
        return _refused(values, f"there are more than {MAX_VALUES:,} values")
    try:
        merged = merged_values(known, values.tree)
        faults = tuple(schema_faults(known, merged))
        values.faults = lambda: faults
        if any(fault.kind == "wrong value" for fault in faults):
            return [values]
        made = objects(known, merged, about or About())
    except FailedError as error:
        path = error.origin.path if error.origin is not None else ()
        return _refused(values, error.message, path)
    except UnsupportedError as error:
        return _refused(values, f"with these values, the templates of {known.title} render {error}, not supported here")
    values.layers = Layers(_defaults(known), [values])
    kept = (one for one in made if not one.is_hook and one.tree.get("kind") != "CustomResourceDefinition")
    return [values, *(_rendered(one, values.layers) for one in kept)]


def _refused(values: ValuesDocument, message: str, path: tuple[str | int, ...] = ()) -> list[Document]:
    known = values.faults()
    values.faults = lambda: (*known, json_schema.Fault(path, "wrong value", message))
    return [values]


@functools.cache
def _defaults(known: KnownChart) -> Document:
    from trainyard.document import reading
    from trainyard.document.source import Source

    source = Source(f"{known.title}/values.yaml", (known.folder / "values.yaml").read_text("utf-8"))
    return reading.read(source)[0][0]


def _rendered(made: RenderedObject, layers: Layers) -> RenderedDocument:
    origins = {(): Origin(()), **made.origins}
    return RenderedDocument(made.tree, layers, origins, f"charts/{made.template}")
