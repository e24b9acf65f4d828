"""What the training-job chart promises beyond the shape of its objects, which its helm-unittest suites cover."""

import json
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "training-job"
HELMS = ("helm", "helm4")

# Whatever a program may be given, except NUL, which no argv can hold, and characters that YAML cannot carry.
TEXTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn")) | st.sampled_from("$()\n\t\"'\\ #:{}&"), max_size=30
)


def helm(tool: str, *arguments: str, values: Any = None) -> subprocess.CompletedProcess[str]:
    """Run one of the pinned Helms, with `values` as a values file on stdin."""
    command = [str(ROOT / "build" / "bin" / tool), *arguments]
    if values is not None:
        command += ["--values", "-"]
    return subprocess.run(
        command, input=json.dumps(values, ensure_ascii=False), capture_output=True, text=True, check=False
    )


def render(tool: str, values: Any) -> dict[str, Any]:
    """Render a release called run-42 and return its objects by kind."""
    result = helm(tool, "template", "run-42", str(CHART), "--kube-version", "1.34.4", values=values)
    assert result.returncode == 0, result.stderr
    return {document["kind"]: document for document in yaml.safe_load_all(result.stdout) if document}


def container(job: dict[str, Any]) -> dict[str, Any]:
    """The container of the Master of a rendered PyTorchJob."""
    found: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    return found


def expanded(text: str) -> str:
    """What the kubelet makes of command, args and env: $(NAME) is replaced, $$ is $, any other $ stays."""
    return re.sub(r"\$(?:(\$)|\([^)]*\))", lambda match: match[1] or "REPLACED", text)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(arguments=st.lists(TEXTS, min_size=1, max_size=20))
def test_arguments_and_environment_reach_the_program_as_written(arguments: list[str]) -> None:
    env = {f"TEXT_{index}": text for index, text in enumerate(arguments)}

    rendered = container(render("helm", {"train": {"args": arguments}, "env": env})["PyTorchJob"])

    assert [expanded(text) for text in rendered["args"]] == ["-m", "trainer", *arguments]
    assert {entry["name"]: expanded(entry["value"]) for entry in rendered["env"]}.items() >= env.items()


@pytest.mark.parametrize("tool", HELMS)
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nodes": "two"}, "at '/nodes': got string, want integer"),
        ({"image": {"tag": 2026.1}}, "at '/image/tag': got number"),
        ({"checkpoint": {}}, "additional properties 'checkpoint' not allowed"),
        ({"layout": "workers"}, "at '/layout': value must be one of 'master-worker', 'worker-only'"),
        ({"checkpoints": {"size": "10GB"}}, "at '/checkpoints/size': '10GB' does not match"),
        ({"env": {"MY-NAME": 1}}, "at '/env': additional properties 'MY-NAME' not allowed"),
        ({"placement": {"tolerations": [{"kye": "a"}]}}, "additional properties 'kye' not allowed"),
        ({"nodes": None}, "nodes is empty: give it a value, or remove the line to get the default"),
    ],
)
def test_a_wrong_value_is_refused_by_name(tool: str, values: dict[str, Any], message: str) -> None:
    result = helm(tool, "template", "run-42", str(CHART), "--kube-version", "1.34.4", values=values)

    assert result.returncode != 0
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("scenario", sorted(path.name for path in (CHART / "ci").glob("*-values.yaml")))
def test_both_helms_render_the_same_objects(scenario: str) -> None:
    values = yaml.safe_load((CHART / "ci" / scenario).read_text())

    assert render("helm", values) == render("helm4", values)


@pytest.mark.parametrize("tool", HELMS)
def test_the_package_is_complete_and_holds_no_tests(tool: str, tmp_path: Path) -> None:
    packaged = helm(tool, "package", str(CHART), "--destination", str(tmp_path))
    assert packaged.returncode == 0, packaged.stderr

    archive = next(tmp_path.glob("training-job-*.tgz"))
    with tarfile.open(archive) as package:
        names = {member.name.removeprefix("training-job/") for member in package}
    result = helm(tool, "template", "run-42", str(archive), "--kube-version", "1.34.4")

    assert result.returncode == 0, result.stderr
    assert "charts/common/Chart.yaml" in names
    assert "values.schema.json" in names
    assert not [name for name in names if name.startswith(("tests/", "ci/", ".")) or name.endswith(".gotmpl")]
