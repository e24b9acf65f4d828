"""Kubeflow's Python SDK with the runtimes of charts/training-runtimes and with runs of charts/training-job."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs import sdk
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.namespace import TRAINJOB
from tests.harness.jobs.run import Run
from tests.harness.jobs.sdk import Sdk

EXAMPLE = Path(__file__).parents[2] / "docs" / "trainjob" / "digits.py"
# Starts the programs below; the namespace is the first argument.
CLIENT = """
import sys
from kubeflow.common.types import KubernetesBackendConfig
from kubeflow.trainer import CustomTrainer, CustomTrainerContainer, TrainerClient
from kubeflow.trainer.options import TrainerCommand
client = TrainerClient(KubernetesBackendConfig(namespace=sys.argv[1]))
def train():
    print("trained")
"""
FOLLOW = """
name = "run-42"
for job in client.list_jobs():
    print(f"listed: {job.name} nodes={job.num_nodes}")
client.wait_for_job_status(name, status={"Running", "Complete"})
for line in client.get_job_logs(name, follow=True):
    print(line)
job = client.wait_for_job_status(name)
assert client.get_job(name).name == name
print(f"{job.status}:", *sorted(f"{step.name}={step.status}" for step in job.steps))
client.delete_job(name)
"""
JAX = """
import os, jax
address, number, index = (os.environ[f"JAX_{key}"] for key in ("COORDINATOR_ADDRESS", "NUM_PROCESSES", "PROCESS_ID"))
jax.distributed.initialize(address, int(number), int(index))
from jax.experimental.multihost_utils import process_allgather
print("sum", process_allgather(jax.numpy.ones(1)).sum())
"""
COMMANDS = {
    "jax-distributed": ["python3", "-c", JAX],
    "mpi-distributed": ["mpirun", "--hostfile", "/etc/mpi/hostfile", "python3", "/opt/programs/mpi_sum.py"],
}
ZERO = {
    "train_batch_size": 8,
    "optimizer": {"type": "AdamW", "params": {"lr": 0.01, "torch_adam": True}},
    "zero_optimization": {"stage": 2},
    "gradient_clipping": 0.5,
}
NETWORK = re.compile(r"^preflight: nodes=2 processes=2 backend=gloo bus_bandwidth=(\S+) GB/s$", re.MULTILINE)
# Prints why each job is refused.
ATTEMPTS = """
import traceback
def attempt(runtime, **options):
    try:
        print("started", client.train(runtime=runtime, trainer=CustomTrainer(**options)))
    except Exception:
        print(traceback.format_exc())
attempt("nowhere", func=train)
attempt("torch-distributed", func=train, env={"PET_NNODES": "2"})
attempt("without-label", func=train)
attempt("without-step", func=train)
attempt("torch-distributed", func=eval("lambda: 1"))
"""
# Prints the log of the first node and the state of the TrainJob.
RESULT = """
status = client.wait_for_job_status(name, status={"Complete", "Failed"}, timeout=120).status
print(*client.get_job_logs(name), status, sep="\\n")
"""


@pytest.fixture(scope="module")
def client(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Sdk:
    """The SDK."""
    return sdk.install(tmp_path_factory.mktemp("sdk"), cluster.kubeconfig)


@pytest.fixture(scope="module")
def runtimes(cluster: Cluster, engine: Engine, trainer: None) -> Iterator[None]:
    """The runtimes of our chart."""
    reference, frameworks = (
        dict(zip(("repository", "tag"), loading.load(cluster, engine, name).rsplit(":", 1), strict=True))
        for name in ("trainer", "frameworks")
    )
    settings: dict[str, Any] = {
        "image": reference,
        "resources.requests": {"cpu": "100m"},
        "maxRestarts": 0,
        "preflight.enabled": True,
        "runtimes.jax-distributed": {"enabled": True, "image": frameworks},
        # mpi4py uses MPICH by default, whichever mpirun starts it.
        "runtimes.mpi-distributed": {"enabled": True, "image": frameworks, "env": {"MPI4PY_MPIABI": "openmpi"}},
    }
    helm = Helm(cluster.kubeconfig)
    helm.install("runtimes", "training-runtimes", namespace="default", settings=settings)
    yield
    helm.uninstall("runtimes", namespace="default")


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, runtimes: None) -> Iterator[str]:
    """A namespace with Pod Security `restricted`, removed before the runtimes, which are in use until then."""
    name = f"sdk-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    yield name
    namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The path of a program: the SDK reads a function from its file."""
    return tmp_path / "program.py"


def test_a_function_trains_on_two_nodes(client: Sdk, cluster: Cluster, namespace: str) -> None:
    printed = client.run(EXAMPLE, namespace)

    assert re.findall(r"^runtime: (\S+) framework=(\S+)$", printed, re.MULTILINE) == [
        ("deepspeed-distributed", "deepspeed"),
        ("jax-distributed", "jax"),
        ("mpi-distributed", "mpi"),
        ("reference-trainer", "torch"),
        ("torch-distributed", "torch"),
    ]
    losses = re.findall(r"^epoch=\d/3 ranks=2 loss=([\d.]+)$", printed, re.MULTILINE)
    assert len(losses) == 3
    assert float(losses[0]) > float(losses[2])
    assert "Complete: nodes=2 " in printed
    assert not api.kubectl(cluster.kubeconfig, "get", "trainjobs", "-n", namespace, "-o", "name")


