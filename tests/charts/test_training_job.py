"""What the training-job chart promises beyond the shape of its objects, which its helm-unittest suites cover."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .helm import CHARTS, HELMS, objects, template

CHART = CHARTS["training-job"]

# Whatever a program may be given, except NUL, which no argv can hold, and characters that YAML cannot carry.
TEXTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn")) | st.sampled_from("$()\n\t\"'\\ #:{}&"), max_size=30
)


def container(values: Any) -> dict[str, Any]:
    """The container of the Master of a run with these values."""
    result = template("helm", CHART, values=values)
    assert result.returncode == 0, result.stderr
    (job,) = (found for found in objects(result.stdout) if found["kind"] == "PyTorchJob")
    master: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"]["Master"]
    (only,) = master["template"]["spec"]["containers"]
    return dict(only)


def expanded(text: str) -> str:
    """What the kubelet makes of command, args and env: $(NAME) is replaced, $$ is $, any other $ stays."""
    return re.sub(r"\$(?:(\$)|\([^)]*\))", lambda match: match[1] or "REPLACED", text)


@settings(max_examples=20)
@given(arguments=st.lists(TEXTS, min_size=1, max_size=20))
def test_arguments_and_environment_reach_the_program_as_written(arguments: list[str]) -> None:
    env = {f"TEXT_{index}": text for index, text in enumerate(arguments)}

    rendered = container({"train": {"args": arguments}, "env": env})

    assert [expanded(text) for text in rendered["args"]] == ["-m", "trainer", *arguments]
    assert {entry["name"]: expanded(entry["value"]) for entry in rendered["env"]}.items() >= env.items()


@pytest.mark.parametrize("name", HELMS)
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
def test_a_wrong_value_is_refused_by_name(name: str, values: dict[str, Any], message: str) -> None:
    result = template(name, CHART, values=values)

    assert result.returncode != 0
    assert message in result.stderr
    assert result.stdout == ""
