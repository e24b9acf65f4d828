"""`trainyard init`: its questions on a terminal, its options elsewhere, and values that lint and render."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.harness.cluster.tools import binary
from tests.validator.convert.terminal import END, INTERRUPT, Terminal
from trainyard.cli.main import main
from trainyard.facts.jobs.kubeflow import CHART_KINDS

ROOT = Path(__file__).parents[3]
GIVEN = ["--image", "registry.example.com/team/trainer:2026.11", "--program", "/app/train.py"]
SITE = """\
trainer: {enabled: true}
runs:
  image: {repository: registry.example.com/team/trainer, tag: "2026.11"}
  checkpoints: {existingClaim: shared-checkpoints}
"""
VALUES = """\
# A run: values of charts/training-job.
# Its README lists all other values and their defaults.
# The image holds the program and its packages.
image:
  repository: registry.example.com/team/trainer
  tag: "2026.11"
# Number of pods.
nodes: 4
# The program of each process; it gets the words of args as written.
train:
  module: llm.pretrain
  args: [--lr, "0.1"]
# Limits of each pod, which has one process for each GPU. Adapt them to your nodes.
resources:
  limits: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}
# Memory at /dev/shm for data loaders and NCCL. It counts as memory of the pod.
sharedMemory:
  size: 64Gi
