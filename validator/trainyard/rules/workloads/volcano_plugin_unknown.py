"""The job names a plugin that Volcano does not have, or a task that its plugin does not find.

Plugins of a Volcano Job prepare its pods: `svc` gives them names and lists of hosts, `env` an index, `ssh` keys, and
`pytorch`, `tensorflow`, `mpi`, `ray` and `hcclrank` the variables of a framework. The webhook rejects a job with any
other plugin. The plugins `pytorch` and `mpi` look for tasks by name, `master` and `worker` unless their arguments say
otherwise. Without its master task, the webhook rejects a job with `mpi`; `pytorch` adds no variable to any pod, and
only the controller's log says why.

Correct the name of the plugin, or pass `--master=<task>` and `--worker=<task>` to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import argument
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import VOLCANO, VOLCANO_PLUGINS, group_of
from trainyard.model.run import Resource

# What happens if a plugin does not find its master task.
LACKING = {
    "mpi": "Volcano rejects the job",
    "pytorch": "the plugin sets neither MASTER_ADDR nor RANK in any pod",
}


@rule(
    code="WL003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/plugins/factory.go: RegisterPluginBuilder",
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/plugins/distributed-framework/pytorch: OnPodCreate",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go: validateJobCreate",
    ),
    needs=("batch.volcano.sh",),
)
def volcano_plugin_unknown(resource: Resource) -> Iterator[Problem]:
    """Report plugins that Volcano does not have, or that do not find their task."""
    if resource.kind != "Job" or group_of(resource.api_version) != VOLCANO:
        return
    at = resource.at.child("spec", "plugins")
    tasks = [text(task, "name") for task in items(resource.tree, "spec", "tasks")]
    plugins = mapping(resource.tree, "spec", "plugins")
    for name in plugins:
        if name not in VOLCANO_PLUGINS:
            yield Problem(
                at.child(name).key(),
                f"Volcano has no plugin `{name}` and rejects the job",
                f"write one of {', '.join(VOLCANO_PLUGINS)}",
            )
        elif name in LACKING and tasks:
            master = argument([str(word) for word in items(plugins, name)], "master") or "master"
            if master not in tasks:
                yield Problem(
                    at.child(name).key(),
                    f"the job has no task `{master}`: {LACKING[name]}",
                    f"name the first task `{master}`, or pass `--master=<task>` to the plugin",
                )
