"""Every command in the documentation works: it runs in a folder with the files that its page shows."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documentation import examples, stand_in_server
from tests.documentation.examples import ROOT, Example
from tools import demo
from tools.generate import doctor_page
from trainyard.cli.main import trainyard

# Examples that cannot be run, and why. Any other example must run, so a new one is covered or named here.
NOT_RUN = {
    "rm -r charts/gpu-rdma-policy/charts/gpu-operator": "removes files of the repository",
    "helm install gpu-operator nvidia/gpu-operator": "needs the chart repository of NVIDIA",
    "helm install gpu-rdma-policy charts/gpu-rdma-policy --namespace gpu-operator --create-namespace": (
        "needs the chart that the command before it downloads"
    ),
    "helm install network-operator nvidia/network-operator": "needs the chart repository of NVIDIA",
    "podman pull registry.example.com": "needs a registry",
    "trainyard run -f run.yaml --local --image": "needs an image: tests/validator/local/test_run_in_image.py has one",
    "value: ": "a line of YAML, not a command",
}
# Commands of these pages need a registry and a cluster. The lists of tests/e2e/published type them there.
TYPED = {
    "docs/how-to/packages.md": ("steps",),
    "docs/how-to/gitops.md": ("flux", "argo"),
}
# Words in prose that are no complete command.
MENTIONS = {
    "helm trainyard lint": "the plugin, tested by tests/validator/cli/test_integrations.py",
    "torchrun … -m trainer": "an abbreviation",
    "torchrun -m MODULE": "MODULE and ARGS are placeholders",
    "go get": "changes a go.mod",
    "python docs/trainjob/digits.py NAMESPACE": "needs a cluster, on which tests/e2e/test_python_sdk.py runs it",
}
# Programs that examples in prose call.
PROGRAMS = ("trainyard", "helm", "kubectl", "make", "python", "pytest", "torchrun", "docker", "go")
# What a reader puts in.
PLACEHOLDERS = {"<fault>": "nccl-word-boolean", "HOST:29500": "localhost:29500", "REGISTRY/": "registry.example.com/"}

IMAGE = 'image: {repository: registry.example.com/team/trainer, tag: "2026.11"}\n'
JOB = (ROOT / "validator/trainyard/rules/site/cases/site_queue_unknown.good.yaml").read_text()
# Files that an example names and its page does not show.
FILES = {
    "run.yaml": f"{IMAGE}nodes: 2\n",
    "llm.yaml": f"{IMAGE}nodes: 2\n",
    "changed.yaml": f"{IMAGE}nodes: 2\n",
    "values.yaml": f"{IMAGE}nodes: 2\n",
    "site.yaml": "charts/training-platform/ci/onprem-ib-values.yaml",
    "run.sh": "torchrun --nproc_per_node 8 train.py\n",
    "nccl.conf": "NCCL_DEBUG=WARN\n",
    "site-run.yaml": "{}\n",
    "check.yaml": "charts/training-preflight/ci/listed-nodes-values.yaml",
    "monitoring.yaml": "charts/training-monitoring/ci/defaults-values.yaml",
    "runtimes.yaml": "charts/training-runtimes/ci/defaults-values.yaml",
    "networks.yaml": "charts/training-networks/ci/infiniband-values.yaml",
    "policy.yaml": "charts/gpu-rdma-policy/ci/onprem-ib-values.yaml",
    "k8s/job.yaml": JOB,
    "job.yaml": JOB,
    "rendered.yaml": JOB,
    "trainyard-baseline.json": '{"version": 1, "findings": []}\n',
    "another-chart/Chart.yaml": "apiVersion: v2\nname: another-chart\nversion: 0.1.0\n",
    "another-chart/templates/job.yaml": JOB,
    "build/site-run.yaml": "{}\n",
    "master.log": "",
    "pods.txt": "",
    **doctor_page.LOGS,
}
# `run.yaml` of the trainer's pages is the trainer's own configuration.
TRAINER_FILES = {"run.yaml": "epochs: 1\n"}
# A plan needs GPUs, the rate of a network, and the shape of a model.
PLAN_FILES = {
    "run.yaml": f"""\
{IMAGE}nodes: 2
resources: {{limits: {{cpu: 96, memory: 900Gi, nvidia.com/gpu: 8}}}}
placement: {{nodeSelector: {{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}}}
""",
    "site.yaml": "charts/training-platform/ci/eks-efa-values.yaml",
    "path/to/config.json": (ROOT / "tests/validator/plan/configs/llama.json").read_text(),
}
# Commands whose output is compared. tests/e2e/tutorial.py compares those of a cluster.
_OFFLINE = re.compile(r"trainyard (?!doctor --run)(?:lint|fix|explain|plan|init|convert|diff|doctor|rules|schema)\b")
# A linter that finds something has worked, and so has a plan of a run that does not fit.
FOUND = 1


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for PATH with the stand-ins alone."""
    with stand_in_server.programs(tmp_path_factory.mktemp("programs")) as folder:
        yield folder


@pytest.fixture
def sandbox(tmp_path: Path, programs: Path) -> Path:
    """A folder with the charts, and beside it the stand-ins."""
    folder = tmp_path / "sandbox"
    folder.mkdir()
    for name in ("charts", "recipes", "trainer"):
        (folder / name).symlink_to(ROOT / name)
    (tmp_path / "bin").symlink_to(programs)
    return folder


@pytest.mark.parametrize("example", [*examples.of_pages(), *examples.of_help()], ids=str)
def test_a_shown_command_works(example: Example, sandbox: Path) -> None:
    if example.page in TYPED:
        lists = [ROOT / f"tests/e2e/published/{name}.yaml" for name in TYPED[example.page]]
        steps = [step for steps in lists for step in yaml.safe_load(steps.read_text())]
        assert _plain(example.command) in [_plain(step["type"]) for step in steps]
        return
    if any(example.command.startswith(words) for words in NOT_RUN):
        return
    _write_files(example, sandbox)
    finished = _run(example.command, sandbox)
    printed = finished.stdout + finished.stderr
    assert _worked(example.command, finished), printed
    for line in _comparable(example):
        assert line in printed.splitlines()
    if example.output and _OFFLINE.match(example.command):
        assert printed.strip("\n") == example.output


@pytest.mark.parametrize("example", [*examples.in_prose()], ids=str)
def test_a_command_in_prose_names_what_exists(example: Example, sandbox: Path) -> None:
    program, *words = example.command.split()
    if program not in PROGRAMS or any(example.command.startswith(mention) for mention in MENTIONS):
        return
    if program == "trainyard":
        _has_options(words)
    elif program == "make":
        assert _run(example.command, sandbox).returncode == 0
    elif program == "pytest":
        assert all((ROOT / word.partition("...")[0]).exists() for word in words if word.startswith("tests/"))
    elif program == "python":
        assert _run(example.command, sandbox).returncode == 0
    elif len(words) > 2:
        _write_files(example, sandbox)
        command = example.command.replace("NAME", "run")
        finished = _run(command, sandbox)
        assert _worked(command, finished), finished.stderr


def test_the_picture_of_the_readme_shows_the_steps_that_the_demo_prints() -> None:
    assert "](docs/demo.svg)" in (ROOT / "README.md").read_text()
    picture = (ROOT / "docs" / "demo.svg").read_text()
    shown = html.unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture))).replace("\xa0", " ")
    shown = re.sub(r"\s+", "", shown)
    for step in demo.STEPS[2:]:
        assert re.sub(r"\s+", "", step) in shown


