"""The admission webhook rejects a role, a replica count or a container of the PyTorchJob.

The roles of a PyTorchJob are Master and Worker. Master must set `replicas: 1`. A Master without `replicas` is rejected
as well: the controller sets the default of one only after the webhook. Worker needs at least one replica; without
Workers, remove the role. Role names are case-sensitive, so `worker` is not a Worker, and every container, sidecars
included, needs an `image`.

Operators before 1.9 have no webhook and accept a Master without `replicas`, so this part of the rule needs a target of
1.9 or later. The other faults fail there too, as an event on the job instead of an answer to `kubectl apply`.

Write `Master` with `replicas: 1` and put all other pods into `Worker`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import since
from trainyard.model.run import Run

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
    """Report a role, a number of replicas or a container that the webhook rejects."""
    if run.kind != "PyTorchJob":
        return
    at = run.at.child("spec", "pytorchReplicaSpecs")
    # Users of a chart set the image that its defaults leave empty.
    of_defaults = run.at.document.has_defaults_only
    for name, tree in mapping(run.spec, "pytorchReplicaSpecs").items():
        place = at.child(name)
        if name not in ROLES:
            yield _unknown_role(name, place)
            continue
        if not isinstance(tree, dict):
            continue
        if name == "Worker":
            yield from _workers(tree, place)
        elif tree.get("replicas") is not None or since(context.target.trainer, (1, 9)):
            yield from _master(tree, place)
        if not of_defaults:
            yield from _images(tree, place)


def _unknown_role(name: str, at: Place) -> Problem:
    meant = next((role for role in ROLES if role.lower() == name.lower()), None)
    advice = f"write `{meant}`" if meant is not None else "put the first pod into `Master`, the others into `Worker`"
    return Problem(at.key(), f"a PyTorchJob has no role `{name}`", advice)


def _master(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    count = integer(tree, "replicas")
    if tree.get("replicas") is None:
        yield Problem(
            at.child("replicas"),
            "Master has no `replicas`; the webhook requires 1 and runs before the default is set",
            "write `replicas: 1`",
        )
    elif count is not None and count != 1:
        yield Problem(
            at.child("replicas"),
            f"Master has {count} replicas; exactly 1 is allowed",
            f"write 1, and put the other {count - 1} into `Worker`" if count > 1 else "write 1",
        )


def _workers(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    count = integer(tree, "replicas")
    if count is not None and count < 1:
        yield Problem(
            at.child("replicas"),
            f"Worker has {count} replicas; at least 1 is required",
            "remove Worker for a single pod",
        )


def _images(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    for index, container in enumerate(items(tree, "template", "spec", "containers")):
        if isinstance(container, dict) and not container.get("image"):
            place = at.child("template", "spec", "containers", index)
            called = container.get("name") or index
            yield Problem(place.child("image"), f"container `{called}` has no image", "set `image`")
