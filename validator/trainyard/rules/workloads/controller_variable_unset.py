"""A script reads a variable that the controller of its pods does not set, so the value is empty.

Volcano sets `VC_TASK_INDEX` with the plugin `env`, and `VC_<TASK>_HOSTS` and `VC_<TASK>_NUM` with the plugin `svc`,
one for each task: the name of the task in capital letters, with `_` for `-`. LeaderWorkerSet sets
`LWS_LEADER_ADDRESS`, `LWS_GROUP_SIZE` and `LWS_WORKER_INDEX`. A misspelt name, a plugin that is missing, or a task
that was renamed gives an empty text in a shell: all pods take rank 0, or the address of the rendezvous has no host.

Add the plugin, or correct the name. `variable-defined-nowhere` reports `$(NAME)` in arguments without a shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import controller_variables, is_volcano, plugins
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.workloads import LEADER_WORKER, LEADER_WORKER_VARIABLES, group_of
from trainyard.model.run import Container, Run

VARIABLE = re.compile(r"(?<![\\$])\$(?:\{((?:LWS|VC)_[A-Z0-9_]+)\}|((?:LWS|VC)_[A-Z0-9_]+))")
# The folder in which the plugin `svc` mounts the lists of hosts.
HOSTS = "/etc/volcano/"


@rule(
    code="WL005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/plugins: env/env.go, svc/const.go, svc/svc.go",
        "kubernetes-sigs/lws v0.10.0 pkg/utils/pod/pod_utils.go: AddLWSVariables",
    ),
    needs=("VC_", "LWS_", HOSTS),
)
def controller_variable_unset(container: Container, context: Context) -> Iterator[Problem]:
    """Report variables and files that the controller does not provide."""
    run = context.run
    if run is None or not (is_volcano(run) or group_of(run.api_version) == LEADER_WORKER):
        return
    if has_unknown_variables(container, context):
        return
    set_here = {setting.name for setting in container.settings}
    known, _ = controller_variables(run)
    for script in container.scripts:
        # A variable that the script itself sets may have any source.
        written = set(re.findall(r"\b((?:LWS|VC)_[A-Z0-9_]+)=", script.text))
        names = dict.fromkeys(name for found in VARIABLE.findall(script.text) for name in found if name)
        for name in names:
            if name not in known | set_here | written:
                line = next(n for n, text in enumerate(script.text.split("\n"), 1) if name in text)
                at = script.at._replace(line=line) if "\n" in script.text else script.at
                yield Problem(at, f"nothing sets {name}: it is empty", _advice(name, run))
        if is_volcano(run) and HOSTS in script.text and "svc" not in plugins(run):
            line = next(n for n, text in enumerate(script.text.split("\n"), 1) if HOSTS in text)
            at = script.at._replace(line=line) if "\n" in script.text else script.at
            yield Problem(
                at, f"the plugin `svc` creates the files in {HOSTS}, but the job does not use it", "add `svc: []`"
            )


def _advice(name: str, run: Run) -> str:
    if not is_volcano(run):
        return f"LeaderWorkerSet sets {', '.join(LEADER_WORKER_VARIABLES)}"
    if name in ("VC_TASK_INDEX", "VK_TASK_INDEX"):
        return "add the plugin `env: []`"
    if "svc" not in plugins(run):
        return "add the plugin `svc: []`"
    known = sorted(one for one in controller_variables(run)[0] if one.startswith("VC_"))
    return f"Volcano sets {', '.join(known[:6])}"
