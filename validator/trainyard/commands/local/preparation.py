"""Checks the requirements of a run before it starts, and makes its folders and files."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from trainyard.commands.local.errors import MissingProgramError, RunRefusedError
from trainyard.commands.local.machine import Machine
from trainyard.commands.local.plan import Plan
from trainyard.editing.atomic_write import replace

# Only looks for the modules: importing torch takes seconds.
_PROBE = "import importlib.util, sys; print(*(n for n in sys.argv[1:] if importlib.util.find_spec(n) is None))"


def check_requirements(plan: Plan, machine: Machine) -> None:
    """Raises `MissingProgramError` if something that the plan needs is missing."""
    environment = {**machine.environment, **plan.nodes[0].environment}
    if plan.data is not None and is_empty(plan.data.folder):
        raise MissingProgramError(
            f"dataset: nothing is fetched here; put {plan.data.what} into {display_path(plan.data.folder)}, "
            "or a link to it"
        )
    if plan.modules:
        _check_modules(machine.python, plan.modules, environment)
    if plan.script is not None and not Path(plan.script).is_file():
        raise MissingProgramError(
            f"train.script: {plan.script} is in the image and not on this machine; name the file here, as "
            f"--set train.script={Path(plan.script).name}"
        )
    if plan.program is not None and shutil.which(plan.program, path=environment.get("PATH")) is None:
        raise MissingProgramError(
            f"train.command: {plan.program} is in the image and not on this machine; install it, or name another, as "
            "--set 'train.command=[python3]'"
        )


def prepare(plan: Plan) -> None:
    """Makes the folders and the files. Raises `RunRefusedError` if that is not possible."""
    try:
        for node in plan.nodes:
            for folder in node.folders:
                folder.mkdir(parents=True, exist_ok=True)
            for path, text in node.files.items():
                replace(path, text.encode())
    except OSError as error:
        raise RunRefusedError(
            f"--directory: {error.filename} cannot be made ({error.strerror}); name another"
        ) from None


def is_empty(folder: Path) -> bool:
    """True if a folder is empty or missing."""
    return not folder.is_dir() or next(folder.iterdir(), None) is None


def display_path(folder: Path) -> str:
    """Returns a folder as a user here would write it."""
    return os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)


def _check_modules(python: str, modules: Sequence[str], environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            [python, "-c", _PROBE, *modules], env=environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise MissingProgramError(
            f"{python} cannot be started ({error.strerror}): name a Python with --python"
        ) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise MissingProgramError(
            f"{python} does not work as a Python interpreter ({last}): name another with --python"
        )
    for module in done.stdout.split():
        raise MissingProgramError(_advice(python, module))


def _advice(python: str, module: str) -> str:
    other = "or name another Python with --python"
    if module in ("torch", "accelerate", "deepspeed"):
        return f"{python} has no {module}: `{python} -m pip install {module}` installs it, {other}"
    return f"{python} finds no module {module} from here: change to the folder that holds it, set PYTHONPATH, {other}"
