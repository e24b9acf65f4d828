"""DeepSpeed configurations are recognised among other files, and assigned to the runs that use them."""

from __future__ import annotations

import pytest

from trainyard.document.reading import read
from trainyard.document.source import Source
from trainyard.loaders.manifests.deepspeed import data_parallel_sizes, is_deepspeed
from trainyard.loaders.manifests.manifest import load_project
from trainyard.model.run import DeepSpeed

CONFIG = '{"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 2}}'
JOB = """apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: trainer
          image: registry.example.com/team/llm:1.4
          command: [torchrun, --nproc-per-node=8, {nodes}, train.py, {option}]
      volumes:
        - name: deepspeed
          configMap:
            name: {volume}
"""
MAP = """apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  zero2.json: '{config}'
  zero3.json: '{config}'
"""


def job(name: str = "llm", option: str = "--epochs=1", volume: str = "settings", nodes: str = "--nnodes=1") -> str:
    return JOB.format(name=name, option=option, volume=volume, nodes=nodes)


def found(*files: tuple[str, str]) -> tuple[DeepSpeed, ...]:
    documents = [document for name, text in files for document in read(Source(name, text))[0]]
    return load_project(documents).deepspeeds


def users(*files: tuple[str, str]) -> list[str | None]:
    return [deepspeed.run.name if deepspeed.run is not None else None for deepspeed in found(*files)]


@pytest.mark.parametrize(
    ("name", "tree", "expected"),
    [
        ("a.json", {"zero_optimization": {}}, True),
        ("a.json", {"train_batch_size": 8, "fp16": {"enabled": True}}, True),
        ("ds_config.json", {"train_batch_size": 8}, True),
        ("train.yaml", {"gradient_accumulation_steps": 4, "micro_batch_size": 2, "learning_rate": 1e-4}, False),
        ("train.yaml", {"train_batch_size": 16, "epochs": 3, "bf16": True}, False),
        ("qlora_deepspeed.yaml", {"gradient_accumulation_steps": 4, "deepspeed": "zero2.json", "bf16": True}, False),
    ],
)
def test_a_configuration_is_recognised_by_its_keys_and_its_name(
    name: str, tree: dict[str, object], expected: bool
) -> None:
    assert is_deepspeed(name, tree) is expected


def test_a_file_is_assigned_to_the_run_that_names_it() -> None:
    jobs = job("a", "--deepspeed=/work/ds.json") + "---\n" + job("b", "--deepspeed=/work/other.json")
    assert users(("ds.json", CONFIG), ("jobs.yaml", jobs)) == ["a"]
    assert users(("ds.json", CONFIG), ("jobs.yaml", job("c"))) == [None]


def test_a_configuration_is_assigned_to_the_only_run_of_its_file() -> None:
    assert users(("all.yaml", job("a") + "---\n" + CONFIG)) == ["a"]
    assert users(("all.yaml", job("a") + "---\n" + job("b") + "---\n" + CONFIG)) == [None]


def test_the_named_file_of_a_mounted_config_map_is_assigned_to_the_run() -> None:
    settings = MAP.format(config=CONFIG)
    assert users(("all.yaml", settings + "---\n" + job("a", "--deepspeed_config=/etc/ds/zero3.json"))) == [None, "a"]
    assert users(("all.yaml", settings + "---\n" + job("a", "--deepspeed=/etc/ds/zero2.json", "other"))) == [None, None]


@pytest.mark.parametrize(
    ("nodes", "option", "expected"),
    [
        ("--nnodes=1", "--epochs=1", (8,)),
        ("--nnodes=2:4", "--epochs=1", (16, 24, 32)),
        ("--nnodes=1", "--tensor-parallel-size=2", ()),
        ("--nnodes=$NODES", "--epochs=1", ()),
    ],
)
def test_the_data_parallel_size_is_derived_from_the_command(nodes: str, option: str, expected: tuple[int, ...]) -> None:
    (deepspeed,) = found(("all.yaml", job(nodes=nodes, option=option) + "---\n" + CONFIG))
    assert deepspeed.run is not None
    assert data_parallel_sizes(deepspeed.run, deepspeed.config) == expected
