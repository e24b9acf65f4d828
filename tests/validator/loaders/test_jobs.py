"""Runs as operators create them: the numbers of pods and processes, and a TrainJob's changes to its runtime."""

from __future__ import annotations

import textwrap

import pytest

from trainyard.document.reading import read
from trainyard.document.source import Source
from trainyard.loaders.manifests.manifest import load_project
from trainyard.model.run import Container, Run


def runs(text: str) -> dict[str, Run]:
    """Return the runs in manifests, by name."""
    documents, broken = read(Source("manifests.yaml", textwrap.dedent(text)))
    assert not broken
    return {run.name: run for run in load_project(documents).runs}


def container(run: Run, role: str) -> Container:
    """Return the container that trains in a role."""
    found = run.role(role)
    assert found is not None
    assert found.container is not None
    return found.container


TORCH_RUNTIME = """
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: ClusterTrainingRuntime
    metadata: {name: torch-h100}
    spec:
      mlPolicy: {numNodes: 2, torch: {}}
      template:
        spec:
          replicatedJobs:
            - name: dataset-initializer
              template:
                metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}
                spec: {template: {spec: {containers: [{name: dataset-initializer}]}}}
            - name: node
              template:
                metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                spec:
                  template:
                    spec:
                      containers:
                        - name: node
                          image: registry.example.com/base:1
                          command: [torchrun]
                          args: [train.py]
                          env: [{name: NCCL_DEBUG, value: INFO}]
                          resources: {limits: {nvidia.com/gpu: 8, memory: 512Gi}}
"""
TRAIN_JOB = """
    ---
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {name: llm}
    spec:
      runtimeRef: {name: torch-h100}
      trainer:
        numNodes: 4
        image: registry.example.com/llm:2
        args: [--nproc-per-node=4, finetune.py]
        env: [{name: NCCL_DEBUG, value: WARN}]
      podTemplateOverrides:
        - targetJobs: [{name: node}]
          spec:
            volumes: [{name: shm, emptyDir: {medium: Memory}}]
            containers: [{name: node, volumeMounts: [{name: shm, mountPath: /dev/shm}]}]
"""
MPI_RUNTIME = """
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainingRuntime
    metadata: {name: deepspeed}
    spec:
      mlPolicy: {numNodes: 4, mpi: {numProcPerNode: 8, runLauncherAsNode: LAUNCHER_TRAINS}}
      template:
        spec:
          replicatedJobs:
            - name: node
              template: {spec: {template: {spec: {containers: [{name: node, command: [/usr/sbin/sshd, -De]}]}}}}
            - name: launcher
              template:
                metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                spec: {template: {spec: {containers: [{name: node, command: [mpirun, train]}]}}}
"""


def pytorch_job(spec: str, command: str, replicas: str = "replicas: 4") -> Run:
    """Return a PyTorchJob of Workers with eight GPUs each."""
    text = f"""
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {{name: llm}}
        spec:
          {spec}
          pytorchReplicaSpecs:
            Worker:
              {replicas}
              template:
                spec:
                  containers:
                    - {{name: pytorch, command: {command}, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}
        """
    return runs(text)["llm"]


def test_a_runtime_has_the_nodes_of_its_policy_and_initializers_do_not_train() -> None:
    run = runs(TORCH_RUNTIME)["torch-h100"]
    assert (run.nodes, run.processes, run.world_size) == (2, 8, 16)
    assert [role.name for role in run.training_roles] == ["node"]


def test_a_train_job_sets_nodes_image_and_arguments_in_its_runtime() -> None:
    run = runs(TORCH_RUNTIME + TRAIN_JOB)["llm"]
    trainer = container(run, "node")
    assert (run.nodes, run.processes) == (4, 4)
    assert trainer.image == "registry.example.com/llm:2"
    assert [command.words for command in trainer.commands] == [("torchrun", "--nproc-per-node=4", "finetune.py")]
    assert trainer.limits == {"nvidia.com/gpu": 8, "memory": "512Gi"}


def test_a_field_that_a_train_job_sets_has_its_place_in_the_train_job() -> None:
    setting = container(runs(TORCH_RUNTIME + TRAIN_JOB)["llm"], "node").setting("NCCL_DEBUG")
    assert setting is not None
    assert (setting.value, setting.at.path) == ("WARN", ("spec", "trainer", "env", 0, "value"))


def test_overrides_add_volumes_to_the_pods_of_their_job() -> None:
    node = runs(TORCH_RUNTIME + TRAIN_JOB)["llm"].role("node")
    assert node is not None
    volume = node.pod.volume("shm")
    assert volume is not None
    assert volume.body == {"medium": "Memory"}
    assert [mount.volume for mount in container(runs(TORCH_RUNTIME + TRAIN_JOB)["llm"], "node").mounts] == ["shm"]


