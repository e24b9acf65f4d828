"""The packages that `make demo` installs: those of the harness, and none of what only tests need."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Imports the demo and the harness where only the named distributions exist.
IMPORT = """
import importlib, importlib.abc, importlib.metadata, pkgutil, sys

allowed = set(sys.argv[1].split())
names = {
    module: {distribution.lower().replace("_", "-").replace(".", "-") for distribution in distributions}
    for module, distributions in importlib.metadata.packages_distributions().items()
}

class Only(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if not names.get(name, allowed) & allowed:
            raise ModuleNotFoundError(f"No module named {name!r} in the harness's environment", name=name)

sys.meta_path.insert(0, Only())
import tests.harness.cluster
for module in pkgutil.walk_packages(tests.harness.cluster.__path__, "tests.harness.cluster."):
    importlib.import_module(module.name)
for name in ("tools.demo", "tools.steps"):
    importlib.import_module(name)
try:
    import torch
except ModuleNotFoundError:
    sys.exit(0)
sys.exit("torch is there")
"""


def pins(lock: str) -> dict[str, str]:
    """Version of each package in a lock."""
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / lock).read_text(), re.MULTILINE))


def test_the_demo_s_environment_has_no_pytorch() -> None:
    found = pins("requirements-harness.lock")

    assert "kubernetes" in found
    assert [name for name in found if name.startswith(("torch", "nvidia-", "cuda-", "triton", "numpy"))] == []


def test_tests_change_nothing_that_the_demo_has_installed() -> None:
    assert pins("requirements-harness.lock").items() <= pins("requirements.lock").items()


def test_the_demo_and_the_clusters_need_no_other_package() -> None:
    command = [sys.executable, "-c", IMPORT, " ".join(pins("requirements-harness.lock"))]

    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert finished.returncode == 0, finished.stderr
