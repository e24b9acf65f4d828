"""The cases of the rule on lost exit codes are run in bash, before and after its advice."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.validator.rules import cases
from trainyard.analysis.scripts.entry import Entry, entry_of
from trainyard.analysis.scripts.exit_codes import answer
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.facts.programs.launchers import BY_NAME
from trainyard.linting import pipeline
from trainyard.loaders.manifests.manifest import load_project
from trainyard.rules.scripts.launcher_exit_code_lost import REMEDIES

RULE = registry.load_rule("trainyard.rules.scripts.launcher_exit_code_lost")
# Every launcher fails; what may be absent here succeeds.
FAILING = [name for name in BY_NAME if "." not in name]
HARMLESS = ("nvidia-smi", "cd", "source", "sleep", "rm", "tee")


def entries(part: str) -> Iterator[tuple[str, Entry]]:
    """Yields the scripts of the rule's cases with the names of their jobs."""
    for path in cases.case_files(RULE, part):
        case = cases.load(path)
        project = load_project(pipeline.read_file(File(Source(path.name, case.text))).documents)
        for run in project.runs:
            for container in run.containers:
                entry = entry_of(container) if container.scripts else None
                if entry is not None:
                    yield f"{path.name} {run.name}", entry


def exit_code(entry: Entry, folder: Path, options: tuple[str, ...] = ()) -> int:
    """Returns the exit code of a script in bash; all shells that it starts get the options."""
    stubs = folder / "stubs"
    failing = [*FAILING, "python"] if entry.trains else FAILING
    bodies = [f"{name}() {{ return 7; }}" for name in failing] + [f"{name}() {{ :; }}" for name in HARMLESS]
    letters = [f"set {' '.join(options)}"] if options else []
    stubs.write_text("\n".join([*bodies, *letters, ""]))
    stubs.write_text(stubs.read_text() + ("" if entry.trains else "python() { :; }\n"))
    names = [path for path, _, _ in entry.files]
    for path, text, _ in entry.files:
        inner = folder / path.rsplit("/", 1)[-1]
        inner.write_text(_local(text, names, folder))
        inner.chmod(0o755)
    return subprocess.run(
        [entry.program, *entry.options, "-c", _local(entry.text, names, folder)],
        env={"PATH": "/usr/bin:/bin", "BASH_ENV": str(stubs), "HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=20,
    ).returncode


def _local(text: str, names: list[str], folder: Path) -> str:
    """Returns a script with files in the folder instead of those in the container."""
    text = re.sub(r"/logs/|/tmp/", f"{folder}/", text)
    for name in names:
        text = text.replace(name, str(folder / name.rsplit("/", 1)[-1]))
    return text


BAD = [pytest.param(entry, id=name) for name, entry in entries("bad") if entry.program == "bash"]
KEPT = [
    pytest.param(entry, id=name)
    for part in ("good", "fixed")
    for name, entry in entries(part)
    if answer(entry.ends()) == "failure"
]


@pytest.mark.parametrize("entry", BAD)
def test_a_bad_case_exits_with_0_and_with_its_exit_code_after_the_advice(entry: Entry, tmp_path: Path) -> None:
    assert exit_code(entry, tmp_path) == 0
    launches = {launch for end in entry.ends() for launch in end.launches}
    helpful = [
        (remedy, changed)
        for remedy in REMEDIES
        if (changed := remedy.applied(entry)) is not None and launches <= changed.kept(remedy.options)
    ]
    for remedy, changed in helpful:
        assert exit_code(changed, tmp_path, remedy.options) != 0, remedy.advice


@pytest.mark.parametrize("entry", KEPT)
def test_a_good_or_fixed_case_exits_with_the_code_of_its_launcher(entry: Entry, tmp_path: Path) -> None:
    assert exit_code(entry, tmp_path) != 0


def test_the_launcher_is_underlined_in_a_script_of_one_line() -> None:
    text = "\n".join(
        (
            "apiVersion: v1",
            "kind: Pod",
            "metadata: {name: train}",
            "spec:",
            "  restartPolicy: Never",
            "  containers:",
            "  - name: train",
            "    image: registry.example.com/train:1.4",
            '    command: [bash, -c, "hostname; torchrun --standalone train.py; echo done"]',
            "    resources: {limits: {nvidia.com/gpu: 8}}",
            "",
        )
    )
    report = pipeline.lint([pipeline.read_file(File(Source("pod.yaml", text)))], Engine([RULE]))
    (finding,) = report.findings
    at = finding.position
    assert text.split("\n")[at.line - 1][at.column - 1 : at.end_column - 1] == "torchrun"
