"""The trainer's webhook rejects this override of the TrainJob's pods.

Variables of the containers `node`, `dataset-initializer` and `model-initializer` cannot be set through
`podSpecOverrides`, `podTemplateOverrides` or `runtimePatches`: they belong in `trainer.env` and `initializer`, and the
webhook rejects the job. Overrides must also name replicated jobs and containers of the runtime; the rule checks this
if the runtime is among the files. The `manager` of a patch is a domain and a path, such as
`research.example.com/tuning`.

Volumes, mounts, tolerations, node selectors and variables of other containers may be set there.

Move the variables into `trainer.env`, and use the names of jobs and containers in the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.run import Run

RESERVED = {
    "node": "trainer.env",
    "dataset-initializer": "initializer.dataset.env",
    "model-initializer": "initializer.model.env",
}
_JOBS = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")


class _Override(NamedTuple):
    """The override of one replicated job's pods, with the places of the job's name and of the pod spec."""

    job: str
    job_at: Place
    spec: dict[str, Any]
    at: Place


@rule(
    code="KF033",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.0.0, v2.1.0 and v2.3.0 pkg/runtime/framework/plugins/jobset/jobset.go: Validate",
        "kubernetes pkg/util/validation/field: IsDomainPrefixedPath",
    ),
    needs=("TrainJob", "TrainingRuntime"),
)
def trainjob_override_refused(run: Run) -> Iterator[Problem]:
    """Report an override that the webhook rejects."""
    if run.kind != "TrainJob":
        return
    known = _known(run)
    for override in (*_overrides(run), *_patches(run)):
        if known is not None and override.job not in known:
            yield Problem(
                override.job_at,
                f"the runtime has no replicated job `{override.job}`",
                f"write one of {format_list(sorted(known))}",
            )
            continue
        yield from _containers(override, known[override.job] if known is not None else None)
    for index, patch in enumerate(items(run.spec, "runtimePatches")):
        manager = text(patch, "manager")
        domain, slash, path = manager.partition("/")
        if manager and not (domain and slash and path):
            at = run.at.child("spec", "runtimePatches", index, "manager")
            yield Problem(at, f"the manager `{manager}` is not a domain with a path", f"write `example.com/{manager}`")


def _containers(override: _Override, known: set[str] | None) -> Iterator[Problem]:
    for field in ("containers", "initContainers"):
        for index, container in enumerate(items(override.spec, field)):
            name, at = text(container, "name"), override.at.child(field, index)
            if known is not None and name and name not in known:
                yield Problem(
                    at.child("name"),
                    f"the job `{override.job}` has no container `{name}`",
                    "name one of its containers",
                )
            elif field == "containers" and name in RESERVED and items(container, "env"):
                yield Problem(
                    at.child("env").key(),
                    f"the webhook rejects variables of `{name}` here",
                    f"write them as {RESERVED[name]}",
                )


def _known(run: Run) -> dict[str, set[str]] | None:
    """Return the containers of each replicated job of the runtime, or None without a runtime."""
    if run.runtime is None:
        return None
    return {
        role.name: {container.name for container in (*role.pod.containers, *role.pod.init_containers)}
        for role in run.roles
    }


def _overrides(run: Run) -> Iterator[_Override]:
    for field in ("podSpecOverrides", "podTemplateOverrides"):
        for index, tree in enumerate(items(run.spec, field)):
            at = run.at.child("spec", field, index)
            spec, spec_at = (tree, at) if field == "podSpecOverrides" else (mapping(tree, "spec"), at.child("spec"))
            for number, target in enumerate(items(tree, "targetJobs")):
                name = text(target, "name")
                if name:
                    yield _Override(name, at.child("targetJobs", number, "name"), mapping(spec), spec_at)


def _patches(run: Run) -> Iterator[_Override]:
    for index, patch in enumerate(items(run.spec, "runtimePatches")):
        for number, job in enumerate(items(patch, *_JOBS)):
            at = run.at.child("spec", "runtimePatches", index, *_JOBS, number)
            inner = ("template", "spec", "template", "spec")
            if text(job, "name"):
                yield _Override(text(job, "name"), at.child("name"), mapping(job, *inner), at.child(*inner))
