"""Loads values files of `charts/training-job`: the objects that Helm would render, with their places."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gotemplate.origin import Origin
from trainyard.document.document import Document, Place
from trainyard.document.lookup import mapping
from trainyard.document.source import Path
from trainyard.facts.jobs.kubeflow import CHART_KINDS
from trainyard.loaders import json_schema
from trainyard.loaders.marks import leaves
from trainyard.loaders.origins import Layers, RenderedDocument
from trainyard.startup import pattern

if TYPE_CHECKING:
    from gotemplate.rendering import RenderedObject

# Reading templates for more values would take seconds.
MAX_VALUES = 1_000
# The search for values without effect renders the chart several times, and each takes longer with longer values.
MAX_SEARCHED = 64 * 1024

RELEASE = "run"
NAMESPACE = "default"

# Keys that only values of this chart have, and keys that few other files have.
OWN_KEYS = frozenset(("processesPerNode", "torchrun", "temporaryStorage"))
TELLING_KEYS = OWN_KEYS | {
    "envSecrets", "nodes", "layout", "launcher", "train", "sharedMemory", "checkpoints", "placement", "runPolicy",
    "elastic", "deepspeed", "scheduling", "dataset", "flightRecorder", "tensorboard", "saveSeconds",
    "multiNetworkPolicy",
}  # fmt: skip
# Keys of `charts/training-preflight` and `charts/training-runtimes`, and of the configuration of a model of TorchServe,
# which have some of the above. Source: pytorch/serve docs/large_model_inference.md, "Config model".
_OTHERS = frozenset((
    "ncclTests", "sizes", "slowRatio", "startTimeoutSeconds", "threshold", "warmUp",
    "runtimes", "rendezvousSeconds", "maxRestarts",
    "minWorkers", "maxWorkers", "maxBatchDelay", "responseTimeout", "parallelType", "deviceType", "deviceIds",
))  # fmt: skip
# Possible values of `kind`, which are kinds of objects too.
_MODELINE = pattern(r"^#\s*yaml-language-server:\s*\$schema=\S*training-job/values\.schema\.json\s*$", re.MULTILINE)

Faults = Callable[[], tuple[json_schema.Fault, ...]]
Paths = Callable[[], tuple[Path, ...]]


class ValuesDocument(Document):
    """A values file. The last one of a release knows the faults of the merged values: `faults` and `inert`.

    `inert` gives the user's values that change nothing. Both are computed on first use.
    """

    __slots__ = ("faults", "inert", "layers")

    may_be_object = False

    def __init__(self, document: Document) -> None:
        repeated = tuple(place.path for place in document.repeated)
        tree = document.tree if isinstance(document.tree, dict) else {}
        super().__init__(document.source, document.index, tree, repeated)
        self.layers = Layers(self, [self])
        self.faults: Faults = tuple
        self.inert: Paths = tuple

    @property
    def values_files(self) -> tuple[Document, ...]:
        """The values files of the release."""
        return self.layers.files

    def value_place(self, path: Path) -> Place | None:
        """Returns the place of a value in the values files."""
        return self.layers.place(Origin(path))

    def place(self, path: Path, *, on_key: bool = False) -> Place:
        """Returns the place of a value in the values file that sets it."""
        return self.layers.place(Origin(path, on_key=on_key))


def refusals(documents: Iterable[Document]) -> Iterator[tuple[ValuesDocument, str]]:
    """Yields the values that the chart refuses, with the place and the text of their first fault."""
    for document in documents:
        if isinstance(document, ValuesDocument) and (faults := document.faults()):
            path, said = ".".join(map(str, faults[0].path)), faults[0].message
            yield document, f"{path}: {said}" if path and not said.startswith(path) else said


def recognises(document: Document) -> bool:
    """True if a document holds values of `charts/training-job`.

    It does if its modeline names the chart's schema; if it has a key that only charts of runs have and none of a
    preflight's, of runtimes or of TorchServe; or if all of its keys are the chart's and one of the distinctive ones
    has a value that the chart accepts. Objects are never values.
    """
    tree = document.tree
    if not isinstance(tree, dict) or "apiVersion" in tree or "metadata" in tree:
        return False
    if "kind" in tree and tree["kind"] not in CHART_KINDS:
        return False
    beginning = document.source.text[:2000]
    # A file may have thousands of documents, and the expression looks at each line.
    if "yaml-language-server" in beginning and _MODELINE.search(beginning):
        return True
    if tree.keys() & _OTHERS:
        return False
    if tree.keys() & OWN_KEYS:
        return True
    if not tree.keys() & TELLING_KEYS:
        return False
    from trainyard.loaders.training_job.chart import chart

    known = chart().schema["properties"]
    if not tree.keys() <= known.keys():
        return False
    return any(next(json_schema.faults(known[key], tree[key]), None) is None for key in tree.keys() & TELLING_KEYS)


def resembles(document: Document) -> bool:
    """True if a document may be the values of a short run: an image and GPUs, and nothing that the chart refuses.

    Other charts have these keys too, so their own values come first.
    """
    if not has_form_of_short_run(document):
        return False
    from trainyard.loaders.training_job.chart import chart

    return next(json_schema.faults(chart().schema, document.tree), None) is None


def has_form_of_short_run(document: Document) -> bool:
    """True if a document has an image and GPUs in the form of the chart's values."""
    tree = document.tree
    return isinstance(tree, dict) and isinstance(tree.get("image"), dict) and _has_gpus(tree)


