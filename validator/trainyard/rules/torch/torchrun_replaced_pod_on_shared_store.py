"""A pod that is replaced never joins the others, because torchrun announced the address of its store before.

With a dynamic rendezvous, every torchrun starts its processes again when a pod is lost and another joins, also without
`--max-restarts`. By default all rounds share the store of the first one, whose address torchrun announces only in the
first round. The torchrun of the new pod waits 60 s for the address, and the others as long for the new pod. Then all of
them end with `DistStoreError: wait timeout`, and the pods start again. A pod that an elastic job adds fails in the same
way. A lost pod whose connections are closed ends all pods at once: the fault needs a node that loses power or network.

With `TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1`, in the environment of torchrun, rank 0 of each round hosts a new store and
announces it. Two torchruns on one machine went on 25 s after one of them had stopped and a third one had joined.
Only the value `1` counts.

The rule stays behind `--pedantic`, because most jobs never lose a node in this way. It ignores jobs whose controller
starts all pods again, such as a LeaderWorkerSet, and those that replace none. TD013 reports jobs with restarts, which
need the variable too. The rule needs to know the version of PyTorch, from the target or from the image of the
container. It assumes that the variable is set if variables come from a file or object that is not in the files.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.jobs.workloads import is_batch_job, restart_policies
from trainyard.analysis.launchers import rendezvous
from trainyard.analysis.launchers.rendezvous import VARIABLE
from trainyard.analysis.launchers.torchrun import node_range
from trainyard.analysis.pods.shared_store import shared_store
from trainyard.document.document import Place
from trainyard.document.lookup import integer
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS, RUNTIMES
from trainyard.facts.jobs.workloads import group_of
from trainyard.facts.versions import since
from trainyard.model.run import Container, Role, Run

# Controllers that replace a lost pod and leave the others as they are. Volcano does so without a policy.
_JOBS = frozenset((*REPLICA_FIELDS, *RUNTIMES, "TrainJob", "JobSet", "Job", "StatefulSet"))
_OTHERS = ("kubeflow.org", "trainer.kubeflow.org", "jobset.x-k8s.io", "batch", "batch.volcano.sh", "apps")


@rule(
    code="TD047",
    severity="warning",
    confidence="medium",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/elastic/rendezvous/dynamic_rendezvous.py: next_rendezvous, "
        "_bootstrap_store_info",
        "pytorch 2.15.0 torchrun on CPU, with and without the variable: one of two stopped, and a third joined (seen)",
        "charts/training-job on kind: a pod without network was replaced (seen)",
    ),
    fix="safe",
    needs=("c10d", "etcd-v2", "elasticPolicy", VARIABLE),
)
def torchrun_replaced_pod_on_shared_store(run: Run, context: Context) -> Iterator[Problem]:
    """Report torchruns that share a store, which a pod that joins later does not find."""
    found: dict[Place, Problem] = {}
    for role in run.training_roles:
        container = role.container
        if container is None or not _replaces_one_pod(run, role):
            continue
        release = versions.torch(context, container)
        if since(release.version, rendezvous.FIRST):
            for problem in _problems(container, run, context):
                found.setdefault(problem.at, problem._replace(rests_on=release))
    yield from found.values()


def _problems(container: Container, run: Run, context: Context) -> Iterator[Problem]:
    for launch in rendezvous.starts(container, run):
        nodes = node_range(launch, container, run)
        backend = rendezvous.backend(launch, container, run)
        is_dynamic = backend is not None and backend[0] in rendezvous.DYNAMIC and not launch.has("--standalone")
        if backend is None or not is_dynamic or nodes is None or nodes[1] < 2:
            continue
        if rendezvous.restarts(launch, container, run) is None:
            yield from _without_variable(backend[1], container, context)


def _without_variable(at: Place, container: Container, context: Context) -> Iterator[Problem]:
    shared = shared_store(container, context)
    if shared is not None:
        yield Problem(
            shared.at or at,
            f"a pod that is replaced or added does not find the store of the others, and all time out: {shared.reason}",
            f"set {VARIABLE} to 1",
            shared.edits,
        )


def _replaces_one_pod(run: Run, role: Role) -> bool:
    """Returns true if a lost pod is replaced while the others go on."""
    if run.kind not in _JOBS or group_of(run.api_version) not in _OTHERS or restart_policies(run, role):
        return False
    if run.kind in REPLICA_FIELDS:
        return role.restart_policy != "Never"
    limits = [integer(run.spec, "backoffLimit")] if is_batch_job(run) else []
    limits += [integer(role.tree, *path, "backoffLimit") for path in ((), ("template", "spec"))]
    return 0 not in limits
