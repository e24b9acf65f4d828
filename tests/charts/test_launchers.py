"""The commands and files that the training-job chart gives to torchrun, Accelerate and DeepSpeed, parsed by them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from torch.distributed.run import config_from_args, get_args_parser

from tests.charts.helm import CHARTS, objects, template

CHART = CHARTS["training-job"]
FOLDER = "/etc/trainyard"


def rendered(values: Any, scenario: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the objects of a run by kind."""
    result = template("helm", CHART, scenario=scenario, values=values)
    assert result.returncode == 0, result.stderr
    return {found["kind"]: found for found in objects(result.stdout)}


def operator_variables(spec: dict[str, Any], role: str, index: int) -> dict[str, str]:
    """Return torchrun's variables from the operator v1.9.3 (pkg/controller.v1/pytorch, envvar.go and elastic.go)."""
    replicas, elastic = spec["pytorchReplicaSpecs"], spec.get("elasticPolicy")
    (container,) = replicas[role]["template"]["spec"]["containers"]
    port = container["ports"][0]["containerPort"]
    variables = {"PET_NPROC_PER_NODE": spec["nprocPerNode"]}
    if "Master" in replicas:
        rank = index + (role == "Worker")
        variables |= {"PET_MASTER_ADDR": "run-42-master-0", "PET_MASTER_PORT": str(port), "PET_NODE_RANK": str(rank)}
    if elastic is None:
        return variables | {"PET_NNODES": str(sum(part["replicas"] for part in replicas.values()))}
    return variables | {
        "PET_NNODES": f"{elastic['minReplicas']}:{elastic['maxReplicas']}",
        "PET_RDZV_ENDPOINT": f"run-42-worker-0:{port}",
        "PET_RDZV_BACKEND": elastic["rdzvBackend"],
        "PET_RDZV_ID": elastic["rdzvId"],
        "PET_RDZV_CONF": ",".join(f"{entry['key']}={entry['value']}" for entry in elastic["rdzvConf"]),
        "PET_MAX_RESTARTS": str(elastic["maxRestarts"]),
    }


def torchrun_config(monkeypatch: pytest.MonkeyPatch, values: Any, role: str, index: int) -> Any:
    """Return the configuration that torchrun of a pod reads from its command line and the operator's variables."""
    spec = rendered(values)["PyTorchJob"]["spec"]
    for name, value in ({"OMP_NUM_THREADS": "1"} | operator_variables(spec, role, index)).items():
        monkeypatch.setenv(name, value)
    (container,) = spec["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"]
    config, _, arguments = config_from_args(
        get_args_parser().parse_args([*container["command"][1:], *container["args"]])
    )
    assert arguments == ["-u", "-m", "trainer", "--epochs", "3", "--checkpoint-dir", "/checkpoints"]
    return config


def test_torchrun_s_rendezvous_is_at_the_master(monkeypatch: pytest.MonkeyPatch) -> None:
    config = torchrun_config(monkeypatch, {"nodes": 4, "processesPerNode": 2}, "Worker", 2)

    assert (config.min_nodes, config.max_nodes, config.nproc_per_node) == (4, 4, 2)
    assert (config.rdzv_backend, config.rdzv_endpoint) == ("static", "run-42-master-0:23456")
    assert (config.rdzv_configs["timeout"], int(config.rdzv_configs["rank"])) == ("900", 3)


def test_without_a_master_torchrun_s_rendezvous_is_at_worker_0(monkeypatch: pytest.MonkeyPatch) -> None:
    config = torchrun_config(monkeypatch, {"nodes": 4, "layout": "worker-only"}, "Worker", 2)

    assert (config.min_nodes, config.max_nodes) == (4, 4)
    assert (config.rdzv_backend, config.rdzv_endpoint, config.run_id) == ("c10d", "run-42-worker-0:23456", "run-42")


def test_an_elastic_run_s_torchrun_takes_its_bounds_from_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    elastic = {"enabled": True, "minNodes": 2, "maxNodes": 8, "maxRestarts": 5}
    config = torchrun_config(monkeypatch, {"nodes": 4, "processesPerNode": 8, "elastic": elastic}, "Worker", 2)

    assert (config.min_nodes, config.max_nodes, config.nproc_per_node, config.max_restarts) == (2, 8, 8, 5)
    assert (config.rdzv_backend, config.rdzv_endpoint, config.run_id) == ("c10d", "run-42-worker-0:23456", "run-42")
    assert config.rdzv_configs.items() >= {"read_timeout": "900", "join_timeout": "900"}.items()


def write_launcher_files(values: Any, folder: Path, scenario: str | None = None) -> Path:
    """Write the files of the launcher's ConfigMap to a folder instead of the mounted one."""
    for name, text in rendered(values, scenario)["ConfigMap"]["data"].items():
        (folder / name).write_text(text.replace(FOLDER, str(folder)))
    return folder


def accelerate_arguments(values: Any, folder: Path, scenario: str | None = None) -> tuple[Any, Any]:
    """Return the arguments that `accelerate launch` of pod 1 reads, and Accelerate's module of launchers."""
    launcher = importlib.import_module("accelerate.commands.launch")
    spec = rendered(values, scenario)["PyTorchJob"]["spec"]
    (container,) = spec["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    words = [
        word.replace(FOLDER, str(write_launcher_files(values, folder, scenario)))
        .replace("$(RANK)", "1")
        .replace("$(MASTER_ADDR)", "run-42-first")
        .replace("$(MASTER_PORT)", "23456")
        for word in (*container["command"][2:], *container["args"])
    ]
    arguments, _, _ = launcher._validate_launch_command(launcher.launch_command_parser().parse_args(words))
    return arguments, launcher


