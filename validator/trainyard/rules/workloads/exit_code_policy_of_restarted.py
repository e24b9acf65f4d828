"""A policy of a Volcano Job waits for an exit code, but the kubelet restarts the container, so it never acts.

Volcano compares the exit code when the phase of a pod becomes `Failed`. With the restart policy `OnFailure` or `Always`
a container that ends is started again in the same pod, whose phase stays `Running`. The policy has no effect: the job
is neither restarted nor aborted, and its other pods wait for ranks that are gone.

Write `restartPolicy: Never` in the template of the task.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import VOLCANO, group_of
from trainyard.model.run import Resource

IN_PLACE = ("Always", "OnFailure")


@rule(
    code="WL023",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/job_controller_handler.go: updatePod, PodFailedEvent, exitCode",
        "kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle: restart policy, phase Failed",
        "github.com/volcano-sh/volcano issue 1407",
    ),
    needs=("exitCode",),
)
def exit_code_policy_of_restarted(resource: Resource) -> Iterator[Problem]:
    """Report policies on exit codes that no pod ends with."""
    if resource.kind != "Job" or group_of(resource.api_version) != VOLCANO:
        return
    tasks, at = items(resource.tree, "spec", "tasks"), resource.at.child("spec")
    policies = [text(task, "template", "spec", "restartPolicy") for task in tasks]
    for index, policy in enumerate(policies):
        task_at = at.child("tasks", index)
        for number, one in enumerate(items(tasks[index], "policies")):
            if policy in IN_PLACE and "exitCode" in mapping(one):
                yield Problem(
                    task_at.child("policies", number, "exitCode"),
                    f"with `restartPolicy: {policy}` the kubelet restarts the container, and no pod fails with this "
                    "exit code",
                    "write `restartPolicy: Never`",
                    related=((task_at.child("template", "spec", "restartPolicy"), "the restart policy"),),
                )
    for number, one in enumerate(items(resource.tree, "spec", "policies")):
        if policies and all(policy in IN_PLACE for policy in policies) and "exitCode" in mapping(one):
            yield Problem(
                at.child("policies", number, "exitCode"),
                "the kubelet restarts the containers of all tasks, and no pod fails with this exit code",
                "write `restartPolicy: Never` in the templates of the tasks",
                related=((at.child("tasks", 0, "template", "spec", "restartPolicy"), "the restart policy"),),
            )