def test_a_run_of_the_chart_is_followed_and_deleted(
    client: Sdk, cluster: Cluster, engine: Engine, namespace: str
) -> None:
    run = Run(cluster, engine, namespace, "run-42", kind=TRAINJOB)
    run.install(settings={"train.args": ["--epochs", 1, "--checkpoint-dir", "/checkpoints"]})

    printed = client.run("-c", f"{CLIENT}{FOLLOW}", namespace)

    assert "listed: run-42 nodes=2" in printed
    assert "finished: epochs=1" in printed
    assert "Complete: node-0=Succeeded node-1=Succeeded" in printed
    run.uninstall()


@pytest.mark.parametrize(("runtime", "total"), [("jax-distributed", "sum 2.0"), ("mpi-distributed", '"sum": 3.0')])
def test_a_program_of_another_framework_sums_over_two_nodes(
    runtime: str, total: str, client: Sdk, namespace: str
) -> None:
    start = f"""
image = client.get_runtime({runtime!r}).trainer.image
options = [TrainerCommand({COMMANDS[runtime]!r})]
name = client.train(runtime={runtime!r}, trainer=CustomTrainerContainer(image=image, num_nodes=2), options=options)
"""
    printed = client.run("-c", f"{CLIENT}{start}{RESULT}client.delete_job(name)", namespace)

    assert total in printed
    assert printed.endswith("Complete\n")


def test_deepspeed_partitions_its_optimizer_over_two_nodes_after_the_check_of_both(
    client: Sdk, cluster: Cluster, namespace: str
) -> None:
    # DeepSpeed takes the name of a file, or the text of one in base64.
    settings = base64.urlsafe_b64encode(json.dumps(ZERO).encode()).decode()
    command = ["torchrun", "/opt/programs/zero.py", "--deepspeed", "--deepspeed_config", settings]
    start = f"""
image = client.get_runtime("deepspeed-distributed").trainer.image
trainer = CustomTrainerContainer(image=image, num_nodes=2, resources_per_node={{"cpu": "1", "memory": "2Gi"}})
name = client.train(runtime="deepspeed-distributed", trainer=trainer, options=[TrainerCommand({command!r})])
"""
    printed = client.run("-c", f"{CLIENT}{start}{RESULT}", namespace)

    (checked,) = NETWORK.findall(preflight(cluster, namespace))
    assert float(checked) > 0
    results = [json.loads(text) for text in re.findall(r"^result (.*)$", printed, re.MULTILINE)]
    assert [(result["rank"], result["size"], result["stage"]) for result in results] == [(0, 2, 2), (1, 2, 2)]
    for result in results:
        # Half of them, padded to a multiple of four.
        assert result["states_here"] * 2 < result["parameters"] + 8
        assert result["losses"][-1] < result["losses"][0]
        assert result["losses"] == pytest.approx(result["losses_alone"], rel=1e-4)
    assert printed.endswith("Complete\n")
    api.kubectl(cluster.kubeconfig, "delete", "trainjobs", "--all", "--cascade=foreground", "-n", namespace)


def test_jobs_that_cannot_start_are_refused_with_their_reason(
    client: Sdk, cluster: Cluster, namespace: str, program: Path
) -> None:
    without_label = runtime(namespace, "without-label", step={"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"})
    without_step = runtime(namespace, "without-step", framework={"trainer.kubeflow.org/framework": "torch"})
    api.apply(cluster.kubeconfig, without_label, without_step)
    program.write_text(f"{CLIENT}{ATTEMPTS}")

    printed = client.run(program, namespace)

    assert re.search(r'clustertrainingruntimes\.trainer\.kubeflow\.org \\+"nowhere\\+" not found', printed)
    assert "invalid envs configured: [PET_NNODES]" in printed
    assert "without-label must have trainer.kubeflow.org/framework label" in printed
    assert "Runtime doesn't have trainer container" in printed
    assert "could not get source code" in printed
    # A traceback shows the line with this word, indented.
    assert not re.search("^started", printed, re.MULTILINE)


def preflight(cluster: Cluster, namespace: str) -> str:
    """Return what the check of the nodes has printed in all pods of the namespace."""
    pods = api.kubectl(cluster.kubeconfig, "get", "pods", "-n", namespace, "-o", "name").split()
    logs = ("logs", "-n", namespace, "--container=preflight")
    return "".join(api.kubectl(cluster.kubeconfig, *logs, pod) for pod in pods)


def runtime(
    namespace: str, name: str, *, framework: dict[str, str] | None = None, step: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a runtime with these labels of itself and of its job, and without a port, which Trainer adds."""
    containers = [{"name": "node", "image": "trainer"}]
    node = {"metadata": {"labels": step or {}}, "spec": {"template": {"spec": {"containers": containers}}}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {"name": name, "namespace": namespace, "labels": framework or {}},
        "spec": {
            "mlPolicy": {"torch": {}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": node}]}},
        },
    }


def test_an_image_without_torchrun_says_so_in_its_log_after_the_check_of_the_node(
    client: Sdk, cluster: Cluster, engine: Engine, namespace: str, program: Path
) -> None:
    image = loading.load(cluster, engine, "frameworks")
    start = f"name = client.train(trainer=CustomTrainer(func=train, image={image!r}))"
    program.write_text(f"{CLIENT}{start}{RESULT}")

    printed = client.run(program, namespace)

    assert "torchrun: command not found" in printed
    assert printed.endswith("Failed\n")
    # The init container has the image of the runtime.
    checked = preflight(cluster, namespace)
    assert re.search(r"^preflight: node=\S+-worker\d? processes=1 backend=gloo$", checked, re.MULTILINE)
    assert not NETWORK.search(checked)
