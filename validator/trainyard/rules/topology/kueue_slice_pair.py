"""The slice or group annotations of a job contradict each other, so Kueue rejects the job.

`kueue.x-k8s.io/podset-slice-required-topology` and `podset-slice-size` must be set together. The size is a whole number
of at least 1 and at most the number of pods. Newer releases accept `podset-slice-required-topology-constraints` instead
of both, never beside them.

`kueue.x-k8s.io/podset-group-name` places two pod sets together, such as a launcher and its workers. It needs
`podset-required-topology` or `podset-preferred-topology` with the same value on both, allows no slices, must not be a
number, and must be on exactly two templates, one of which has a single pod.

Kueue's webhook names the annotation when it rejects the job. Write the annotations as above, or remove them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kueue import GROUP, PREFERRED, REQUIRED, SLICE_CONSTRAINTS, SLICE_REQUIRED, SLICE_SIZE, SLICES
from trainyard.model.run import Role, Run


@rule(
    code="TP004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/tas_validation.go: ValidateTASPodSetRequest, "
        "ValidateSliceSizeAnnotationUpperBound, ValidatePodSetGroupingTopology",
    ),
    needs=("kueue.x-k8s.io",),
)
def kueue_slice_pair(run: Run) -> Iterator[Problem]:
    """Slices and groups that Kueue rejects."""
    groups: dict[str, list[Role]] = {}
    for role in run.roles:
        yield from _slices(role, run.groups)
        if GROUP in role.pod.annotations:
            yield from _group(role)
            groups.setdefault(str(role.pod.annotations[GROUP]), []).append(role)
    for name, members in groups.items():
        yield from _members(name, members, run.groups)


def _annotation(role: Role, name: str) -> Place:
    return role.pod.template_at.child("metadata", "annotations", name)


def _slices(role: Role, groups: int) -> Iterator[Problem]:
    found = [name for name in SLICES if name in role.pod.annotations]
    if SLICE_CONSTRAINTS in found and len(found) > 1:
        yield Problem(
            _annotation(role, found[0]), f"`{found[0]}` and `{SLICE_CONSTRAINTS}` exclude each other", "keep one"
        )
    elif found == [SLICE_REQUIRED]:
        yield Problem(
            _annotation(role, SLICE_REQUIRED),
            f"the slices have no size: `{SLICE_SIZE}` is missing",
            f"add `{SLICE_SIZE}`",
        )
    elif found == [SLICE_SIZE]:
        yield Problem(
            _annotation(role, SLICE_SIZE),
            f"the slice size has no level: `{SLICE_REQUIRED}` is missing",
            f"add `{SLICE_REQUIRED}`, or remove the size",
        )
    if SLICE_SIZE in found:
        size, pods = str(role.pod.annotations[SLICE_SIZE]), _pods(role, groups)
        length = decimal(size)
        if not length:
            yield Problem(
                _annotation(role, SLICE_SIZE),
                f"the slice size `{size}` is not a whole number above 0",
                "write the number of pods of a slice",
            )
        elif pods is not None and length > pods:
            yield Problem(
                _annotation(role, SLICE_SIZE),
                f"the slice size is {size}, but the role has only {pods} pods",
                f"write at most {pods}",
                related=((role.at.child("replicas"), "the number of pods"),),
            )


def _group(role: Role) -> Iterator[Problem]:
    place, annotations = _annotation(role, GROUP), role.pod.annotations
    slices = [name for name in SLICES if name in annotations]
    if slices:
        yield Problem(
            place, f"a pod set in a group cannot have slices, but `{slices[0]}` is set", "keep one of the two"
        )
    if REQUIRED not in annotations and PREFERRED not in annotations:
        yield Problem(place, "the group has no topology level", f"add `{REQUIRED}` or `{PREFERRED}`")
    if decimal(str(annotations[GROUP])) is not None:
        yield Problem(place, f"the group name `{annotations[GROUP]}` is a number", "write a name that is not a number")


def _pods(role: Role, groups: int) -> int | None:
    """Returns the pods of a role in one workload of Kueue, which is a group of a LeaderWorkerSet."""
    return role.replicas // groups if role.replicas is not None else None


def _members(name: str, members: list[Role], groups: int) -> Iterator[Problem]:
    place = _annotation(members[0], GROUP)
    if len(members) != 2:
        yield Problem(
            place,
            f"group `{name}` has {len(members)} pod sets; it must have two",
            "put exactly two templates into the group",
        )
        return
    counts = [_pods(member, groups) for member in members]
    if None not in counts and 1 not in counts:
        text = " and ".join(str(count) for count in counts)
        message = f"the pod sets of group `{name}` have {text} pods; one of them must be a single pod"
        yield Problem(place, message, "group a single pod, such as a launcher, with its workers")
    levels = [tuple(member.pod.annotations.get(key) for key in (REQUIRED, PREFERRED)) for member in members]
    if levels[0] != levels[1]:
        at = _annotation(members[1], GROUP)
        yield Problem(
            at, f"the two pod sets of group `{name}` request different levels", "write the same level in both"
        )
