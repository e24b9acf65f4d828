"""The exit code of a script is predicted as bash gives it, when the launcher fails."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.validator.analysis.script_grammar import Grammar
from trainyard.analysis.scripts import exit_codes
from trainyard.document.document import Document, Place
from trainyard.document.source import Source

AT = Place(Document(Source("run.sh", ""), 0, None, ()))
# A launcher that fails and says that it ran, for scripts and as a program; other programs that may be absent succeed.
STUBS = "torchrun() { echo >> $RAN; return 7; }; nvidia-smi() { :; }; cp() { :; }\n"
PROGRAMS = {"torchrun": "echo >> $RAN; exit 7", "nvidia-smi": "exit 0", "cp": "exit 0"}
# Runs each script and prints its exit code, and 1 if the launcher ran.
DRIVER = """for f in "$@"; do
  : > $RAN; cd $f.d; $SHELL_UNDER_TEST $f < /dev/null > /dev/null 2>&1; rc=$?
  if [ -s $RAN ]; then echo $rc 1; else echo $rc 0; fi
done"""


def answer(text: str, shell: str = "bash") -> str:
    return exit_codes.answer(exit_codes.ends_of(text, AT, shell))


def run(scripts: list[str], folder: Path, shell: str) -> list[tuple[int, bool]]:
    """Returns the exit code of each script, and whether the launcher ran."""
    folder.mkdir()
    (folder / "bin").mkdir()
    for name, body in PROGRAMS.items():
        program = folder / "bin" / name
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    (folder / "stubs").write_text(STUBS)
    names = []
    for number, text in enumerate(scripts):
        path = folder / f"{number}.sh"
        path.write_text(text)
        (folder / f"{number}.sh.d").mkdir()
        names.append(str(path))
    environment = {
        "PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder), "RAN": str(folder / "ran"),
        "BASH_ENV": str(folder / "stubs"), "SHELL_UNDER_TEST": shell,
        "RANK": "1", "MODE": "train", "rc": "0",
    }  # fmt: skip
    done = subprocess.run(
        ["sh", "-c", DRIVER, "driver", *names], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    return [(int(code), ran == "1") for code, ran in lines]


def test_commands_one_after_another_are_not_nested() -> None:
    assert answer("(true)\n" * 60 + "torchrun train.py\n") == "failure"
    assert answer("{ " * 60 + "true; " + "};" * 60 + "\ntorchrun train.py\n") == "unknown"


@pytest.mark.parametrize(("shell", "count", "most_unknown"), [("bash", 600, 0.2), ("sh", 150, 0.2)])
def test_generated_scripts_exit_as_predicted(shell: str, count: int, most_unknown: float, tmp_path: Path) -> None:
    grammar = Grammar(18, posix=shell == "sh")
    scripts = [grammar.script() for _ in range(count)]
    answers = [answer(text, shell) for text in scripts]
    wrong = [
        f"{said}, but {code}:\n{text}"
        for said, (code, ran), text in zip(answers, run(scripts, tmp_path / "run", shell), scripts, strict=True)
        if ran and said != "unknown" and (said == "failure") != (code != 0)
    ]
    assert not wrong, "\n\n".join(wrong[:5])
    assert Counter(answers)["unknown"] <= most_unknown * count
