"""Text of the user on the terminal: no control character reaches it, and no command of a CI service."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard.cli import main

# Sets the title of the window, turns the text red, and would run commands on GitHub and Azure Pipelines.
EVIL = "\x1b]0;title\x07\x1b[31mred\n::error::pwn ##[error]pwn ##vso[task.complete]pwn"
NAME = "::stop-commands::tok.yaml"

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """A function that runs a command and returns its exit status and all output, which is harmless."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("run.yaml").write_text(CLEAN)

    def call(*arguments: str) -> tuple[int, str]:
        capfd.readouterr()
        code = main.main(list(arguments))
        text = "".join(capfd.readouterr())
        harmful = [letter for letter in text if not letter.isprintable() and letter != "\n"]
        commands = [line for line in text.splitlines() if line.lstrip().startswith("::")]
        assert (harmful, commands) == ([], [])
        assert "##[" not in text
        assert "##vso[" not in text
        return code, text

    return call


@pytest.mark.parametrize(
    "arguments",
    [
        [EVIL],
        ["lint", EVIL],
        ["lint", f"--{EVIL}"],
        ["lint", "run.yaml", "--select", EVIL],
        ["lint", "run.yaml", "--profile", EVIL],
        ["lint", "run.yaml", "--site", EVIL],
        ["lint", "run.yaml", "--config", EVIL],
        ["lint", "run.yaml", "--baseline", EVIL],
        ["lint", "run.yaml", "--color", EVIL],
        ["lint", "--chart", EVIL],
        ["explain", EVIL],
        ["rules", EVIL],
        ["run", "-f", EVIL, "--local"],
        ["run", "-f", "run.yaml", "--local", "--set", EVIL],
    ],
)
def test_a_usage_error_shows_control_characters_as_text(run: Run, arguments: list[str]) -> None:
    code, text = run(*arguments)
    assert code == 2
    assert "Error: " in text
    assert "pwn" in text


def test_a_key_of_the_configuration_is_shown_as_text(run: Run) -> None:
    Path(".trainyard.yaml").write_text(f"{EVIL!r}: 1\n".replace("'", '"').replace("\\x07", "\\a"))
    code, text = run("lint", "run.yaml")
    assert (code, "\\x1b[31mred ::error::pwn" in text) == (2, True)


def test_a_name_that_is_a_command_of_github_starts_no_line(run: Run) -> None:
    Path(NAME).write_text(FAULTY)
    code, text = run("lint", NAME)
    assert code == 1
    assert text.startswith(f"./{NAME}:17:22: error NC005")


def test_a_line_with_a_command_of_a_ci_service_is_shown_as_text(run: Run) -> None:
    Path("faulty.yaml").write_text(FAULTY.replace('"no"', '"no"  # ##[error]one ##vso[task.complete]two'))
    code, text = run("lint", "faulty.yaml")
    assert code == 1
    assert '"no"  # #\\x23[error]one #\\x23vso[task.complete]two' in text


def test_a_path_in_a_message_is_shown_as_text(run: Run) -> None:
    Path("evil\n::error::\x1b[31m").mkdir()
    baseline = "evil\n::error::\x1b[31m/b.json"
    Path("faulty.yaml").write_text(FAULTY)
    assert run("baseline", "faulty.yaml", "--output", baseline)[0] == 0
    Path("faulty.yaml").write_text(CLEAN)
    code, text = run("lint", "faulty.yaml", "--baseline", baseline)
    assert (code, "of its findings are gone" in text) == (0, True)
    assert run("lint", "run.yaml", "--baseline", baseline.replace("b.json", "::x"))[0] == 2


def test_a_dry_run_quotes_control_characters_for_the_shell(run: Run, tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text('#!/bin/bash\nprintf "%s\\n" "${@: -1}" "$TEXT" > "$0.log"\n')
    fake.chmod(0o755)
    text = EVIL.replace("\x1b", "\\e").replace("\x07", "\\a").replace("\n", "\\n")
    Path("run.yaml").write_text(f'nodes: 1\nenv: {{TEXT: "{text}"}}\ntrain: {{args: ["a\'b {text}"]}}\n')
    code, out = run("run", "-f", "run.yaml", "--local", "--dry-run", "--python", str(fake))
    assert code == 0
    script = out[out.index("mkdir") : out.index("\nwait\n")]
    subprocess.run(["bash", "-eu", "-c", f"{script}\nwait\n"], check=True, timeout=60)
    assert (tmp_path / "python.log").read_text() == f"a'b {EVIL}\n{EVIL}\n"


def test_a_difference_on_a_terminal_shows_control_characters_as_text(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("faulty.yaml").write_text(FAULTY.replace("env:", "env: # \u202e"))
    terminal, inside = pty.openpty()
    os.set_blocking(terminal, False)
    with os.fdopen(terminal, "rb", buffering=0) as screen, os.fdopen(inside, "w") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        assert main.main(["fix", "--diff", "--unsafe", "faulty.yaml"]) == 1
        monkeypatch.undo()
        shown = b"".join(iter(lambda: screen.read(65536), None)).decode()
    assert "env: # \\x202e" in shown
    assert "\u202e" not in shown