def refused_values(document: Document, message: str) -> ValuesDocument:
    """Returns a values file without objects, with a fault."""
    values = ValuesDocument(document)
    values.faults = lambda: (json_schema.Fault((), "wrong value", message),)
    return values


def _has_gpus(tree: dict[str, Any]) -> bool:
    resources = mapping(tree, "resources")
    return any(str(name).endswith("/gpu") for part in ("limits", "requests") for name in mapping(resources, part))


def documents_from_values(
    files: Sequence[Document],
    release: str = RELEASE,
    namespace: str = NAMESPACE,
    below: Document | None = None,
    *,
    seeks_inert: bool = True,
) -> list[Document]:
    """Returns the values files and the objects of a release with them; the last file wins, as with Helm's `-f`.

    `below` are the site's values for the release, below those of the files: the user does not own them. Values that the
    chart refuses give no objects. Unless `seeks_inert`, and in very long files, every value counts as effective. Hooks
    are left out, as for other charts: a test is not a run, and its pods have the faults of the run that they copy.
    """
    from gotemplate.errors import FailedError, UnsupportedError
    from gotemplate.merging import merge
    from trainyard.loaders.training_job.chart import chart
    from trainyard.loaders.training_job.release import Release, merged_values, release_objects

    known, about = chart(), Release(release, namespace)
    layers = [ValuesDocument(document) for document in files]
    last = layers[-1]
    given = layers if below is None else [below, *layers]
    last.layers = Layers(known.defaults, given)
    own = merge(layer.tree for layer in given)
    seen = merged_values(own)
    count = sum(1 for _ in itertools.islice(leaves(seen), MAX_VALUES + 1))
    if count > MAX_VALUES:
        last.faults = lambda: (_unsupported(f"there are more than {MAX_VALUES:,} values"),)
        return [*layers]
    faults = tuple(json_schema.faults(known.schema, seen))
    last.faults = lambda: faults
    if any(fault.kind == "wrong value" for fault in faults):
        return [*layers]
    try:
        made = release_objects(seen, about)
    except FailedError as error:
        refusal = json_schema.Fault(error.origin.path if error.origin is not None else (), "wrong value", error.message)
        last.faults = lambda: (*faults, refusal)
        return [*layers]
    except UnsupportedError as error:
        unread = _unsupported(f"with these values, the chart's templates render {error}, which is not supported here")
        last.faults = lambda: (*faults, unread)
        return [*layers]

    @functools.cache
    def inert() -> tuple[Path, ...]:
        from trainyard.loaders.training_job import effect

        said = {path for layer in layers for path, _ in leaves(layer.tree)}
        return tuple(path for path in effect.inert_values(own, about) if below is None or path in said)

    if seeks_inert and sum(len(layer.source.text) for layer in layers) <= MAX_SEARCHED:
        last.inert = inert
    profile = mapping(seen, "fabric").get("profile")
    named = None if profile == "none" else profile
    return [*layers, *(_rendered(one, last.layers, named) for one in made if not one.is_hook)]


def _unsupported(what: str) -> json_schema.Fault:
    advice = "`helm template ... | trainyard lint -` lints the rendered objects"
    return json_schema.Fault((), "wrong value", f"{what}; {advice}")


def _rendered(made: RenderedObject, layers: Layers, profile: str | None) -> RenderedDocument:
    origins = {(): Origin(()), **made.origins}
    return RenderedDocument(made.tree, layers, origins, f"charts/{made.template}", profile=profile)