def test_accelerate_starts_the_processes_with_torchrun(tmp_path: Path) -> None:
    arguments, launcher = accelerate_arguments({}, tmp_path, "accelerate-values.yaml")

    assert arguments.use_fsdp
    assert (arguments.num_machines, arguments.num_processes, arguments.mixed_precision) == (2, 16, "bf16")
    assert arguments.training_script_args == ["--model", "/models/base", "--output-dir", "/checkpoints"]
    environment = launcher.prepare_multi_gpu_env(arguments)
    assert environment["FSDP_VERSION"] == "2"
    assert (arguments.nnodes, arguments.nproc_per_node, arguments.node_rank) == ("2", "8", 1)
    assert arguments.rdzv_endpoint == "run-42-first:23456"
    assert (arguments.rdzv_backend, arguments.rdzv_conf) == ("static", "timeout=900")


@pytest.mark.parametrize("config", [{}, {"use_cpu": True}])
def test_accelerate_starts_the_processes_with_torchrun_on_cpu_too(tmp_path: Path, config: dict[str, Any]) -> None:
    values = {"launcher": "accelerate", "processesPerNode": 2, "accelerate": {"config": config}}

    arguments, _ = accelerate_arguments(values, tmp_path)

    assert arguments.multi_gpu
    assert (arguments.num_machines, arguments.num_processes) == (2, 4)
    assert arguments.module


def test_accelerate_starts_deepspeed_in_each_pod(tmp_path: Path) -> None:
    values = {"launcher": "accelerate", "accelerate": {"config": {"distributed_type": "DEEPSPEED"}}}

    arguments, launcher = accelerate_arguments(values, tmp_path)

    assert arguments.use_deepspeed
    arguments.deepspeed_fields_from_accelerate_config = ""
    command, environment = launcher.prepare_deepspeed_cmd_env(arguments)
    assert command is None, "Accelerate would connect to the other nodes by ssh"
    assert arguments.rdzv_endpoint == "run-42-first:23456"
    assert json.loads(Path(environment["ACCELERATE_DEEPSPEED_CONFIG_FILE"]).read_text())["train_batch_size"] == 2


NONE: dict[str, str] = {}
CPU, NVME = {"device": "cpu"}, {"device": "nvme", "nvme_path": "/scratch"}


@pytest.mark.parametrize(
    ("stage", "offload", "optimizer", "params"),
    [
        (0, {}, NONE, NONE),
        (1, {}, NONE, NONE),
        (1, {"optimizer": "cpu"}, CPU, NONE),
        (2, {"optimizer": "cpu"}, CPU, NONE),
        (3, {}, NONE, NONE),
        (3, {"optimizer": "cpu", "params": "cpu"}, CPU, CPU),
        (3, {"optimizer": "cpu", "params": "nvme"}, CPU, NVME),
        (3, {"optimizer": "nvme", "params": "nvme"}, NVME, NVME),
    ],
)
def test_deepspeed_reads_its_configuration(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    stage: int,
    offload: dict[str, str],
    optimizer: dict[str, str],
    params: dict[str, str],
) -> None:
    deepspeed = importlib.import_module("deepspeed.runtime.config")
    monkeypatch.setattr("deepspeed.comm.get_rank", lambda: 0)
    monkeypatch.setattr("deepspeed.comm.get_world_size", lambda: 32)
    sizes = {"microBatchPerGpu": 2, "gradientAccumulation": 3}
    values = {
        "launcher": "deepspeed",
        "nodes": 4,
        "processesPerNode": 8,
        "deepspeed": {**sizes, "zeroStage": stage, "offload": offload, "config": {"bf16": {"enabled": True}}},
    }

    config = deepspeed.DeepSpeedConfig(str(write_launcher_files(values, tmp_path) / "deepspeed.json"))

    batch = (config.train_batch_size, config.train_micro_batch_size_per_gpu, config.gradient_accumulation_steps)
    assert batch == (192, 2, 3)
    assert (config.zero_optimization_stage, config.bfloat16_config.enabled) == (stage, True)
    for part, expected in (("offload_optimizer", optimizer), ("offload_param", params)):
        found = getattr(config.zero_config, part)
        assert (found.model_dump(mode="json", include=set(expected)) if found else NONE) == expected


def test_deepspeed_reads_the_configuration_of_a_scenario(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    deepspeed = importlib.import_module("deepspeed.runtime.config")
    monkeypatch.setattr("deepspeed.comm.get_rank", lambda: 0)
    monkeypatch.setattr("deepspeed.comm.get_world_size", lambda: 16)

    config = deepspeed.DeepSpeedConfig(
        str(write_launcher_files({}, tmp_path, "deepspeed-zero2-values.yaml") / "deepspeed.json")
    )

    assert config.train_batch_size == 512
    assert config.zero_config.reduce_bucket_size == 500_000_000
    assert config.optimizer_params == {"lr": 0.0003, "weight_decay": 0.1}


def test_deepspeed_knows_all_zero_3_options_of_a_scenario(tmp_path: Path) -> None:
    zero = importlib.import_module("deepspeed.runtime.zero.config")
    path = write_launcher_files({}, tmp_path, "deepspeed-zero3-values.yaml") / "deepspeed.json"

    config = zero.get_zero_config(json.loads(path.read_text()))

    assert config.gather_16bit_weights_on_model_save
    assert config.offload_optimizer.pipeline_read
    assert str(config.offload_param.nvme_path) == "/local-disk"