def test_the_first_hour_types_what_the_demo_tells_the_user_to_type() -> None:
    steps = yaml.safe_load((ROOT / "tests/e2e/first_hour/steps.yaml").read_text())
    typed = {step["type"] for step in steps}
    assert [command for command in demo.Road.PYTORCHJOB.yours() if command not in typed] == []


def test_the_first_hour_reads_each_message_of_the_troubleshooting_page() -> None:
    steps = yaml.safe_load((ROOT / "tests/e2e/first_hour/steps.yaml").read_text())
    patterns = [pattern for step in steps for pattern in step.get("shows", ())]
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    rows = re.findall(r"^\| (`[^|]+) \|", page, re.MULTILINE)
    messages = [message for row in rows for message in re.findall(r"`([^`]+)`", row)]
    assert len(messages) >= 9
    assert [message for message in messages if not any(re.search(pattern, message) for pattern in patterns)] == []


@pytest.mark.parametrize("page", [page for page in examples.PAGES if examples.folder_of(page) is not None])
def test_a_tutorial_shows_the_files_that_lie_beside_it(page: str) -> None:
    beside = examples.folder_of(page)
    assert beside is not None
    text = (ROOT / page).read_text()
    shown = examples.files_of(page)
    assert shown
    assert {name: (beside / name).read_text() for name in shown} == shown
    assert not [path.name for path in beside.iterdir() if path.is_file() and path.name not in text]