# The claim keeps the files in /checkpoints.
checkpoints:
  existingClaim: llm
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_terminal_is_asked_for_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Terminal("init") as terminal:
        terminal.answer("Image of the program", "registry.example.com/team/trainer:2026.11")
        terminal.answer("Program in the image", "-m llm.pretrain --lr 0.1")
        terminal.answer("Number of nodes [2]", "4")
        terminal.answer("GPUs of each node (0: none) [8]", "")
        terminal.answer("Claim that keeps checkpoints", "llm")
        terminal.answer("Kind of the job", "")
        terminal.expect("Wrote run.yaml; `trainyard lint run.yaml` checks it")
        assert terminal.end() == 0
    assert (folder / "run.yaml").read_text() == VALUES
    assert main(["lint", "run.yaml"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("question", "wrong", "reason", "right"),
    [
        ("Image of the program", "trainer", "`trainer` has no tag; write it as REPOSITORY:TAG", "r.example.com/t:1"),
        ("Program in the image", "torchrun a.py", "the chart starts torchrun itself; name the program", "a.py"),
        ("Number of nodes", "none", "`none` is no number; write 1 or more", "3"),
        ("GPUs of each node", "-1", "-1 is not in the range x>=0", "1"),
        ("Claim that keeps", "A_b", "`A_b` is no name of a claim; write lower-case letters", "llm"),
        ("Kind of the job", "Foo", "'Foo' is not one of 'PyTorchJob'", ""),
    ],
)
def test_a_wrong_answer_gets_a_reason_and_is_asked_again(
    question: str, wrong: str, reason: str, right: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {
        "Image": "--image=r.example.com/t:1",
        "Program": "--program=a.py",
        "Number": "--nodes=3",
        "GPUs": "--gpus=1",
        "Claim": "--claim=llm",
        "Kind": "--kind=PyTorchJob",
    }
    given = [option for word, option in options.items() if not question.startswith(word)]
    with Terminal("init", *given) as terminal:
        terminal.answer(question, wrong)
        terminal.expect(reason)
        terminal.answer(question, right)
        assert terminal.end() == 0
    values = yaml.safe_load((folder / "run.yaml").read_text())
    assert (values["nodes"], values["resources"]["limits"]["nvidia.com/gpu"]) == (3, 1)
    assert main(["lint", "run.yaml"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("key", [INTERRUPT, END], ids=["ctrl-c", "ctrl-d"])
def test_a_key_that_stops_leaves_no_file(key: str, folder: Path) -> None:
    with Terminal("init") as terminal:
        terminal.answer("Image of the program", "r.example.com/t:1")
        terminal.expect("Program in the image")
        terminal.press(key, "\r\nStopped; no file is written\r\n")
        assert terminal.end() == 130
        assert "Traceback" not in terminal.shown
    assert not list(folder.iterdir())


def test_without_a_terminal_nothing_is_asked(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["init", *GIVEN]) == 0
    assert capsys.readouterr().err == "Wrote run.yaml; `trainyard lint run.yaml` checks it\n"
    assert main(["lint", "run.yaml"]) == 0
    assert yaml.safe_load((folder / "run.yaml").read_text())["nodes"] == 2


def test_yes_asks_nothing_on_a_terminal() -> None:
    with Terminal("init", "--yes") as terminal:
        assert terminal.end() == 2
        assert "Error: --image and --program: a run needs them" in terminal.shown


@pytest.mark.parametrize("kind", CHART_KINDS)
@pytest.mark.parametrize("gpus", [0, 8])
def test_the_values_of_each_kind_lint_clean(kind: str, gpus: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", *GIVEN, "--kind", kind, "--gpus", str(gpus), "--nodes", "3"]) == 0
    assert main(["lint", "run.yaml"]) == 0, capsys.readouterr().out


def test_helm_renders_the_values(folder: Path) -> None:
    assert main(["init", *GIVEN, "--kind", "TrainJob", "--claim", "llm", "-o", "llm.yaml"]) == 0
    command = [
        str(binary("helm")),
        "template",
        "llm",
        str(ROOT / "charts/training-job"),
        "-f",
        str(folder / "llm.yaml"),
    ]
    rendered = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (job,) = [one for one in yaml.safe_load_all(rendered) if one and one["kind"] == "TrainJob"]
    assert job["spec"]["trainer"]["numNodes"] == 2
    assert 'claimName: "llm"' in rendered


def test_what_the_site_sets_is_left_out(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "site.yaml").write_text(SITE)
    assert main(["init", "--site", "site.yaml", "--program", "/app/train.py"]) == 0
    text = (folder / "run.yaml").read_text()
    values = yaml.safe_load(text)
    assert "# The image is that of the site, registry.example.com/team/trainer:2026.11.\n" in text
    assert "image" not in values
    assert values["kind"] == "TrainJob"
    assert values["checkpoints"] == {"existingClaim": "shared-checkpoints"}
    assert "`trainyard lint run.yaml --site site.yaml` checks it" in capsys.readouterr().err
    assert main(["lint", "run.yaml", "--site", "site.yaml"]) == 0


def test_quoted_words_reach_the_program_as_they_are(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["init", "--image", "a:1", "--program", "a.py --pad '<pad>' 'a > b' x=1 '' '#'", "-o", "-"]) == 0
    values = yaml.safe_load(capsys.readouterr().out)
    assert values["train"]["args"] == ["--pad", "<pad>", "a > b", "x=1", "", "#"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--image", "a b:1", "--program", "a.py"], "is no image; write it as REPOSITORY:TAG"),
        (["--image", "a", "--program", "a.py"], "`a` has no tag"),
        (["--image", "a:1", "--program", "torchrun a.py"], "the chart starts torchrun itself"),
        (["--image", "a:1", "--program", "python3"], "it names no program"),
        (["--image", "a:1", "--program", "python3 -u a.py"], "-u is an option of the interpreter; leave it out"),
        (["--image", "a:1", "--program", "A=1 python3 a.py"], "A=1 sets a variable; leave it out"),
        (["--image", "a:1", "--program", "cd /app && a.py"], "no shell reads `&&`; name one program"),
        (["--image", "a:1", "--program", "a.py 2>&1"], "no shell reads `>&`; name one program"),
        (["--image", "a:1", "--program", "'a.py"], "no closing quotation"),
        (["--image", "a:1", "--program", "-m b", "--kind", "PaddleJob"], "the chart refuses these values: "),
        (["--image", "a:1", "--program", "a.py", "--nodes", "0"], "0 is not in the range"),
        (["--image", "a:1", "--program", "a.py", "--claim", "A_b"], "`A_b` is no name of a claim"),
        (["--program", "a.py", "--site", "missing.yaml", "--image", "a:1"], "missing.yaml: no such file"),
    ],
)
def test_a_wrong_option_gets_a_reason(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert main(["init", *options]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "run.yaml").exists()


def test_a_file_that_exists_is_kept(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "run.yaml").write_text("mine\n")
    assert main(["init", *GIVEN]) == 2
    assert "the file exists" in capsys.readouterr().err
    assert main(["init", *GIVEN, "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("# A run: values of charts/training-job.\n")
    assert (folder / "run.yaml").read_text() == "mine\n"
    assert main(["init", *GIVEN, "--force"]) == 0
