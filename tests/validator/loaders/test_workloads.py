"""Jobs of Volcano, LeaderWorkerSet, Ray, HyperPod and DLRover, and controllers, are runs with known roles."""

from __future__ import annotations

import pytest

from tests.validator.loaders.test_jobs import runs
from trainyard.model.run import Run

GPUS = "resources: {limits: {nvidia.com/gpu: 8}}"
GPU_POD = f"{{spec: {{containers: [{{name: main, image: a, command: [torchrun, train.py], {GPUS}}}]}}}}"
CPU_POD = "{spec: {containers: [{name: main, image: a}]}}"
MPI_POD = "{spec: {containers: [{name: main, image: a, command: [mpirun, -np, '16', python, train.py]}]}}"


def run(api_version: str, kind: str, spec: str) -> Run:
    """Return the run of an object with this spec."""
    text = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: llm}}\nspec: {spec}\n"
    return runs(text)["llm"]


def roles(found: Run) -> dict[str, tuple[int | None, bool]]:
    """Return the number of pods of each role, and the answer if it trains."""
    return {role.name: (role.replicas, role.trains) for role in found.roles}


def volcano(tasks: str, rest: str = "") -> Run:
    """Return a Volcano Job with these tasks."""
    return run("batch.volcano.sh/v1alpha1", "Job", f"{{tasks: [{tasks}]{rest}}}")


def test_the_tasks_of_a_volcano_job_are_its_roles() -> None:
    found = volcano(
        f"{{name: master, replicas: 1, template: {GPU_POD}}}, {{name: worker, replicas: 3, template: {GPU_POD}}}"
    )
    assert roles(found) == {"master": (1, True), "worker": (3, True)}
    assert (found.nodes, found.is_job) == (4, True)


def test_the_task_that_starts_mpirun_without_gpus_does_not_train() -> None:
    found = volcano(
        f"{{name: master, replicas: 1, template: {MPI_POD}}}, {{name: worker, replicas: 2, template: {GPU_POD}}}"
    )
    assert roles(found) == {"master": (1, False), "worker": (2, True)}
    assert found.processes is None


def test_a_task_without_replicas_has_no_pods_and_one_without_a_name_gets_one() -> None:
    assert roles(volcano(f"{{template: {GPU_POD}}}")) == {"default0": (0, True)}


def test_volcano_mounts_the_claims_of_a_job_in_every_container() -> None:
    found = volcano(
        f"{{name: worker, replicas: 1, template: {GPU_POD}}}",
        ", volumes: [{mountPath: /data, volumeClaimName: data}]",
    )
    pod = found.roles[0].pod
    (mount,) = pod.containers[0].mounts
    volume = pod.volume(mount.volume)
    assert volume is not None
    assert (mount.mount_path, volume.kind) == ("/data", "persistentVolumeClaim")


