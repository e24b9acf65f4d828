"""An object refers to another one by a name that no file defines, and one with almost the same name is unused.

A binding of a role that does not exist grants nothing, an autoscaler of a misspelt Deployment scales nothing, an
Ingress answers 503, a webhook is not called, and a queue without its checks stays inactive. The API server takes all
of them: it compares no names.

The rule looks at bindings, autoscalers, node pools, routes, webhooks, volumes, snapshots, secret stores, issuers,
queues and flavors of Kueue, runtimes, workers of Slurm, workflows, monitors, sources of Flux, and device classes. It
applies if the names differ in a few characters, the defined object is in the same file or folder, and nothing else
refers to it in this way. A name may also lack words or a number of the other one, if the file defines a single object
of this kind: an autoscaler of `inference` beside the Deployment `inference-web`. A Service such as `inference-metrics`
stands beside the one that clients ask, so it is no misspelling. Names that an operator may use for
what it creates are left out, and so are the roles of Kubernetes and those that are added to another role. Pods are the
subject of another rule.

Write the same name in both places.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.created_by_hand import is_created_by_hand
from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.known_objects import Known, everywhere, is_known, names
from trainyard.analysis.objects.makers import may_be_made
from trainyard.analysis.objects.object_references import ObjectReference, object_references
from trainyard.document.document import SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.kubernetes.rbac import AGGREGATES, USER_ROLES
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project

# A higher ratio than that of suggestions: `data-a` and `data-b` are two objects.
RATIO = 0.85
_ROLE = "ClusterRole"
# Words of a Service beside the one of its program.
_OF_SECOND_SERVICE = frozenset(("metrics", "exporter", "monitoring", "headless"))
# Kinds of objects that users define themselves, beside what refers to them. A Secret or a Gateway is often elsewhere.
_OF_USERS = (
    *("Service", "Deployment", "StatefulSet", "ServiceAccount", "Role", _ROLE, "PersistentVolume"),
    "ConfigMap",
)


@rule(
    code="RF046",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/reference/access-authn-authz/rbac: a binding may name a role that does not exist",
        "github.com/coreweave/kubernetes-cloud pull 228",
    ),
    fix="unsafe",
    needs=(
        *("Ref", "subjects", "backend", "volumeName", "admissionChecks", "topologyName", "runtime", "ClassName"),
        *("clientConfig", "service", "Secret", "Snapshot", "policyName", "dependsOn", "config", "dataSource"),
        "configMap",
    ),
)
def object_reference_misspelt(project: Project) -> Iterator[Problem]:
    """References of objects to a name that differs slightly from that of an unused object."""
    found = object_references(project)
    used = {(one.field, one.kind, one.name) for one in found}
    for one in found:
        if is_known(project, one.kind, one.name) or (one.kind == _ROLE and one.name in USER_ROLES):
            continue
        unused = [name for name in names(project, one.kind) if (one.field, one.kind, name) not in used]
        unused = [name for name in unused if one.kind != _ROLE or not _is_aggregated(name, project)]
        near = closest_match(one.name, sorted(unused), RATIO)
        known = everywhere(project, one.kind, near) if near is not None else []
        if near is None or _is_numbered(one.name, near) or len(known) != 1:
            known = [only] if (only := _only_one(one, unused, project)) is not None else []
        if not known or distance(known[0].at, one.at) > SAME_FOLDER or is_created_by_hand(one.at, one.name):
            continue
        yield Problem(
            one.at,
            f"no file defines the {one.kind} `{one.name}`, and nothing uses the {one.kind} `{known[0].name}`",
            f"did you mean `{known[0].name}`?",
            (SetValue(one.at, known[0].name),),
            ((known[0].at.child("metadata", "name"), "the unused one"),),
        )


def _is_aggregated(name: str, project: Project) -> bool:
    """True for a role whose rules another role gets."""
    labels = [mapping(one.tree, "metadata", "labels") for one in everywhere(project, _ROLE, name)]
    return any(str(label).startswith(AGGREGATES) for one in labels for label in one)


def _only_one(one: ObjectReference, unused: list[str], project: Project) -> Known | None:
    """Returns the single object of a kind in the file of a reference, if one of the names has the other one's words."""
    known = _single.of(project).get((id(one.at.document.source), one.kind)) if one.kind in _OF_USERS else None
    if known is None or known.name not in unused or may_be_made(project, one):
        return None
    if known.namespace and one.namespace and known.namespace != one.namespace:
        return None
    if one.kind == "Service" and _OF_SECOND_SERVICE & (set(known.name.split("-")) - set(one.name.split("-"))):
        return None
    return known if _has_words(one.name, known.name) else None


def _has_words(one: str, other: str) -> bool:
    """True if one of the names is the other with more words, or with a number at its end."""
    words, others = set(one.split("-")), set(other.split("-"))
    return words < others or others < words or one.rstrip("0123456789") == other or other.rstrip("0123456789") == one


def _find_single(project: Project) -> dict[tuple[int, str], Known | None]:
    """Returns the object of each kind in each file; None if there are several."""
    found: dict[tuple[int, str], Known | None] = {}
    for kind in _OF_USERS:
        for name in names(project, kind):
            for known in everywhere(project, kind, name):
                key = id(known.at.document.source), kind
                found[key] = None if key in found else known
    return found


def _is_numbered(one: str, other: str) -> bool:
    """Returns true if the names differ in digits, or in a whole part: members of a series, or another release."""
    if "".join(s for s in one if not s.isdigit()) == "".join(s for s in other if not s.isdigit()):
        return True
    return one.count("-") != other.count("-")


_single: LastIndex[Project, dict[tuple[int, str], Known | None]] = LastIndex(_find_single)
