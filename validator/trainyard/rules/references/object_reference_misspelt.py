"""An object refers to another one by a name that no file defines, and one with almost the same name is unused.

A binding of a role that does not exist grants nothing, an autoscaler of a misspelt Deployment scales nothing, and a
queue without its checks stays inactive. The API server takes all of them: it compares no names.

The rule looks at bindings, autoscalers, node pools, routes, claims of a volume, secret stores, issuers, queues and
flavors of Kueue, runtimes, and device classes. It applies if the names differ in a few characters, the defined object
is in the same file or folder, and nothing else refers to it in this way. Pods are the subject of another rule.

Write the same name in both places.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.created_by_hand import is_created_by_hand
from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.known_objects import everywhere, is_known, names
from trainyard.analysis.objects.object_references import object_references
from trainyard.document.document import SetValue
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Project

# A higher ratio than that of suggestions: `data-a` and `data-b` are two objects.
RATIO = 0.85


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
    needs=("Ref", "subjects", "backend", "volumeName", "admissionChecks", "topologyName", "runtime", "deviceClassName"),
)
def object_reference_misspelt(project: Project) -> Iterator[Problem]:
    """References of objects to a name that differs slightly from that of an unused object."""
    found = list(object_references(project))
    used = {(one.field, one.kind, one.name) for one in found}
    for one in found:
        if is_known(project, one.kind, one.name):
            continue
        unused = [name for name in names(project, one.kind) if (one.field, one.kind, name) not in used]
        near = closest_match(one.name, sorted(unused), RATIO)
        known = everywhere(project, one.kind, near) if near is not None else []
        if near is None or _is_numbered(one.name, near) or len(known) != 1:
            continue
        if distance(known[0].at, one.at) <= SAME_FOLDER and not is_created_by_hand(one.at, one.name):
            yield Problem(
                one.at,
                f"no file defines the {one.kind} `{one.name}`, and nothing uses the {one.kind} `{near}`",
                f"did you mean `{near}`?",
                (SetValue(one.at, near),),
                ((known[0].at.child("metadata", "name"), "the unused one"),),
            )


def _is_numbered(one: str, other: str) -> bool:
    """Returns true if the names differ in digits, or in a whole part: members of a series, or another release."""
    if "".join(s for s in one if not s.isdigit()) == "".join(s for s in other if not s.isdigit()):
        return True
    return one.count("-") != other.count("-")