def lws(spec: str) -> Run:
    """Return a LeaderWorkerSet."""
    return run("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)


def test_the_groups_of_a_leader_worker_set_train_by_themselves() -> None:
    found = lws(f"{{replicas: 2, leaderWorkerTemplate: {{size: 4, workerTemplate: {GPU_POD}}}}}")
    assert roles(found) == {"worker": (8, True)}
    assert (found.nodes, found.groups) == (4, 2)


def test_a_leader_with_a_template_of_its_own_is_one_pod_of_each_group() -> None:
    found = lws(f"{{leaderWorkerTemplate: {{size: 4, leaderTemplate: {GPU_POD}, workerTemplate: {GPU_POD}}}}}")
    assert roles(found) == {"leader": (1, True), "worker": (3, True)}


def test_a_leader_worker_set_that_serves_is_no_job() -> None:
    pod = f"{{spec: {{containers: [{{name: main, image: 'vllm/vllm-openai:v0.9.1', {GPUS}}}]}}}}"
    assert not lws(f"{{leaderWorkerTemplate: {{size: 2, workerTemplate: {pod}}}}}").is_job


HEAD = f"headGroupSpec: {{rayStartParams: {{}}, template: {CPU_POD}}}"


def workers(fields: str) -> str:
    """Return a group of Ray workers."""
    return f"workerGroupSpecs: [{{groupName: gpu, {fields}, rayStartParams: {{}}, template: {GPU_POD}}}]"


@pytest.mark.parametrize(
    ("fields", "pods"),
    [
        ("replicas: 4, minReplicas: 1, maxReplicas: 8", 4),
        ("replicas: 4, minReplicas: 1, maxReplicas: 2", 2),
        ("replicas: 1, minReplicas: 3, maxReplicas: 4", 3),
        ("replicas: 2, numOfHosts: 4", 8),
        ("minReplicas: 2, maxReplicas: 4", 2),
        ("replicas: '{{ .Values.workers }}'", None),
    ],
)
def test_ray_keeps_the_workers_of_a_group_within_its_bounds(fields: str, pods: int | None) -> None:
    found = run("ray.io/v1", "RayCluster", f"{{{HEAD}, {workers(fields)}}}")
    assert roles(found) == {"head": (1, False), "gpu": (pods, True)}


def test_the_autoscaler_decides_about_the_workers() -> None:
    fields = "replicas: 2, minReplicas: 0, maxReplicas: 8"
    found = run("ray.io/v1", "RayCluster", f"{{enableInTreeAutoscaling: true, {HEAD}, {workers(fields)}}}")
    assert found.nodes is None


def test_a_ray_job_has_the_roles_of_its_cluster_and_its_submitter() -> None:
    cluster = f"rayClusterSpec: {{{HEAD}, {workers('replicas: 2')}}}"
    found = run("ray.io/v1", "RayJob", f"{{entrypoint: python a.py, {cluster}, submitterPodTemplate: {CPU_POD}}}")
    assert roles(found) == {"head": (1, False), "gpu": (2, True), "submitter": (1, False)}
    assert found.processes is None


def test_a_ray_service_is_no_job() -> None:
    found = run("ray.io/v1", "RayService", f"{{rayClusterConfig: {{{HEAD}, {workers('replicas: 2')}}}}}")
    assert (found.is_job, found.nodes) == (False, 2)


def test_the_replica_specs_of_a_hyperpod_job_are_its_roles() -> None:
    spec = f"{{nprocPerNode: '8', replicaSpecs: [{{name: pods, replicas: 4, template: {GPU_POD}}}]}}"
    found = run("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob", spec)
    assert roles(found) == {"pods": (4, True)}
    assert found.processes == 8


def test_the_templates_of_the_roles_of_a_model_serving_are_its_roles() -> None:
    decode = f"{{name: decode, replicas: 2, workerReplicas: 3, entryTemplate: {GPU_POD}, workerTemplate: {GPU_POD}}}"
    prefill = f"{{name: prefill, entryTemplate: {GPU_POD}}}"
    spec = f"{{replicas: 2, template: {{roles: [{decode}, {prefill}]}}}}"
    found = run("workload.serving.volcano.sh/v1alpha1", "ModelServing", spec)
    assert roles(found) == {"decode-entry": (4, True), "decode-worker": (12, True), "prefill-entry": (2, True)}
    assert not found.is_job


def test_the_replica_specs_of_an_elastic_job_of_dlrover_are_its_roles() -> None:
    spec = f"{{replicaSpecs: {{worker: {{replicas: 2, template: {GPU_POD}}}, dlrover-master: {{}}}}}}"
    found = run("elastic.iml.github.io/v1alpha1", "ElasticJob", spec)
    assert roles(found) == {"worker": (2, True)}
    assert found.is_job


def test_the_main_container_of_a_service_of_dynamo_is_a_container_of_its_pod() -> None:
    service = "extraPodSpec: {mainContainer: {image: a, command: [python3, -m, dynamo.vllm]}}"
    found = run("nvidia.com/v1alpha1", "DynamoGraphDeployment", f"{{services: {{Worker: {{{service}}}}}}}")
    assert [container.image for role in found.roles for container in role.pod.containers] == ["a"]


@pytest.mark.parametrize(("pod", "is_job"), [(GPU_POD, True), (CPU_POD, False)])
def test_a_stateful_set_is_a_job_if_it_starts_a_launcher(pod: str, is_job: bool) -> None:
    found = run("apps/v1", "StatefulSet", f"{{serviceName: llm, replicas: 4, template: {pod}}}")
    assert (found.is_job, found.roles[0].replicas) == (is_job, 4)


def test_a_cron_job_has_the_pods_of_its_job() -> None:
    found = run("batch/v1", "CronJob", f"{{jobTemplate: {{spec: {{parallelism: 2, template: {GPU_POD}}}}}}}")
    assert roles(found) == {"CronJob": (2, True)}


def test_the_claims_of_a_stateful_set_are_volumes_of_its_pods() -> None:
    claim = "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]"
    found = run("apps/v1", "StatefulSet", f"{{template: {GPU_POD}, {claim}}}")
    volume = found.roles[0].pod.volume("data")
    assert volume is not None
    assert volume.kind == "persistentVolumeClaim"


def test_a_job_in_an_app_wrapper_has_the_queue_of_the_wrapper() -> None:
    text = f"""
    apiVersion: workload.codeflare.dev/v1beta2
    kind: AppWrapper
    metadata: {{name: wrapped, labels: {{kueue.x-k8s.io/queue-name: gpu}}}}
    spec:
      components:
        - template:
            apiVersion: batch.volcano.sh/v1alpha1
            kind: Job
            metadata: {{name: llm}}
            spec: {{tasks: [{{name: worker, replicas: 2, template: {GPU_POD}}}]}}
        - podSets: [{{replicas: 2, path: template.spec.template}}]
          template:
            apiVersion: apps/v1
            kind: StatefulSet
            metadata: {{name: data}}
            spec: {{replicas: 2, template: {GPU_POD}}}
    """
    found = runs(text)
    assert {name: one.nodes for name, one in found.items()} == {"llm": 2, "data": 2}
    assert found["llm"].labels == {"kueue.x-k8s.io/queue-name": "gpu"}
