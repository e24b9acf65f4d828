"""`trainyard plan`: what it reads from a run, what it prints, and how it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trainyard.cli import main

CI = Path(__file__).parents[3] / "charts" / "training-platform" / "ci"
VALUES = """\
image: {repository: registry.example.com/team/trainer, tag: "1"}
nodes: 4
resources: {limits: {cpu: 96, memory: 900Gi, nvidia.com/gpu: 8}}
placement:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
"""
JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llm}
spec:
  pytorchReplicaSpecs:
    Master: &replicas
      replicas: 1
      template:
        spec:
          containers:
          - {name: pytorch, image: "registry.example.com/llm:1", resources: {limits: {nvidia.com/gpu: 8}}}
    Worker: {<<: *replicas, replicas: 3}
"""
JOB_SET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: set}
spec:
  replicatedJobs:
  - name: node
    replicas: 1
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}
            containers:
            - {name: train, image: "registry.example.com/llm:1", resources: {limits: {nvidia.com/gpu: 8}}}
"""


DEEPSPEED = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: ds}
data:
  ds.json: '{"train_batch_size": 256, OTHERS "zero_optimization": {"stage": 2}}'
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llm}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 4
      template:
        spec:
          volumes: [{name: config, configMap: {name: ds}}]
          containers:
          - name: pytorch
            image: registry.example.com/llm:1
            command: [torchrun, train.py, --deepspeed, /config/ds.json]
            resources: {limits: {nvidia.com/gpu: 8}}
            volumeMounts: [{name: config, mountPath: /config}]
"""


