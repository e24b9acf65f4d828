"""Properties of the training-job chart beyond the shape of its objects, which helm-unittest suites cover."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.charts.helm import CHARTS, HELMS, ROOT, objects, template
from trainyard.analysis.pods import plain_secrets

CHART = CHARTS["training-job"]
KINDS = ("PyTorchJob", "MPIJob", "TFJob", "JAXJob", "PaddleJob", "XGBoostJob", "TrainJob")

# Any argument of a program, except NUL, which argv cannot hold, and characters that YAML cannot represent.
TEXTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn")) | st.sampled_from("$()\n\t\"'\\ #:{}&"), max_size=30
)
# Each launcher with the words that the chart puts before the program and after its arguments.
LAUNCHERS = {
    "torchrun": (["torchrun", "--rdzv-conf=timeout=900"], []),
    "accelerate": (
        [
            *("accelerate", "launch", "--config_file=/etc/trainyard/accelerate.json"),
            *("--main_process_ip=run-42-master-0", "--main_process_port=23456", "--machine_rank=3"),
            "--rdzv_conf=timeout=900",
        ],
        [],
    ),
    "deepspeed": (
        ["torchrun", "--rdzv-conf=timeout=900"],
        ["--deepspeed_config", "/etc/trainyard/deepspeed.json"],
    ),
    "command": (["python3"], []),
}
OPERATOR = {"MASTER_ADDR": "run-42-master-0", "MASTER_PORT": "23456", "RANK": "3"}
# Takes the place of every launcher, and prints its arguments and environment.
PROGRAM = f"""#!{sys.executable} -SE
import json, os, sys
print(json.dumps([[os.path.basename(sys.argv[0]), *sys.argv[1:]], dict(os.environ)]))
"""


def container(values: Any) -> dict[str, Any]:
    """Return the container of the Master of a run with these values."""
    result = template("helm", CHART, values=values)
    assert result.returncode == 0, result.stderr
    (job,) = (found for found in objects(result.stdout) if found["kind"] == "PyTorchJob")
    master: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"]["Master"]
    (only,) = master["template"]["spec"]["containers"]
    return dict(only)


def expanded(text: str, variables: dict[str, str]) -> str:
    """Expand as the kubelet does in command, args and env: a known $(NAME) is replaced, $$ is $, any other $ stays."""
    return re.sub(r"\$(?:(\$)|\(([^)]*)\))", lambda match: match[1] or variables.get(match[2], match[0]), text)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs that print their arguments, named like the launchers."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("torchrun", "accelerate", "python3"):
        (folder / name).write_text(PROGRAM)
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("launcher", LAUNCHERS)
@settings(max_examples=10)
@given(arguments=st.lists(TEXTS, min_size=1, max_size=20))
def test_arguments_and_environment_reach_the_program_as_written(
    programs: Path, launcher: str, arguments: list[str]
) -> None:
    texts = {f"TEXT_{index}": text for index, text in enumerate(arguments)}

    rendered = container({"launcher": launcher, "train": {"args": arguments}, "env": texts})
    variables = {entry["name"]: expanded(entry["value"], {}) for entry in rendered["env"]} | OPERATOR
    words = [expanded(word, variables) for word in (*rendered["command"], *rendered["args"])]
    result = subprocess.run(
        words, env=variables | {"PATH": str(programs), "PYTHONUTF8": "1"}, capture_output=True, text=True, check=True
    )

    before, after = LAUNCHERS[launcher]
    argv, environment = json.loads(result.stdout)
    assert argv == [*before, "-m", "trainer", *arguments, *after]
    assert environment.items() >= texts.items()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_renders_one_object_of_its_kind_and_a_trainjob_its_runtime_too(kind: str) -> None:
    result = template("helm", CHART, values={"kind": kind, "train": {"script": "/app/train.py"}})

    assert result.returncode == 0, result.stderr
    found = [made["kind"] for made in objects(result.stdout)]
    runtime = ["TrainingRuntime"] if kind == "TrainJob" else []
    assert sorted(found) == sorted([kind, "PersistentVolumeClaim", *runtime])


@pytest.mark.parametrize("name", HELMS)
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nodes": "two"}, "at '/nodes': got string, want integer"),
        ({"image": {"tag": 2026.1}}, "at '/image/tag': got number"),
        ({"checkpoint": {}}, "additional properties 'checkpoint' not allowed"),
        ({"kind": "MXJob"}, "at '/kind': value must be one of 'PyTorchJob', 'MPIJob', 'TFJob'"),
        ({"layout": "workers"}, "at '/layout': value must be one of 'auto', 'master-worker', 'worker-only'"),
        ({"checkpoints": {"size": "10GB"}}, "at '/checkpoints/size': '10GB' does not match"),
        ({"env": {"MY-NAME": 1}}, "at '/env': additional properties 'MY-NAME' not allowed"),
        ({"placement": {"tolerations": [{"kye": "a"}]}}, "additional properties 'kye' not allowed"),
        ({"nodes": None}, "nodes is empty: give it a value, or remove the line to get the default"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, values: dict[str, Any], message: str) -> None:
    result = template(name, CHART, values=values)

    assert result.returncode != 0
    assert message in result.stderr
    assert result.stdout == ""


def test_the_chart_and_the_validator_treat_the_same_names_as_secrets() -> None:
    text = (ROOT / "charts" / "common" / "templates" / "pod" / "_env.tpl").read_text()

    patterns = re.findall(r':= "(\(\?.+)" -', text)

    assert patterns == [plain_secrets.NAMES.pattern, plain_secrets.OTHER.pattern]
