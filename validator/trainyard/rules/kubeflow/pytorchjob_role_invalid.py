"""A PyTorchJob has the roles Master and Worker and no others, and the admission webhook refuses any other shape.

Master must say `replicas: 1`. A Master that leaves `replicas` out is refused as well: the default of one is set by
the controller, which sees the job only after the webhook. Worker needs one replica or more; leave the role out where
there is none. Role names are matched as written, so `worker` is no Worker, and every container, sidecars included,
needs an `image`.

Operators before 1.9 had no webhook and took a Master without `replicas`; with such a target this part is silent. The
others failed there too, as an event on the job instead of an answer to `kubectl apply`.

Write `Master` with `replicas: 1` and put all further pods into `Worker`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.facts.kubeflow import before
from validator.fields import items, mapping, whole
from validator.model import Run
from validator.rule import Context, Problem, rule
from validator.source import Place

ROLES = ("Master", "Worker")


@rule(
    code="KF003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/webhooks/pytorch/pytorchjob_webhook.go: validatePyTorchReplicaSpecs",
        "kubeflow/training-operator v1.7.0 pkg/apis/kubeflow.org/v1/pytorch_validation.go",
    ),
    needs=("PyTorchJob",),
)
def pytorchjob_role_invalid(run: Run, context: Context) -> Iterator[Problem]:
    """A role, a number of replicas or a container that the webhook refuses."""
    if run.kind != "PyTorchJob":
        return
    at = run.at.child("spec", "pytorchReplicaSpecs")
    for name, tree in mapping(run.spec, "pytorchReplicaSpecs").items():
        place = at.child(name)
        if name not in ROLES:
            yield _unknown_role(name, place)
            continue
        if not isinstance(tree, dict):
            continue
        if name == "Worker":
            yield from _workers(tree, place)
        elif tree.get("replicas") is not None or not before(context.target.trainer, (1, 9)):
            yield from _master(tree, place)
        yield from _images(tree, place)


def _unknown_role(name: str, at: Place) -> Problem:
    meant = next((role for role in ROLES if role.lower() == name.lower()), None)
    advice = (
        f"write `{meant}`" if meant is not None else "the first pod belongs into `Master`, the others into `Worker`"
    )
    return Problem(at.key(), f"a PyTorchJob has no role `{name}`", advice)


def _master(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    count = whole(tree, "replicas")
    if tree.get("replicas") is None:
        yield Problem(
            at.child("replicas"),
            "Master has no `replicas`; the webhook asks for 1 and sees the job before the default is set",
            "write `replicas: 1`",
        )
    elif count is not None and count != 1:
        yield Problem(
            at.child("replicas"),
            f"Master has {count} replicas; exactly 1 is allowed",
            f"write 1, and put the other {count - 1} into `Worker`" if count > 1 else "write 1",
        )


def _workers(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    count = whole(tree, "replicas")
    if count is not None and count < 1:
        yield Problem(
            at.child("replicas"),
            f"Worker has {count} replicas; at least 1 is needed",
            "leave Worker out for a single pod",
        )


def _images(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    for index, container in enumerate(items(tree, "template", "spec", "containers")):
        if isinstance(container, dict) and not container.get("image"):
            place = at.child("template", "spec", "containers", index)
            called = container.get("name") or index
            yield Problem(place.child("image"), f"container `{called}` has no image", "name the image")
