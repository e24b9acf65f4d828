"""Launchers are facts that stand once, and are found in the commands that start them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import trainyard
from trainyard.facts.programs.launchers import ALL, BY_NAME, Launcher, launcher_in

# Names of charts' values, of libraries and of strategies, and words of options too.
ELSEWHERE = {"torchrun", "accelerate", "deepspeed", "mpirun", "ray", "colossalai", "tune"}


def test_the_name_of_a_launcher_stands_once() -> None:
    names = set(BY_NAME) - ELSEWHERE
    found = {
        (path.name, node.value)
        for path in Path(trainyard.__file__).parent.rglob("*.py")
        if path.name != "rule_index.py" and any(name in (text := path.read_text()) for name in names)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert {name for name, _ in found} == {"launchers.py"}
    assert len(BY_NAME) == len(ALL)


@pytest.mark.parametrize("launcher", ALL, ids=lambda launcher: launcher.name)
def test_a_launcher_has_a_source_and_options(launcher: Launcher) -> None:
    assert len(launcher.source) > 10
    assert all(option.startswith("-") for option in (*launcher.per_node, *launcher.total, *launcher.nodes))


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("torchrun --nnodes=2 train.py", "torchrun"),
        ("/opt/bin/prterun -np 8 all_reduce_perf", "prterun"),
        ("timeout 60 mpirun -np 8 python train.py", "mpirun"),
        ("python -u -m torch.distributed.run train.py", "torch.distributed.run"),
        ("accelerate launch train.py", "accelerate"),
        ("nsys profile -o out torchrun train.py", "torchrun"),
        ("tune run --nproc_per_node 8 full_finetune_distributed", "tune"),
        ("accelerate config default", None),
        ("tune download meta-llama/Llama-3", None),
        ("pip install deepspeed", None),
        ("python -m pip install deepspeed", None),
        ("which torchrun", None),
        ("uv pip install composer", None),
        ("llamafactory-cli webui", None),
    ],
)
def test_a_command_starts_a_launcher(command: str, name: str | None) -> None:
    found = launcher_in(tuple(command.split()))
    assert (found.launcher.name if found is not None else None) == name
