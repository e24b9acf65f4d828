"""Scripts and files of variables that no manifest starts: those of a folder, and those that the user names."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.linting.session import start_session

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n"
RUN = "#!/bin/bash\nexport NCCL_DEBUG=LOUD\ntorchrun --nproc_per_node 8 train.py\n"


def lint(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str, **texts: str) -> tuple[list[str], tuple[str, ...]]:
    """Lint names in a folder with files; return the findings as file, line and code, and the notes."""
    monkeypatch.chdir(folder)
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    report = start_session(names).lint()
    found = [f"{one.position.source.name}:{one.position.line} {one.rule.code}" for one in report.findings]
    return found, report.notes


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("run_sh", RUN, "run.sh:2 NC017"),
        ("run_sbatch", "srun torchrun --nnodes 2\n  --nproc_per_node 8 train.py\n", "run.sbatch:1 SC024"),
        ("train_env", "# comment\nNCCL_P2P_DISABLE=true\n", "train.env:2 NC005"),
        ("nccl_conf", "NCCL_DEBUG=LOUD\n", "nccl.conf:1 NC017"),
    ],
)
def test_a_named_script_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, expected: str
) -> None:
    file = name.replace("_", ".")
    found, notes = lint(tmp_path, monkeypatch, file, **{name: text})
    assert found == [expected]
    assert notes == (f"{file}: only its text was checked, because no manifest here starts it",)


def test_the_scripts_of_a_folder_are_checked_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, notes = lint(tmp_path, monkeypatch, ".", pod_yaml=POD, run_sh=RUN, more_sh=RUN)
    assert found == ["./more.sh:2 NC017", "./run.sh:2 NC017"]
    assert notes == (".: only the text of 2 scripts was checked, because no manifest here starts them",)


def test_a_script_that_starts_no_launcher_is_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "#!/bin/sh\npip install torch\n  --upgrade\n"
    assert lint(tmp_path, monkeypatch, ".", pod_yaml=POD, install_sh=text) == ([], ())
    assert lint(tmp_path, monkeypatch, "install.sh")[0] == ["install.sh:1 HV007"]


def test_a_script_that_installs_a_controller_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://github.com/kubernetes-sigs/kueue/releases/download/$VERSION/manifests.yaml"
    text = f"#!/bin/bash\nVERSION=v0.10.1\nkubectl apply -f {address}\n"
    assert lint(tmp_path, monkeypatch, "install.sh", install_sh=text)[0] == ["install.sh:3 SC036"]


def test_what_only_a_pod_shows_is_not_missed_in_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "#!/bin/bash\nexport NCCL_SOCKET_IFNAME=ens5 CUDA_VISIBLE_DEVICES=0,1,2,3\n"
        'torchrun --nproc_per_node 4 --nnodes "$NNODES" --rdzv_endpoint "$HEAD:29500" train.py | tee /logs/train.log\n'
    )
    assert lint(tmp_path, monkeypatch, "run.sh", run_sh=text)[0] == []


def test_a_comment_suppresses_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = RUN.replace("LOUD", "LOUD # trainyard: allow NC017: a wrapper sets it again")
    assert lint(tmp_path, monkeypatch, "run.sh", run_sh=text)[0] == []


BATCH = "#!/bin/bash\n#SBATCH --nodes=$NODES\nsrun python train.py\n"


def test_a_batch_script_without_a_launcher_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lint(tmp_path, monkeypatch, "run.sbatch", run_sbatch=BATCH)[0] == ["run.sbatch:2 SL001"]


def test_a_batch_script_in_a_config_map_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  run.sbatch: |\n    "
    text += BATCH.replace("\n", "\n    ").rstrip() + "\n"
    assert lint(tmp_path, monkeypatch, "a.yaml", a_yaml=text)[0] == ["a.yaml:7 SL001"]


def test_the_nodes_of_a_batch_script_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = BATCH.replace("$NODES", "2").replace("srun", "export NCCL_SOCKET_IFNAME=lo\nsrun")
    found, notes = lint(tmp_path, monkeypatch, "run.sbatch", run_sbatch=text)
    assert found == ["run.sbatch:3 NC044"]
    assert notes == ("run.sbatch: only its text was checked, because no manifest here starts it",)


def test_a_script_of_a_config_map_that_sbatch_does_not_start_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  run.sh: |\n    "
    text += "#!/bin/bash\n    export NCCL_DEBUG=LOUD\n    torchrun train.py\n"
    assert lint(tmp_path, monkeypatch, "a.yaml", a_yaml=text)[0] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export CUDA_VISIBLE_DEVICES=0,1\ntorchrun --standalone --nproc-per-node=8 train.py\n", ["run.sh:1 TD015"]),
        ("CUDA_VISIBLE_DEVICES=0 torchrun --nproc-per-node=4 train.py\n", ["run.sh:1 TD015"]),
        ("CUDA_VISIBLE_DEVICES=0 python eval.py\ntorchrun --nproc-per-node=4 train.py\n", []),
        ("torchrun --nproc-per-node=4 train.py\nexport CUDA_VISIBLE_DEVICES=0\npython eval.py\n", []),
        ("if $DEBUG; then\n  export CUDA_VISIBLE_DEVICES=0\nfi\ntorchrun --nproc-per-node=4 train.py\n", []),
        ("export CUDA_VISIBLE_DEVICES=0\nunset CUDA_VISIBLE_DEVICES\ntorchrun --nproc-per-node=4 a.py\n", []),
        ("export CUDA_VISIBLE_DEVICES=$1\ntorchrun --nproc-per-node=4 train.py\n", []),
    ],
)
def test_visible_devices_count_for_the_launcher_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: list[str]
) -> None:
    assert lint(tmp_path, monkeypatch, "run.sh", run_sh=text)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("srun --label torchrun --nproc-per-nodes=8 train.py\n", ["run.sh:1 SC015"]),
        ("srun accelerate launch --num_procs 8 --mixed-precision bf16 train.py\n", ["run.sh:1 SC015"]),
        ("srun -N 2 torchrun --nproc-per-node=8 train.py --epochs 3\n", []),
        ("export NCCL_DEBUG=WARN\nsrun --mpi=pmix python train.py --nproc 3\n", []),
    ],
)
def test_options_of_a_launcher_behind_srun_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: list[str]
) -> None:
    assert lint(tmp_path, monkeypatch, "run.sh", run_sh=text)[0] == expected
