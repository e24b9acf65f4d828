"""The rule that sizes /dev/shm: exact arithmetic, and results that the validator accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.charts.helm import CHARTS, objects, template
from tests.charts.linting import lint

CHART = CHARTS["training-job"]
FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15} | {
    f"{letter}i": 1024 ** (power + 1) for power, letter in enumerate("KMGTP")
}
GIB = 2**30


def run(memory: Any, processes: int | str = 1, gpus: int = 0) -> dict[str, Any]:
    """Return values of a run whose shared memory is sized by the rule."""
    devices = {"nvidia.com/gpu": gpus} if gpus else {}
    limits = {"cpu": 8, "memory": memory} | devices
    return {"processesPerNode": processes, "sharedMemory": {"size": None}, "resources": {"limits": limits}}


def size(text: str) -> int:
    """Return a quantity of the chart in bytes."""
    digits = text.rstrip("GiM")
    factor: int = FACTORS[text.removeprefix(digits)]
    return int(digits) * factor


@settings(max_examples=40)
@given(st.integers(1, 2**53), st.sampled_from(sorted(FACTORS)), st.integers(1, 16))
def test_the_rule_is_exact_for_every_memory_limit(count: int, suffix: str, processes: int) -> None:
    memory = count * FACTORS[suffix]
    assume(memory < 2**63)

    result = template("helm", CHART, values=run(f"{count}{suffix}" if suffix else count, processes))
    (job,) = (found for found in objects(result.stdout) if found["kind"] == "PyTorchJob")
    volumes = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["volumes"]
    (given_size,) = (volume["emptyDir"]["sizeLimit"] for volume in volumes if volume["name"] == "shared-memory")

    wanted = min(memory // 2, processes * 8 * GIB)
    assert size(given_size) == (wanted - wanted % 2**20 if wanted >= 2**20 else wanted)


@pytest.mark.parametrize(
    ("memory", "processes", "gpus"),
    [
        *(("1Gi", 1, 0), ("1Gi", "auto", 0), ("64G", 4, 0), (3 * 10**9, 1, 1), ("16Gi", 8, 8), ("900Gi", 8, 8)),
        *(("900Gi", 1, 8), ("2Ti", "gpu", 16), ("33Gi", "auto", 16)),
    ],
)
def test_the_validator_accepts_the_size_of_the_rule(
    tmp_path: Path, memory: Any, processes: int | str, gpus: int
) -> None:
    result = template("helm", CHART, values=run(memory, processes, gpus))
    assert result.returncode == 0, result.stderr
    manifest = tmp_path / "run.yaml"
    manifest.write_text(result.stdout)

    code, output = lint("--select=SH", "--pedantic", str(manifest))

    assert code == 0, output
