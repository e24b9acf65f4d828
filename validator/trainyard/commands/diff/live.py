"""Runs of a cluster: the manifest of a release from Helm, or a job from kubectl, with the user's kubeconfig."""

from __future__ import annotations

import re
import shutil
import subprocess

from trainyard.document.errors import MistakeError

_SECONDS = 60
_KINDS = r"pytorchjobs?|mpijobs?|tfjobs?|jaxjobs?|paddlejobs?|xgboostjobs?|trainjobs?|jobsets?|jobs?"
_NAMED = re.compile(rf"(release|{_KINDS})/([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)", re.IGNORECASE)


class LiveError(MistakeError):
    """A run that cannot be read from the cluster; `args[0]` gives the reason."""


def is_live(name: str) -> bool:
    """Returns true for `release/NAME` and `KIND/NAME`."""
    return _NAMED.fullmatch(name) is not None


def manifest(name: str, namespace: str | None) -> str:
    """Returns the manifest of a release or of a job. Raises `LiveError`."""
    found = _NAMED.fullmatch(name)
    if found is None:
        raise LiveError(f"{name}: write release/NAME or KIND/NAME, as PyTorchJob/llm")
    kind, own = found.groups()
    command = (
        ["helm", "get", "manifest", own] if kind.lower() == "release" else ["kubectl", "get", kind, own, "-o", "yaml"]
    )
    return _output(name, command + (["--namespace", namespace] if namespace else []))


def _output(name: str, command: list[str]) -> str:
    program = shutil.which(command[0])
    if program is None:
        raise LiveError(f"{name}: {command[0]} is not on PATH; install it, or name a file")
    try:
        done = subprocess.run(
            [program, *command[1:]], check=False, capture_output=True, text=True, timeout=_SECONDS, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise LiveError(f"{name}: `{' '.join(command)}` did not answer within {_SECONDS} s") from None
    except OSError as error:
        raise LiveError(f"{name}: {command[0]} does not start: {(error.strerror or '').lower()}") from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        raise LiveError(f"{name}: `{' '.join(command)}` failed: {said}")
    return done.stdout
