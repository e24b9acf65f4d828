"""Requirements of `make gpu` on a machine with GPUs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tools.gpu.__main__ import REQUIRED

REQUIREMENTS = Path("trainer/requirements.txt")
MODULES = {"scikit-learn": "sklearn", "pyyaml": "yaml", "prometheus-client": "prometheus_client"}


def test_the_trainer_starts_with_the_packages_that_the_gpu_checks_ask_for() -> None:
    packages = re.findall(r"^([\w-]+)==", REQUIREMENTS.read_text(), re.MULTILINE)
    missing = {MODULES.get(package, package) for package in (*packages, "deepspeed", "rich", "typer")} - set(REQUIRED)
    blocked = f"import sys; sys.modules.update(dict.fromkeys({sorted(missing)}))"
    imports = "import tools.gpu.runner, trainer.run, trainer.runtime.supervisor"

    subprocess.run([sys.executable, "-c", f"{blocked}; {imports}"], check=True)
    assert "safetensors" in missing
