"""A pod uses a key that the ConfigMap or the Secret in these files does not have, so the pod does not start.

With `configMapKeyRef` or `secretKeyRef` the container stays in `CreateContainerConfigError` (`couldn't find key`). With
`items` of a volume the pod stays in `ContainerCreating` (`references non-existent config key`). With `subPath` the
kubelet mounts an empty folder in the place of the file, and the program fails with `Is a directory`.

The rule ignores optional references, objects without any data, which something else fills, and those that an object
of an operator names: its controller may write more keys into them. An operator may also fill a Secret of another file
that nothing names. Such a Secret is reported only if it has a key much like the one that is missing. An object of
another folder is left alone if that folder has a job of the same kind and name too: it is another environment.

Write the key as in the object, or add it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.folders import APART, distance
from trainyard.analysis.objects.known_objects import Known, everywhere, fitting
from trainyard.analysis.objects.makers import is_named_by_operator
from trainyard.analysis.objects.references import Reference, references
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.model.run import Project, Workload


@rule(
    code="RF004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34 pkg/kubelet/kubelet_pods.go: makeEnvironmentVariables, couldn't find key",
        "kubernetes v1.34 pkg/volume/configmap/configmap.go: MakePayload, references non-existent config key",
        "kubernetes v1.34 pkg/kubelet/kubelet_pods.go: makeMounts creates the folder of a missing subPath",
    ),
    needs=("ConfigMap", "Secret", "configMapGenerator", "secretGenerator"),
)
def key_not_in_object(run: Workload, context: Context) -> Iterator[Problem]:
    """Keys that the object of this name does not have."""
    for one in references(run):
        if not one.key or one.optional:
            continue
        found = fitting(context.project, one.kind, one.name, run.namespace, one.at)
        # An overlay may replace the nearest one with another of the same name.
        same = everywhere(context.project, one.kind, one.name)
        if not found or not same or any(known.keys is None or one.key in known.keys for known in same):
            continue
        keys = sorted(found[0].keys or ())
        near = closest_match(one.key, keys, 0.6)
        if (near is None and _may_have_more(one, found[0])) or is_named_by_operator(context.project, one.name):
            continue
        if _is_of_another_environment(found[0], run, context.project):
            continue
        yield Problem(
            one.at,
            f"{one.kind} `{one.name}` has no key `{one.key}`",
            f"did you mean `{near}`?" if near is not None else f"its keys are {format_list(keys)}",
            related=((found[0].at, f"the {one.kind}"),),
        )


def _may_have_more(reference: Reference, known: Known) -> bool:
    """True for a Secret that was not written together with the pod: a controller may add keys to it."""
    return known.kind == "Secret" and known.at.document.source is not reference.at.document.source


def _is_of_another_environment(known: Known, run: Workload, project: Project) -> bool:
    """True if an object is apart from its run, and another run of the same kind and name is near it."""
    if distance(known.at, run.at) < APART:
        return False
    return any(one.name == run.name and distance(known.at, one.at) < APART for one in project.of_kind(run.kind))
