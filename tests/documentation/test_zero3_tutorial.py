"""The commands of the tutorial on ZeRO-3 that train, with DeepSpeed on processors: what they print is what it shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation import examples
from tests.documentation.examples import ROOT
from tests.harness.trainer.environment import ENVIRONMENT

PAGE = "docs/tutorials/deepspeed-zero3.md"
# Place of the reader's folder, and a loss, whose last digits depend on the processor.
CHANGING = ((r"from .*/runs/", "from runs/"), (r"(loss=\d+\.\d)\d+", r"\1"))


@pytest.mark.long
def test_the_tutorial_trains_resumes_and_converts_what_it_shows(tmp_path: Path) -> None:
    beside = examples.folder_of(PAGE)
    assert beside
    folder = tmp_path / "repository"
    shutil.copytree(beside, folder)
    for name in ("charts", "recipes"):
        (folder / name).symlink_to(ROOT / name)
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "trainyard_trainer").symlink_to(ROOT / "trainer")
    typed = [one for one in examples.of_pages() if one.page == PAGE and re.search("--local|zero_to_fp32", one.command)]

    for example in typed:
        finished = subprocess.run(
            ["/bin/bash", "-euo", "pipefail", "-c", example.command],
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            env=ENVIRONMENT
            | {"PYTHONPATH": str(installed), "PATH": f"{Path(sys.executable).parent}:{ENVIRONMENT['PATH']}"},
        )
        printed = {_stable(line) for line in (finished.stdout + finished.stderr).splitlines()}
        assert finished.returncode == 0, finished.stderr
        assert [line for line in example.output.splitlines() if _stable(line) not in printed] == []

    assert len(typed) == 3
    assert (folder / "weights" / "model.safetensors").stat().st_size > 4 * 16_897


def _stable(line: str) -> str:
    for pattern, replacement in CHANGING:
        line = re.sub(pattern, replacement, line)
    return line
