"""The values road: values files of `charts/training-job` to the objects that Helm would render, with their places."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from validator.fields import mapping
from validator.roads import schema
from validator.roads.marking import leaves
from validator.roads.origins import Layers, Origin, RenderedDocument
from validator.source import Document, Path, Place

if TYPE_CHECKING:
    from validator.roads.templates.rendering import Made

# Of more, templates would be read for seconds.
MAX_VALUES = 1_000

RELEASE = "run"
NAMESPACE = "default"

# Keys that only values of this chart have, and keys that they share with little else.
_OWN = frozenset(("processesPerNode", "torchrun", "envSecrets", "temporaryStorage"))
_TELLING = _OWN | {
    "nodes", "layout", "launcher", "train", "sharedMemory", "checkpoints", "placement", "runPolicy", "elastic",
    "deepspeed", "scheduling", "dataset",
}  # fmt: skip
# Keys of `charts/training-preflight`, which has some of the above.
_OTHERS = frozenset(("ncclTests", "sizes", "slowRatio", "startTimeoutSeconds", "threshold", "warmUp"))
# What a run may be made as, which the kind of an object is too.
_KINDS = ("PyTorchJob", "MPIJob", "TFJob", "JAXJob", "PaddleJob", "XGBoostJob", "TrainJob")
_MODELINE = re.compile(r"^#\s*yaml-language-server:\s*\$schema=\S*training-job/values\.schema\.json\s*$", re.MULTILINE)

Faults = Callable[[], tuple[schema.Fault, ...]]
Paths = Callable[[], tuple[Path, ...]]


class ValuesDocument(Document):
    """A values file. The last one of a release knows what is wrong with the merged values: `faults` and `inert`.

    `inert` gives the values of the user's that change nothing; both are worked out when they are asked for.
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

    def place(self, path: Path, *, on_key: bool = False) -> Place:
        """Where a value is, in whichever of the values files says it."""
        return self.layers.place(Origin(path, on_key=on_key))


def recognises(document: Document) -> bool:
    """Whether a document holds values of `charts/training-job`.

    It does when its modeline names the chart's schema, when a key that only charts of runs have is in it and none of
    those of a preflight, or when all of its keys are the chart's and one of those that say much has a value that the
    chart takes. Objects are never values.
    """
    tree = document.tree
    if not isinstance(tree, dict) or "apiVersion" in tree or "metadata" in tree:
        return False
    if "kind" in tree and tree["kind"] not in _KINDS:
        return False
    if _MODELINE.search(document.source.text[:2000]):
        return True
    if tree.keys() & _OTHERS:
        return False
    if tree.keys() & _OWN:
        return True
    if not tree.keys() & _TELLING:
        return False
    from validator.roads.training_job.chart import chart

    known = chart().schema["properties"]
    if not tree.keys() <= known.keys():
        return False
    return any(next(schema.faults(known[key], tree[key]), None) is None for key in tree.keys() & _TELLING)


def documents(
    files: Sequence[Document], release: str = RELEASE, namespace: str = NAMESPACE, below: Document | None = None
) -> list[Document]:
    """The values files and the objects of a release with them; the last file wins, as with several `-f` of Helm.

    `below` are values that the release has from its site, under those of the files: they are none of the user's.
    Values that the chart refuses make no objects. Hooks are left out, as they are of other charts: a test is no run,
    and what is wrong with its pods is wrong with those of the run that they copy.
    """
    from validator.roads.templates.merging import merge
    from validator.roads.templates.running import FailedError
    from validator.roads.templates.syntax import UnsupportedError
    from validator.roads.training_job.chart import chart
    from validator.roads.training_job.release import Release, merged, objects

    known, about = chart(), Release(release, namespace)
    layers = [ValuesDocument(document) for document in files]
    last = layers[-1]
    given = layers if below is None else [below, *layers]
    last.layers = Layers(known.defaults, given)
    own = merge(layer.tree for layer in given)
    seen = merged(own)
    count = sum(1 for _ in itertools.islice(leaves(seen), MAX_VALUES + 1))
    if count > MAX_VALUES:
        last.faults = lambda: (_too_much(f"there are more than {MAX_VALUES:,} values"),)
        return [*layers]
    faults = tuple(schema.faults(known.schema, seen))
    last.faults = lambda: faults
    if any(fault.kind == "wrong value" for fault in faults):
        return [*layers]
    try:
        made = objects(seen, about)
    except FailedError as error:
        refusal = schema.Fault(error.origin.path if error.origin is not None else (), "wrong value", error.message)
        last.faults = lambda: (*faults, refusal)
        return [*layers]
    except UnsupportedError as error:
        unread = _too_much(f"the chart's templates make {error} of these values, which is not read here")
        last.faults = lambda: (*faults, unread)
        return [*layers]

    @functools.cache
    def inert() -> tuple[Path, ...]:
        from validator.roads.training_job import effect

        said = {path for layer in layers for path, _ in leaves(layer.tree)}
        return tuple(path for path in effect.inert(own, about) if below is None or path in said)

    last.inert = inert
    profile = mapping(seen, "fabric").get("profile")
    named = None if profile == "none" else profile
    return [*layers, *(_rendered(one, last.layers, named) for one in made if not one.is_hook)]


def _too_much(what: str) -> schema.Fault:
    advice = "`helm template ... | trainyard lint -` looks at what is made of them"
    return schema.Fault((), "wrong value", f"{what}; {advice}")


def _rendered(made: Made, layers: Layers, profile: str | None) -> RenderedDocument:
    origins = {(): Origin(()), **made.origins}
    return RenderedDocument(made.tree, layers, origins, f"charts/training-job/{made.template}", profile=profile)
