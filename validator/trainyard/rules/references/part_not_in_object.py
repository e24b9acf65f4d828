"""An object names a part of another one that does not have it: a port, a listener, a key, a container or a template.

An Ingress or a route answers 503 if its Service has no port of that name or number: the port is that of the Service,
not that of the pod. A webhook whose Service lacks the port is not called, and the API server calls 443 if none is
written. A route is not attached to a listener that its Gateway lacks. A trigger of KEDA and a monitor without their
key of the Secret fail. Argo refuses a workflow with "template reference ... not found".

The rule applies if the files define the object, and each object of its kind and name lacks the part. Containers that
a webhook may add are reported only if the pod has one with a similar name. Values by which the tests of a chart render
it are left out.

Write a part that the object has.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import everywhere, fitting
from trainyard.analysis.objects.makers import is_named_by_operator
from trainyard.analysis.objects.object_parts import DATA, PartReference, part_references, parts_of
from trainyard.analysis.objects.patches import may_be_patched
from trainyard.document.document import Document
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.loaders.chart_files import is_scenario
from trainyard.loaders.origins import RenderedDocument
from trainyard.model.run import Project

_NEAR = 0.6
_CONTAINER = "container"
# The controller of load balancers on AWS reads the action of this name from an annotation.
_ELSEWHERE = ("use-annotation",)
_FEW = 2


@rule(
    code="RF060",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/ingress: backend.service.port is a port of the Service",
        "kubernetes v1.37.2 apiserver pkg/util/webhook/serviceresolver.go: port of the Service",
        "gateway-api.sigs.k8s.io/reference/spec: ParentReference sectionName, BackendObjectReference port",
        "argoproj/argo-workflows v3.7.6 workflow/templateresolution/context.go: GetTemplateFromRef",
        "github.com/argoproj/argo-workflows issue 4696",
    ),
    needs=(
        "backend",
        "clientConfig",
        "APIService",
        "InferencePool",
        "Ref",
        "Secret",
        "config",
        "containerName",
    ),
)
def part_not_in_object(project: Project) -> Iterator[Problem]:
    """Report parts that no object of the name has."""
    done: set[tuple[str, str, str, str]] = set()
    found: dict[tuple[str, str], list[tuple[PartReference, Problem]]] = {}
    for one in part_references(project):
        if _is_of_scenario(one.at.document):
            continue
        key = one.field.target, one.name, one.part, one.at.document.source.name
        if key not in done and one.part not in _ELSEWHERE:
            done.add(key)
            found.setdefault(key[:2], []).extend((one, problem) for problem in _problems(one, project))
    for problems in found.values():
        files = {one.at.document.source.name for one, _ in problems}
        for one, problem in problems:
            # Files of many examples in one folder use a name for objects of their own.
            if len(files) <= _FEW or problem.related[0][0].document.source is one.at.document.source:
                yield problem


def _is_of_scenario(document: Document) -> bool:
    """True for an object that a chart renders with values of its own tests."""
    return isinstance(document, RenderedDocument) and is_scenario(document.layers.files[-1].source.name)


def _problems(one: PartReference, project: Project) -> Iterator[Problem]:
    target = one.field.target
    found = fitting(project, target, one.name, one.namespace, one.at)
    # An overlay may replace the nearest one with another of the same name.
    same = everywhere(project, target, one.name)
    parts = [parts_of(known, one.field) for known in same]
    if not found or any(known is None or one.part in known for known in parts):
        return
    have = sorted(parts_of(found[0], one.field) or ())
    near = closest_match(one.part, have, _NEAR)
    if near is None and (one.field.what == _CONTAINER or (one.field.has == DATA and _may_be_filled(one, project))):
        return
    # A kustomization may add the part.
    if may_be_patched(found[0].at, None, project, one.part):
        return
    what = one.field.what
    told = f"did you mean `{near}`?" if near else f"it has {format_list(f'`{part}`' for part in have) or 'none'}"
    called = f"{target} `{one.name}` has no {what} `{one.part}`"
    yield Problem(
        one.at,
        f"{called}, which is called if no {what} is written" if one.is_default else called,
        told,
        related=((found[0].at, f"the {target}"),),
    )


def _may_be_filled(one: PartReference, project: Project) -> bool:
    """True if a controller may write more keys into the object."""
    found = fitting(project, one.field.target, one.name, one.namespace, one.at)
    apart = one.field.target == "Secret" and found[0].at.document.source is not one.at.document.source
    return apart or is_named_by_operator(project, one.name)
