"""`trainyard convert`: its output, its notes, its exit codes, and what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import yaml

from trainyard.cli.main import main

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llm, namespace: research}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec:
          containers:
            - name: pytorch
              image: registry.example.com/llm:1
              command: [python, train.py]
              env: [{name: NCCL_IB_DISABLE, value: "False"}]
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
"""
VALUES = """\
# PyTorchJob llm of job.yaml, as values of charts/training-job
# helm install llm charts/training-job --namespace research -f FILE
# Corrected: nccl-word-boolean: NCCL parses NCCL_IB_DISABLE as an integer, so `False` means 0
image:
  repository: registry.example.com/llm
  tag: "1"
layout: worker-only
launcher: command
train:
  command: [python, train.py]
resources:
  limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}
# Null: the image's own value, in place of the chart's.
env:
  OMP_NUM_THREADS: null
  HOME: null
  USER: null
  LOGNAME: null
nccl:
  NCCL_IB_DISABLE: "0"
checkpoints:
  # The job has no claim that is called checkpoints. Its own volumes keep what it writes.
  enabled: false
placement:
  # The scheduler decides, as in the job. Remove this line for one pod on each node.
  spread: none
# The image's own user and a writable root, as in the job. Remove podSecurityContext and securityContext for those of
#   the chart, which pass the Pod Security level restricted.
podSecurityContext: null
securityContext: null
"""
RAY = "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: tune}\nspec: {entrypoint: python a.py}\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def test_the_values_tell_what_was_corrected_and_why_a_default_is_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "job.yaml"]) == 0
    assert capsys.readouterr().out == VALUES


