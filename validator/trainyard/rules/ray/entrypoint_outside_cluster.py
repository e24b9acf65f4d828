"""A part of the entrypoint runs in the submitter pod and not in the Ray cluster.

KubeRay puts the entrypoint behind `ray job submit ... --` in a line for a shell, without quotes. The shell ends the
command at `&&`, `;` or `|`: what follows runs in the pod of the submitter, without the GPUs, the files and the packages
of the cluster, and at once, because the submission does not wait for the job.

The rule leaves out `submissionMode: HTTPMode`, in which the head runs the whole text in a shell.

Pass the text to a shell of its own: `bash -c "pip install -r requirements.txt && python train.py"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

# Quoted text, and what ends a command of a shell.
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_END = re.compile(r"&&|\|\||[;|]")


@rule(
    code="RY024",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/job.go: BuildJobSubmitCommand",
        "github.com/ray-project/kuberay issue 3929",
    ),
    needs=("entrypoint",),
)
def entrypoint_outside_cluster(resource: Resource) -> Iterator[Problem]:
    """Report entrypoints of several commands without a shell."""
    entrypoint = text(resource.tree, "spec", "entrypoint")
    if resource.kind != "RayJob" or not entrypoint or "{{" in entrypoint:
        return
    if text(resource.tree, "spec", "submissionMode") in ("HTTPMode", "InteractiveMode"):
        return
    # `ray job submit` of a template of one's own may quote the entrypoint.
    end = _END.search(_QUOTED.sub(lambda match: "_" * len(match[0]), entrypoint).rstrip().rstrip(";"))
    if end is not None:
        yield Problem(
            resource.at.child("spec", "entrypoint"),
            f"`{end[0]}` ends the entrypoint: what follows runs in the submitter pod and not in the Ray cluster",
            'pass the whole text to a shell: `bash -c "..."`',
        )
