"""A job or its pods refer to an object that no file defines, and a defined one with almost the same name is unused.

The usual cause is a misspelt or renamed object: the pod waits for a ConfigMap, a Secret or a claim that does not
exist, while the one that was meant stays unused. The pod stays in `ContainerCreating` or `Pending`, and its events
name the missing object. A RayJob whose `clusterSelector` names no RayCluster waits without a pod.

The rule applies if the names differ in a few characters, the defined object is near the job (in the same file or
folder) and in a fitting namespace, and nothing else in the files refers to it. A name that a command creates, in a
script or a manual near the file, is no mistake, and neither is an optional object with a word more. The name of a
claim may also lack words of the only unused claim of its file: `fsx-claim` for `fsx-efa-claim`. So may that of a
Secret or a ConfigMap, if the unused one has all keys that the pod wants.

Write the same name in both places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.analysis.objects.created_by_hand import is_created_by_hand
from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.known_objects import fitting, is_known, names, stands_alone
from trainyard.analysis.objects.references import Reference, references
from trainyard.document.document import SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Workload

# A higher ratio than that of suggestions: `data-a` and `data-b` are two objects.
RATIO = 0.85
# Unknown names of a file that are compared: each takes as long as a small file.
MOST = 200
_CLAIM = "PersistentVolumeClaim"
KINDS = ("ConfigMap", "Secret", _CLAIM, "ServiceAccount", "LocalQueue", "PriorityClass", "RayCluster")


@rule(
    code="RF002",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34 pkg/kubelet/kubelet_pods.go: makeEnvironmentVariables; pkg/volume/configmap: SetUp",
        "kubernetes.io/docs/concepts/storage/persistent-volumes: claims as volumes",
        "github.com/ray-project/kuberay issue 5160",
    ),
    fix="unsafe",
    needs=(*KINDS, "configMapGenerator", "secretGenerator"),
)
def reference_misspelt(run: Workload, context: Context) -> Iterator[Problem]:
    """References to a name that differs slightly from that of an unused object."""
    project = context.project
    if stands_alone(project):
        return
    done: set[tuple[str, str]] = set()
    file, compared = run.at.document.source.name, _compared.of(project)
    for one in references(run):
        if one.kind not in KINDS or (one.kind, one.name) in done or is_known(project, one.kind, one.name):
            continue
        done.add((one.kind, one.name))
        compared[file] += 1
        if compared[file] > MOST:
            return
        unused = _unused.of(project)[one.kind]
        # No name of an object has capitals or `_`.
        plain = one.name.lower().replace("_", "-")
        near = plain if plain in unused else closest_match(one.name, unused, RATIO) or _longer(one, run, project)
        if near is None or (near != plain and _is_numbered(one.name, near)) or (one.optional and _has_words(one, near)):
            continue
        meant = [
            known
            for known in fitting(project, one.kind, near, run.namespace, one.at)
            if distance(known.at, one.at) <= SAME_FOLDER
        ]
        if len(meant) == 1 and not is_created_by_hand(one.at, one.name):
            yield Problem(
                one.at,
                f"no file defines the {one.kind} `{one.name}`, and nothing uses the {one.kind} `{near}`",
                f"did you mean `{near}`?",
                (SetValue(one.at, near),),
                ((meant[0].at.child("metadata", "name"), "the unused one"),),
            )


def _longer(one: Reference, run: Workload, project: Project) -> str | None:
    """Returns the only unused object in the file of a reference, if one of the names has all words of the other one.

    A ConfigMap or a Secret must have all keys that the run wants of it.
    """
    near = _unused_in_files.of(project).get((one.at.document.source.name, one.kind), [])
    if len(near) != 1 or not _has_words(one, near[0]):
        return None
    if one.kind != _CLAIM:
        keys = {other.key for other in references(run) if (other.kind, other.name) == (one.kind, one.name)} - {""}
        found = fitting(project, one.kind, near[0], run.namespace, one.at)
        if not keys or len(found) != 1 or found[0].keys is None or not keys <= found[0].keys:
            return None
    return near[0]


def _has_words(one: Reference, near: str) -> bool:
    """True if a name has all words of the other, and more: a program looks for optional objects under many names."""
    words, others = set(one.name.split("-")), set(near.split("-"))
    return words < others or others < words


def _is_numbered(one: str, other: str) -> bool:
    """Returns true if the names differ in digits or a last part only: members of a series, or two environments."""
    letters = "".join(sign for sign in one if not sign.isdigit()), "".join(s for s in other if not s.isdigit())
    return letters[0] == letters[1] or (one.rpartition("-")[0] == other.rpartition("-")[0] and len(one) == len(other))


def _find_unused(project: Project) -> dict[str, frozenset[str]]:
    """Returns the names of the objects that no run refers to, by kind."""
    used = {(one.kind, one.name) for run in project.runs for one in references(run)}
    return {kind: frozenset(name for name in names(project, kind) if (kind, name) not in used) for kind in KINDS}


_unused: LastIndex[Project, dict[str, frozenset[str]]] = LastIndex(_find_unused)


def _find_unused_in_files(project: Project) -> dict[tuple[str, str], list[str]]:
    """Returns the names of the objects of each file and kind that no run refers to."""
    found: dict[tuple[str, str], list[str]] = {}
    for kind in (_CLAIM, "ConfigMap", "Secret"):
        unused = _unused.of(project)[kind]
        for one in project.of_kind(kind):
            if one.name in unused:
                found.setdefault((one.at.document.source.name, kind), []).append(one.name)
    return found


_unused_in_files: LastIndex[Project, dict[tuple[str, str], list[str]]] = LastIndex(_find_unused_in_files)


def _none(_: Project) -> Counter[str]:
    return Counter()


# The number of compared names of each file.
_compared = LastIndex(_none)
