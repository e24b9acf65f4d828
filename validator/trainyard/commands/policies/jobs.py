"""Policies on jobs of the Kubeflow operators."""

from __future__ import annotations

from trainyard.commands.policies.expressions import REPLICAS, literal
from trainyard.commands.policies.kinds import WITH_REPLICAS
from trainyard.facts.jobs.kubeflow import ANCESTOR, REPLICA_FIELDS, STEP_CONTAINERS, WITH_SERVICES
from trainyard.rules.kubeflow import mpijob_role_invalid, policy_value_unknown, pytorchjob_role_invalid

_CONTAINERS = literal({kind: REPLICA_FIELDS[kind][1] for kind in WITH_SERVICES})
_STEPS = literal(STEP_CONTAINERS)
_JOBS = "object.spec.template.spec.replicatedJobs"
_STEP = f"j.?template.?metadata.?labels[?{literal(ANCESTOR)}].orValue('')"
_ELASTIC = "!has(object.spec.elasticPolicy) || "
_WORKERS = "variables.replicas.?Worker.?replicas"
_NO_WORKERS = f"type({_WORKERS}.orValue('')) != int"


def _each(condition: str) -> str:
    """Returns the expression that a condition holds for each role `r`."""
    return f"variables.replicas.all(name, [variables.replicas[name]].all(r, {condition}))"


def _counted(role: str) -> str:
    """Returns the number of pods of a role that count against backoffLimit."""
    policy = f"variables.replicas.?{role}.?restartPolicy.orValue('OnFailure')"
    count = f"variables.replicas.?{role}.?replicas.orValue(0)"
    return f"({policy} in ['OnFailure', 'Always'] && type({count}) == int ? {count} : 0)"


# The kinds, the variables and the validations of each rule.
JOBS: dict[str, tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]] = {
    "required-container-missing": (
        (*WITH_SERVICES, "TrainingRuntime", "ClusterTrainingRuntime"),
        REPLICAS,
        (
            f"!(object.kind in {_CONTAINERS}) || "
            + _each(
                "size(r.?template.?spec.?containers.orValue([])) == 0 || "
                f"r.template.spec.containers.exists(c, c.?name.orValue('') == {_CONTAINERS}[object.kind])"
            ),
            f"!object.?spec.?template.?spec.?replicatedJobs.hasValue() || {_JOBS}.all(j, !({_STEP} in {_STEPS}) || "
            "size(j.?template.?spec.?template.?spec.?containers.orValue([])) == 0 || "
            f"j.template.spec.template.spec.containers.exists(c, c.?name.orValue('') == {_STEPS}[{_STEP}]))",
        ),
    ),
    "pytorchjob-role-invalid": (
        ("PyTorchJob",),
        REPLICAS,
        (
            f"variables.replicas.all(name, name in {literal(pytorchjob_role_invalid.ROLES)})",
            "variables.replicas.?Master.?replicas.orValue(1) == 1",
            f"{_WORKERS}.orValue(1) >= 1",
            _each("r.?template.?spec.?containers.orValue([]).all(c, c.?image.orValue('') != '')"),
        ),
    ),
    "elastic-without-worker": (
        ("PyTorchJob",),
        REPLICAS,
        (f"{_ELASTIC}variables.replicas.exists(name, name.lowerAscii() == 'worker')",),
    ),
    "elastic-with-master": (
        ("PyTorchJob",),
        REPLICAS,
        (
            f"{_ELASTIC}!has(variables.replicas.Master) || {_NO_WORKERS} || {_WORKERS}.orValue(0) + 1 <= "
            "object.spec.elasticPolicy.?maxReplicas.or(object.spec.elasticPolicy.?minReplicas)"
            f".orValue({_WORKERS}.orValue(0))",
        ),
    ),
    "elastic-nproc-conflict": (
        ("PyTorchJob",),
        {},
        (f"{_ELASTIC}!has(object.spec.elasticPolicy.nProcPerNode) || !has(object.spec.nprocPerNode)",),
    ),
    "elastic-bounds": (
        ("PyTorchJob",),
        {
            **REPLICAS,
            # A bound that is not written is -1.
            "low": "object.?spec.?elasticPolicy.?minReplicas.orValue(-1)",
            "high": "object.?spec.?elasticPolicy.?maxReplicas.orValue(-1)",
        },
        (
            "!has(variables.replicas.Worker) || (variables.low == -1) == (variables.high == -1)",
            "!has(variables.replicas.Worker) || variables.low == -1 || variables.high == -1 || "
            f"(variables.low <= variables.high && ({_NO_WORKERS} || "
            f"({_WORKERS}.orValue(0) >= variables.low && {_WORKERS}.orValue(0) <= variables.high)))",
        ),
    ),
    "mpijob-worker-replicas-unset": (
        ("MPIJob",),
        REPLICAS,
        (
            "object.apiVersion != 'kubeflow.org/v2beta1' || !has(variables.replicas.Worker) || "
            f"{_WORKERS}.orValue(0) >= 1",
        ),
    ),
    "mpijob-restart-policy": (
        ("MPIJob",),
        REPLICAS,
        (
            "object.apiVersion != 'kubeflow.org/v2beta1' || "
            + _each("r.?restartPolicy.orValue('Never') in ['Never', 'OnFailure', '']"),
        ),
    ),
    "mpijob-role-invalid": (
        ("MPIJob",),
        REPLICAS,
        (
            f"variables.replicas.all(name, name in {literal(mpijob_role_invalid.ROLES)})",
            "size(variables.replicas) == 0 || variables.replicas.exists(name, name == 'Launcher' || name != 'Worker')",
            "variables.replicas.?Launcher.?replicas.orValue(1) == 1",
        ),
    ),
    "policy-value-unknown": (
        WITH_REPLICAS,
        REPLICAS,
        (
            "!has(object.spec.runPolicy) || !has(object.spec.runPolicy.cleanPodPolicy) || "
            f"object.spec.runPolicy.cleanPodPolicy in {literal(policy_value_unknown.CLEAN)}",
            "object.apiVersion == 'kubeflow.org/v2beta1' || "
            + _each(f"!has(r.restartPolicy) || r.restartPolicy in {literal(['', *policy_value_unknown.RESTART])}"),
        ),
    ),
    "backoff-limit-below-one-restart": (
        ("PyTorchJob",),
        REPLICAS,
        (
            "object.?spec.?runPolicy.?backoffLimit.orValue(0) == 0 || "
            f"object.spec.runPolicy.backoffLimit > {_counted('Master')} + {_counted('Worker')}",
        ),
    ),
}