def test_an_unknown_program_fails(sandbox: Path) -> None:
    assert _run("kubctl get pods", sandbox).returncode == 127


@pytest.mark.parametrize(
    "command",
    [
        "helm install run charts/training-jobs",
        "helm install run charts/training-job --set nodez=2",
        "helm uninstall run --purge",
        "kubectl logs --folow pod",
        "make demos",
        "python -m tests.cluster up",
        "python -m trainer --epoch 5",
        "trainyard lint --ignor NC run.yaml",
        "trainyard audit --contxt h100",
        "trainyard run -f run.yaml",
        "torchrun --nproc-per-node 2 -m trainer --epoch 5",
    ],
)
def test_a_wrong_command_fails(command: str, sandbox: Path) -> None:
    _write_files(Example("README.md", 1, command), sandbox)
    assert not _worked(command, _run(command, sandbox))


def _plain(command: str) -> str:
    """A command without what differs between the registry of the page and the one of the test."""
    command = command.replace("oci://registry.example.com/trainyard/charts", "$CHARTS").replace(" --plain-http", "")
    return " ".join(command.split())


def _worked(command: str, finished: subprocess.CompletedProcess[str]) -> bool:
    judges = re.search(r"trainyard (lint|fix|diff|doctor|plan)", command)
    return finished.returncode in ((0, FOUND) if judges else (0,)) and "Traceback" not in finished.stderr


def _write_files(example: Example, folder: Path) -> None:
    if (beside := examples.folder_of(example.page)) is not None:
        # What the command writes is not there yet.
        written = [path.name for path in beside.iterdir() if f"-o {path.name}" in example.command]
        shutil.copytree(beside, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*written))
    own = TRAINER_FILES if "trainer" in example.page.split("/")[0] else {}
    own = PLAN_FILES if example.command.startswith("trainyard plan") else own
    for name, text in {**FILES, **own, **dict(example.files)}.items():
        if f"-o {name}" in example.command or (name == "run.yaml" and example.command.startswith("trainyard init")):
            # The command writes it, and would not replace it.
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((ROOT / text).read_text() if text.startswith("charts/") else text)


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    for placeholder, value in PLACEHOLDERS.items():
        command = command.replace(placeholder, value)
    environment = stand_in_server.ENVIRONMENT | {"PATH": str(folder.parent / "bin")}
    in_a_chart = re.match(r"helm template \w+ \. ", command)
    return subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", command],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder / "another-chart" if in_a_chart else folder,
        env=environment,
    )


def _comparable(example: Example) -> list[str]:
    """The lines of a local run that stay without its processes."""
    if not example.command.startswith("trainyard run"):
        return []
    return [line for line in example.output.splitlines() if line != "..." and not line.startswith("[node-")]


def _has_options(words: list[str]) -> None:
    context = trainyard.make_context("trainyard", [], resilient_parsing=True)
    command: Any = trainyard.get_command(context, words[0])
    assert command is not None, f"no command {words[0]}"
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word.partition("=")[0] for word in words[1:] if word.startswith("-") and word != "-"} <= known


def test_the_integrations_call_existing_options() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        _has_options(hook["entry"].split()[1:])