def test_a_train_job_without_its_runtime_has_only_its_own_fields() -> None:
    run = runs(TRAIN_JOB)["llm"]
    assert run.runtime is None
    assert (run.nodes, container(run, "node").image) == (4, "registry.example.com/llm:2")


@pytest.mark.parametrize(
    ("name", "processes"),
    [("torch-distributed", 8), ("deepspeed-distributed", 8), ("jax-distributed", 1), ("own", None)],
)
def test_the_policies_of_the_runtimes_that_the_trainer_ships_are_known(name: str, processes: int | None) -> None:
    job = f"""
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {{name: llm}}
    spec:
      runtimeRef: {{name: {name}}}
      trainer: {{command: [python, train.py], resourcesPerNode: {{limits: {{nvidia.com/gpu: 8}}}}}}
    """
    run = runs(job)["llm"]
    assert run.runtime is None, "the cluster may have changed the rest of the runtime"
    assert (run.nodes, run.processes) == (None, processes)


def test_a_runtime_is_looked_up_in_the_train_job_s_namespace() -> None:
    runtimes = "---".join(
        f"""
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainingRuntime
    metadata: {{name: torch, namespace: {team}}}
    spec: {{mlPolicy: {{numNodes: {nodes}, torch: {{}}}}, template: {{spec: {{replicatedJobs: [{{name: node}}]}}}}}}
    """
        for team, nodes in (("vision", 2), ("speech", 8))
    )
    job = """
    ---
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {name: llm, namespace: vision}
    spec: {runtimeRef: {name: torch, kind: TrainingRuntime}}
    """
    assert runs(runtimes + job)["llm"].nodes == 2


def test_a_config_map_is_looked_up_in_the_job_s_namespace() -> None:
    config_maps = "".join(
        f"""
    apiVersion: v1
    kind: ConfigMap
    metadata: {{name: nccl, namespace: {team}}}
    data: {{NCCL_DEBUG: {value}}}
    ---"""
        for team, value in (("speech", "TRACE"), ("vision", "WARN"))
    )
    job = """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: llm, namespace: vision}
    spec: {template: {spec: {containers: [{name: node, envFrom: [{configMapRef: {name: nccl}}]}]}}}
    """
    setting = container(runs(config_maps + job)["llm"], "Job").setting("NCCL_DEBUG")
    assert setting is not None
    assert setting.value == "WARN"


def test_of_several_runtimes_with_one_name_that_of_the_train_job_s_file_is_used() -> None:
    release = """
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainingRuntime
    metadata: {{name: run, namespace: team}}
    spec: {{mlPolicy: {{numNodes: {nodes}}}, template: {{spec: {{replicatedJobs: [{{name: node}}]}}}}}}
    ---
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {{name: run, namespace: team}}
    spec: {{runtimeRef: {{name: run, kind: TrainingRuntime}}}}
    """
    texts = [textwrap.dedent(release.format(nodes=nodes)) for nodes in (2, 3, 4)]
    documents = [document for text in texts for document in read(Source("run.yaml", text))[0]]
    jobs = [run for run in load_project(documents).runs if run.kind == "TrainJob"]
    assert [run.nodes for run in jobs] == [2, 3, 4]


def test_the_launcher_of_an_mpi_runtime_counts_as_a_node_only_if_it_trains() -> None:
    training = runs(MPI_RUNTIME.replace("LAUNCHER_TRAINS", "true"))["deepspeed"]
    calling = runs(MPI_RUNTIME.replace("LAUNCHER_TRAINS", "false"))["deepspeed"]
    assert [(role.name, role.replicas) for role in training.training_roles] == [("node", 3), ("launcher", 1)]
    assert [(role.name, role.replicas) for role in calling.training_roles] == [("node", 4)]


def test_torchrun_starts_one_process_per_gpu_unless_a_number_is_given() -> None:
    assert pytorch_job("", "[torchrun, train.py]").world_size == 32
    assert pytorch_job('nprocPerNode: "2"', "[torchrun, train.py]").world_size == 8
    assert pytorch_job('nprocPerNode: "2"', "[torchrun, --nproc-per-node=4, train.py]").world_size == 16


def test_the_number_of_processes_of_an_unknown_program_is_unknown() -> None:
    assert pytorch_job("", "[/opt/start]").processes is None


def test_replicas_default_to_one_and_to_none_for_mpi_workers() -> None:
    job = pytorch_job("", "[torchrun, train.py]", "replicas: null")
    mpi = runs("""
        apiVersion: kubeflow.org/v1
        kind: MPIJob
        metadata: {name: mpi}
        spec:
          mpiReplicaSpecs:
            Launcher: {template: {spec: {containers: [{name: mpi}]}}}
            Worker: {template: {spec: {containers: [{name: mpi}]}}}
        """)["mpi"]
    assert job.nodes == 1
    assert [(role.name, role.replicas) for role in mpi.roles] == [("Launcher", 1), ("Worker", 0)]