class Planner:
    """Runs `trainyard plan` in a folder of its own."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self.capfd = capfd

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """Returns the exit code and what was printed."""
        code = main.main(["plan", *words])
        out, err = self.capfd.readouterr()
        return code, out, err

    def tree(self, *words: str) -> Any:
        """Returns the JSON of a plan that fits."""
        code, out, err = self(*words, "--format", "json")
        assert (code, err) == (0, "")
        return json.loads(out)


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Planner:
    """The command, in a folder with files."""
    monkeypatch.chdir(tmp_path)
    files = {
        "run.yaml": VALUES,
        "more.yaml": "nodes: 16\n",
        "job.yaml": JOB,
        "set.yaml": JOB_SET,
        "broken.yaml": "a: [\n",
    }
    files["cpu.yaml"] = VALUES.replace(", nvidia.com/gpu: 8", "")
    files["refused.yaml"] = VALUES.replace("nodes: 4", "nodes: four")
    files["two.yaml"] = f"{JOB}---\n{JOB.replace('llm}', 'other}')}"
    files["empty.yaml"] = "\n"
    for name, text in files.items():
        Path(name).write_text(text)
    return Planner(capfd)


def test_values_name_the_size_and_the_gpu(plan: Planner) -> None:
    found = plan.tree("-f", "run.yaml", "--model", "llama-3-8b")
    assert found["run"] | {"pods": 4, "gpus": 32, "nodes": 4, "racks": 1, "gpu": "h100-sxm"} == found["run"]
    assert found["run"]["fabric"] == "ethernet-25g"
    assert found["time"]["bound"] == "network"


def test_the_last_file_wins_and_options_win_over_files(plan: Planner) -> None:
    files = ("-f", "run.yaml", "-f", "more.yaml", "--model", "llama-3-8b")
    assert plan.tree(*files)["run"]["nodes"] == 16
    assert plan.tree(*files, "--nodes", "2", "--gpu", "h200-sxm")["run"]["gpu"] == "h200-sxm"


def test_what_differs_from_the_run_is_an_assumption(plan: Planner) -> None:
    Path("small.yaml").write_text(f"{VALUES.replace('gpu: 8', 'gpu: 2')}processesPerNode: 1\n")
    found = plan.tree("-f", "small.yaml", "--model", "gpt2", "--nodes", "2")
    assert {
        "--nodes 2, instead of the 4 pods of the run",
        "--gpus-per-node 2: each pod is on a node of its own",
        "each of the 2 GPUs of a pod has a rank, although the run starts 1",
    } <= {*found["assumptions"]}
    assert plan.tree("-f", "small.yaml", "--model", "gpt2", "--gpus-per-node", "8")["run"]["nodes"] == 1


def test_the_site_names_the_network(plan: Planner) -> None:
    found = plan.tree("-f", "run.yaml", "--site", str(CI / "eks-efa-values.yaml"), "--model", "llama-3-8b")
    assert found["run"]["fabric"] == "eks-efa"
    assert found["run"]["fabricBytesPerSecond"] == 400e9


def test_the_network_of_a_site_of_your_own_must_be_named(plan: Planner) -> None:
    words = ("-f", "run.yaml", "--site", str(CI / "onprem-ib-values.yaml"), "--model", "llama-3-8b")
    code, _, err = plan(*words)
    assert code == 2
    assert "the profile onprem-ib does not say how fast the network is" in err
    assert plan.tree(*words, "--fabric", "4x200")["run"]["fabricBytesPerSecond"] == 100e9


@pytest.mark.parametrize(
    ("file", "words", "gpus"), [("job.yaml", ("--gpu", "a100-sxm-80gb"), 32), ("set.yaml", (), 16)]
)
def test_a_manifest_is_planned(plan: Planner, file: str, words: tuple[str, ...], gpus: int) -> None:
    assert plan.tree("-f", file, "--model", "gpt2", *words)["run"]["gpus"] == gpus


def test_the_fields_of_the_trainer_are_the_layout(plan: Planner) -> None:
    fields = "{model: llama, hidden_size: 1024, num_layers: 8, num_heads: 8, classes: 32000, context_length: 2048, "
    fields += "strategy: fsdp2, shard_size: 8, batch_size: 128, micro_batch_size: 2, activation_checkpointing: true}"
    Path("trainer.yaml").write_text(f"{VALUES}train:\n  config: {fields}\n")
    found = plan.tree("-f", "trainer.yaml")
    assert found["model"]["name"] == "llama of the trainer"
    expected = {"strategy": "hsdp", "sequence": 2048, "microBatch": 2, "accumulation": 2, "recompute": "full"}
    assert found["layout"] | expected == found["layout"]


@pytest.mark.parametrize(
    ("others", "micro", "accumulation"),
    [
        ('"train_micro_batch_size_per_gpu": 2,', 2, 4),
        ('"gradient_accumulation_steps": 4,', 2, 4),
        ("", 8, 1),
        ('"train_micro_batch_size_per_gpu": "auto",', 8, 1),
    ],
)
def test_deepspeed_derives_the_rest_from_the_global_batch(
    plan: Planner, others: str, micro: int, accumulation: int
) -> None:
    Path("ds.yaml").write_text(DEEPSPEED.replace("OTHERS", others))
    layout = plan.tree("-f", "ds.yaml", "--model", "gpt2", "--gpu", "h100-sxm", "--fabric", "8x400")["layout"]
    assert (layout["microBatch"], layout["accumulation"]) == (micro, accumulation)


def test_the_configuration_of_deepspeed_is_the_layout(plan: Planner) -> None:
    deepspeed = "{zeroStage: 2, offload: {optimizer: cpu}, microBatchPerGpu: 2, gradientAccumulation: 4}"
    train = "launcher: deepspeed\ntrain: {script: /app/train.py}\n"
    Path("ds.yaml").write_text(f"{VALUES}{train}deepspeed: {deepspeed}\n")
    found = plan.tree("-f", "ds.yaml", "--model", "llama-3-8b")
    expected = {"strategy": "zero2", "offload": True, "microBatch": 2, "accumulation": 4}
    assert found["layout"] | expected == found["layout"]
    assert found["memory"]["host"] > 0 == found["memory"]["optimizer"]


def test_the_text_names_each_part_and_each_assumption(plan: Planner) -> None:
    code, out, err = plan("-f", "run.yaml", "--model", "llama-3-8b", "--tokens", "1T", "--price", "2.5")
    assert (code, err) == (0, "")
    titles = [line.partition(",")[0] for line in out.splitlines() if line and not line.startswith(" ")]
    assert titles == ["run", "memory per GPU", "bytes per step", "time", "failures", "cost", "assumptions"]
    assert "  job            PyTorchJob run, 4 pods of 8 GPUs" in out.splitlines()
    assert "--fabric ethernet-25g: the run names no fabric profile" in out
    assert "--tokens" not in out


def test_weights_over_many_ranks_are_an_assumption(plan: Planner) -> None:
    words = ("--model", "llama-3-8b", "--gpu", "h100-sxm", "--fabric", "8x400")
    assert "weights over" not in plan("--nodes", "64", *words)[1]
    assert "weights over 1024 ranks: ZeRO-3 of 2021 was 3.6 times slower" in plan("--nodes", "128", *words)[1]
    assert "weights over" not in plan("--nodes", "128", "--strategy", "hsdp", *words)[1]


def test_a_run_that_does_not_fit_ends_with_1_and_says_what_to_do(plan: Planner) -> None:
    words = ("--nodes", "1", "--model", "llama-3-70b", "--gpu", "h100-sxm", "--strategy", "ddp")
    code, out, _ = plan(*words)
    assert code == 1
    assert "does not fit into 80 GB; `--compare` shows what does" in out


def test_strategies_are_shown_side_by_side(plan: Planner) -> None:
    words = ("--nodes", "16", "--model", "llama-3-8b", "--gpu", "h100-sxm", "--fabric", "8x400", "--compare")
    code, out, _ = plan(*words)
    assert code == 0
    header, *rows = out.splitlines()
    assert header.split()[:4] == ["strategy", "recompute", "memory", "fits"]
    assert {row.split()[0] for row in rows} == {"ddp", "zero1", "zero2", "zero3", "fsdp", "hsdp"}
    assert {one["layout"]["strategy"] for one in plan.tree(*words)} >= {"ddp", "fsdp"}


def test_a_picture_is_written(plan: Planner) -> None:
    assert plan("-f", "run.yaml", "--model", "gpt2", "--plot", "time.svg")[0] == 0
    assert Path("time.svg").read_text().startswith("<svg")
    assert plan("-f", "run.yaml", "--model", "gpt2", "--plot", "time.png")[0] == 0
    assert Path("time.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = plan("-f", "run.yaml", "--model", "gpt2", "--plot", "nowhere/time.svg")
    assert (code, err.splitlines()[-1]) == (
        2,
        "Error: --plot nowhere/time.svg: it cannot be written: no such file or directory",
    )


def test_a_png_needs_a_renderer(plan: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    code, _, err = plan("-f", "run.yaml", "--model", "gpt2", "--plot", "time.png")
    assert (code, Path("time.png").exists()) == (2, False)
    assert "python -m pip install 'trainyard-cli[plot]'" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run.yaml", "name the run with -f: `trainyard plan -f run.yaml`"),
        ("", "the run does not say which model it trains; name it with --model"),
        ("--model gpt2 --gpu l40s", "name the run with -f, or its size with --nodes"),
        ("-f run.yaml", "the run does not say which model it trains"),
        ("-f job.yaml --model gpt2", "does not select nodes by `nvidia.com/gpu.product`"),
        ("-f missing.yaml --model gpt2", "missing.yaml: no such file"),
        ("-f broken.yaml --model gpt2", "broken.yaml:2:1"),
        ("-f empty.yaml --model gpt2", "empty.yaml: no run is in it"),
        ("-f two.yaml --model gpt2", "it holds 2 runs (PyTorchJob llm, PyTorchJob other)"),
        ("-f cpu.yaml --model gpt2", "take no GPUs; a plan needs `nvidia.com/gpu`"),
        ("-f refused.yaml --model gpt2", "refused.yaml: the chart refuses these values: nodes: "),
        ("-f run.yaml --model llama-3-8", "there is no model `llama-3-8`; did you mean `llama-3-8b`?"),
        ("-f run.yaml --model org/name", "there is no such file, and nothing is downloaded"),
        ("-f run.yaml --model run.json", "--model run.json: it cannot be read"),
        ("-f run.yaml --model gpt2 --gpu h100", "there is no GPU `h100`; did you mean `h100-"),
        ("-f run.yaml --model gpt2 --fabric fast", "there is no fabric `fast`"),
        ("-f run.yaml --model gpt2 --fabric 0x400", "has no bandwidth"),
        ("-f run.yaml --model gpt2 --tokens many", "`many` is not a number of tokens; write it as 300B"),
        ("-f run.yaml --model gpt2 --tokens 1e999", "`1e999` is not a number of tokens"),
        ("-f run.yaml --model gpt2 --tokens 1e308T", "`1e308T` is not a number of tokens"),
        ("-f run.yaml --model gpt2 --price nan", "`nan` is not a finite number"),
        ("-f run.yaml --model gpt2 --storage inf", "`inf` is not a finite number"),
        ("-f run.yaml --model gpt2 --plot run.yaml", "write a name that ends with .svg or .png"),
        ("-f run.yaml --model gpt2 --global-batch 33", "33 sequences cannot be divided by 32 data-parallel ranks"),
        ("-f run.yaml --model gpt2 --tensor 5", "32 GPUs cannot be divided by --tensor 5"),
        ("-f run.yaml --model gpt2 --dtype fp8 --gpu t4", "t4 has no fp8"),
        ("-f run.yaml --model gpt2 --global-batch 32 --nodes 4 --plot x.svg --micro-batch 3", "micro-batches of 3"),
    ],
)
def test_a_mistake_ends_with_2_and_a_reason(plan: Planner, words: str, message: str) -> None:
    code, out, err = plan(*words.split())
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **more}


def test_pytorch_is_not_imported() -> None:
    script = "import sys; from trainyard.cli import main; "
    script += "main.main('plan --nodes 2 --model gpt2 --gpu t4 --dtype fp16 --compare'.split()); "
    script += "print({'torch', 'trainer'} & sys.modules.keys())"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=_environment()
    )
    assert done.stdout.splitlines()[-1] == "set()"


def test_completion_knows_models_gpus_and_networks() -> None:
    for option, start, expected in (
        ("--model", "mist", "mistral-7b"),
        ("--gpu", "l40", "l40s"),
        ("--fabric", "eks-efa-", "eks-efa-p4d"),
    ):
        words = {
            "COMP_WORDS": f"trainyard plan {option} {start}",
            "COMP_CWORD": "3",
            "_TRAINYARD_COMPLETE": "bash_complete",
        }
        done = subprocess.run(
            [sys.executable, "-m", "trainyard"], check=False, capture_output=True, text=True, env=_environment(**words)
        )
        assert done.stdout.split() == [f"plain,{expected}"]