def test_a_file_of_values_lints_clean(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["convert", "job.yaml", "-o", "run.yaml"]) == 0
    assert (folder / "run.yaml").read_text() == VALUES
    assert main(["lint", "run.yaml"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "Nothing found in 1 file.\n"
    assert captured.err.endswith("Wrote run.yaml; `trainyard lint run.yaml` checks it\n")


def test_standard_input_may_hold_other_objects(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{CONFIG_MAP}---\n{JOB}".encode())))
    assert main(["convert", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("# PyTorchJob llm of standard input, as values")
    assert "objects beside the job are no part of its values; keep ConfigMap settings" in captured.err


def test_one_of_several_jobs_is_named(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "job.yaml").write_text(f"{JOB}---\n{JOB.replace('name: llm', 'name: other')}")
    assert main(["convert", "job.yaml"]) == 2
    assert "choose one with --job NAME" in capsys.readouterr().err
    assert main(["convert", "job.yaml", "--job", "other"]) == 0
    assert capsys.readouterr().out.startswith("# PyTorchJob other of job.yaml")
    assert main(["convert", "job.yaml", "--job", "third"]) == 2
    assert "job.yaml holds PyTorchJob llm, PyTorchJob other" in capsys.readouterr().err


def test_a_lost_part_is_listed_and_fails(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    policy = "spec:\n  runPolicy: {schedulingPolicy: {minAvailable: 2}}"
    (folder / "job.yaml").write_text(JOB.replace("spec:", policy, 1))
    assert main(["convert", "job.yaml"]) == 1
    captured = capsys.readouterr()
    assert "# Lost: runPolicy.schedulingPolicy: the job does not name the scheduler" in captured.out
    assert "lost: runPolicy.schedulingPolicy" in captured.err


def test_values_that_the_chart_refuses_say_so(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    port = "ports: [{name: pytorchjob-port, containerPort: 99999}]\n              env:"
    (folder / "job.yaml").write_text(JOB.replace("env:", port))
    assert main(["convert", "job.yaml"]) == 1
    assert "Lost: the chart refuses these values: torchrun.port" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (CONFIG_MAP, 3, "no job is in it"),
        ("", 3, "no job is in it"),
        ("a: [", 2, "job.yaml:2:1"),
        ("{{- if .Values.train }}\n" + JOB, 2, "render a template first: `helm template RUN CHART"),
        (RAY, 2, "RayJob tune: the chart starts no job of this kind"),
        ("nodes: 2\nprocessesPerNode: 1\n", 3, "values of charts/training-job already"),
        (JOB.replace("Worker", "Other").replace("pytorchReplicaSpecs", "others"), 2, "no pods that train"),
        (JOB.replace("PyTorchJob", "MPIJob").replace("pytorch", "mpi"), 1, "lost: the Launcher's command"),
    ],
)
def test_what_is_no_convertible_job_gets_a_reason(
    text: str, code: int, message: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "job.yaml").write_text(text)
    assert main(["convert", "job.yaml"]) == code
    assert message in capsys.readouterr().err


def test_a_file_that_exists_is_replaced_only_with_force(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "run.yaml").write_text("mine\n")
    assert main(["convert", "job.yaml", "-o", "run.yaml"]) == 2
    assert "-o run.yaml: the file exists; name another one, or replace it with --force" in capsys.readouterr().err
    assert (folder / "run.yaml").read_text() == "mine\n"
    assert main(["convert", "job.yaml", "-o", "run.yaml", "--force"]) == 0
    assert (folder / "run.yaml").read_text() == VALUES


def test_a_dash_is_standard_output(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["convert", "job.yaml", "-o", "-"]) == 0
    assert capsys.readouterr().out == VALUES
    assert not (folder / "-").exists()


def test_the_job_itself_is_not_replaced(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["convert", "job.yaml", "-o", "job.yaml", "--force"]) == 2
    assert "name another file for the values" in capsys.readouterr().err
    assert (folder / "job.yaml").read_text() == JOB


@pytest.mark.parametrize(("workers", "layout"), [(99, ""), (100, "layout: master-worker\n")])
def test_a_large_job_keeps_its_master(
    capsys: pytest.CaptureFixture[str], folder: Path, workers: int, layout: str
) -> None:
    head, worker, spec = JOB.partition("    Worker:\n")
    master = "    Master:\n" + spec.replace("replicas: 2", "replicas: 1")
    (folder / "large.yaml").write_text(head + master + worker + spec.replace("replicas: 2", f"replicas: {workers}"))
    assert main(["convert", "large.yaml"]) == 0
    written = capsys.readouterr().out
    assert f"nodes: {workers + 1}\n" in written
    assert "".join(line for line in written.splitlines(keepends=True) if line.startswith("layout")) == layout


def test_only_pytorch_moves_to_a_train_job(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["convert", "job.yaml", "--to", "TrainJob"]) == 0
    assert "kind: TrainJob\n" in capsys.readouterr().out
    (folder / "job.yaml").write_text(JOB.replace("PyTorchJob", "JAXJob").replace("pytorch", "jax"))
    assert main(["convert", "job.yaml", "--to", "TrainJob"]) == 2
    assert "the chart has no values for a TrainJob of this framework" in capsys.readouterr().err


MPI = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: pi}
spec:
  slotsPerWorker: 2
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template: {spec: {containers: [{name: a, image: "x:1", command: [mpirun, -np, "3", /pi]}]}}
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: a, image: "x:1"}]}}
"""


def test_fewer_processes_than_slots_are_lost(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "job.yaml").write_text(MPI)
    assert main(["convert", "job.yaml"]) == 1
    assert "lost: mpirun -np 3: the chart fills all slots, 4 processes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("implementation", "words", "args", "variables"),
    [
        ("OpenMPI", "--bind-to=none --bynode -np 4", "[--bind-to, none, --bynode]", {}),
        ("OpenMPI", "-tag-output --mca btl ^openib -x LR=3", '[-tag-output, --mca, btl, "^openib"]', {"LR": "3"}),
        ("Intel", "-l -genv I_MPI_DEBUG 5 -genv LR=3 -ppn 2", "[-l]", {"I_MPI_DEBUG": "5", "LR": "3"}),
    ],
)
def test_the_program_follows_the_options_of_mpirun_and_their_values(
    implementation: str,
    words: str,
    args: str,
    variables: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    folder: Path,
) -> None:
    job = MPI.replace('-np, "3", /pi', f"{', '.join(map(json.dumps, words.split()))}, /pi, fast")
    (folder / "mpi.yaml").write_text(job.replace("spec:\n", f"spec:\n  mpiImplementation: {implementation}\n", 1))
    main(["convert", "mpi.yaml"])
    made = capsys.readouterr().out
    values = yaml.safe_load(made)
    assert (values["train"]["command"], values["train"]["args"]) == (["/pi"], ["fast"])
    assert f"  args: {args}\n" in made
    assert variables.items() <= values["env"].items()


@pytest.mark.parametrize("words", ["-np", "-x", "--mca, btl", "-genv, A"])
def test_an_option_of_mpirun_without_its_value_loses_the_program(
    words: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "mpi.yaml").write_text(MPI.replace('-np, "3", /pi', words))
    assert main(["convert", "mpi.yaml"]) == 1
    assert "lost: the Launcher's command" in capsys.readouterr().err
