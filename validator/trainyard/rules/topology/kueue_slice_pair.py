"""Kueue refuses a job whose slice or group annotations do not fit together.

`kueue.x-k8s.io/podset-slice-required-topology` and `podset-slice-size` belong together: the size is a whole number of
at least 1 and at most the number of pods. Newer releases take `podset-slice-required-topology-constraints` in place of
both, never beside them.

`kueue.x-k8s.io/podset-group-name` places two pod sets together, such as a launcher and its workers. It needs
`podset-required-topology` or `podset-preferred-topology` with the same value on both, allows no slices, must not be a
number, and is shared by exactly two templates of which one has a single pod.

The webhook of Kueue names the annotation when it rejects the job.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kueue import GROUP, PREFERRED, REQUIRED, SLICE_CONSTRAINTS, SLICE_REQUIRED, SLICE_SIZE, SLICES
from validator.fields import decimal
from validator.model import Role, Run
from validator.rule import Problem, rule
from validator.source import Place


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
        yield from _slices(role)
        if GROUP in role.pod.annotations:
            yield from _group(role)
            groups.setdefault(str(role.pod.annotations[GROUP]), []).append(role)
    for name, members in groups.items():
        yield from _members(name, members)


def _annotation(role: Role, name: str) -> Place:
    return role.pod.template_at.child("metadata", "annotations", name)


def _slices(role: Role) -> Iterator[Problem]:
    found = [name for name in SLICES if name in role.pod.annotations]
    if SLICE_CONSTRAINTS in found and len(found) > 1:
        yield Problem(_annotation(role, found[0]), f"`{found[0]}` stands beside `{SLICE_CONSTRAINTS}`", "keep one way")
    elif found == [SLICE_REQUIRED]:
        yield Problem(
            _annotation(role, SLICE_REQUIRED), f"the slices have no size: `{SLICE_SIZE}` is missing", "add it"
        )
    elif found == [SLICE_SIZE]:
        yield Problem(
            _annotation(role, SLICE_SIZE),
            f"a slice size without a level: `{SLICE_REQUIRED}` is missing",
            "add it, or remove the size",
        )
    if SLICE_SIZE in found:
        size, pods = str(role.pod.annotations[SLICE_SIZE]), role.replicas
        if not decimal(size):
            yield Problem(_annotation(role, SLICE_SIZE), f"the slice size `{size}` is no number above 0", "write pods")
        elif pods is not None and (decimal(size) or 0) > pods:
            yield Problem(
                _annotation(role, SLICE_SIZE),
                f"slices of {size} pods in a role of {pods}",
                f"write at most {pods}",
                related=((role.at.child("replicas"), "the number of pods"),),
            )


def _group(role: Role) -> Iterator[Problem]:
    place, annotations = _annotation(role, GROUP), role.pod.annotations
    slices = [name for name in SLICES if name in annotations]
    if slices:
        yield Problem(
            place, f"a pod set in a group cannot have slices, and `{slices[0]}` is set", "keep one of the two"
        )
    if REQUIRED not in annotations and PREFERRED not in annotations:
        yield Problem(place, "a group without a level to place it in", f"add `{REQUIRED}` or `{PREFERRED}`")
    if decimal(str(annotations[GROUP])) is not None:
        yield Problem(place, f"the group's name `{annotations[GROUP]}` is a number", "give it a name")


def _members(name: str, members: list[Role]) -> Iterator[Problem]:
    place = _annotation(members[0], GROUP)
    if len(members) != 2:
        yield Problem(place, f"group `{name}` has {len(members)} pod sets and must have two", "group two templates")
        return
    counts = [member.replicas for member in members]
    if None not in counts and 1 not in counts:
        text = " and ".join(str(count) for count in counts)
        yield Problem(place, f"group `{name}` has {text} pods: one of the two must be a single pod", "regroup")
    levels = [tuple(member.pod.annotations.get(key) for key in (REQUIRED, PREFERRED)) for member in members]
    if levels[0] != levels[1]:
        at = _annotation(members[1], GROUP)
        yield Problem(at, f"the two pod sets of group `{name}` ask for different levels", "give both the same level")
