"""The source of a release from PyPI.

pip stops at a source distribution that it cannot prepare, and leaves the unpacked source behind, which is all that is
needed. Wheels are unpacked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tools.generate.program_options.packages import Package


def fetch(package: Package, release: str, folder: Path) -> Path:
    """Returns the folder with the source of a release."""
    wanted = f"{package.name}=={release}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), wanted]
    if package.is_wheel:
        subprocess.run([*command, "--only-binary", ":all:", "--no-cache-dir"], check=True, capture_output=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            wheel.extractall(folder / "source", [name for name in wheel.namelist() if name.endswith(".py")])
        return folder / "source"
    options = ["--no-binary", ":all:", "--no-build-isolation", "--no-clean", "--no-cache-dir"]
    subprocess.run([*command, *options], check=False, capture_output=True, env={**os.environ, "TMPDIR": str(folder)})
    found = [path for path in folder.glob(f"pip-download-*/{package.name}*") if path.is_dir()]
    if not found:
        raise FileNotFoundError(wanted)
    return found[0]
